"""Public vectors as plaintexts."""

from __future__ import annotations

import torch

from fhelium.backend.implementation import CompositeImplementation
from fhelium.backend.invocation import OperationInvocation
from fhelium.backend.ntt import Transform, require_ntt_backend, transform_symbols
from fhelium.ir.dialects import codec
from fhelium.native.wrapper import ckks_ops, rns_ops


def _slots(message: torch.Tensor, num_slots: int) -> torch.Tensor:
    """Return real and imaginary parts of each slot; a shorter message repeats."""
    values = message.to(torch.complex128)
    values = values if values.ndim else values.reshape(1)
    repeats = num_slots // values.shape[-1]
    return torch.view_as_real(values.repeat(*(1 for _ in values.shape[:-1]), repeats))


class NativePreparePlaintextImplementation(CompositeImplementation):
    """Encode a message and bring it to the domain and representation that are asked for."""

    name = "native-prepare-plaintext"
    operation_types = (codec.PreparePlaintextOp,)

    def materials(self, invocation: OperationInvocation) -> dict[str, str]:
        attributes = invocation.attributes
        backend = require_ntt_backend(attributes.get("ntt_backend"))
        return {"embedding": "embedding"} | transform_symbols(backend, "Q", attributes["depth"])

    def compute(
        self,
        invocation: OperationInvocation,
        operands: tuple[torch.Tensor, ...],
        tables: dict[str, torch.Tensor],
    ) -> torch.Tensor:
        message, like = operands
        attributes, rns_params = invocation.attributes, tables["rns_parameters/Q"]
        slots = _slots(message, like.shape[-1] // 2)
        rows = ckks_ops.encode_slots(
            slots, tables["embedding"], attributes["scale"], rns_params, like.dtype
        )
        if attributes["polynomial_domain"] == "ntt":
            backend = require_ntt_backend(attributes.get("ntt_backend"))
            Transform.of(backend, "Q", attributes["depth"], tables).forward_(rows)
        if attributes["residue_representation"] == "montgomery":
            rns_ops.to_montgomery_(rows, rns_params)
        return rows
