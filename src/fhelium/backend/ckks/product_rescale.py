"""Products with what follows them as compositions: the definition of their bits."""

from __future__ import annotations

import torch

from fhelium.backend.ckks.key_switching import KeySwitch, key_switch_symbols
from fhelium.backend.ckks.levels import Rescaling
from fhelium.backend.implementation import CompositeImplementation, Tables, Tensors
from fhelium.backend.invocation import OperationInvocation
from fhelium.backend.ntt import Transform, ntt_backend_of, transform_symbols
from fhelium.ir.dialects import ckks
from fhelium.native.wrapper import ckks_ops


class NativeProductRescaleImplementation(CompositeImplementation):
    """Multiply, relinearize and rescale as compositions of residue operators."""

    name = "native-ckks-product-rescale"
    operation_types = (ckks.MultiplyRescaleOp,)

    def material_symbols(self, invocation: OperationInvocation) -> tuple[str, ...]:
        symbols = (*key_switch_symbols(invocation), *Rescaling(invocation).symbols)
        return tuple(dict.fromkeys(symbols))

    def compute(
        self, invocation: OperationInvocation, operands: Tensors, tables: Tables
    ) -> torch.Tensor:
        lhs, rhs, key = operands
        switch = KeySwitch(invocation, tables)
        on_q = switch.on_q
        if not switch.in_ntt:
            lhs, rhs = on_q.forward(lhs), on_q.forward(rhs)
        product = ckks_ops.ciphertext_product(lhs, rhs, on_q.rns_params)
        if not switch.in_ntt:
            on_q.inverse_(product)
        relinearized = switch.apply(switch.digits(product[2]), key, product[:2])
        return Rescaling(invocation)(relinearized, tables)


class NativePlaintextProductRescaleImplementation(CompositeImplementation):
    """Multiply by a plaintext and rescale as compositions of residue operators."""

    name = "native-ckks-plaintext-product-rescale"
    operation_types = (ckks.MultiplyPlaintextRescaleOp,)

    def material_symbols(self, invocation: OperationInvocation) -> tuple[str, ...]:
        transform = transform_symbols(ntt_backend_of(invocation), "Q", invocation.depth)
        return tuple(dict.fromkeys((*Rescaling(invocation, from_ntt=True).symbols, *transform)))

    def compute(
        self, invocation: OperationInvocation, operands: Tensors, tables: Tables
    ) -> torch.Tensor:
        ciphertext, plaintext = operands
        on_q = Transform.of(ntt_backend_of(invocation), "Q", invocation.depth, tables)
        if invocation.domain == "coefficient":
            ciphertext = on_q.forward(ciphertext)
        product = ckks_ops.multiply_plaintext(ciphertext, plaintext, on_q.rns_params)
        return Rescaling(invocation, from_ntt=True)(product, tables)
