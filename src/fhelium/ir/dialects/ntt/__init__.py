"""The ntt dialect: transforms between coefficients and bit-reversed evaluations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import torch
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Dialect
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, result_def

from fhelium.ir.dialects.rns.exact import integers, moduli_of, odd_powers
from fhelium.ir.dialects.rns.types import ResiduesType
from fhelium.ir.operation import DeclaredOperation, OperationFacts
from fhelium.ir.rules import require
from fhelium.values import CkksState, PolynomialDomain


def _evaluation_matrix(degree: int, psi: int, q: int) -> np.ndarray:
    """Return entry [j, k] = psi^(j (2 bitrev(k) + 1)) mod q as Python integers."""
    exponents = odd_powers(degree)
    rows = [[pow(psi, j * exponent, q) for exponent in exponents] for j in range(degree)]
    return np.array(rows, dtype=object)


def _inverse_matrix(degree: int, psi: int, q: int) -> np.ndarray:
    """Return the inverse: unitary up to N, it holds the inverse powers, transposed."""
    return _evaluation_matrix(degree, pow(psi, -1, q), q).T * pow(degree, -1, q)


def _transformed(
    matrix: Callable[[int, int, int], np.ndarray],
    input: torch.Tensor,
    roots: torch.Tensor,
    rns_params: torch.Tensor,
) -> torch.Tensor:
    rows = [
        integers(input[..., limb, :]) @ matrix(input.shape[-1], psi, q) % q
        for limb, (q, psi) in enumerate(zip(moduli_of(rns_params), roots.tolist(), strict=True))
    ]
    return torch.from_numpy(np.stack(rows, axis=-2).astype(np.int64)).to(input.dtype)


class Transform(DeclaredOperation):
    """Base of the two transforms: one operand, and the domains it goes from and to."""

    SOURCE: ClassVar[PolynomialDomain]
    TARGET: ClassVar[PolynomialDomain]
    input = operand_def(ResiduesType)
    ntt_backend = opt_prop_def(StringAttr)
    result = result_def(ResiduesType)
    FACTS: ClassVar = OperationFacts(limb_wise=True, in_place=True)

    @classmethod
    def transfer(cls, input: CkksState, *, ntt_backend: str | None = None) -> CkksState:
        require(cls.name, input, "polynomial_domain", cls.SOURCE, "It needs no transform")
        return input.replace(polynomial_domain=cls.TARGET)

    @classmethod
    def call_facts(cls, input: CkksState, *, ntt_backend: str | None = None) -> dict[str, Any]:
        facts = super().call_facts(input, modulus_basis=input.modulus_basis)
        return facts if ntt_backend is None else {**facts, "ntt_backend": ntt_backend}


@irdl_op_definition
class ForwardOp(Transform):
    """Evaluate each limb at the odd powers of psi, in bit-reversed order.

    Output k of a limb is the value at psi^(2 bitrev(k) + 1), psi a primitive 2N-th root of unity.

    Shapes:
        [*batch, limb, N] coefficients -> [*batch, limb, N] evaluations.

    Source:
        Longa, Naehrig (CANS 2016).
    """

    name = "ntt.forward"
    SOURCE: ClassVar = "coefficient"
    TARGET: ClassVar = "ntt"

    @staticmethod
    def reference(
        input: torch.Tensor, roots: torch.Tensor, rns_params: torch.Tensor
    ) -> torch.Tensor:
        return _transformed(_evaluation_matrix, input, roots, rns_params)


@irdl_op_definition
class InverseOp(Transform):
    """Interpolate coefficients from bit-reversed evaluations; the inverse of ``ntt.forward``.

    Shapes:
        [*batch, limb, N] evaluations -> [*batch, limb, N] coefficients.

    Source:
        Longa, Naehrig (CANS 2016).
    """

    name = "ntt.inverse"
    SOURCE: ClassVar = "ntt"
    TARGET: ClassVar = "coefficient"

    @staticmethod
    def reference(
        input: torch.Tensor, roots: torch.Tensor, rns_params: torch.Tensor
    ) -> torch.Tensor:
        return _transformed(_inverse_matrix, input, roots, rns_params)


NTT = Dialect("ntt", [ForwardOp, InverseOp])
