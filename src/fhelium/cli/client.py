"""The data owner's commands: ``keygen``, ``encrypt`` and ``decrypt``."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fhelium.cli import require_packages

if TYPE_CHECKING:
    import numpy as np

    from fhelium.cli.logistic import DataOwner, Study

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
NEW_FOLDER = click.Path(file_okay=False, path_type=Path)
TABLE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("folder", type=NEW_FOLDER)
@click.option("--passphrase", is_flag=True, help="Ask for a passphrase that seals the secret key.")
def keygen(folder: Path, passphrase: bool) -> None:
    """Train the demo's model and make keys: FOLDER/client and FOLDER/server.

    The client's folder holds the secret key and stays with the owner of the data. The server's
    folder holds evaluation keys, parameters and the model, and no key that encrypts or decrypts:
    copy it to the machine that computes.
    """
    require_packages("keygen", {"sklearn": "scikit-learn"})
    from fhelium.cli import folders, logistic
    from fhelium.config import CkksConfig

    phrase = _new_passphrase() if passphrase else None
    client, server = folder / folders.CLIENT, folder / folders.SERVER
    folders.make_folder(client, "keygen", private=True)
    folders.make_folder(server, "keygen")
    study = logistic.train()
    owner = logistic.DataOwner(CkksConfig.parse(logistic.PRESET))
    _write_client(client, study, owner, phrase)
    _write_server(server, study, owner)
    for side, what in ((client, "stays here"), (server, "goes to the server")):
        click.echo(f"{side}  {what}")
        for path in sorted(side.iterdir()):
            click.echo(f"  {path.name:<24} {folders.size_of(path):>10}")


@click.command()
@click.argument("client", type=FOLDER)
@click.argument("samples", type=NEW_FOLDER)
@click.option(
    "--data",
    type=TABLE,
    help="A CSV or NPY file with one sample a row; the client's test_set.csv when omitted.",
)
def encrypt(client: Path, samples: Path, data: Path | None) -> None:
    """Encrypt measurements with the keys in CLIENT, into the new folder SAMPLES.

    Each file holds up to 256 rows of the table and is named after them. The measurements have the
    columns of test_set.csv, in that order and in the same units.
    """
    from fhelium.cli import folders, logistic, model_files, tables
    from fhelium.config import CkksConfig
    from fhelium.eager import Engine
    from fhelium.serialization import save_value
    from fhelium.values import PublicKey

    config = folders.load_as(CkksConfig, client / folders.PARAMETERS, "encrypt")
    public_key = folders.load_as(PublicKey, client / folders.PUBLIC_KEY, "encrypt", config=config)
    scaling = model_files.load_scaling(client / folders.SCALING, "encrypt")
    source = client / folders.TEST_SET if data is None else data
    features = scaling.features(tables.read_samples(source, len(scaling.mean), "encrypt"))
    folders.make_folder(samples, "encrypt")
    engine = Engine(config)
    limit = logistic.samples_per_message(config)
    for start in range(0, len(features), limit):
        part = features[start : start + limit]
        rows = folders.Rows(start + 1, start + len(part))
        message = logistic.pack(part, config)[0]
        ciphertext = engine.encrypt_message(
            message, public_key, message_bound=1.0, output_domain="ntt"
        )
        path = samples / rows.file_name
        save_value(ciphertext, path)
        click.echo(f"encrypted {rows.count} samples: {path}  {folders.size_of(path)}")


@click.command()
@click.argument("client", type=FOLDER)
@click.argument("scores", type=FOLDER)
@click.option(
    "--labels",
    type=TABLE,
    help="A CSV file with a column 'label' to compare with, such as the client's test_labels.csv.",
)
def decrypt(client: Path, scores: Path, labels: Path | None) -> None:
    """Decrypt the results in the folder SCORES with the secret key in CLIENT.

    Prints one line a sample: its row, its score, and the class. Asks for the passphrase where the
    key is sealed.
    """
    from fhelium.cli import folders, logistic, tables
    from fhelium.config import CkksConfig
    from fhelium.eager import Engine
    from fhelium.serialization import inspect_value
    from fhelium.values import Ciphertext, SecretKey

    config = folders.load_as(CkksConfig, client / folders.PARAMETERS, "decrypt")
    known = {} if labels is None else tables.read_labels(labels, "decrypt")
    files = folders.value_files(scores, "decrypt", logistic.samples_per_message(config))
    path = client / folders.SECRET_KEY
    phrase = _asked_passphrase() if inspect_value(path).sealed else None
    secret_key = folders.load_as(SecretKey, path, "decrypt", config=config, passphrase=phrase)
    engine = Engine(config)
    found: dict[int, float] = {}
    for rows, file in files:
        ciphertext = folders.load_as(Ciphertext, file, "decrypt", config=config)
        slots = engine.decrypt_message(ciphertext, secret_key, real=True)
        values = logistic.unpack(slots, rows.count)
        found.update(zip(range(rows.first, rows.last + 1), map(float, values), strict=True))
    _print_predictions(found, known)


def _write_client(folder: Path, study: Study, owner: DataOwner, passphrase: str | None) -> None:
    import numpy as np

    from fhelium.cli import folders, model_files, tables
    from fhelium.serialization import save_value

    secret, public = folder / folders.SECRET_KEY, folder / folders.PUBLIC_KEY
    save_value(owner.secret_key, secret, allow_secret_key=True, passphrase=passphrase)
    save_value(owner.public_key, public)
    save_value(owner.engine.config, folder / folders.PARAMETERS)
    model_files.save_scaling(folder / folders.SCALING, study.scaling, study.names)
    measurements = study.measurements.tolist()
    tables.write_table(folder / folders.TEST_SET, study.names, measurements)
    clear = study.model.exact_score(study.features) > 0.5
    labels = np.stack([study.labels, clear], axis=1).astype(int).tolist()
    tables.write_table(folder / folders.TEST_LABELS, ("label", "clear_model"), labels)


def _write_server(folder: Path, study: Study, owner: DataOwner) -> None:
    from fhelium.cli import folders, model_files
    from fhelium.serialization import save_value

    save_value(owner.evaluation_keys(), folder / folders.EVALUATION_KEYS)
    save_value(owner.engine.config, folder / folders.PARAMETERS)
    model_files.save_model(folder / folders.MODEL, study.model)


def _new_passphrase() -> str:
    return click.prompt("Passphrase", hide_input=True, confirmation_prompt=True, err=True)


def _asked_passphrase() -> str:
    return click.prompt("Passphrase", hide_input=True, err=True)


def _print_predictions(found: dict[int, float], known: dict[str, np.ndarray]) -> None:
    """Print a CSV table to standard output, and what it is worth to standard error."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("row", "score", "prediction"))
    for row, score in found.items():
        writer.writerow((row, f"{score:.6f}", "benign" if score > 0.5 else "malignant"))
    for name, column in known.items():
        rows = [row for row in found if row <= len(column)]
        same = sum(bool(column[row - 1]) == (found[row] > 0.5) for row in rows)
        text = f"as in column {name!r}: {same} of {len(rows)}"
        click.echo(f"{text} ({same / len(rows):.4f})" if rows else text, err=True)
