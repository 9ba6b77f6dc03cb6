"""Multiply, relinearize and rescale as the composition of the three: the definition of its bits."""

from __future__ import annotations

import torch

from fhelium.backend.ckks.key_switching import (
    KeySwitch,
    apply_key,
    key_switch_symbols,
    raise_digits,
)
from fhelium.backend.ckks.levels import rescale, rescale_symbols
from fhelium.backend.implementation import CompositeImplementation
from fhelium.backend.invocation import OperationInvocation
from fhelium.backend.ntt import require_ntt_backend
from fhelium.ir.dialects import ckks
from fhelium.native.wrapper import ckks_ops


class NativeProductRescaleImplementation(CompositeImplementation):
    """Multiply, relinearize and rescale as compositions of residue operators."""

    name = "native-ckks-product-rescale"
    operation_types = (ckks.MultiplyRescaleOp,)

    def materials(self, invocation: OperationInvocation) -> dict[str, str]:
        attributes = invocation.attributes
        backend = require_ntt_backend(attributes.get("ntt_backend"))
        depth, domain = attributes["depth"], attributes["polynomial_domain"]
        symbols = key_switch_symbols(backend, depth)
        return symbols | rescale_symbols(backend, depth, (domain, domain))

    def compute(
        self,
        invocation: OperationInvocation,
        operands: tuple[torch.Tensor, ...],
        tables: dict[str, torch.Tensor],
    ) -> torch.Tensor:
        lhs, rhs, key = operands
        switch = KeySwitch(invocation, tables)
        on_q, domain = switch.on_q, invocation.attributes["polynomial_domain"]
        if not switch.in_ntt:
            lhs, rhs = on_q.forward(lhs), on_q.forward(rhs)
        product = ckks_ops.ciphertext_product(lhs, rhs, on_q.rns_params)
        if not switch.in_ntt:
            on_q.inverse_(product)
        digits = raise_digits(switch.coefficients(product[2]), switch.on_qp, tables)
        switched = apply_key(digits, key, switch.depth, switch.on_qp, tables)
        relinearized = switch.finish(product[:2], switched)
        return rescale(on_q.backend, relinearized, switch.depth, (domain, domain), tables)
