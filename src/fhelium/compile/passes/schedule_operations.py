"""ScheduleOperationsPass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from fhelium.compile.compilation import Compilation
from fhelium.compile.pipeline import CompilePass
from fhelium.config import CkksConfig
from fhelium.ir.program import Program
from fhelium.ir.types import StatefulType


@dataclass(frozen=True)
class MemorySchedule:
    """How much memory the values of a Program need at once, inputs and materials apart.

    Args:
        peak_limbs: Largest number of limbs, of N residues each, that live at the same time.
        order_changed: Whether the pass found a better order than the one it was given.

    Example:
        >>> from fhelium import compile as fc
        >>> given = fc.capture(
        ...     lambda x: x * x,
        ...     inputs={"x": fc.encrypted(polynomial_domain="ntt")},
        ...     workspace=captured.workspace,
        ... )
        >>> found = fc.default_lower_and_fuse_pipeline().run(given)
        >>> found.workspace[MemorySchedule].peak_limbs
        6
    """

    peak_limbs: int
    order_changed: bool


@dataclass(frozen=True)
class ScheduleOperationsPass(CompilePass):
    """Order operations so that values live briefly, and publish the peak as MemorySchedule.

    Of the operations that are ready the one is next that frees most and needs least; the order
    that was given stays where it is as good.

    Example:
        >>> from fhelium import compile as fc
        >>> given = fc.capture(
        ...     lambda x: x * x,
        ...     inputs={"x": fc.encrypted(polynomial_domain="ntt")},
        ...     workspace=captured.workspace,
        ... )
        >>> steps = (*fc.default_lower_and_fuse_pipeline().passes, ScheduleOperationsPass())
        >>> found = fc.Pipeline(steps).run(given)
        >>> found.workspace[fc.MemorySchedule].order_changed
        False
    """

    def run(self, compilation: Compilation) -> None:
        program, config = compilation.program, compilation.workspace.config
        before = peak_limbs(program, config)
        for block in (program.block, *_inner_blocks(program.block)):
            given = list(block.ops)
            greedy = _greedy(given, config)
            if _peak(greedy, config) < _peak(given, config):
                for operation in greedy:
                    operation.detach()
                    block.add_op(operation)
        after = peak_limbs(program, config)
        compilation.workspace[MemorySchedule] = MemorySchedule(after, after < before)


def peak_limbs(program: Program, config: CkksConfig) -> int:
    """Return the largest number of limbs that live at the same time."""
    return _peak(list(program.block.ops), config)


def _inner_blocks(block: Block) -> Iterator[Block]:
    for operation in block.ops:
        for region in operation.regions:
            for inner in region.blocks:
                yield inner
                yield from _inner_blocks(inner)


def _reads(operation: Operation) -> set[SSAValue]:
    """Return what an operation reads, in its regions as well."""
    return {value for inner in operation.walk() for value in inner.operands}


def _size(value: SSAValue, config: CkksConfig) -> int:
    """Return the limbs of a computed value; inputs are the caller's."""
    if not isinstance(value.owner, Operation) or not isinstance(value.type, StatefulType):
        return 0
    known = value.type.known
    return (len(config.q_primes) - known.get("depth", 0)) * known.get("components", 1)


def _peak(operations: list[Operation], config: CkksConfig) -> int:
    last = {value: op for op in operations for value in _reads(op)}
    made: set[SSAValue] = set()
    live = peak = 0
    for operation in operations:
        blocks = (block for region in operation.regions for block in region.blocks)
        inside = max((_peak(list(block.ops), config) for block in blocks), default=0)
        made.update(operation.results)
        live += sum(_size(result, config) for result in operation.results)
        peak = max(peak, live + inside)
        ended = {v for v in _reads(operation) if v in made and last[v] is operation}
        live -= sum(_size(value, config) for value in ended)
    return peak


def _greedy(operations: list[Operation], config: CkksConfig) -> list[Operation]:
    """Return a legal order that takes, of what is ready, what lets go of most."""
    position = {operation: index for index, operation in enumerate(operations)}
    reads = {operation: _reads(operation) for operation in operations}
    users: dict[SSAValue, set[Operation]] = {v: set() for op in operations for v in op.results}
    for operation in operations:
        for value in reads[operation] & users.keys():
            users[value].add(operation)
    done: set[Operation] = set()
    order: list[Operation] = []
    waiting = list(operations)

    def growth(operation: Operation) -> tuple[int, int]:
        ended = {v for v in reads[operation] & users.keys() if users[v] - done == {operation}}
        made = sum(_size(result, config) for result in operation.results)
        return made - sum(_size(value, config) for value in ended), position[operation]

    while waiting:
        ready = [op for op in waiting if all(v.owner in done for v in reads[op] & users.keys())]
        # The end comes last; constants and materials cost nothing and come first.
        chosen = min(ready, key=lambda op: (isinstance(op, ReturnOp | scf.YieldOp), *growth(op)))
        waiting.remove(chosen)
        done.add(chosen)
        order.append(chosen)
    return order
