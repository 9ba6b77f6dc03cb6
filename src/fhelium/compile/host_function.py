"""The prepared host function: a Program as one Python function over local variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue

from fhelium.backend import BackendWorkspace, ResourceRequirement
from fhelium.compile.calls import OperationCall
from fhelium.compile.prepared_constants import is_constant
from fhelium.compile.python_source import Body, Names, call_lines, tuple_text
from fhelium.compile.regions import Region, regions_of
from fhelium.ir.dialects.ckks import CiphertextType
from fhelium.ir.dialects.core import CastOp
from fhelium.ir.operation import DeclaredOperation
from fhelium.ir.program import Program

ENTRY_POINT = "host_function"


@dataclass(frozen=True)
class HostFunction:
    """A function over tensors, and its text.

    Args:
        call: Takes the inputs' tensors and returns the outputs' in a tuple.
        source: Its text. Names that it does not define are bound already: implementations,
            invocations, materials and resources.
    """

    call: Callable[..., tuple[torch.Tensor, ...]]
    source: str

    @classmethod
    def of(
        cls,
        program: Program,
        calls: Mapping[Operation, OperationCall],
        materials: Mapping[str, torch.Tensor],
        constants: Mapping[SSAValue, torch.Tensor],
        workspace: BackendWorkspace,
    ) -> HostFunction:
        """Write the function and bind what it names.

        Args:
            program: The linked Program.
            calls: The call of each operation.
            materials: Tensors by symbol.
            constants: Results that are known before a run.
            workspace: Binds resources.
        """
        body = Body(program, Names(ENTRY_POINT))
        bound: dict[str, Any] = {}
        regions = regions_of(program, calls)
        ends = {region.operations[-1]: region for region in regions}
        inner = {op for region in regions for op in region.operations[:-1]}
        last_uses = _last_uses(program, regions)
        # Where a public vector may have more batch axes, a result may be larger than an operand.
        one_batch = all(isinstance(entry.type, CiphertextType) for entry in program.inputs)
        for operation in program.operations:
            if isinstance(operation, ReturnOp):
                results = tuple(operation.operands)
                body.lines.append(f"return {body.names.listed(results)}")
            elif any(result in constants for result in operation.results):
                for result in operation.results:
                    body.constants[body.names.define(result, "plaintext")] = constants[result]
            elif operation in inner:
                continue
            elif operation in ends:
                _write_region(ends[operation], body, bound)
            elif _relabels(operation):
                body.names.alias(operation.results[0], body.names[operation.operands[0]])
            elif not body.write_core(operation):
                assert isinstance(operation, DeclaredOperation)
                ended = last_uses.get(operation, [])
                in_place = one_batch and _may_write_over(operation, calls[operation], ended)
                _write(operation, calls[operation], body, bound, workspace, in_place)
            released = [body.names[value] for value in last_uses.get(operation, ())]
            if released and not isinstance(operation, ReturnOp):
                body.lines.append(f"del {', '.join(released)}")
        for symbol, name in body.material_symbols.items():
            bound[name] = materials[symbol]
        bound.update(body.constants)
        for symbol, name in body.resource_symbols.items():
            (resource,) = workspace.bind((ResourceRequirement(symbol),))
            bound[name] = resource.handle
        lines = [f"    {line}" for line in body.lines]
        source = "\n".join([f"def {ENTRY_POINT}({', '.join(body.input_names)}):", *lines, ""])
        exec(compile(source, f"<linked {program.name}>", "exec"), bound)
        return cls(bound[ENTRY_POINT], source)


def _write(
    operation: DeclaredOperation,
    call: OperationCall,
    body: Body,
    bound: dict[str, Any],
    workspace: BackendWorkspace,
    in_place: bool,
) -> None:
    position = body.operation_count
    execute = body.names.fresh(f"execute_{position}")
    invocation = body.names.fresh(f"invocation_{position}")
    resources = body.names.fresh(f"resources_{position}")
    bound[execute] = call.implementation.execute
    bound[invocation] = call.invocation
    bound[resources] = workspace.bind(call.implementation.resource_requirements(call.invocation))
    inputs = [body.names[value] for value in call.operands]
    inputs += [body.material(symbol) for symbol in call.symbols]
    arguments = [invocation, tuple_text(inputs), resources, f"in_place={in_place}"]
    body.lines += call_lines(f"{body.results(operation)}, = {execute}", arguments)


def _write_region(region: Region, body: Body, bound: dict[str, Any]) -> None:
    end = region.operations[-1]
    name = body.names.fresh(f"region_{body.operation_count}")
    bound[name] = region.call
    result = body.results(end)
    body.operation_count += len(region.operations) - 1
    arguments = [body.names[value] for value in region.operands]
    body.lines += call_lines(f"{result} = {name}", arguments)


def _last_uses(program: Program, regions: list[Region]) -> dict[Operation, list[SSAValue]]:
    """Return the values that nothing after an operation reads; casts only rename a value.

    What is read inside a region is read where its result is computed.
    """
    ends = {op: region.operations[-1] for region in regions for op in region.operations}
    order = {operation: index for index, operation in enumerate(program.operations)}
    last: dict[SSAValue, Operation] = {}
    for operation in program.operations:
        renames = isinstance(operation, CastOp) or _relabels(operation)
        if not renames and not any(map(is_constant, operation.results)):
            reader = ends.get(operation, operation)
            for value in map(_origin, operation.operands):
                last[value] = max(last.get(value, reader), reader, key=order.__getitem__)
    released: dict[Operation, list[SSAValue]] = {}
    for value, operation in last.items():
        owner = value.owner
        computed = isinstance(owner, DeclaredOperation) and ends.get(owner, owner) is owner
        if (computed and not is_constant(value)) or not isinstance(owner, Operation):
            released.setdefault(operation, []).append(value)
    return released


def _origin(value: SSAValue) -> SSAValue:
    owner = value.owner
    while isinstance(owner, CastOp) or (isinstance(owner, Operation) and _relabels(owner)):
        value = owner.operands[0]
        owner = value.owner
    return value


def _relabels(operation: object) -> bool:
    """Say whether an operation only reads in another way what was computed before it.

    An input's residues are copied: they are the caller's.
    """
    if not isinstance(operation, DeclaredOperation) or not operation.FACTS.same_residues:
        return False
    return isinstance(_origin(operation.operands[0]).owner, DeclaredOperation)


def _may_write_over(
    operation: DeclaredOperation, call: OperationCall, ended: list[SSAValue]
) -> bool:
    """Say whether a result may take the place of the first operand, which nothing reads again."""
    first, *others = map(_origin, operation.operands)
    computed = isinstance(first.owner, DeclaredOperation) and first.owner.ENGINE is not None
    possible = operation.FACTS.in_place and call.implementation.supports_in_place
    return possible and computed and first in ended and first not in others
