"""Models and scalings as JSON files that a person can read."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from fhelium.cli.logistic import BLOCK, Model, Scaling
from fhelium.errors import FileAccessError, FileFormatError


def save_model(path: Path, model: Model) -> None:
    """Write a model."""
    _save(path, asdict(model))


def load_model(path: Path, operation: str) -> Model:
    """Read a model that ``save_model`` wrote.

    Raises:
        FileFormatError: It is no such file.
    """
    numbers = _numbers(path, operation, vectors=("weights",))
    names = ("bias", "interval", "slope", "cubic")
    if len(numbers["weights"]) > BLOCK or not all(name in numbers for name in names):
        _refuse_numbers(path, operation, f"needed are at most {BLOCK} weights, and {names}")
    if not numbers["interval"] > 0:
        _refuse_numbers(path, operation, "the interval is above 0")
    return Model(numbers["weights"], *(float(numbers[name]) for name in names))


def save_scaling(path: Path, scaling: Scaling, names: tuple[str, ...]) -> None:
    """Write how measurements become features, and what the measurements are called."""
    _save(path, {"names": [str(name) for name in names], **asdict(scaling)})


def load_scaling(path: Path, operation: str) -> Scaling:
    """Read what ``save_scaling`` wrote.

    Raises:
        FileFormatError: It is no such file.
    """
    numbers = _numbers(path, operation, vectors=("mean", "deviation"))
    mean, deviation = numbers["mean"], numbers["deviation"]
    if mean.shape != deviation.shape or not (deviation > 0).all():
        _refuse_numbers(path, operation, "each mean needs a deviation above 0")
    return Scaling(mean, deviation)


def _save(path: Path, content: dict[str, Any]) -> None:
    plain = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in content.items()}
    path.write_text(json.dumps(plain) + "\n", encoding="utf-8")


def _numbers(path: Path, operation: str, vectors: tuple[str, ...]) -> dict[str, Any]:
    """Read a JSON object and turn some of its lists into vectors of finite numbers."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        numbers = {k: v for k, v in found.items() if k == "names" or k in vectors or _finite(v)}
        for name in vectors:
            numbers[name] = np.array([float(v) for v in found[name] if _finite(v)])
            if not 0 < len(numbers[name]) == len(found[name]):
                raise ValueError
    except OSError as error:
        fact = f"{str(path)!a}: {os.strerror(error.errno or 0)}"
        rule, remedy = "It came with the keys", "Use the folder as keygen made it"
        raise FileAccessError(operation, fact, rule, remedy, errno=error.errno) from error
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        _refuse_numbers(path, operation, f"needed are lists of finite numbers for {vectors}")
    return numbers


def _finite(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _refuse_numbers(path: Path, operation: str, rule: str) -> NoReturn:
    raise FileFormatError(
        operation,
        f"{str(path)!a} is not what keygen wrote",
        rule[0].upper() + rule[1:],
        "Use the file as keygen made it",
    )
