"""Automorphisms of the ring, on residues in either domain."""

from __future__ import annotations

from typing import Any

import torch
from xdsl.dialects.builtin import IntegerAttr
from xdsl.irdl import irdl_op_definition, prop_def

from fhelium.errors import StateError
from fhelium.ir.dialects.rns.exact import moduli_of, odd_powers
from fhelium.ir.dialects.rns.shapes import UnaryOperation
from fhelium.values import CkksState


@irdl_op_definition
class AutomorphismOp(UnaryOperation):
    """Map X to X^g: a signed permutation of coefficients, a permutation of NTT values.

    Shapes:
        [*batch, limb, N], rns_params [row, limb] -> the same shape.

    Source:
        Cheon, Han, Kim, Kim, Song (EUROCRYPT 2018), section 4.1.
    """

    name = "rns.automorphism"
    galois_element = prop_def(IntegerAttr)

    @classmethod
    def transfer(cls, input: CkksState, *, galois_element: int) -> CkksState:
        if galois_element % 2 == 0:
            raise StateError(
                cls.name,
                f"galois_element is {galois_element}, needed is an odd number",
                "X -> X^g permutes the roots of X^N + 1 where g is odd",
                "Take the element that a step or the conjugation stands for",
            )
        return input

    @staticmethod
    def reference(
        input: torch.Tensor,
        rns_params: torch.Tensor,
        *,
        galois_element: int,
        polynomial_domain: str = "coefficient",
    ) -> torch.Tensor:
        permute: Any = _coefficients if polynomial_domain == "coefficient" else _evaluations
        return permute(input, rns_params, galois_element)


def _coefficients(input: torch.Tensor, rns_params: torch.Tensor, element: int) -> torch.Tensor:
    degree = input.shape[-1]
    moduli = torch.tensor(moduli_of(rns_params), dtype=input.dtype).reshape(-1, 1)
    result = torch.empty_like(input)
    for j in range(degree):
        wrapped = j * element % (2 * degree)
        column = input[..., j : j + 1]
        # X^N = -1: what goes around the end changes its sign.
        moved = column if wrapped < degree else torch.where(column == 0, column, moduli - column)
        result[..., wrapped % degree] = moved[..., 0]
    return result


def _evaluations(input: torch.Tensor, rns_params: torch.Tensor, element: int) -> torch.Tensor:
    degree = input.shape[-1]
    exponents = odd_powers(degree)
    place = {exponent: k for k, exponent in enumerate(exponents)}
    return input[..., [place[exponent * element % (2 * degree)] for exponent in exponents]]
