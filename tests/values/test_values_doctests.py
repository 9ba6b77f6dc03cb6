"""Every example in a docstring of fhelium.values runs, and everything public has one."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil

import pytest

import fhelium.values

MODULES = [
    f"fhelium.values.{module.name}" for module in pkgutil.iter_modules(fhelium.values.__path__)
]


@pytest.mark.filterwarnings("ignore::fhelium.errors.InsecureWarning")
@pytest.mark.parametrize("name", MODULES)
def test_examples(name, monkeypatch):
    # Examples may register classes; the list of names is put back afterwards.
    registry = importlib.import_module("fhelium.values.registry")
    types = dict(registry._TYPES)
    try:
        result = doctest.testmod(importlib.import_module(name))
    finally:
        registry._TYPES.clear()
        registry._TYPES.update(types)
    assert result.failed == 0


def test_public_names_are_documented_with_an_example():
    plain = {"ModulusBasis", "PolynomialDomain", "ResidueRepresentation"}
    for name in set(fhelium.values.__all__) - plain:
        text = inspect.getdoc(getattr(fhelium.values, name)) or ""
        assert "Example:" in text, name
