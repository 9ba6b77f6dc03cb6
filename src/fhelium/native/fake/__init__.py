"""Shapes of the native operators, so that torch traces them without running them."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

import torch


def _families() -> list[ModuleType]:
    """Import the generated modules, one for each operator namespace."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return [
        importlib.import_module(f"{__name__}.{name}") for name in names if name.endswith("_ops")
    ]


def operator_names() -> list[str]:
    """Return the qualified names of the operators that the generated modules know."""
    return [f"{family.NAMESPACE}::{name}" for family in _families() for name in family.OPERATORS]


def missing_operators() -> list[str]:
    """Return those of `operator_names` that the loaded module does not have."""
    return [
        name
        for name in operator_names()
        if not hasattr(getattr(torch.ops, name.partition("::")[0]), name.partition("::")[2])
    ]


def register() -> None:
    """Register the shape function of every operator with torch."""
    for family in _families():
        for name, function in family.FAKES.items():
            torch.library.register_fake(f"{family.NAMESPACE}::{name}", function)
