"""Constants of a Program as plaintexts: encoded when it is linked, not at each run."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from xdsl.ir import Operation, SSAValue

from fhelium.compile.calls import OperationCall
from fhelium.config import CkksConfig
from fhelium.ir.dialects.codec import PreparePlaintextOp
from fhelium.ir.dialects.core import ConstantOp, MaterialOp
from fhelium.ir.program import Program


def is_constant(value: SSAValue) -> bool:
    """Say whether a value is a plaintext that is known before any run."""
    owner = value.owner
    return isinstance(owner, PreparePlaintextOp) and isinstance(owner.message.owner, ConstantOp)


def readers_of(value: SSAValue) -> set[Operation]:
    """Return the operations that read a value in a run; a constant is prepared before any."""
    users = (use.operation for use in value.uses)
    return {user for user in users if not any(map(is_constant, user.results))}


def prepared_constants(
    program: Program,
    calls: Mapping[Operation, OperationCall],
    materials: Mapping[str, torch.Tensor],
    config: CkksConfig,
) -> dict[SSAValue, torch.Tensor]:
    """Encode the constants with the implementations that are linked.

    Args:
        program: A linked Program, whose operations name their tables.
        calls: The call of each operation.
        materials: Tensors by symbol.
        config: Parameters.
    """
    found = {}
    for operation in program.operations:
        if isinstance(operation, PreparePlaintextOp) and is_constant(operation.result):
            call, constant = calls[operation], operation.message.owner
            assert isinstance(constant, ConstantOp)
            tables = [_bound(value, materials) for value in operation.tables]
            device = next((table.device for table in tables), torch.device("cpu"))
            # Of the ciphertext that it is made for, only the type and the ring count.
            like = torch.empty((0, config.N), dtype=config.dtype, device=device)
            inputs = (constant.numbers().to(device), like, *tables)
            (rows,) = call.implementation.execute(call.invocation, inputs, (), in_place=False)
            found[operation.result] = rows
    return found


def _bound(value: SSAValue, materials: Mapping[str, torch.Tensor]) -> torch.Tensor:
    assert isinstance(value.owner, MaterialOp)
    return materials[value.owner.symbol.data]
