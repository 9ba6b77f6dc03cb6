"""Basis conversion through the native operators."""

from __future__ import annotations

import torch

from fhelium.backend.implementation import OperationImplementation
from fhelium.backend.invocation import BoundResource, OperationInvocation
from fhelium.ir.dialects import rns
from fhelium.native.wrapper import rns_ops


class NativeBasisConversionImplementation(OperationImplementation):
    """ModUp and ModDown with exact centred representatives."""

    name = "native-basis-conversion"
    operation_types = (rns.ModUpOp, rns.ModDownOp)

    def execute(
        self,
        invocation: OperationInvocation,
        inputs: tuple[torch.Tensor, ...],
        resources: tuple[BoundResource, ...],
        *,
        in_place: bool,
    ) -> tuple[torch.Tensor, ...]:
        if invocation.operation_type is rns.ModUpOp:
            return (rns_ops.mod_up(*inputs),)
        return (rns_ops.mod_down(*inputs),)
