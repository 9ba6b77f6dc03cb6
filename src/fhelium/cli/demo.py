"""``python -m fhelium demo``: the main job with progress bars, a table and a verdict."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

from fhelium.cli import require_packages
from fhelium.config.security import SECURITY_MODELS
from fhelium.text import size_text

if TYPE_CHECKING:
    from fhelium.cli.logistic import DemoReport

SECURITY_SOURCE = "Bossuat et al., IACR CiC 2025, doi 10.62056/anxra69p1"
STEPS = {
    "train": "train in the clear",
    "keys": "create keys",
    "encrypt": "encrypt",
    "evaluate": "evaluate",
    "decrypt": "decrypt",
}


@click.command()
@click.option(
    "--json",
    "json_path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write the figures to this file.",
)
def demo(json_path: Path | None) -> None:
    """Score scikit-learn's breast-cancer test set while it is encrypted.

    A logistic regression is trained in the clear. One side encrypts the test set; another, which
    holds parameters, evaluation keys and the model but no key that encrypts or decrypts, computes
    all scores; the first side decrypts them and compares. Exits with 1 when a prediction differs
    from the clear model's.
    """
    require_packages("the demo", {"sklearn": "scikit-learn"})
    if json_path is not None and not json_path.absolute().parent.is_dir():
        raise click.BadParameter(f"{json_path.parent} is no folder", param_hint="--json")
    # Imported here so that `python -m fhelium --help` need not wait for torch.
    from fhelium.cli.logistic import run

    console = Console()
    with _Steps(console) as steps:
        report = run(steps.show)
    if json_path is not None:
        json_path.write_text(json.dumps(asdict(report), indent=2) + "\n")
    console.print(_table(report))
    if report.different_predictions:
        raise SystemExit(1)


class _Steps:
    """Show the steps: bars on a terminal, one finished line each elsewhere."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress = Progress(
            TextColumn(f"{{task.description:<{max(map(len, STEPS.values()))}}}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def show(self, step: str, done: int, total: int) -> None:
        """Draw how far a step is."""
        if step not in self._tasks:
            self._tasks[step] = self._progress.add_task(STEPS[step], total=total)
        self._progress.update(self._tasks[step], completed=done)
        if done == total and not self._console.is_terminal:
            self._console.print(f"done: {STEPS[step]}")


def _table(report: DemoReport) -> Table:
    table = Table(
        title=f"Breast cancer: {report.samples} test samples, scored encrypted",
        show_header=False,
        title_justify="left",
    )
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    same = report.samples - report.different_predictions
    accuracy = (
        f"{report.clear_accuracy:.4f} in the clear, {report.encrypted_accuracy:.4f} encrypted"
    )
    table.add_row("accuracy", accuracy)
    table.add_row("predictions", f"{same} of {report.samples} as the clear model's")
    table.add_row(
        "largest score error",
        f"{_error(report.error_to_polynomial)} to the same polynomial in float64\n"
        f"{_error(report.raw_error_to_polynomial)} without decryption's covering noise\n"
        f"{report.error_to_sigmoid:.3f} to the exact sigmoid",
        end_section=True,
    )
    for step, label in STEPS.items():
        table.add_row(label, _duration(report.seconds[step]), end_section=step == "decrypt")
    sizes = report.nbytes
    ciphertexts = f"{size_text(sizes['samples'])} in, {size_text(sizes['scores'])} out"
    table.add_row("ciphertexts", ciphertexts)
    table.add_row("public key", size_text(sizes["public_key"]))
    table.add_row(
        "evaluation keys",
        f"{size_text(sizes['evaluation_keys'])} in {report.evaluation_keys} keys",
        end_section=True,
    )
    table.add_row("parameters", report.preset)
    table.add_row("security", _security(report))
    table.add_row("threads", str(report.threads))
    return table


def _duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.0f} ms"


def _error(error: float) -> str:
    bits = f" (2^{math.log2(error):.1f})" if error > 0 else ""
    return f"{error:.1e}{bits}"


def _security(report: DemoReport) -> str:
    return (
        f"log2(QP) {report.log2_qp:.1f}, limit {report.log2_qp_limit} for {report.security} bits\n"
        f"{SECURITY_MODELS[report.security]}\n{SECURITY_SOURCE}"
    )
