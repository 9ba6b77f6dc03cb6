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
from fhelium.ir.dialects.ckks import CiphertextType
from fhelium.ir.dialects.codec import MessageType
from fhelium.ir.dialects.core import CastOp, ConstantOp, MaterialOp
from fhelium.ir.operation import DeclaredOperation
from fhelium.ir.program import Input, Program
from fhelium.ir.types import VALUE_AXES, StatefulType
from fhelium.values import (
    Ciphertext,
    CkksState,
    Plaintext,
    require_same_context,
    require_same_device,
)


class ProgramExecutable:
    """Run a linked Program.

    The function over tensors is prepared once. At each run the inputs are checked against their
    types, the states of the results are found by the operations' own rules from the states of the
    inputs (bounds included), and tensors and states are put together.

    Args:
        compilation: The linked compilation: its Program, its own workspace and bindings.
        host: The prepared function.
    """

    def __init__(self, compilation: Compilation, host: HostFunction) -> None:
        self._compilation = compilation
        self._host = host
        self._inputs = compilation.program.inputs
        self._outputs = compilation.program.outputs
        self._states: dict[tuple[CkksState, ...], tuple[CkksState, ...]] = {}

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
        return tuple(entry.name for entry in self._inputs)

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
        inputs = [
            _checked(entry, value, self._compilation)
            for entry, value in self._arguments(arguments, named)
        ]
        _require_one_batch(self.input_names, inputs)
        if inputs:
            self._require_device(inputs)
        states = self._output_states(tuple(self._state(value) for value in inputs))
        tensors = self._host.call(*(value.data for value in inputs))
        results = tuple(
            _public(output, tensor, state)
            for output, tensor, state in zip(self._outputs, tensors, states, strict=True)
        )
        return results[0] if len(results) == 1 else results

    __call__ = run

    def _arguments(
        self, arguments: tuple[Any, ...], named: dict[str, Any]
    ) -> list[tuple[Input, Any]]:
        given = dict(zip(self.input_names, arguments, strict=False))
        twice = sorted(given.keys() & named.keys())
        found = {**given, **named}
        if twice or len(arguments) > len(self._inputs) or found.keys() != set(self.input_names):
            shown = f"{len(arguments)} inputs in order and {sorted(named)} by name"
            raise ExecutionInputError(
                "run",
                f"given are {shown}, needed are {list(self.input_names)}",
                "A Program takes each of its inputs once",
                "Pass them in order or by name",
            )
        return [(entry, found[entry.name]) for entry in self._inputs]

    def _require_device(self, inputs: list[Any]) -> None:
        require_same_device("run", inputs)
        bound = next(iter(self._compilation.material_bindings.values()), None)
        if bound is not None and bound.device != inputs[0].data.device:
            raise ExecutionInputError(
                "run",
                f"the inputs are on {inputs[0].data.device}, the materials on {bound.device}",
                "Nothing is moved between devices unasked",
                "Move the inputs, or bind materials of their device and link again",
            )

    def _state(self, value: Any) -> CkksState:
        """Return what is known of an input; of a public vector it is a bound."""
        if isinstance(value, torch.Tensor):
            return message_state(value, self._compilation.workspace.config)
        return value.state

    def _output_states(self, states: tuple[CkksState, ...]) -> tuple[CkksState, ...]:
        found = self._states.get(states)
        if found is None:
            found = output_states(self._compilation, states)
            if len(self._states) >= 64:
                self._states = {}
            self._states[states] = found
        return found

    def __repr__(self) -> str:
        return f"ProgramExecutable({self._compilation.program!r})"


def output_states(compilation: Compilation, states: tuple[CkksState, ...]) -> tuple[CkksState, ...]:
    """Return the states of the outputs for complete states of the inputs.

    The operations on ciphertexts give them. Residues have no scale and no bounds, so a Program that
    was written as residues gives what its output types say.
    """
    program = compilation.state_program or compilation.program
    known: dict[SSAValue, CkksState] = {
        entry.value: state for entry, state in zip(program.inputs, states, strict=True)
    }
    named = {operation.symbol.data for operation in materials_of(program)}
    keys = [state for symbol, state in compilation.key_states.items() if symbol in named]
    changes_key = any(symbol.startswith("switching-key:") for symbol in named)
    if states and not changes_key:  # else the rules of its operations say whose keys may meet
        require_same_context("run", *states, *keys)
    config = compilation.workspace.config
    for operation in program.operations:
        if isinstance(operation, MaterialOp):
            found = compilation.key_states.get(operation.symbol.data)
            if found is not None:
                known[operation.result] = found
        elif isinstance(operation, ConstantOp):
            known[operation.result] = message_state(operation.numbers(), config)
        elif isinstance(operation, DeclaredOperation):
            groups = [_known(group, known, config) for group in operation.state_groups()]
            state = operation.transfer(*groups, **operation.python_attributes())
            known.update((result, _typed(result, state)) for result in operation.results)
        elif isinstance(operation, CastOp) and isinstance(operation.result.type, StatefulType):
            found = _known(operation.input, known, config)
            known[operation.result] = _typed(operation.result, found)
    return tuple(
        _complete(f"output {index}", value, known[value])
        for index, value in enumerate(program.outputs)
    )


def _known(group: Any, known: dict[SSAValue, CkksState], config: Any) -> Any:
    if isinstance(group, tuple):
        return [_known(value, known, config) for value in group]
    return known.get(group) or group.type.state(config)


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


def _checked(entry: Input, value: Any, compilation: Compilation) -> Any:
    """Return an input that is of the kind and in the state that its type names."""
    kind = entry.type
    if isinstance(kind, MessageType):
        return checked_message("run", entry.name, value, compilation.workspace.config)
    assert isinstance(kind, StatefulType)
    wanted = getattr(values, kind.VALUE_CLASS)
    if not isinstance(value, wanted):
        raise ExecutionInputError(
            "run",
            f"{entry.name} is a {type(value).__name__}, needed is a {wanted.__name__}",
            "An input is a value of the kind that its type stands for",
            f"Pass a {wanted.__name__}",
        )
    require_same_context("run", compilation_state(compilation), value.state)
    for axis, needed in kind.known.items():
        found = getattr(value.state, axis)
        if found != needed:
            raise ExecutionInputError(
                "run",
                f"{axis} of {entry.name} is {found}, the Program is made for {needed}",
                "An input is in the state that its type names",
                "Bring it there with the Engine, or compile for its state",
                axis=axis,
            )
    return value


def compilation_state(compilation: Compilation) -> CkksState:
    """Return a state that knows nothing but the parameters."""
    config = compilation.workspace.config
    return CkksState(config=config, insecure=config.insecure)


def _require_one_batch(names: tuple[str, ...], inputs: list[Any]) -> None:
    ciphertexts = [
        (name, value.batch_shape)
        for name, value in zip(names, inputs, strict=True)
        if isinstance(value, Ciphertext)
    ]
    for name, shape in ciphertexts[1:]:
        if shape != ciphertexts[0][1]:
            first, found = ciphertexts[0]
            raise ExecutionInputError(
                "run",
                f"the batch shape is {tuple(found)} for {first} and {tuple(shape)} for {name}",
                "The ciphertexts of one run share their batch axes",
                "Stack or index one of them",
            )


def _public(output: SSAValue, tensor: torch.Tensor, state: CkksState) -> Ciphertext | Plaintext:
    return (Ciphertext if isinstance(output.type, CiphertextType) else Plaintext)(tensor, state)
