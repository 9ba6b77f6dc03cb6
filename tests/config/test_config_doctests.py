"""Every example in the docstrings of the package runs and shows what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import fhelium.config

MODULES = sorted(module.name for module in pkgutil.iter_modules(fhelium.config.__path__))


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    module = importlib.import_module(f"fhelium.config.{name}")
    assert doctest.testmod(module).failed == 0


def test_examples_exist():
    finder = doctest.DocTestFinder()
    modules = [importlib.import_module(f"fhelium.config.{name}") for name in MODULES]
    assert sum(bool(test.examples) for module in modules for test in finder.find(module)) >= 40
