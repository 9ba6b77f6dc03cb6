"""What all benchmarks share: rings by option, threads, the clock, and the machine in the result."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
import torch

from benchmarks import machine
from benchmarks.rings import PRESETS, Ring
from fhelium.native.wrapper import rns_ops

NOTES = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("fhelium")
    group.addoption("--rings", default="14", help="log2 of the ring degrees, such as 13,14,15,16")
    group.addoption("--threads", type=int, default=1, help="of torch")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[NOTES] = []
    threads = config.getoption("threads")
    torch.set_num_threads(threads)
    # Processor time leaves out what neighbours took, and sees the calling thread alone.
    clock = "thread_time" if threads == 1 else "perf_counter"
    config.option.benchmark_timer = f"{time.__name__}.{clock}"


def pytest_benchmark_update_machine_info(
    config: pytest.Config, machine_info: dict[str, object]
) -> None:
    machine_info.clear()
    machine_info.update(
        machine.describe(), isa=rns_ops.cpu_isa(), threads=config.getoption("threads")
    )


def pytest_report_header(config: pytest.Config) -> str:
    about = machine.describe()
    return (
        f"{about['processor']}, {about['cores']} cores, {rns_ops.cpu_isa()}, "
        f"{config.getoption('threads')} thread(s)"
    )


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for line in config.stash[NOTES]:
        terminalreporter.write_line(line)


@pytest.fixture
def note(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Return what writes a line below the tables."""
    return request.config.stash[NOTES].append


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "ring" in metafunc.fixturenames:
        degrees = [int(n) for n in metafunc.config.getoption("rings").split(",")]
        metafunc.parametrize(
            "ring", degrees, ids=lambda n: f"2^{n}", indirect=True, scope="session"
        )


@pytest.fixture(scope="session")
def ring(request: pytest.FixtureRequest) -> Ring:
    """Return keys and values at one ring; an earlier one is let go."""
    return Ring(PRESETS[request.param])
