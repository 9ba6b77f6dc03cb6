"""Coefficient-wise residue arithmetic through the native operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from fhelium.backend.implementation import InPlaceOperatorImplementation, Operator
from fhelium.backend.invocation import OperationInvocation
from fhelium.ir.dialects import ckks, rns
from fhelium.native.wrapper import rns_ops

_LINEAR = {
    ckks.AddOp: (rns_ops.add_standard, rns_ops.add_standard_),
    rns.AddStandardOp: (rns_ops.add_standard, rns_ops.add_standard_),
    ckks.SubtractOp: (rns_ops.subtract_standard, rns_ops.subtract_standard_),
    rns.SubtractStandardOp: (rns_ops.subtract_standard, rns_ops.subtract_standard_),
    ckks.NegateOp: (rns_ops.negate_standard, rns_ops.negate_standard_),
    rns.NegateStandardOp: (rns_ops.negate_standard, rns_ops.negate_standard_),
}

_RECORDED = {ckks.AddOp: "add", ckks.SubtractOp: "subtract", ckks.NegateOp: "negate"}

_MONTGOMERY = {
    rns.MultiplyMontgomeryOp: (rns_ops.multiply_montgomery, rns_ops.multiply_montgomery_),
    rns.ToMontgomeryOp: (rns_ops.to_montgomery, rns_ops.to_montgomery_),
    ckks.FromMontgomeryOp: (rns_ops.from_montgomery, rns_ops.from_montgomery_),
    rns.FromMontgomeryOp: (rns_ops.from_montgomery, rns_ops.from_montgomery_),
}


class NativeRnsLinearImplementation(InPlaceOperatorImplementation):
    """Add, subtract and negate residues; a ciphertext sum is the residue sum of its rows."""

    name = "native-rns-linear"
    operation_types = tuple(_LINEAR)
    _operators: ClassVar = _LINEAR

    def recorded_as(self, invocation: OperationInvocation) -> str | None:
        return _RECORDED.get(invocation.operation_type)

    def material_symbols(self, invocation: OperationInvocation) -> tuple[str, ...]:
        if invocation.operation_type.name.startswith("rns."):
            return ()  # the parameter rows are an operand already
        return (f"rns_parameters/Q/{invocation.depth}",)

    def operator(self, invocation: OperationInvocation) -> Operator:
        return self._operators[invocation.operation_type][0]

    def mutating_operator(self, invocation: OperationInvocation) -> Callable[..., Any]:
        return self._operators[invocation.operation_type][1]


class NativeRnsMontgomeryImplementation(NativeRnsLinearImplementation):
    """Montgomery products and transitions of residues."""

    name = "native-rns-montgomery"
    operation_types = tuple(_MONTGOMERY)
    _operators: ClassVar = _MONTGOMERY
