"""Public vectors as plaintexts."""

from __future__ import annotations

import torch

from fhelium.backend.implementation import CompositeImplementation, Tables, Tensors
from fhelium.backend.invocation import OperationInvocation
from fhelium.backend.ntt import Transform, ntt_backend_of, transform_symbols
from fhelium.ir.dialects import codec
from fhelium.native.wrapper import ckks_ops, rns_ops


class NativePreparePlaintextImplementation(CompositeImplementation):
    """Encode a message and bring it to the domain and representation that are asked for."""

    name = "native-prepare-plaintext"
    operation_types = (codec.PreparePlaintextOp,)

    def material_symbols(self, invocation: OperationInvocation) -> tuple[str, ...]:
        transform = transform_symbols(ntt_backend_of(invocation), "Q", invocation.depth)
        return ("embedding", *transform)

    def compute(
        self, invocation: OperationInvocation, operands: Tensors, tables: Tables
    ) -> torch.Tensor:
        message, like = operands
        on_q = Transform.of(ntt_backend_of(invocation), "Q", invocation.depth, tables)
        slots, scale = _slots(message, like.shape[-1] // 2), invocation.attributes["scale"]
        rows = ckks_ops.encode_slots(slots, tables["embedding"], scale, on_q.rns_params, like.dtype)
        if invocation.domain == "ntt":
            on_q.forward_(rows)
        if invocation.attributes["residue_representation"] == "montgomery":
            rns_ops.to_montgomery_(rows, on_q.rns_params)
        return rows


def _slots(message: torch.Tensor, num_slots: int) -> torch.Tensor:
    """Return real and imaginary parts of each slot; a shorter message repeats."""
    values = message.to(torch.complex128)
    values = values if values.ndim else values.reshape(1)
    repeats = num_slots // values.shape[-1]
    return torch.view_as_real(values.repeat(*(1 for _ in values.shape[:-1]), repeats))
