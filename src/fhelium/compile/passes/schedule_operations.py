"""ScheduleOperationsPass."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue

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
        given = list(program.operations)
        greedy = _greedy(given, config)
        before, after = _peak(given, config), _peak(greedy, config)
        if after < before:
            for operation in greedy:
                operation.detach()
                program.block.add_op(operation)
        compilation.workspace[MemorySchedule] = MemorySchedule(min(before, after), after < before)


def peak_limbs(program: Program, config: CkksConfig) -> int:
    """Return the largest number of limbs that live at the same time."""
    return _peak(list(program.operations), config)


def _size(value: SSAValue, config: CkksConfig) -> int:
    """Return the limbs of a computed value; inputs are the caller's."""
    if not isinstance(value.owner, Operation) or not isinstance(value.type, StatefulType):
        return 0
    known = value.type.known
    return (len(config.q_primes) - known.get("depth", 0)) * known.get("components", 1)


def _peak(operations: list[Operation], config: CkksConfig) -> int:
    last = {value: op for op in operations for value in op.operands}
    live = peak = 0
    for operation in operations:
        live += sum(_size(result, config) for result in operation.results)
        peak = max(peak, live)
        ended = {value for value in operation.operands if last[value] is operation}
        live -= sum(_size(value, config) for value in ended)
    return peak


def _greedy(operations: list[Operation], config: CkksConfig) -> list[Operation]:
    """Return a legal order that takes, of what is ready, what lets go of most."""
    position = {operation: index for index, operation in enumerate(operations)}
    users: dict[SSAValue, set[Operation]] = {
        value: {use.operation for use in value.uses} for op in operations for value in op.results
    }
    done: set[Operation] = set()
    order: list[Operation] = []
    waiting = list(operations)

    def growth(operation: Operation) -> tuple[int, int]:
        ended = {v for v in operation.operands if v in users and users[v] - done == {operation}}
        made = sum(_size(result, config) for result in operation.results)
        return made - sum(_size(value, config) for value in ended), position[operation]

    while waiting:
        ready = [
            op
            for op in waiting
            if all(v.owner in done for v in op.operands if isinstance(v.owner, Operation))
        ]
        # The return comes last; constants and materials cost nothing and come first.
        chosen = min(ready, key=lambda op: (isinstance(op, ReturnOp), *growth(op)))
        waiting.remove(chosen)
        done.add(chosen)
        order.append(chosen)
    return order
