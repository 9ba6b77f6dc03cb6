"""The job in two folders: a client that holds the secret key, a server that never does."""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner

import fhelium
from fhelium.backend.ckks.key_generation import secret_coefficients
from fhelium.cli import folders, logistic, model_files, tables
from fhelium.cli.client import decrypt, encrypt, keygen
from fhelium.cli.guard import refuse_secret_keys
from fhelium.cli.server import run
from fhelium.errors import (
    FHEliumError,
    FileAccessError,
    FileFormatError,
    MessageTypeError,
    MessageValueError,
    PassphraseError,
    SecretExposureError,
)
from tests.programs import run_module

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = 30
WINDOW = 64  # bytes of a secret that are looked for: none occurs elsewhere by chance


def readme_commands() -> dict[str, list[str]]:
    """Return the commands of the README's section, by name: they are run as they stand there."""
    text = (ROOT / "README.md").read_text().partition("\n## Two sides, one secret key\n")[2]
    lines = re.findall(r"^    fhelium (.+)$", text.partition("\n## ")[0], re.M)
    return {line.split()[0]: line.split() for line in lines}


def good(folder: Path, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    result = subprocess.run(
        [sys.executable, "-m", "fhelium", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result


@pytest.fixture(scope="module")
def job(tmp_path_factory) -> Path:
    """Run the README's commands, each in a process of its own, the server's without the client."""
    home, away = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("away")
    commands = readme_commands()
    assert list(commands) == ["keygen", "encrypt", "run", "decrypt"]
    good(home, commands["keygen"])
    good(home, commands["encrypt"])
    for part in ("job/server", "job/samples"):
        shutil.copytree(home / part, away / part)
    hidden = home.rename(home.with_name("hidden"))
    try:
        assert good(away, commands["run"]).stdout.startswith("scored 228 samples in ")
    finally:
        hidden.rename(home)
    shutil.copytree(away / "job/scores", home / "job/scores")
    return home / "job"


@pytest.fixture(scope="module")
def answer(job) -> subprocess.CompletedProcess[str]:
    return good(job.parent, readme_commands()["decrypt"])


def test_the_predictions_are_the_clear_models(answer):
    rows = list(csv.DictReader(io.StringIO(answer.stdout)))
    assert [int(row["row"]) for row in rows] == list(range(1, 229))
    assert answer.stderr.splitlines()[1] == "as in column 'clear_model': 228 of 228 (1.0000)"
    study = logistic.train()
    found = np.array([float(row["score"]) for row in rows])
    clear = study.model.polynomial_score(study.features)
    assert 0 < np.abs(found - clear).max() < 1e-3
    named = {"benign": True, "malignant": False}
    predictions = np.array([named[row["prediction"]] for row in rows])
    assert (predictions == (found > 0.5)).all()
    share = np.mean(predictions == study.labels)
    assert answer.stderr.splitlines()[0].endswith(f"of 228 ({share:.4f})")
    assert 0.93 < share < 1


def files_under(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def secret_windows(path: Path) -> list[bytes]:
    """Return stretches of the secret in every form it has: in memory, as coefficients, on disk."""
    key = fhelium.load_value(path)
    engine = fhelium.Engine(key.config)
    resources = engine.dispatcher(key.device).resources
    small = secret_coefficients(resources, "packed", key.data).flatten()[: key.config.N]
    forms = [row.contiguous().numpy().tobytes() for row in key.data]
    forms += [small.to(dtype).numpy().tobytes() for dtype in (small.dtype, torch.int8)]
    forms.append(path.read_bytes()[-key.config.N :])
    return [form[start : start + WINDOW] for form in forms for start in (0, len(form) // 2)]


def test_no_file_of_the_server_holds_the_secret_key(job):
    windows = secret_windows(job / "client/secret_key.fhelium")
    for folder in (job / "server", job / "samples", job / "scores"):
        for path in files_under(folder):
            content = path.read_bytes()
            assert not any(window in content for window in windows), path
            if path.suffix == ".fhelium":
                kind = fhelium.inspect_value(path, verify=True).type_name
                assert kind in {"CkksConfig", "EvaluationKeys", "Ciphertext"}
    assert {path.name for path in files_under(job / "server")} == {
        "evaluation_keys.fhelium",
        "parameters.fhelium",
        "model.json",
    }
    # The search can find it: it does in the client's folder.
    content = (job / "client/secret_key.fhelium").read_bytes()
    assert sum(window in content for window in windows) >= 2


def test_the_client_folder_is_its_owners(job):
    client = job / "client"
    assert client.stat().st_mode & 0o077 == 0
    assert (client / "secret_key.fhelium").stat().st_mode & 0o777 == 0o600
    again = CliRunner().invoke(keygen, [str(job)])
    assert isinstance(again.exception, FHEliumError)
    assert "holds files already" in str(again.exception)


def test_a_folder_that_was_there_becomes_its_owners_too(tmp_path):
    """The clear test set lies beside the key: an empty folder that others may enter is closed."""
    (tmp_path / "client").mkdir(mode=0o755)
    folders.make_folder(tmp_path / "client", "keygen", private=True)
    assert (tmp_path / "client").stat().st_mode & 0o777 == 0o700


@pytest.fixture
def server_side(job, tmp_path) -> list[str]:
    """Copy what the server has, and return the arguments of its command."""
    shutil.copytree(job / "server", tmp_path / "server")
    shutil.copytree(job / "samples", tmp_path / "samples")
    return [str(tmp_path / part) for part in ("server", "samples", "scores")]


def test_run_refuses_to_start_beside_a_secret_key(job, server_side, tmp_path):
    shutil.copy(job / "client/secret_key.fhelium", tmp_path / "server/notes.txt")
    result = run_module("run", *server_side)
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith("fhelium: run: ")
    assert "notes.txt' holds a secret key" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "scores").exists()


@pytest.mark.parametrize("place", ["server/deep/er/x", "samples/rows"])
def test_run_looks_into_both_folders(job, server_side, tmp_path, place):
    planted = tmp_path / place
    planted.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(job / "client/secret_key.fhelium", planted)
    result = CliRunner().invoke(run, server_side)
    assert isinstance(result.exception, SecretExposureError)
    assert not (tmp_path / "scores").exists()


def test_secret_keys_are_found_sealed_linked_and_in_archives(job, small, tmp_path):
    def guarded(name: str) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "loop").symlink_to(folder)  # a walk that follows links comes to an end
        (folder / "gone").symlink_to(tmp_path / "absent")
        fhelium.save_value(small.keys, folder / "keys.fhelium")
        refuse_secret_keys(folder, "run")
        return folder

    key = job / "client/secret_key.fhelium"
    sealed = guarded("sealed")
    fhelium.save_value(
        small.secret_key, sealed / "a", allow_secret_key=True, passphrase="long enough"
    )
    linked = guarded("linked")
    (linked / "client").symlink_to(key.parent)
    archive = guarded("archive")
    with tarfile.open(archive / "backup.tar", "w") as tar:
        tar.add(job / "server", "server")  # more than one chunk before the key
        tar.add(key, "key")
    for folder in (sealed, linked, archive):
        with pytest.raises(SecretExposureError, match="holds a secret key"):
            refuse_secret_keys(folder, "run")


def test_a_mark_on_the_border_of_two_chunks_is_found(small, tmp_path, monkeypatch):
    fhelium.save_value(small.secret_key, tmp_path / "key", allow_secret_key=True)
    for size in range(1, 40):
        monkeypatch.setattr("fhelium.cli.guard._CHUNK_BYTES", size)
        with pytest.raises(SecretExposureError):
            refuse_secret_keys(tmp_path, "run")


def test_what_cannot_be_read_is_not_passed_over(tmp_path, monkeypatch):
    (tmp_path / "locked").mkdir()
    (tmp_path / "locked/file").write_bytes(b"")

    def denied(path, *arguments, **options):
        raise PermissionError(13, "Permission denied", str(path))

    for name in ("os.scandir", "pathlib.Path.open"):  # a folder, then a file
        with monkeypatch.context() as patch:
            patch.setattr(name, denied)
            with pytest.raises(FileAccessError, match="Permission denied"):
                refuse_secret_keys(tmp_path, "run")


def test_a_file_in_a_wrong_place_is_refused_by_its_kind(job, server_side, tmp_path):
    shutil.copy(job / "client/public_key.fhelium", tmp_path / "server/parameters.fhelium")
    result = CliRunner().invoke(run, server_side)
    assert "holds a PublicKey, needed is a CkksConfig" in str(result.exception)


def test_decrypt_refuses_scores_of_another_key(job, tmp_path):
    result = CliRunner().invoke(keygen, [str(tmp_path / "job")])
    assert result.exit_code == 0, result.output
    arguments = [str(tmp_path / "job/client"), str(job / "scores")]
    refused = CliRunner().invoke(decrypt, arguments)
    assert isinstance(refused.exception, fhelium.errors.KeyMismatchError)


def test_a_passphrase_seals_the_key_and_is_asked_for(job, tmp_path):
    made = CliRunner().invoke(
        keygen, [str(tmp_path / "job"), "--passphrase"], input="correct horse\ncorrect horse\n"
    )
    assert made.exit_code == 0, made.output
    client = tmp_path / "job/client"
    assert fhelium.inspect_value(client / "secret_key.fhelium").sealed
    table = tmp_path / "two.npy"
    np.save(table, tables.read_samples(client / "test_set.csv", COLUMNS, "test")[:2])
    arguments = [str(client), str(tmp_path / "samples"), "--data", str(table)]
    result = CliRunner().invoke(encrypt, arguments)
    assert result.output.startswith("encrypted 2 samples: ")
    arguments = [str(client), str(tmp_path / "samples")]  # the slots are the features themselves
    result = CliRunner().invoke(decrypt, arguments, input="correct horse\n")
    assert result.exit_code == 0, result.output
    first = logistic.train().features[:2, 0]
    assert [row.split(",")[1] for row in result.stdout.splitlines()[-2:]] == [
        f"{value:.6f}" for value in first
    ]
    wrong = CliRunner().invoke(decrypt, arguments, input="wrong horse\n")
    assert isinstance(wrong.exception, PassphraseError)


def test_large_tables_fill_several_files(job, tmp_path):
    client = job / "client"
    table = tables.read_samples(client / "test_set.csv", COLUMNS, "test")
    path = tmp_path / "many.csv"
    tables.write_table(path, ["x"] * COLUMNS, np.concatenate([table, table, table]).tolist())
    samples, scores = str(tmp_path / "samples"), str(tmp_path / "scores")
    invoke = CliRunner().invoke
    assert invoke(encrypt, [str(client), samples, "--data", str(path)]).exit_code == 0
    names = [path.name for _, path in folders.value_files(tmp_path / "samples", "test", 256)]
    assert names == [
        "rows-00001-00256.fhelium",
        "rows-00257-00512.fhelium",
        "rows-00513-00684.fhelium",
    ]
    assert invoke(run, [str(job / "server"), samples, scores]).exit_code == 0
    shown = invoke(decrypt, [str(client), scores]).stdout.splitlines()
    assert len(shown) == 1 + 684
    found = np.array([float(line.split(",")[1]) for line in shown[1:]]).reshape(3, 228)
    assert np.abs(found - found[0]).max() < 1e-3


@pytest.mark.parametrize(
    "name", ["a.fhelium", "rows-00000-00004.fhelium", "rows-00005-00004.fhelium",
             "rows-00001-00257.fhelium", "rows-1-2.fhelium"]
)  # fmt: skip
def test_names_that_say_no_rows_are_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(FileFormatError, match="does not name the rows"):
        folders.value_files(tmp_path, "run", 256)


def test_files_that_share_a_row_are_refused(tmp_path):
    for name in ("rows-00001-00256.fhelium", "rows-00257-00300.fhelium"):
        (tmp_path / name).write_bytes(b"")
    assert [rows.count for rows, _ in folders.value_files(tmp_path, "run", 256)] == [256, 44]
    (tmp_path / "rows-00256-00256.fhelium").write_bytes(b"")
    with pytest.raises(FileFormatError, match="both name row 256"):
        folders.value_files(tmp_path, "run", 256)


@pytest.mark.parametrize(
    ("content", "error", "text"),
    [
        ("", MessageValueError, r"has shape \[0\]"),
        ("a,b\n", MessageValueError, r"has shape \[0\]"),
        ("1,2,3\n", MessageValueError, r"has shape \[1, 3\]"),
        ("1,2\n3\n", MessageValueError, "has 2 entries in row 1 and 1 in row 2"),
        ("a,b\n1,2\n77,x\n", MessageValueError, "row 2, column 2 is no number"),
        ("1,2\n77,nan\n", MessageValueError, "row 2, column 2 is not finite"),
        (b"\xff\xfe\x00", MessageTypeError, "is no CSV file"),
    ],
)
def test_bad_tables_are_refused_without_showing_entries(tmp_path, content, error, text):
    path = tmp_path / "table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(error, match=text) as caught:
        tables.read_samples(path, 2, "encrypt")
    assert "77" not in str(caught.value)


def test_tables_are_read_with_and_without_names(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n\n3,4e-1\n")
    (tmp_path / "b.csv").write_text("1,2\n3,.4\n")
    np.save(tmp_path / "c.npy", np.array([[1, 2], [3, 0.4]], dtype=np.float32))
    for name in ("a.csv", "b.csv", "c.npy"):
        found = tables.read_samples(tmp_path / name, 2, "encrypt")
        assert np.allclose(found, [[1, 2], [3, 0.4]])


@pytest.mark.parametrize("array", [np.array([[1j]]), np.array([[None]]), np.array([["1"]])])
def test_arrays_that_are_no_real_numbers_are_refused(tmp_path, array):
    np.save(tmp_path / "a.npy", array, allow_pickle=True)
    with pytest.raises(MessageTypeError):
        tables.read_samples(tmp_path / "a.npy", 1, "encrypt")


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"weights": []}', '{"weights": [1, NaN], "bias": 0}', '{"weights": [1]}',
     '{"weights": 3, "bias": 0, "interval": 1, "slope": 1, "cubic": 1}', "[" * 100_000,
     '{"weights": [1], "bias": 0, "interval": 0, "slope": 1, "cubic": 1}',
     '{"weights": [1], "bias": 1' + "0" * 400 + ', "interval": 1, "slope": 1, "cubic": 1}'],
)  # fmt: skip
def test_broken_models_are_refused(tmp_path, text):
    (tmp_path / "model.json").write_text(text)
    with pytest.raises(FileFormatError, match="is not what keygen wrote"):
        model_files.load_model(tmp_path / "model.json", "run")


def test_models_and_scalings_come_back_exactly(tmp_path):
    study = logistic.train()
    model_files.save_model(tmp_path / "m", study.model)
    model_files.save_scaling(tmp_path / "s", study.scaling, study.names)
    model = model_files.load_model(tmp_path / "m", "run")
    scaling = model_files.load_scaling(tmp_path / "s", "run")
    assert (model.exact_score(scaling.features(study.measurements))
            == study.model.exact_score(study.features)).all()  # fmt: skip
    with pytest.raises(FHEliumError, match="No such file"):
        model_files.load_model(tmp_path / "absent", "run")
