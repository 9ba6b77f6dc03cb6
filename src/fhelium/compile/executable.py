"""ProgramExecutable: a linked Program that runs on public values."""

from __future__ import annotations

from typing import Any

import torch
from xdsl.ir import SSAValue

from fhelium import values
from fhelium.compile.compilation import Compilation
from fhelium.compile.host_function import HostFunction
from fhelium.compile.material_operands import materials_of
from fhelium.compile.messages import checked_message, message_state
from fhelium.errors import ExecutionError, ExecutionInputError
from fhelium.ir.control_flow import NUMBER_TYPES, executed, require_number
from fhelium.ir.dialects.codec import MessageType
from fhelium.ir.dialects.core import CastOp, ConstantOp, MaterialOp
from fhelium.ir.function import Input
from fhelium.ir.operation import DeclaredOperation
from fhelium.ir.program import Program
from fhelium.ir.types import VALUE_AXES, StatefulType, ValueType
from fhelium.values import (
    Ciphertext,
    CkksState,
    Plaintext,
    require_same_context,
    require_same_device,
)

_NUMBERS = frozenset(NUMBER_TYPES.values())
_BATCH = {Ciphertext: slice(1, -2), Plaintext: slice(0, -2), torch.Tensor: slice(0, -1)}
"""Where the batch axes of each kind of input are."""


