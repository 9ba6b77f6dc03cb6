"""Ciphertext products and everything between a ciphertext and something clear."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import torch

from fhelium.backend.ckks.constants import scalar_symbol
from fhelium.backend.implementation import (
    CompositeImplementation,
    InPlaceOperatorImplementation,
    Operator,
    OperatorImplementation,
    Tables,
    Tensors,
)
from fhelium.backend.invocation import OperationInvocation
from fhelium.backend.ntt import Transform, ntt_backend_of, transform_symbols
from fhelium.backend.rns.ciphertexts import add_constant
from fhelium.ir.dialects import ckks
from fhelium.native.wrapper import ckks_ops, rns_ops


class NttProductImplementation(CompositeImplementation):
    """Multiply in the NTT domain, transforming ciphertexts around it where needed."""

    _RECORDED: ClassVar[dict[type, str]]

    def recorded_as(self, invocation: OperationInvocation) -> str | None:
        return self._RECORDED[invocation.operation_type] if _stays_in_ntt(invocation) else None

    def material_symbols(self, invocation: OperationInvocation) -> tuple[str, ...]:
        if _stays_in_ntt(invocation):
            return (f"rns_parameters/Q/{invocation.depth}",)
        return transform_symbols(ntt_backend_of(invocation), "Q", invocation.depth)

    def compute(
        self, invocation: OperationInvocation, operands: Tensors, tables: Tables
    ) -> torch.Tensor:
        depth = invocation.depth
        count = self._ciphertext_count(operands)
        ciphertexts, plaintexts = operands[:count], operands[count:]
        if invocation.domain == "coefficient":
            on_q = Transform.of(ntt_backend_of(invocation), "Q", depth, tables)
            ciphertexts = tuple(map(on_q.forward, ciphertexts))
        operator = self._operator(invocation)
        product = operator(ciphertexts, plaintexts, tables[f"rns_parameters/Q/{depth}"])
        if invocation.output_domain == "coefficient":
            Transform.of(ntt_backend_of(invocation), "Q", depth, tables).inverse_(product)
        return product

    @abstractmethod
    def _ciphertext_count(self, operands: Tensors) -> int: ...

    @abstractmethod
    def _operator(self, invocation: OperationInvocation) -> Operator: ...


class NativeProductImplementation(NttProductImplementation):
    """Multiply and square ciphertexts."""

    name = "native-ckks-product"
    _RECORDED: ClassVar = {ckks.MultiplyOp: "multiply", ckks.SquareOp: "square"}
    operation_types = tuple(_RECORDED)

    def _ciphertext_count(self, operands: Tensors) -> int:
        return len(operands)

    def _operator(self, invocation: OperationInvocation) -> Operator:
        if invocation.operation_type is ckks.SquareOp:
            return lambda x, _, params: ckks_ops.ciphertext_square(x[0], params)
        return lambda x, _, params: ckks_ops.ciphertext_product(x[0], x[1], params)


class NativePlaintextProductImplementation(NttProductImplementation):
    """Multiply encoded vectors, alone or as a sum of products."""

    name = "native-ckks-plaintext-product"
    _RECORDED: ClassVar = {
        ckks.MultiplyPlaintextOp: "multiply_plaintext",
        ckks.SumPlaintextProductsOp: "sum_plaintext_products",
    }
    operation_types = tuple(_RECORDED)

    def _ciphertext_count(self, operands: Tensors) -> int:
        return len(operands) // 2

    def _operator(self, invocation: OperationInvocation) -> Operator:
        if invocation.operation_type is ckks.MultiplyPlaintextOp:
            return lambda x, y, params: ckks_ops.multiply_plaintext(x[0], y[0], params)
        return lambda x, y, params: ckks_ops.sum_plaintext_products(list(x), list(y), params)


class NativePlaintextSumImplementation(InPlaceOperatorImplementation):
    """Add an encoded vector."""

    name = "native-ckks-plaintext-sum"
    operation_types = (ckks.AddPlaintextOp,)

    def recorded_as(self, invocation: OperationInvocation) -> str | None:
        return "add_plaintext"

    def material_symbols(self, invocation: OperationInvocation) -> tuple[str, ...]:
        return (f"rns_parameters/Q/{invocation.depth}",)

    def operator(self, invocation: OperationInvocation) -> Operator:
        return ckks_ops.add_plaintext

    def mutating_operator(self, invocation: OperationInvocation) -> Callable[..., Any]:
        return ckks_ops.add_plaintext_


class NativeAddManyImplementation(CompositeImplementation):
    """Add up ciphertexts into one result."""

    name = "native-ckks-add-many"
    operation_types = (ckks.AddManyOp,)

    def recorded_as(self, invocation: OperationInvocation) -> str | None:
        return "add"

    def material_symbols(self, invocation: OperationInvocation) -> tuple[str, ...]:
        return (f"rns_parameters/Q/{invocation.depth}",)

    def compute(
        self, invocation: OperationInvocation, operands: Tensors, tables: Tables
    ) -> torch.Tensor:
        total = operands[0].clone(memory_format=torch.contiguous_format)
        for operand in operands[1:]:
            rns_ops.add_standard_(total, operand, tables[f"rns_parameters/Q/{invocation.depth}"])
        return total


class NativeScalarImplementation(OperatorImplementation):
    """Add or multiply one real number: a constant residue a limb, the same in both domains."""

    name = "native-ckks-scalar"
    operation_types = (ckks.AddScalarOp, ckks.MultiplyScalarOp)

    def recorded_as(self, invocation: OperationInvocation) -> str | None:
        if invocation.operation_type is ckks.MultiplyScalarOp:
            return "multiply_plaintext"
        # A constant polynomial is its coefficient 0, and the same value at every root.
        return "add_plaintext" if invocation.domain == "ntt" else None

    def material_symbols(self, invocation: OperationInvocation) -> tuple[str, ...]:
        attributes, depth = invocation.attributes, invocation.depth
        if invocation.operation_type is ckks.AddScalarOp:
            scale, form = attributes["scale"], "standard"
        else:
            scale, form = attributes["factor_scale"], "montgomery"
        symbol = scalar_symbol(attributes["value"], scale, depth, form)
        return (symbol, f"rns_parameters/Q/{depth}")

    def operator(self, invocation: OperationInvocation) -> Operator:
        if invocation.operation_type is ckks.MultiplyScalarOp:
            return rns_ops.multiply_montgomery
        return partial(add_constant, invocation)


def _stays_in_ntt(invocation: OperationInvocation) -> bool:
    return invocation.domain == invocation.output_domain == "ntt"
