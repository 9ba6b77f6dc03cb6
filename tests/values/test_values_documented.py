"""Everything public in fhelium.values says how it is used; tests/test_docs.py runs the examples."""

from __future__ import annotations

import inspect

import fhelium.values


def test_public_names_are_documented_with_an_example():
    plain = {"ModulusBasis", "PolynomialDomain", "ResidueRepresentation"}
    for name in set(fhelium.values.__all__) - plain:
        text = inspect.getdoc(getattr(fhelium.values, name)) or ""
        assert "Example:" in text, name
