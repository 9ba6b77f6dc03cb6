"""Ciphertext products and everything between a ciphertext and something clear."""

from __future__ import annotations

import torch

from fhelium.backend.ckks.constants import scalar_symbol
from fhelium.backend.implementation import CompositeImplementation, OperationImplementation
from fhelium.backend.invocation import BoundResource, OperationInvocation
from fhelium.backend.ntt import Transform, require_ntt_backend, transform_symbols
from fhelium.ir.dialects import ckks
from fhelium.native.wrapper import ckks_ops, rns_ops


def output_domain(invocation: OperationInvocation) -> str:
    """Return the domain the result is asked in: the input's unless another is named."""
    attributes = invocation.attributes
    return attributes.get("output_domain") or attributes["polynomial_domain"]


class NativeProductImplementation(CompositeImplementation):
    """Multiply and square ciphertexts in the NTT domain, transforming around it where needed."""

    name = "native-ckks-product"
    operation_types = (ckks.MultiplyOp, ckks.SquareOp)

    def recorded_as(self, invocation: OperationInvocation) -> str | None:
        name = "square" if invocation.operation_type is ckks.SquareOp else "multiply"
        return name if _stays_in_ntt(invocation) else None

    def materials(self, invocation: OperationInvocation) -> dict[str, str]:
        depth = invocation.attributes["depth"]
        if _stays_in_ntt(invocation):
            return {"rns_parameters/Q": f"rns_parameters/Q/{depth}"}
        return transform_symbols(_backend(invocation), "Q", depth)

    def compute(
        self,
        invocation: OperationInvocation,
        operands: tuple[torch.Tensor, ...],
        tables: dict[str, torch.Tensor],
    ) -> torch.Tensor:
        depth, rns_params = invocation.attributes["depth"], tables["rns_parameters/Q"]
        if invocation.attributes["polynomial_domain"] == "coefficient":
            transform = Transform.of(_backend(invocation), "Q", depth, tables)
            operands = tuple(transform.forward(operand) for operand in operands)
        if invocation.operation_type is ckks.SquareOp:
            product = ckks_ops.ciphertext_square(operands[0], rns_params)
        else:
            product = ckks_ops.ciphertext_product(operands[0], operands[1], rns_params)
        if output_domain(invocation) == "coefficient":
            Transform.of(_backend(invocation), "Q", depth, tables).inverse_(product)
        return product


class NativePlaintextSumImplementation(OperationImplementation):
    """Add an encoded vector."""

    name = "native-ckks-plaintext-sum"
    operation_types = (ckks.AddPlaintextOp,)
    supports_in_place = True

    def recorded_as(self, invocation: OperationInvocation) -> str | None:
        return "add_plaintext"

    def material_symbols(self, invocation: OperationInvocation) -> tuple[str, ...]:
        return (f"rns_parameters/Q/{invocation.attributes['depth']}",)

    def execute(
        self,
        invocation: OperationInvocation,
        inputs: tuple[torch.Tensor, ...],
        resources: tuple[BoundResource, ...],
        *,
        in_place: bool,
    ) -> tuple[torch.Tensor, ...]:
        ciphertext, plaintext, rns_params = inputs
        if not in_place:
            return (ckks_ops.add_plaintext(ciphertext, plaintext, rns_params),)
        ckks_ops.add_plaintext_(ciphertext, plaintext, rns_params)
        return (ciphertext,)


