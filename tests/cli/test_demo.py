"""The demo runs as a user starts it, and its figures are what it claims."""

from __future__ import annotations

import gc
import json
from dataclasses import replace
from types import BuiltinFunctionType, FunctionType, ModuleType

import numpy as np
import pytest
from click.testing import CliRunner

from fhelium.cli import logistic
from fhelium.cli.demo import demo
from fhelium.config import CkksConfig
from fhelium.values import EvaluationKeys, PublicKey, SecretKey
from tests.programs import run_module, run_python

CONFIG = CkksConfig.parse(logistic.PRESET)


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory):
    path = tmp_path_factory.mktemp("demo") / "figures.json"
    result = run_module("demo", "--json", str(path))
    assert result.returncode == 0, result.stdout + result.stderr
    return result, json.loads(path.read_text())


@pytest.fixture(scope="module")
def report(demonstration):
    return logistic.DemoReport(**demonstration[1])


def test_every_prediction_is_the_clear_models(report):
    assert report.samples == 228
    assert report.different_predictions == 0
    assert report.encrypted_accuracy == report.clear_accuracy
    assert 0.93 < report.clear_accuracy < 1


def test_errors_are_those_of_an_encrypted_polynomial(report):
    # An exact zero would mean that nothing was encrypted.
    assert 0 < report.raw_error_to_polynomial < 2**-21
    assert report.raw_error_to_polynomial < report.error_to_polynomial < 2**-12
    assert 0.01 < report.error_to_sigmoid < 0.1


def test_sizes_follow_from_the_parameters(report):
    assert report.nbytes["samples"] == CONFIG.ciphertext_nbytes(0)
    assert report.nbytes["scores"] == CONFIG.ciphertext_nbytes(3)
    assert report.evaluation_keys == 6
    assert report.nbytes["evaluation_keys"] == 6 * CONFIG.switching_key_nbytes()
    assert report.nbytes["public_key"] == 2 * len(CONFIG.primes) * CONFIG.N * 8


def test_parameters_are_secure(report):
    assert report.preset == "slots8192_scale40_depth7_int64"
    assert (report.security, report.log2_qp_limit) == ("128", 430)
    assert 420 < report.log2_qp <= 430


def test_it_takes_less_than_a_minute(report):
    assert set(report.seconds) == {"train", "keys", "encrypt", "evaluate", "decrypt"}
    assert all(seconds > 0 for seconds in report.seconds.values())
    assert sum(report.seconds.values()) < 60
    assert report.threads >= 1


def test_the_table_shows_the_figures(demonstration, report):
    shown = demonstration[0].stdout
    for text in (
        "228 of 228",
        f"{report.clear_accuracy:.4f} in the clear, {report.encrypted_accuracy:.4f} encrypted",
        f"{report.error_to_polynomial:.1e}",
        f"{report.raw_error_to_polynomial:.1e}",
        "log2(QP) 426.0, limit 430 for 128 bits",
        "doi 10.62056/anxra69p1",
        "2.0 MiB in, 1.2 MiB out",
        "60.0 MiB in 6 keys",
    ):
        assert text in shown
    assert f"│ threads             │ {report.threads} " in shown


def test_output_without_a_terminal_is_plain(demonstration):
    result = demonstration[0]
    assert result.stderr == ""
    assert all(character.isprintable() or character == "\n" for character in result.stdout)
    lines = result.stdout.splitlines()
    assert lines[:5] == [
        "done: train in the clear",
        "done: create keys",
        "done: encrypt",
        "done: evaluate",
        "done: decrypt",
    ]
    assert len(lines) < 40
    assert max(map(len, lines)) <= 80


def test_different_predictions_fail_the_command(report, monkeypatch):
    wrong = replace(report, different_predictions=3)
    monkeypatch.setattr(logistic, "run", lambda progress: wrong)
    result = CliRunner().invoke(demo)
    assert result.exit_code == 1
    assert "225 of 228" in result.output


