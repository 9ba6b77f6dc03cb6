"""What a Program costs, before any key exists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Operation, SSAValue

from fhelium.backend import builtin_registry
from fhelium.compile.call_costs import CallCost, CallCosts
from fhelium.compile.compilation import Compilation
from fhelium.compile.example_calls import ExampleCall
from fhelium.compile.machine_profile import MachineProfile
from fhelium.compile.materials import EvaluationKeyRequirements
from fhelium.compile.passes.fuse_regions import region_ends
from fhelium.compile.states import operand_states
from fhelium.config import CkksConfig
from fhelium.errors import CompileError, ContextMismatchError
from fhelium.ir.control_flow import NUMBER_TYPES, executed, require_number
from fhelium.ir.dialects.ckks import CKKS, NegateOp
from fhelium.ir.operation import DeclaredOperation
from fhelium.ir.program import Program
from fhelium.ir.types import StatefulType
from fhelium.text import size_text


@dataclass(frozen=True)
class OperationCost:
    """What one operation of a Program costs.

    Args:
        index: Its place in the Program.
        name: Its name in the IR.
        depth: Depth of its operands.
        cost: Transforms, key switches and bytes.
        ms: Predicted milliseconds; None without a profile.

    Example:
        >>> from fhelium import compile as fc
        >>> given = fc.capture(
        ...     lambda x: x * x,
        ...     inputs={"x": fc.encrypted(polynomial_domain="ntt")},
        ...     workspace=captured.workspace,
        ... )
        >>> cost = fc.default_lower_and_fuse_pipeline().run(given).cost()
        >>> cost.operations[0].name, cost.operations[0].depth
        ('ckks.multiply_rescale', 0)
    """

    index: int
    name: str
    depth: int
    cost: CallCost
    ms: float | None


@dataclass(frozen=True)
class ProgramCost:
    """What a Program costs in all, and what it needs. Its text is a table.

    Args:
        operations: One entry for each call of an operation on ciphertexts, in order.
        depth: Largest depth that a value reaches.
        max_depth: Largest depth of the parameters.
        keys: Evaluation keys that a client has to make.
        key_nbytes: Bytes of these keys in memory.

    Example:
        >>> from fhelium import compile as fc
        >>> given = fc.capture(
        ...     lambda x: x * x,
        ...     inputs={"x": fc.encrypted(polynomial_domain="ntt")},
        ...     workspace=captured.workspace,
        ... )
        >>> cost = fc.default_lower_and_fuse_pipeline().run(given).cost()
        >>> cost.depth, cost.max_depth, cost.keys.needs_relinearization
        (1, 3, True)
    """

    operations: tuple[OperationCost, ...]
    depth: int
    max_depth: int
    keys: EvaluationKeyRequirements
    key_nbytes: int

    @property
    def total(self) -> CallCost:
        """Return the sum over all operations."""
        return sum((entry.cost for entry in self.operations), CallCost())

    @property
    def ms(self) -> float | None:
        """Return the predicted milliseconds of one run; None without a profile of everything."""
        return _total_ms(self.operations)

    def __str__(self) -> str:
        head = f"{'operation':28}{'calls':>6}{'NTTs':>7}{'switches':>10}{'moved':>12}{'ms':>10}"
        names = dict.fromkeys(entry.name for entry in self.operations)
        rows = [
            _row(name, [entry for entry in self.operations if entry.name == name]) for name in names
        ]
        keys = [f"rotations {', '.join(map(str, self.keys.steps))}"] if self.keys.steps else []
        keys += ["relinearization"] if self.keys.needs_relinearization else []
        keys += ["conjugation"] if self.keys.needs_conjugation else []
        keys += [f"from {key_id}" for key_id in self.keys.source_key_ids]
        return "\n".join(
            [
                head,
                *rows,
                _row("all", self.operations),
                f"depth {self.depth} of {self.max_depth}; keys: {'; '.join(keys) or 'none'} "
                f"({size_text(self.key_nbytes)})",
            ]
        )


def _total_ms(entries: Iterable[OperationCost]) -> float | None:
    total = 0.0
    for entry in entries:
        if entry.ms is None:
            return None
        total += entry.ms
    return total


def _row(name: str, entries: Iterable[OperationCost]) -> str:
    found = list(entries)
    cost, ms = sum((entry.cost for entry in found), CallCost()), _total_ms(found)
    return (
        f"{name:28}{len(found):>6}{cost.transforms:>7}{cost.key_switches:>10}"
        f"{size_text(cost.nbytes):>12}{'-' if ms is None else f'{ms:.2f}':>10}"
    )


def program_cost(
    compilation: Compilation, profile: MachineProfile | None, inputs: Mapping[str, Any]
) -> ProgramCost:
    """Count what a compilation costs; ``Compilation.cost`` says how."""
    program = compilation.state_program or compilation.program
    config = compilation.workspace.config
    if profile is not None and profile.context_id != config.context_id:
        raise ContextMismatchError(
            "cost",
            f"the profile belongs to context {profile.context_id}, the Program to "
            f"{config.context_id}",
            "Times are those of one parameter set",
            "Make a profile of the Program's parameters with `fhelium profile`",
            contexts=(profile.context_id, config.context_id),
        )
    numbers: dict[SSAValue, Any] = {}
    for entry in program.inputs:
        if entry.type in NUMBER_TYPES:
            require_number("cost", entry.name, entry.type, inputs.get(entry.name))
            numbers[entry.value] = inputs[entry.name]
    run = [
        (index, operation, _example(index, operation, config))
        for index, operation in executed(program, numbers)
        if isinstance(operation, DeclaredOperation) and type(operation) in CKKS.operations
    ]
    times = _times(program, {operation: call for _, operation, call in run}, profile, config)
    costs, entries, depth = CallCosts(config), [], 0
    for index, operation, call in run:
        at = call.state.depth or 0
        entries.append(OperationCost(index, operation.name, at, costs.of(call), times[operation]))
        depth = max(depth, *(_depth(result.type, config) for result in operation.results))
    if not entries:
        raise CompileError(
            "cost",
            f"@{program.name} has no operation on ciphertexts",
            "Counted are operations of the ckks dialect",
            "Lower it first, with LowerSemanticToLogicalPass and LowerLogicalToCkksPass",
        )
    keys = EvaluationKeyRequirements.of(program)
    count = len(keys.steps) + keys.needs_relinearization + keys.needs_conjugation
    nbytes = (count + len(keys.source_key_ids)) * config.switching_key_nbytes()
    return ProgramCost(tuple(entries), depth, config.max_depth, keys, nbytes)


def _times(
    program: Program,
    calls: Mapping[Operation, ExampleCall],
    profile: MachineProfile | None,
    config: CkksConfig,
) -> dict[Operation, float | None]:
    """Return the milliseconds of each operation.

    In a fused region only what comes in and the result pass through memory, and a negation says
    what a component takes that does: two are read by one, and two are written.
    """
    if profile is None:
        return dict.fromkeys(calls)
    times = {op: profile.predict(op.name, *_place(call), call.count) for op, call in calls.items()}
    fused = profile.device == "cpu"  # as linking fuses
    ends = region_ends(program, config, builtin_registry()) if fused else {}
    for end in dict.fromkeys(ends.values()):
        if end not in times:
            continue  # in a branch that is not taken
        members = [operation for operation in ends if ends[operation] is end]
        negation = profile.predict(NegateOp.name, *_place(calls[end])) or 0.0
        for operation in members:
            own = _components([*operation.operands, *operation.results])
            times[operation] = _spared(times[operation], own * negation / 4)
        read = {v for op in members for v in op.operands if v.owner not in members}
        times[end] = _spared(times[end], -_components([*read, *end.results]) * negation / 4)
    return times


def _spared(ms: float | None, spared: float) -> float | None:
    return None if ms is None else max(0.0, ms - spared)


def _place(call: ExampleCall) -> tuple[str, int]:
    domain, depth = call.state.polynomial_domain, call.state.depth
    assert domain is not None
    assert depth is not None
    return domain, depth


def _components(values: Iterable[SSAValue]) -> int:
    """Return how many components ciphertexts and plaintexts have together."""
    kinds = [value.type for value in values if isinstance(value.type, StatefulType)]
    return sum(kind.known.get("components", 1) for kind in kinds)


def _depth(kind: object, config: CkksConfig) -> int:
    return kind.state(config).depth or 0  # type: ignore[attr-defined]


def _example(index: int, operation: DeclaredOperation, config: CkksConfig) -> ExampleCall:
    """Return the call that an operation stands for."""
    states = operand_states(operation, config)
    listed = tuple(tuple(group) if isinstance(group, list) else group for group in states)
    call = ExampleCall(type(operation), listed, tuple(operation.python_attributes().items()))
    for axis in ("depth", "polynomial_domain", "components", "scale"):
        if getattr(call.state, axis) is None:
            raise CompileError(
                f"operation {index} ({operation.name})",
                f"the {axis} of its operand is not known",
                "A cost is that of one depth and domain",
                "Name it in the input's spec, or run AssignCkksDepthsPass and "
                "AssignCkksScalesPass first",
                index=index,
                name=operation.name,
            )
    return call