class NativePlaintextProductImplementation(CompositeImplementation):
    """Multiply encoded vectors, alone or as a sum of products."""

    name = "native-ckks-plaintext-product"
    operation_types = (ckks.MultiplyPlaintextOp, ckks.SumPlaintextProductsOp)

    def recorded_as(self, invocation: OperationInvocation) -> str | None:
        several = invocation.operation_type is ckks.SumPlaintextProductsOp
        name = "sum_plaintext_products" if several else "multiply_plaintext"
        return name if _stays_in_ntt(invocation) else None

    def materials(self, invocation: OperationInvocation) -> dict[str, str]:
        depth = invocation.attributes["depth"]
        if _stays_in_ntt(invocation):
            return {"rns_parameters/Q": f"rns_parameters/Q/{depth}"}
        return transform_symbols(_backend(invocation), "Q", depth)

    def compute(
        self,
        invocation: OperationInvocation,
        operands: tuple[torch.Tensor, ...],
        tables: dict[str, torch.Tensor],
    ) -> torch.Tensor:
        rns_params, depth = tables["rns_parameters/Q"], invocation.attributes["depth"]
        half = len(operands) // 2
        ciphertexts, plaintexts = operands[:half], operands[half:]
        if invocation.attributes["polynomial_domain"] == "coefficient":
            transform = Transform.of(_backend(invocation), "Q", depth, tables)
            ciphertexts = tuple(transform.forward(ciphertext) for ciphertext in ciphertexts)
        if invocation.operation_type is ckks.MultiplyPlaintextOp:
            total = ckks_ops.multiply_plaintext(ciphertexts[0], plaintexts[0], rns_params)
        else:
            total = ckks_ops.sum_plaintext_products(list(ciphertexts), list(plaintexts), rns_params)
        if output_domain(invocation) == "coefficient":
            Transform.of(_backend(invocation), "Q", depth, tables).inverse_(total)
        return total


class NativeAddManyImplementation(CompositeImplementation):
    """Add up ciphertexts into one result."""

    name = "native-ckks-add-many"
    operation_types = (ckks.AddManyOp,)

    def recorded_as(self, invocation: OperationInvocation) -> str | None:
        return "add"

    def materials(self, invocation: OperationInvocation) -> dict[str, str]:
        return {"rns_parameters/Q": f"rns_parameters/Q/{invocation.attributes['depth']}"}

    def compute(
        self,
        invocation: OperationInvocation,
        operands: tuple[torch.Tensor, ...],
        tables: dict[str, torch.Tensor],
    ) -> torch.Tensor:
        total = operands[0].clone(memory_format=torch.contiguous_format)
        for operand in operands[1:]:
            rns_ops.add_standard_(total, operand, tables["rns_parameters/Q"])
        return total


class NativeScalarImplementation(CompositeImplementation):
    """Add or multiply one real number: a constant residue a limb, the same in both domains."""

    name = "native-ckks-scalar"
    operation_types = (ckks.AddScalarOp, ckks.MultiplyScalarOp)

    def recorded_as(self, invocation: OperationInvocation) -> str | None:
        if invocation.operation_type is ckks.MultiplyScalarOp:
            return "multiply_plaintext"
        # A constant polynomial is its coefficient 0, and the same value at every root.
        return "add_plaintext" if invocation.attributes["polynomial_domain"] == "ntt" else None

    def materials(self, invocation: OperationInvocation) -> dict[str, str]:
        attributes = invocation.attributes
        depth = attributes["depth"]
        if invocation.operation_type is ckks.AddScalarOp:
            scale, form = attributes["scale"], "standard"
        else:
            scale, form = attributes["factor_scale"], "montgomery"
        return {
            "scalar": scalar_symbol(attributes["value"], scale, depth, form),
            "rns_parameters/Q": f"rns_parameters/Q/{depth}",
        }

    def compute(
        self,
        invocation: OperationInvocation,
        operands: tuple[torch.Tensor, ...],
        tables: dict[str, torch.Tensor],
    ) -> torch.Tensor:
        (ciphertext,), scalar, rns_params = operands, tables["scalar"], tables["rns_parameters/Q"]
        if invocation.operation_type is ckks.MultiplyScalarOp:
            return rns_ops.multiply_montgomery(ciphertext, scalar, rns_params)
        result = ciphertext.clone(memory_format=torch.contiguous_format)
        # A constant polynomial is its coefficient 0, and the same value at every root.
        constant_term = (
            slice(0, 1)
            if invocation.attributes["polynomial_domain"] == "coefficient"
            else slice(None)
        )
        rns_ops.add_standard_(result[0][..., constant_term], scalar, rns_params)
        return result


def _stays_in_ntt(invocation: OperationInvocation) -> bool:
    return invocation.attributes["polynomial_domain"] == output_domain(invocation) == "ntt"


def _backend(invocation: OperationInvocation) -> str:
    return require_ntt_backend(invocation.attributes.get("ntt_backend"))
