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


def test_every_module_has_a_docstring_and_some_examples():
    counts = {}
    for name in MODULES:
        module = importlib.import_module(name)
        assert module.__doc__
        tests = doctest.DocTestFinder(exclude_empty=True).find(module)
        counts[name] = sum(len(test.examples) for test in tests)
    assert min(counts.values()) > 0, counts


def test_public_names_are_documented():
    for name in fhelium.values.__all__:
        public = getattr(fhelium.values, name)
        if inspect.isclass(public) or inspect.isfunction(public):
            assert inspect.getdoc(public), name
