"""Rescalings of NTT values as one native call each, bit-identical to the composed route."""

from __future__ import annotations

import torch

from fhelium.backend.implementation import OperationImplementation
from fhelium.backend.invocation import BoundResource, OperationInvocation
from fhelium.backend.ntt import require_ntt_backend
from fhelium.ir.dialects import ckks
from fhelium.native.wrapper import ckks_ops


class WholeRescaleImplementation(OperationImplementation):
    """Rescale, alone or after a product with something clear, in one parallel region.

    Only the limb that is dropped returns to coefficients.
    """

    name = "native-ckks-whole-rescale"
    operation_types = (ckks.RescaleOp, ckks.MultiplyPlaintextRescaleOp)

    def supports(self, invocation: OperationInvocation) -> bool:
        attributes = invocation.attributes
        packed = require_ntt_backend(attributes.get("ntt_backend")) == "packed"
        from_ntt = attributes.get("polynomial_domain") == "ntt"
        to_ntt = attributes.get("output_domain") in (None, "ntt")
        nearest = attributes.get("rounding") in (None, "nearest")
        return packed and from_ntt and to_ntt and nearest

    def material_symbols(self, invocation: OperationInvocation) -> tuple[str, ...]:
        depth = invocation.attributes["depth"]
        return (
            f"rescale/{depth}/inverse",
            f"ntt_tables/packed/Q/{depth}",
            f"rns_parameters/Q/{depth}",
        )

    def execute(
        self,
        invocation: OperationInvocation,
        inputs: tuple[torch.Tensor, ...],
        resources: tuple[BoundResource, ...],
        *,
        in_place: bool,
    ) -> tuple[torch.Tensor, ...]:
        if invocation.operation_type is ckks.RescaleOp:
            return (ckks_ops.rescale_ntt(*inputs),)
        return (ckks_ops.multiply_plaintext_rescale(*inputs),)