class ProgramExecutable:
    """Run a linked Program.

    The function over tensors is prepared once. At each run the inputs are checked against their
    types, the states of the results are found by the operations' own rules from the states of the
    inputs (bounds included), and tensors and states are put together.

    Args:
        compilation: The linked compilation: its Program, its own workspace and bindings.
        host: The prepared function.

    Example:
        >>> from fhelium import compile as fc
        >>> from fhelium.backend import OperationBackend
        >>> from fhelium.backend.ckks import CkksDeviceResources
        >>> found = fc.default_lower_and_fuse_pipeline().run(captured)
        >>> tables = CkksDeviceResources(config=engine.config)
        >>> fc.prepare_material_bindings(found, resources=tables, keys=[engine.keys])
        ()
        >>> executable = OperationBackend().link(found)
        >>> by_engine = engine.add(engine.rotate_by_step(x, 3), y)
        >>> torch.equal(executable.run(x, y=y).data, by_engine.data)
        True
        >>> executable.source.splitlines()[0]
        'def host_function(x, y):'
    """

    def __init__(self, compilation: Compilation, host: HostFunction) -> None:
        self._compilation = compilation
        self._host = host
        self._inputs = compilation.program.inputs
        self._names = tuple(entry.name for entry in self._inputs)
        self._kinds = tuple(_class_of(entry.value) for entry in self._inputs)
        self._outputs = tuple(_class_of(value) for value in compilation.program.outputs)
        bound = next(iter(compilation.material_bindings.values()), None)
        self._device = None if bound is None else bound.device
        # What is checked of states, and what follows from them, is the same at every run.
        self._states: dict[tuple[Any, ...], tuple[CkksState, ...]] = {}

    @property
    def program(self) -> Program:
        """Return a copy of the linked Program."""
        return self._compilation.program.clone()

    @property
    def workspace(self) -> Any:
        """Return the workspace of the linking passes; it holds the ProgramDispatchTable."""
        return self._compilation.workspace

    @property
    def input_names(self) -> tuple[str, ...]:
        """Return the names of the inputs."""
        return self._names

    @property
    def source(self) -> str:
        """Return the text of the prepared function."""
        return self._host.source

    def run(self, *arguments: Any, **named: Any) -> Any:
        """Compute on public values.

        Args:
            *arguments: Inputs in order.
            **named: Inputs by name.

        Returns:
            The one output, or a tuple of them.

        Raises:
            ExecutionInputError: An input is missing, of another kind, or not in the state that its
                type names.
            StateError: Inputs and keys do not fit one another, as in a call of an Engine.
            ExecutionError: The state of an output is not known completely; the text names it.
        """
        if named or len(arguments) != len(self._names):
            arguments = self._in_order(arguments, named)
        inputs = [
            value if type(value) is kind else self._converted(entry, value)
            for entry, kind, value in zip(self._inputs, self._kinds, arguments, strict=True)
        ]
        states = tuple([self._state(value) for value in inputs])
        found = self._states.get(states)
        if found is None:
            found = self._first_states(states)
        inputs = _in_one_batch(self._names, inputs)
        self._require_device([value for value in inputs if type(value) not in _NUMBERS])
        tensors = self._host.call(*[getattr(value, "data", value) for value in inputs])
        results = tuple(
            [
                kind(data, state)
                for kind, data, state in zip(self._outputs, tensors, found, strict=True)
            ]
        )
        return results[0] if len(results) == 1 else results

    __call__ = run

    def _in_order(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        given = dict(zip(self._names, arguments, strict=False))
        twice = sorted(given.keys() & named.keys())
        found = {**given, **named}
        if twice or len(arguments) > len(self._names) or found.keys() != set(self._names):
            shown = f"{len(arguments)} inputs in order and {sorted(named)} by name"
            raise ExecutionInputError(
                "run",
                f"given are {shown}, needed are {list(self._names)}",
                "A Program takes each of its inputs once",
                "Pass them in order or by name",
            )
        return tuple(found[name] for name in self._names)

    def _converted(self, entry: Input, value: Any) -> Any:
        """Return a public vector in the form of a run, or refuse what is of another kind."""
        if entry.type in NUMBER_TYPES:
            require_number("run", entry.name, entry.type, value)
        if isinstance(entry.type, MessageType):
            return checked_message("run", entry.name, value, self._compilation.workspace.config)
        wanted = _class_of(entry.value)
        if not isinstance(value, wanted):
            raise ExecutionInputError(
                "run",
                f"{entry.name} is a {type(value).__name__}, needed is a {wanted.__name__}",
                "An input is a value of the kind that its type stands for",
                f"Pass a {wanted.__name__}",
            )
        return value

    def _require_device(self, inputs: list[Any]) -> None:
        devices = {value.data.device for value in inputs}
        if len(devices) > 1:
            require_same_device("run", inputs)
        if devices and self._device is not None and self._device not in devices:
            raise ExecutionInputError(
                "run",
                f"the inputs are on {next(iter(devices))}, the materials on {self._device}",
                "Nothing is moved between devices unasked",
                "Move the inputs, or bind materials of their device and link again",
            )

    def _state(self, value: Any) -> Any:
        """Return what is known of an input; of a public vector it is a bound."""
        if type(value) in _NUMBERS:
            return value
        if isinstance(value, torch.Tensor):
            return message_state(value, self._compilation.workspace.config)
        return value.state

    def _first_states(self, states: tuple[Any, ...]) -> tuple[CkksState, ...]:
        """Check states and numbers that no run had before, and find the states of the outputs."""
        for entry, state in zip(self._inputs, states, strict=True):
            _require_state(entry, state, self._compilation)
        found = output_states(self._compilation, states)
        if len(self._states) >= 64:
            self._states = {}
        self._states[states] = found
        return found

    def __repr__(self) -> str:
        return f"ProgramExecutable({self._compilation.program!r})"


def output_states(compilation: Compilation, states: tuple[Any, ...]) -> tuple[CkksState, ...]:
    """Return the states of the outputs for complete states, and public numbers, of the inputs.

    The operations on ciphertexts give them. Residues have no scale and no bounds, so a Program that
    was written as residues gives what its output types say.
    """
    program = compilation.state_program or compilation.program
    known: dict[SSAValue, Any] = {
        entry.value: state for entry, state in zip(program.inputs, states, strict=True)
    }
    named = {operation.symbol.data for operation in materials_of(program)}
    keys = [state for symbol, state in compilation.key_states.items() if symbol in named]
    changes_key = any(symbol.startswith("switching-key:") for symbol in named)
    given = [state for state in states if isinstance(state, CkksState)]
    if given and not changes_key:  # else the rules of its operations say whose keys may meet
        require_same_context("run", *given, *keys)
    config = compilation.workspace.config
    for _, operation in executed(program, known):
        if isinstance(operation, MaterialOp):
            found = compilation.key_states.get(operation.symbol.data)
            if found is not None:
                known[operation.result] = found
        elif isinstance(operation, ConstantOp):
            known[operation.result] = message_state(operation.numbers(), config)
        elif isinstance(operation, DeclaredOperation):
            given = operation.operand_states(config, lambda value: _known(value, known, config))
            state = operation.transfer(*given, **operation.python_attributes())
            known.update((result, _typed(result, state)) for result in operation.results)
        elif isinstance(operation, CastOp) and isinstance(operation.result.type, StatefulType):
            found = _known(operation.input, known, config)
            known[operation.result] = _typed(operation.result, found)
    return tuple(
        _complete(f"output {index}", value, known[value])
        for index, value in enumerate(program.outputs)
    )


def _known(value: Any, known: dict[SSAValue, CkksState], config: Any) -> CkksState:
    return known.get(value) or value.type.state(config)


def _typed(value: SSAValue, state: CkksState) -> CkksState:
    """Fill in from a value's type what its operation does not know, and drop what it has not.

    Residues have no scale, and their operations no rule for bounds.
    """
    assert isinstance(value.type, StatefulType)
    if "scale" not in value.type.AXES:
        state = state.replace(scale=None, noise_bound=None, message_bound=None)
    missing = {
        axis: found
        for axis, found in value.type.known.items()
        if axis in VALUE_AXES and getattr(state, axis) is None
    }
    return state.replace(**missing) if missing else state


def _complete(name: str, value: SSAValue, state: CkksState) -> CkksState:
    assert isinstance(value.type, StatefulType)
    unknown = [axis for axis in value.type.AXES if getattr(state, axis) is None]
    if unknown:
        raise ExecutionError(
            "run",
            f"the {unknown[0]} of {name} is not known",
            "A public value knows how its residues are to be read",
            f"Name in the output's type: {', '.join(unknown)}",
            output=name,
        )
    return state


def _require_state(entry: Input, state: Any, compilation: Compilation) -> None:
    """Refuse an input that is not in the state that its type names."""
    if entry.type in NUMBER_TYPES:
        require_number("run", entry.name, entry.type, state)
    if not isinstance(entry.type, StatefulType):
        return
    require_same_context("run", compilation_state(compilation), state)
    for axis, needed in entry.type.known.items():
        found = getattr(state, axis)
        if found != needed:
            raise ExecutionInputError(
                "run",
                f"{axis} of {entry.name} is {found}, the Program is made for {needed}",
                "An input is in the state that its type names",
                "Bring it there with the Engine, or compile for its state",
                axis=axis,
            )


def compilation_state(compilation: Compilation) -> CkksState:
    """Return a state that knows nothing but the parameters."""
    config = compilation.workspace.config
    return CkksState(config=config, insecure=config.insecure)


def _in_one_batch(names: tuple[str, ...], inputs: list[Any]) -> list[Any]:
    """Repeat ciphertexts over the batch axes that others have, as torch broadcasts."""
    if len(inputs) < 2:
        return inputs
    shapes = [value.data.shape[_BATCH[type(value)]] for value in inputs if type(value) in _BATCH]
    if all(shape == shapes[0] for shape in shapes):
        return inputs
    try:
        batch = torch.broadcast_shapes(*shapes)
    except RuntimeError as error:
        known = [n for n, value in zip(names, inputs, strict=True) if type(value) in _BATCH]
        shown = (f"{tuple(shape)} for {n}" for n, shape in zip(known, shapes, strict=True))
        raise ExecutionInputError(
            "run",
            f"the batch shape is {', '.join(shown)}",
            "Batch axes broadcast: each is the same in all inputs, or 1",
            "Stack or index some of them",
        ) from error
    return [_repeated(value, batch) if isinstance(value, Ciphertext) else value for value in inputs]


def _repeated(value: Ciphertext, batch: torch.Size) -> Ciphertext:
    data = value.data
    if data.shape[1:-2] == batch:
        return value
    missing = (1,) * (len(batch) - (data.ndim - 3))
    aligned = data.reshape(data.shape[:1] + missing + data.shape[1:])
    whole = aligned.expand(data.shape[:1] + batch + data.shape[-2:]).contiguous()
    return Ciphertext(whole, value.state)


def _class_of(value: SSAValue) -> Any:
    """Return the class that carries a value: one of ``fhelium.values``, or int or bool."""
    if value.type in NUMBER_TYPES:
        return NUMBER_TYPES[value.type]
    assert isinstance(value.type, ValueType)
    return getattr(values, value.type.VALUE_CLASS, None)