def test_a_flipped_score_is_counted(monkeypatch):
    """The verdict compares samples, so one wrong score shows even where accuracy stays close."""
    decrypt = logistic.DataOwner.decrypt

    def flip_first(self, scores, count, policy=None):
        found = decrypt(self, scores, count, policy).copy()
        found[0] = 1 - found[0]
        return found

    monkeypatch.setattr(logistic.DataOwner, "decrypt", flip_first)
    assert logistic.run().different_predictions == 1


def test_a_folder_that_does_not_exist_is_refused_before_the_work(tmp_path):
    result = CliRunner().invoke(demo, ["--json", str(tmp_path / "missing" / "figures.json")])
    assert result.exit_code == 2
    assert "is no folder" in result.output


def reachable(root: object) -> list[object]:
    """Return all objects that attributes, items and closures lead to."""
    seen: dict[int, object] = {}
    waiting = [root]
    while waiting:
        item = waiting.pop()
        if id(item) in seen or isinstance(item, ModuleType | type | BuiltinFunctionType):
            continue
        seen[id(item)] = item
        if isinstance(item, FunctionType):
            waiting += [item.__closure__, item.__defaults__]  # its globals are its module
        else:
            waiting += gc.get_referents(item)
    return list(seen.values())


def test_the_evaluator_reaches_no_key_that_encrypts_or_decrypts():
    owner = logistic.DataOwner(CONFIG)
    study = logistic.train()
    evaluator = logistic.Evaluator(CONFIG, owner.evaluation_keys(), study.model)
    evaluator.sigmoid(evaluator.linear_score(owner.encrypt(study.features[:3])))
    held = reachable(evaluator)
    assert any(isinstance(item, EvaluationKeys) for item in held)
    assert not any(isinstance(item, SecretKey | PublicKey) for item in held)
    # The search can find one: it does from the other side.
    kinds = {type(item) for item in reachable(owner)}
    assert {SecretKey, PublicKey} <= kinds


def test_more_samples_than_one_ciphertext_holds():
    owner = logistic.DataOwner(CONFIG)
    study = logistic.train()
    evaluator = logistic.Evaluator(CONFIG, owner.evaluation_keys(), study.model)
    features = np.concatenate([study.features, -study.features])
    samples = owner.encrypt(features)
    assert samples.batch_shape == (2,)
    found = owner.decrypt(evaluator.sigmoid(evaluator.linear_score(samples)), len(features))
    assert found.shape == (456,)
    assert np.abs(found - study.model.polynomial_score(features)).max() < 1e-3


def test_the_data_obey_the_declared_bound_and_are_split():
    study = logistic.train()
    assert study.features.shape == (228, 30)
    assert np.abs(study.features).max() == 1.0
    assert set(study.labels) == {0, 1}


@pytest.mark.parametrize(
    ("blocked", "command", "named"),
    [
        ("click", "info", "pip install click`"),
        ("rich", "info", "pip install rich`"),
        ("sklearn", "demo", "pip install scikit-learn`"),
    ],
)
def test_a_missing_package_is_one_sentence(blocked, command, named):
    shown = run_python(
        f"""
        import sys
        sys.modules[{blocked!r}] = None
        sys.argv = ["fhelium", {command!r}]
        from fhelium.cli import main
        try:
            main()
        except SystemExit as stop:
            print(stop.code)
        """
    )
    assert len(shown.splitlines()) == 1
    assert shown.startswith("fhelium: the ")
    assert shown.endswith(f"{named}.")


def test_help_does_not_import_torch():
    shown = run_python(
        """
        import sys
        sys.argv = ["fhelium", "--help"]
        from fhelium.cli import main
        try:
            main()
        except SystemExit as stop:
            print(stop.code, "torch" in sys.modules)
        """
    )
    assert "demo" in shown
    assert shown.splitlines()[-1] == "0 False"
