"""Fused regions of a linked Program: each is one call of a native program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from fhelium.backend.ckks.coefficient_program import CoefficientProgram, NativeCoefficientProgram
from fhelium.compile.calls import OperationCall
from fhelium.compile.prepared_constants import readers_of
from fhelium.ir.dialects.ckks import CiphertextType
from fhelium.ir.program import Program
from fhelium.ir.types import TableType

REGION = "core.region"
"""Attribute of an operation that holds the number of the region it is computed in."""


@dataclass(frozen=True)
class Region:
    """Operations that are computed in one call.

    Args:
        operations: In order; the last one has the result.
        call: Computes it.
        operands: What the call reads.
    """

    operations: tuple[Operation, ...]
    call: NativeCoefficientProgram
    operands: tuple[SSAValue, ...]


def regions_of(program: Program, calls: Mapping[Operation, OperationCall]) -> list[Region]:
    """Return the regions that a Program notes, but for those that no native program can compute."""
    members: dict[int, list[Operation]] = {}
    for operation in program.operations:
        number = operation.attributes.get(REGION)
        if isinstance(number, IntegerAttr):
            members.setdefault(number.value.data, []).append(operation)
    found = [_region(tuple(operations), calls) for operations in members.values()]
    return [region for region in found if region is not None]


def _region(
    operations: tuple[Operation, ...], calls: Mapping[Operation, OperationCall]
) -> Region | None:
    read = [value for operation in operations for value in calls[operation].operands[:-1]]
    outside = [value for value in dict.fromkeys(read) if value.owner not in operations]
    ciphertexts = [value for value in outside if isinstance(value.type, CiphertextType)]
    plaintexts = [value for value in outside if value not in ciphertexts]
    program = CoefficientProgram(
        [_components(value) for value in ciphertexts],
        [isinstance(value.type, TableType) for value in plaintexts],
    )
    known: dict[SSAValue, Any] = dict(zip(ciphertexts, program.ciphertexts, strict=True))
    known.update(zip(plaintexts, program.plaintexts, strict=True))
    for operation in operations:
        call = calls[operation]
        record = getattr(program, str(call.implementation.recorded_as(call.invocation)))
        result = operation.results[0]
        known[result] = record(*(known[value] for value in call.operands[:-1]))
        if len(readers_of(result)) > 1:
            program.computed(known[result])
    native = program.computing(known[operations[-1].results[0]])
    parameters = calls[operations[-1]].operands[-1]
    return native and Region(operations, native, (*ciphertexts, *plaintexts, parameters))


def _components(value: SSAValue) -> int:
    assert isinstance(value.type, CiphertextType)
    return int(value.type.known["components"])
