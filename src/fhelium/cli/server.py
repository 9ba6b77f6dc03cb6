"""The computing side's command: ``run``."""

from __future__ import annotations

import time
from pathlib import Path

import click

from fhelium.cli.client import FOLDER, NEW_FOLDER


@click.command()
@click.argument("server", type=FOLDER)
@click.argument("samples", type=FOLDER)
@click.argument("scores", type=NEW_FOLDER)
def run(server: Path, samples: Path, scores: Path) -> None:
    """Score the encrypted SAMPLES with what is in the folder SERVER, into the new folder SCORES.

    Needs evaluation keys, parameters and the model, and refuses to start where a secret key lies
    in SERVER or SAMPLES. Each result has the name of its samples' file.
    """
    from fhelium.cli import folders, guard, logistic, model_files
    from fhelium.config import CkksConfig
    from fhelium.serialization import save_value
    from fhelium.values import Ciphertext, EvaluationKeys

    for folder in (server, samples):
        guard.refuse_secret_keys(folder, "run")
    config = folders.load_as(CkksConfig, server / folders.PARAMETERS, "run")
    files = folders.value_files(samples, "run", logistic.samples_per_message(config))
    model = model_files.load_model(server / folders.MODEL, "run")
    keys = folders.load_as(EvaluationKeys, server / folders.EVALUATION_KEYS, "run", config=config)
    evaluator = logistic.Evaluator(config, keys, model)
    folders.make_folder(scores, "run")
    for rows, path in files:
        start = time.perf_counter()
        ciphertext = folders.load_as(Ciphertext, path, "run", config=config)
        result = evaluator.sigmoid(evaluator.linear_score(ciphertext))
        target = scores / rows.file_name
        save_value(result, target)
        seconds = time.perf_counter() - start
        click.echo(
            f"scored {rows.count} samples in {seconds:.2f} s: {target}  {folders.size_of(target)}"
        )
