"""Operations with a key switch as one native call each, bit-identical to the composed route."""

from __future__ import annotations

import torch

from fhelium.backend.ckks.products import output_domain
from fhelium.backend.implementation import OperationImplementation
from fhelium.backend.invocation import BoundResource, OperationInvocation
from fhelium.backend.ntt import require_ntt_backend
from fhelium.ir.dialects import ckks
from fhelium.native.wrapper import ckks_ops


class WholeKeySwitchImplementation(OperationImplementation):
    """Relinearize, rotate, conjugate and switch keys in one parallel region."""

    name = "native-ckks-whole-key-switch"
    operation_types = (
        ckks.RelinearizeOp,
        ckks.RotateOp,
        ckks.RotateManyOp,
        ckks.ConjugateOp,
        ckks.SwitchKeyOp,
    )

    def supports(self, invocation: OperationInvocation) -> bool:
        return require_ntt_backend(invocation.attributes.get("ntt_backend")) == "packed"

    def material_symbols(self, invocation: OperationInvocation) -> tuple[str, ...]:
        depth = invocation.attributes["depth"]
        return (f"key_switch_tables/{depth}", f"ntt_tables/packed/QP/{depth}")

    def execute(
        self,
        invocation: OperationInvocation,
        inputs: tuple[torch.Tensor, ...],
        resources: tuple[BoundResource, ...],
        *,
        in_place: bool,
    ) -> tuple[torch.Tensor, ...]:
        operation, attributes = invocation.operation_type, invocation.attributes
        ciphertext, *keys, switch_tables, ntt_tables = inputs
        from_ntt = attributes["polynomial_domain"] == "ntt"
        rest = (switch_tables, ntt_tables, from_ntt, output_domain(invocation) == "ntt")
        if operation is ckks.RotateManyOp:
            elements = list(attributes["galois_elements"])
            return tuple(ckks_ops.switch_hoisted(ciphertext, elements, keys, *rest))
        if operation is ckks.RelinearizeOp:
            return (ckks_ops.relinearize(ciphertext, keys[0], *rest),)
        element = attributes.get("galois_element", 1)
        return (ckks_ops.switch_galois(ciphertext, element, keys[0], *rest),)


class WholeProductImplementation(OperationImplementation):
    """Multiply, relinearize and rescale in one parallel region, in the NTT domain."""

    name = "native-ckks-whole-product"
    operation_types = (ckks.MultiplyRescaleOp,)

    def supports(self, invocation: OperationInvocation) -> bool:
        attributes = invocation.attributes
        packed = require_ntt_backend(attributes.get("ntt_backend")) == "packed"
        return packed and attributes.get("polynomial_domain") == "ntt"

    def material_symbols(self, invocation: OperationInvocation) -> tuple[str, ...]:
        depth = invocation.attributes["depth"]
        return (f"key_switch_tables/{depth}", f"ntt_tables/packed/QP/{depth}")

    def execute(
        self,
        invocation: OperationInvocation,
        inputs: tuple[torch.Tensor, ...],
        resources: tuple[BoundResource, ...],
        *,
        in_place: bool,
    ) -> tuple[torch.Tensor, ...]:
        return (ckks_ops.multiply_relinearize_rescale(*inputs),)
