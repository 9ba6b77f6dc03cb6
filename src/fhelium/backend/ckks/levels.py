"""Moves along the modulus chain."""

from __future__ import annotations

from functools import partial

import torch

from fhelium.backend.ckks.constants import scalar_symbol
from fhelium.backend.implementation import (
    CompositeImplementation,
    Operator,
    OperatorImplementation,
    Tables,
    Tensors,
)
from fhelium.backend.invocation import OperationInvocation
from fhelium.backend.ntt import Transform, ntt_backend_of, transform_symbols
from fhelium.backend.rns import ciphertexts
from fhelium.ir.dialects import ckks
from fhelium.native.wrapper import rns_ops


class Rescaling:
    """Divide residues of one call by the next prime of the chain.

    Args:
        invocation: The call; it says the rounding and the domain of the result.
        depth: Depth of the residues; the call's when omitted.
        from_ntt: Whether they are NTT values; as the call's operands are when omitted.
    """

    def __init__(
        self,
        invocation: OperationInvocation,
        *,
        depth: int | None = None,
        from_ntt: bool | None = None,
    ) -> None:
        self._invocation = invocation
        self._backend = ntt_backend_of(invocation)
        self._depth = invocation.depth if depth is None else depth
        self._from_ntt = invocation.domain == "ntt" if from_ntt is None else from_ntt
        self._to_ntt = invocation.output_domain == "ntt"

    @property
    def symbols(self) -> tuple[str, ...]:
        """Return the names of the tables, each once."""
        depth = self._depth
        before = transform_symbols(self._backend, "Q", depth) if self._from_ntt else ()
        after = transform_symbols(self._backend, "Q", depth + 1) if self._to_ntt else ()
        own = (f"rescale/{depth}/inverse", f"rns_parameters/Q/{depth}")
        return tuple(dict.fromkeys((*own, *before, *after)))

    def __call__(self, residues: torch.Tensor, tables: Tables) -> torch.Tensor:
        depth = self._depth
        if self._from_ntt:
            residues = Transform.of(self._backend, "Q", depth, tables).inverse(residues)
        inverse, params = tables[f"rescale/{depth}/inverse"], tables[f"rns_parameters/Q/{depth}"]
        result = ciphertexts.rescale(self._invocation, residues, inverse, params)
        if self._to_ntt:
            Transform.of(self._backend, "Q", depth + 1, tables).forward_(result)
        return result


class NativeRescaleImplementation(CompositeImplementation):
    """Divide by the next prime of the chain with rounding to nearest."""

    name = "native-ckks-rescale"
    operation_types = (ckks.RescaleOp,)

    def material_symbols(self, invocation: OperationInvocation) -> tuple[str, ...]:
        return Rescaling(invocation).symbols

    def compute(
        self, invocation: OperationInvocation, operands: Tensors, tables: Tables
    ) -> torch.Tensor:
        return Rescaling(invocation)(operands[0], tables)


class NativeModSwitchImplementation(OperatorImplementation):
    """Drop limbs, or none: the remaining residues are the value already."""

    name = "native-ckks-mod-switch"
    operation_types = (ckks.ModSwitchOp, ckks.ReinterpretScaleOp, ckks.AssumeMessageBoundOp)

    def operator(self, invocation: OperationInvocation) -> Operator:
        return partial(ciphertexts.drop_limbs, invocation)


class NativeBoundByImplementation(OperatorImplementation):
    """Copy the residues; what they are bound by is not read."""

    name = "native-ckks-bound-by"
    operation_types = (ckks.BoundByOp,)

    def operator(self, invocation: OperationInvocation) -> Operator:
        return lambda residues, other: ciphertexts.drop_limbs(invocation, residues)


class NativeAlignImplementation(CompositeImplementation):
    """Multiply by the constant 1 at the scale that makes the rescaled result canonical."""

    name = "native-ckks-align"
    operation_types = (ckks.AlignOp,)

    def material_symbols(self, invocation: OperationInvocation) -> tuple[str, ...]:
        before = invocation.attributes["target_depth"] - 1
        if before < invocation.depth:
            return ()
        return (_one(invocation, before), *Rescaling(invocation, depth=before).symbols)

    def compute(
        self, invocation: OperationInvocation, operands: Tensors, tables: Tables
    ) -> torch.Tensor:
        before = invocation.attributes["target_depth"] - 1
        if before < invocation.depth:
            return operands[0].clone(memory_format=torch.contiguous_format)
        rows = operands[0][..., before - invocation.depth :, :]
        one, params = tables[_one(invocation, before)], tables[f"rns_parameters/Q/{before}"]
        product = rns_ops.multiply_montgomery(rows, one, params)
        return Rescaling(invocation, depth=before)(product, tables)


def _one(invocation: OperationInvocation, depth: int) -> str:
    return scalar_symbol(1.0, invocation.attributes["factor_scale"], depth, "montgomery")
