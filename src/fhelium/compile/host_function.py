"""The prepared host function: a Program as one Python function over local variables."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from xdsl.dialects import scf
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from fhelium.backend import BackendWorkspace, ResourceRequirement
from fhelium.compile.borders import home
from fhelium.compile.calls import OperationCall
from fhelium.compile.prepared_constants import is_constant
from fhelium.compile.python_source import Body, Names, call_lines, tuple_text
from fhelium.compile.regions import Region, regions_of
from fhelium.ir.control_flow import NUMBER_TYPES, constant_number, number_function
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
        writer = _Writer(program, calls, constants, workspace)
        writer.block(program.block)
        body, bound = writer.body, writer.bound
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


class _Writer:
    """Write the lines of the function block by block, and collect what they name."""

    def __init__(
        self,
        program: Program,
        calls: Mapping[Operation, OperationCall],
        constants: Mapping[SSAValue, torch.Tensor],
        workspace: BackendWorkspace,
    ) -> None:
        self.body = Body(program, Names(ENTRY_POINT, "operator"))
        self.bound: dict[str, Any] = {"operator": operator}
        self._calls, self._constants, self._workspace = calls, constants, workspace
        self._targets: dict[Block, list[str]] = {}
        regions = regions_of(program, calls)
        self._ends = {region.operations[-1]: region for region in regions}
        self._inner = {op for region in regions for op in region.operations[:-1]}
        self._last_uses = _last_uses(program, regions)
        self._crossing = {
            _origin(value)
            for operation in program.operations
            if isinstance(operation, scf.ForOp | scf.YieldOp)
            for value in operation.operands
        }
        # Where a public vector may have more batch axes, a result may be larger than an operand.
        self._one_batch = all(
            isinstance(entry.type, CiphertextType) or entry.type in NUMBER_TYPES
            for entry in program.inputs
        )

    def block(self, block: Block) -> None:
        """Write the operations of a block; each value is released after its last use."""
        for operation in block.ops:
            self._operation(operation)
            released = [self.body.names[v] for v in self._last_uses.get(operation, ())]
            if released and not isinstance(operation, ReturnOp):
                self.body.lines.append(f"del {', '.join(released)}")

    def _operation(self, operation: Operation) -> None:
        body, names = self.body, self.body.names
        if isinstance(operation, ReturnOp):
            body.lines.append(f"return {names.listed(tuple(operation.operands))}")
        elif isinstance(operation, scf.ForOp):
            self._loop(operation)
        elif isinstance(operation, scf.IfOp):
            self._branches(operation)
        elif isinstance(operation, scf.YieldOp):
            assert operation.parent is not None
            self._assign(self._targets[operation.parent], operation.operands)
        elif (function := number_function(operation)) is not None:
            inputs = ", ".join(names[value] for value in operation.operands)
            name = names.define(operation.results[0], "number")
            body.lines.append(f"{name} = operator.{function.__name__}({inputs})")
        elif (number := constant_number(operation)) is not None:
            names.alias(operation.results[0], str(number))
        elif any(result in self._constants for result in operation.results):
            for result in operation.results:
                body.constants[names.define(result, "plaintext")] = self._constants[result]
        elif operation in self._ends:
            self._region(self._ends[operation])
        elif operation in self._inner:
            pass
        elif _relabels(operation):
            names.alias(operation.results[0], names[operation.operands[0]])
        elif not body.write_core(operation):
            assert isinstance(operation, DeclaredOperation)
            self._call(operation)

    def _loop(self, loop: scf.ForOp) -> None:
        names, block = self.body.names, loop.body.block
        counter, *carried = block.args
        targets = [names.define(value, "carried") for value in carried]
        self._assign(targets, loop.iter_args)
        bounds = ", ".join(names[value] for value in (loop.lb, loop.ub, loop.step))
        self._indented(f"for {names.define(counter, 'round')} in range({bounds}):", block, targets)
        for result, name in zip(loop.results, targets, strict=True):
            names.alias(result, name)

    def _branches(self, branch: scf.IfOp) -> None:
        names = self.body.names
        targets = [names.define(result, "chosen") for result in branch.results]
        sides = ((f"if {names[branch.cond]}:", branch.true_region), ("else:", branch.false_region))
        for head, region in sides:
            for block in region.blocks:
                self._indented(head, block, targets)

    def _indented(self, head: str, block: Block, targets: list[str]) -> None:
        """Write a region behind its head; what it yields gets the names of the targets."""
        around, self.body.lines = self.body.lines, []
        self._targets[block] = targets
        self.block(block)
        inside, self.body.lines = self.body.lines, around
        self.body.lines += [head, *(f"    {line}" for line in inside or ["pass"])]

    def _assign(self, targets: list[str], sources: Iterable[SSAValue]) -> None:
        if targets:
            found = ", ".join(self.body.names[value] for value in sources)
            self.body.lines.append(f"{', '.join(targets)} = {found}")

    def _call(self, operation: DeclaredOperation) -> None:
        body, call = self.body, self._calls[operation]
        position = body.operation_count
        execute = body.names.fresh(f"execute_{position}")
        invocation = body.names.fresh(f"invocation_{position}")
        resources = body.names.fresh(f"resources_{position}")
        required = call.implementation.resource_requirements(call.invocation)
        self.bound[execute] = call.implementation.execute
        self.bound[invocation] = call.invocation
        self.bound[resources] = self._workspace.bind(required)
        inputs = [body.names[value] for value in call.operands]
        inputs += [body.material(symbol) for symbol in call.symbols]
        in_place = self._one_batch and self._may_write_over(operation, call)
        arguments = [invocation, tuple_text(inputs), resources, f"in_place={in_place}"]
        body.lines += call_lines(f"{body.results(operation)}, = {execute}", arguments)

    def _region(self, region: Region) -> None:
        end, body = region.operations[-1], self.body
        name = body.names.fresh(f"region_{body.operation_count}")
        self.bound[name] = region.call
        result = body.results(end)
        body.operation_count += len(region.operations) - 1
        arguments = [body.names[value] for value in region.operands]
        body.lines += call_lines(f"{result} = {name}", arguments)

    def _may_write_over(self, operation: DeclaredOperation, call: OperationCall) -> bool:
        """Say whether a result may take the place of the first operand, which nothing reads again.

        What crosses the border of a region goes on under another name.
        """
        first, *others = map(_origin, operation.operands)
        computed = isinstance(first.owner, DeclaredOperation) and first.owner.ENGINE is not None
        possible = operation.FACTS.in_place and call.implementation.supports_in_place
        ended = first in self._last_uses.get(operation, ()) and first not in self._crossing
        return possible and computed and ended and first not in others


def _last_uses(program: Program, regions: list[Region]) -> dict[Operation, list[SSAValue]]:
    """Return the values that nothing after an operation of their block reads.

    Casts only rename a value. What is read inside a region is read where its result is computed,
    and what a loop carries is its own to assign.
    """
    ends = {op: region.operations[-1] for region in regions for op in region.operations}
    order = {operation: index for index, operation in enumerate(program.operations)}
    last: dict[SSAValue, Operation] = {}
    for operation in program.operations:
        renames = isinstance(operation, CastOp) or _relabels(operation)
        if not renames and not any(map(is_constant, operation.results)):
            for value in map(_origin, operation.operands):
                reader = home(ends.get(operation, operation), value)
                last[value] = max(last.get(value, reader), reader, key=order.__getitem__)
    released: dict[Operation, list[SSAValue]] = {}
    inputs = {entry.value for entry in program.inputs}
    for value, operation in last.items():
        owner = value.owner
        computed = isinstance(owner, DeclaredOperation) and ends.get(owner, owner) is owner
        structured = isinstance(owner, scf.ForOp | scf.IfOp)
        if (computed and not is_constant(value)) or structured or value in inputs:
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
