"""Every example runs as a user would start it."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("[0-9]*.py"))
BY_NAME = {path.stem: path for path in EXAMPLES}


@cache
def run_example(path: Path) -> str:
    """Return what an example prints; a failing one fails the test with its output."""
    result = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, timeout=240, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_there_are_examples():
    assert {
        "00_hello",
        "01_logistic_regression",
        "02_keys",
        "03_levels_and_scales",
        "04_rotations",
        "05_plaintexts_and_sums",
        "08_client_server",
        "09_files",
        "11_compile_decorator",
        "12_compile_pipeline",
        "13_engine_capture",
        "14_simulation_and_cost",
        "15_compile_python_codegen",
        "16_saved_program",
        "10_own_implementation",
        "17_double_buffer",
        "18_runtime_cuda_graph",
    } <= set(BY_NAME)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_quietly(path):
    shown = run_example(path)
    assert shown.strip()
    assert "Warning" not in shown


def test_hello_decrypts_what_it_should():
    shown = run_example(BY_NAME["00_hello"])
    worst = float(re.search(r"^real +(\S+)", shown, re.MULTILINE)[1])
    assert 20 < worst < 40, shown


def test_logistic_regression_agrees_with_the_clear_model():
    shown = run_example(BY_NAME["01_logistic_regression"])
    same, total = re.search(r"identical predictions: +(\d+) of (\d+)", shown).groups()
    clear, encrypted = re.findall(r"accuracy \D+([\d.]+)$", shown, re.MULTILINE)
    assert same == total == "228"
    assert clear == encrypted
    assert 0.9 < float(clear) < 1


def test_keys_gives_the_variance_twice_and_hides_the_secret():
    shown = run_example(BY_NAME["02_keys"])
    found = re.search(r"variance ([\d.]+) encrypted, ([\d.]+) in the clear", shown)
    encrypted, clear = found.groups()
    colleague = re.search(r"variance ([\d.]+) read by the colleague", shown)[1]
    assert float(clear) == pytest.approx(19.4756, abs=1e-4)
    assert float(encrypted) == pytest.approx(float(clear), abs=2e-3)
    assert float(colleague) == pytest.approx(float(clear), abs=2e-3)
    assert "steps [2048, 3072, " in shown
    bounds = re.search(r"noise bound (\S+) with the secret key, (\S+) with the public", shown)
    own, public = map(float, bounds.groups())
    assert 0 < own < public / 2


def test_levels_shows_the_refusals_and_the_precision():
    shown = run_example(BY_NAME["03_levels_and_scales"])
    refused = re.findall(r"^refused: (\w+): (\w+)", shown, re.M)
    assert refused == [("add", "depth"), ("add", "scale"), ("rescale_to_next_depth", "the")]
    for bits, bound in re.findall(r"([\d.]+)  error at most (\S+)", shown):
        assert 0 < 2 ** -(float(bits) + 0.05) <= float(bound) < 2**-20
    depths = re.findall(r"depth (\d), (\d) primes", shown)
    assert depths == [(str(depth), str(3 - depth)) for depth in (0, 0, 1, 1, 2, 2)]


def test_rotations_agree_with_torch_roll():
    shown = run_example(BY_NAME["04_rotations"])
    errors = [float(error) for error in re.findall(r"error (\S+)$", shown, re.M)]
    assert len(errors) == 4
    assert all(0 < error < 1e-5 for error in errors)


def test_plaintexts_classify_every_wine_as_the_clear_model():
    shown = run_example(BY_NAME["05_plaintexts_and_sums"])
    assert "identical predictions: 178 of 178" in shown
    assert 0 < float(re.search(r"largest score error: +(\S+)", shown)[1]) < 1e-5
    assert 0 < float(re.search(r"mean score .* error (\S+)", shown)[1]) < 1e-5


def test_both_sources_of_a_program_give_the_linked_residues():
    shown = run_example(BY_NAME["15_compile_python_codegen"])
    assert re.findall(r"^(Eager|Backend) .*(True|False)$", shown, re.M) == [
        ("Eager", "True"),
        ("Backend", "True"),
    ]
    assert "asked for: [1, 4095]" in shown
    assert 0 < float(re.search(r"error of the slope: (\S+)", shown)[1]) < 1e-6


def test_client_and_server_agree_with_the_clear_model():
    shown = run_example(BY_NAME["08_client_server"])
    assert "200 predictions, correlation with the truth 0.73" in shown
    assert 0 < float(re.search(r"in the clear: (\S+)", shown)[1]) < 1e-2


def test_files_computes_with_what_it_loaded_and_refuses_the_rest():
    shown = run_example(BY_NAME["09_files"])
    assert 0 < float(re.search(r"loaded, error (\S+)", shown)[1]) < 1e-6
    assert "permissions 600" in shown
    assert "secret key sealed: True" in shown
    assert len(re.findall(r"^refused: ", shown, re.M)) == 3


def test_own_implementations_are_used_and_give_the_same_residues():
    shown = run_example(BY_NAME["10_own_implementation"])
    assert "refused: ckks.add: 3 implementations serve it: ['native-rns-linear', " in shown
    chosen = re.findall(r"^preferring (\S+): calls (\d+) (\d+), equal (\w+)$", shown, re.M)
    assert chosen == [
        ("native-rns-linear", "0", "0", "True"),
        ("python-add", "1", "0", "True"),
        ("library-add", "1", "1", "True"),
    ]
    assert re.findall(r"^  (\S+) +\w+ +preference (\w+)$", shown, re.M) == [
        ("native-rns-linear", "None"),
        ("python-add", "1"),
        ("library-add", "0"),
    ]


def test_two_buffers_serve_all_tiles():
    shown = run_example(BY_NAME["17_double_buffer"])
    assert re.search(r"^addresses never changed +True$", shown, re.MULTILINE)
    assert float(re.search(r"^largest error +(\S+)$", shown, re.MULTILINE)[1]) < 1e-6


def test_the_matrix_vector_table():
    shown = run_example(BY_NAME["18_runtime_cuda_graph"])
    facts = dict(re.split(r"  +", line, maxsplit=1) for line in shown.splitlines()[1:])
    assert float(facts["largest error"]) < 1e-6
    assert (facts["depth"], facts["domain"], facts["components"]) == ("1", "ntt", "2")
    for name in ("uncaptured", "staged replay", "replay, owned copy", "peak allocated"):
        assert name in facts


def test_engine_capture_gives_the_bits_of_the_engine():
    shown = run_example(BY_NAME["13_engine_capture"])
    assert "same residues as the Engine's: True" in shown
    assert "refused: the residues" in shown
    assert float(re.search(r"largest error: (\S+)", shown)[1]) < 1e-5


def test_simulation_predicts_the_precision():
    shown = run_example(BY_NAME["14_simulation_and_cost"])
    predicted, measured = re.search(r"predicted ([\d.]+) bits, measured ([\d.]+)", shown).groups()
    assert abs(float(predicted) - float(measured)) < 1
    assert "within the bound: True" in shown


def test_a_saved_program_runs_elsewhere_and_takes_no_secret():
    shown = run_example(BY_NAME["16_saved_program"])
    assert "refused: A Program computes with public keys" in shown
    assert "bound/program.mlir" in shown
    assert float(re.search(r"largest error: (\S+)", shown)[1]) < 1e-6


def test_the_decorator_keeps_what_it_compiled_and_is_right():
    shown = run_example(BY_NAME["11_compile_decorator"])
    assert "specialisations: 1\nafter inputs of another depth: 2" in shown
    assert float(re.search(r"difference to torch: (\S+)", shown)[1]) < 1e-4


def test_every_pipeline_is_right():
    shown = run_example(BY_NAME["12_compile_pipeline"])
    errors = re.findall(r"(\S+e-\d+)$", shown, re.MULTILINE)
    assert len(errors) == 4
    assert max(map(float, errors)) < 1e-4
