"""Operations as one native call each, in one parallel region, bit-identical to their compositions.

They run the transforms of WHOLE_OPERATION_BACKEND.
"""

from __future__ import annotations

from fhelium.backend.implementation import (
    CompositeImplementation,
    Operator,
    OperatorImplementation,
    Tables,
    Tensors,
)
from fhelium.backend.invocation import OperationInvocation
from fhelium.backend.ntt import ntt_backend_of
from fhelium.ir.dialects import ckks
from fhelium.native.wrapper import ckks_ops

WHOLE_OPERATION_BACKEND = "packed"
"""The NTT backend whose transforms the whole operations run."""


class WholeKeySwitchImplementation(CompositeImplementation):
    """Relinearize, rotate, conjugate and switch keys."""

    name = "native-ckks-whole-key-switch"
    operation_types = (
        ckks.RelinearizeOp,
        ckks.RotateOp,
        ckks.RotateManyOp,
        ckks.ConjugateOp,
        ckks.SwitchKeyOp,
    )

    def supports(self, invocation: OperationInvocation) -> bool:
        return ntt_backend_of(invocation) == WHOLE_OPERATION_BACKEND

    def material_symbols(self, invocation: OperationInvocation) -> tuple[str, ...]:
        return _switch_symbols(invocation)

    def compute(
        self, invocation: OperationInvocation, operands: Tensors, tables: Tables
    ) -> Tensors:
        ciphertext, *keys = operands
        operation, attributes = invocation.operation_type, invocation.attributes
        switch_tables, ntt_tables = tables.values()
        from_ntt, to_ntt = invocation.domain == "ntt", invocation.output_domain == "ntt"
        rest = (switch_tables, ntt_tables, from_ntt, to_ntt)
        if operation is ckks.RotateManyOp:
            elements = list(attributes["galois_elements"])
            return tuple(ckks_ops.switch_hoisted(ciphertext, elements, keys, *rest))
        if operation is ckks.RelinearizeOp:
            return (ckks_ops.relinearize(ciphertext, keys[0], *rest),)
        element = attributes.get("galois_element", 1)
        return (ckks_ops.switch_galois(ciphertext, element, keys[0], *rest),)


class WholeProductImplementation(OperatorImplementation):
    """Multiply, relinearize and rescale, in the NTT domain."""

    name = "native-ckks-whole-product"
    operation_types = (ckks.MultiplyRescaleOp,)

    def supports(self, invocation: OperationInvocation) -> bool:
        packed = ntt_backend_of(invocation) == WHOLE_OPERATION_BACKEND
        return packed and invocation.attributes.get("polynomial_domain") == "ntt"

    def material_symbols(self, invocation: OperationInvocation) -> tuple[str, ...]:
        return _switch_symbols(invocation)

    def operator(self, invocation: OperationInvocation) -> Operator:
        return ckks_ops.multiply_relinearize_rescale


class WholeRescaleImplementation(OperatorImplementation):
    """Rescale, alone or after a product with something clear.

    Only the limb that is dropped returns to coefficients.
    """

    name = "native-ckks-whole-rescale"
    operation_types = (ckks.RescaleOp, ckks.MultiplyPlaintextRescaleOp)

    def supports(self, invocation: OperationInvocation) -> bool:
        attributes = invocation.attributes
        packed = ntt_backend_of(invocation) == WHOLE_OPERATION_BACKEND
        from_ntt = attributes.get("polynomial_domain") == "ntt"
        to_ntt = attributes.get("output_domain") in (None, "ntt")
        nearest = attributes.get("rounding") in (None, "nearest")
        return packed and from_ntt and to_ntt and nearest

    def material_symbols(self, invocation: OperationInvocation) -> tuple[str, ...]:
        depth = invocation.depth
        tables = ("rescale/{}/inverse", "ntt_tables/packed/Q/{}", "rns_parameters/Q/{}")
        return tuple(symbol.format(depth) for symbol in tables)

    def operator(self, invocation: OperationInvocation) -> Operator:
        if invocation.operation_type is ckks.RescaleOp:
            return ckks_ops.rescale_ntt
        return ckks_ops.multiply_plaintext_rescale


def _switch_symbols(invocation: OperationInvocation) -> tuple[str, ...]:
    depth = invocation.depth
    return (f"key_switch_tables/{depth}", f"ntt_tables/packed/QP/{depth}")
