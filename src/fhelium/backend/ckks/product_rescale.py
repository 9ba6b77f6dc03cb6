"""Products with what follows them as compositions: the definition of their bits."""

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
from fhelium.backend.ntt import Transform, require_ntt_backend, transform_symbols
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


class NativePlaintextProductRescaleImplementation(CompositeImplementation):
    """Multiply by a plaintext and rescale as compositions of residue operators."""

    name = "native-ckks-plaintext-product-rescale"
    operation_types = (ckks.MultiplyPlaintextRescaleOp,)

    def materials(self, invocation: OperationInvocation) -> dict[str, str]:
        attributes = invocation.attributes
        backend = require_ntt_backend(attributes.get("ntt_backend"))
        depth, domain = attributes["depth"], attributes["polynomial_domain"]
        symbols = rescale_symbols(backend, depth, ("ntt", domain))
        return symbols | transform_symbols(backend, "Q", depth)

    def compute(
        self,
        invocation: OperationInvocation,
        operands: tuple[torch.Tensor, ...],
        tables: dict[str, torch.Tensor],
    ) -> torch.Tensor:
        ciphertext, plaintext = operands
        attributes = invocation.attributes
        backend = require_ntt_backend(attributes.get("ntt_backend"))
        depth, domain = attributes["depth"], attributes["polynomial_domain"]
        on_q = Transform.of(backend, "Q", depth, tables)
        if domain == "coefficient":
            ciphertext = on_q.forward(ciphertext)
        product = ckks_ops.multiply_plaintext(ciphertext, plaintext, on_q.rns_params)
        return rescale(backend, product, depth, ("ntt", domain), tables)
