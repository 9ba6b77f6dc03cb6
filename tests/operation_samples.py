"""One row for each ckks operation: clear operands and attributes for the oracle tests.

A row holds the operation, how many vectors it takes, the kinds of its further operands, and its
attributes. Adding an operation adds a row; a test fails while one is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fhelium.ir.dialects import ckks
from fhelium.ir.operation import DeclaredOperation


@dataclass(frozen=True)
class Sample:
    """Describe one call of an Engine method.

    Args:
        operation: The declared operation.
        operands: Kinds of the operands: "ciphertext", "ciphertexts" (a list), "product" (three
            components), "plaintext+" or "plaintext*" (prepared for a sum or a product),
            "plaintexts*" (a list), or a key kind.
        attributes: What the Engine method is called with besides the operands.
        domains: Domains of the ciphertexts that the operation accepts.
    """

    operation: type[DeclaredOperation]
    operands: tuple[str, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    domains: tuple[str, ...] = ("coefficient", "ntt")


SAMPLES = (
    Sample(ckks.AddOp, ("ciphertext", "ciphertext")),
    Sample(ckks.SubtractOp, ("ciphertext", "ciphertext")),
    Sample(ckks.NegateOp, ("ciphertext",)),
    Sample(ckks.MultiplyOp, ("ciphertext", "ciphertext")),
    Sample(ckks.SquareOp, ("ciphertext",)),
    Sample(ckks.RelinearizeOp, ("product", "relinearization")),
    Sample(ckks.MultiplyRescaleOp, ("ciphertext", "ciphertext", "relinearization")),
    Sample(ckks.AddPlaintextOp, ("ciphertext", "plaintext+")),
    Sample(ckks.MultiplyPlaintextOp, ("ciphertext", "plaintext*")),
    Sample(ckks.MultiplyPlaintextRescaleOp, ("ciphertext", "plaintext*")),
    Sample(ckks.AddScalarOp, ("ciphertext",), {"value": -0.375}),
    Sample(ckks.MultiplyScalarOp, ("ciphertext",), {"value": 0.7}),
    Sample(ckks.MultiplyScalarOp, ("ciphertext",), {"value": -3, "scale": 1.0}),
    Sample(ckks.AddManyOp, ("ciphertexts",)),
    Sample(ckks.SumPlaintextProductsOp, ("ciphertexts", "plaintexts*")),
    Sample(ckks.RotateOp, ("ciphertext", "rotation")),
    Sample(ckks.ConjugateOp, ("ciphertext", "conjugation")),
    Sample(ckks.RotateManyOp, ("ciphertext",), {"steps": (3, 0, -1)}),
    Sample(ckks.SwitchKeyOp, ("ciphertext", "switching")),
    Sample(ckks.RescaleOp, ("product",)),
    Sample(ckks.ModSwitchOp, ("ciphertext",), {"depth": 2}),
    Sample(ckks.AlignOp, ("ciphertext",), {"depth": 2}),
    Sample(ckks.ReinterpretScaleOp, ("ciphertext",), {"scale": 2.0**29}),
    Sample(ckks.AssumeMessageBoundOp, ("ciphertext",), {"bound": 0.995}),
    Sample(ckks.BoundByOp, ("ciphertext", "ciphertext"), {"factor": 1.0}),
    Sample(ckks.CoefficientToNttOp, ("ciphertext",), domains=("coefficient",)),
    Sample(ckks.NttToCoefficientOp, ("ciphertext",), domains=("ntt",)),
)
