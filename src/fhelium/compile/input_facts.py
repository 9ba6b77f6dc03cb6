"""What a compiled function is specialised to: facts of its inputs, and static values."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from operator import attrgetter
from typing import Any

import numpy as np
import torch

from fhelium.compile.specs import InputSpec, StaticSpec, condition, count, static
from fhelium.config import CkksConfig
from fhelium.errors import CompileInputError
from fhelium.ir.program import Program
from fhelium.ir.types import VALUE_AXES, StatefulType
from fhelium.values import Ciphertext, Plaintext

_AXES = attrgetter(*VALUE_AXES)
_STATED = {Ciphertext: "encrypted", Plaintext: "plaintext"}
_ROLES = {**_STATED, torch.Tensor: "message"}


def spec_of(name: str, value: Any, given: InputSpec | StaticSpec | None) -> InputSpec | StaticSpec:
    """Return the spec of a value: its own facts, and what the caller said besides.

    Args:
        name: The parameter.
        value: A ciphertext, plaintext, public tensor, spec, or static argument.
        given: What is said of the parameter.

    Raises:
        CompileInputError: The value is another than what is said.
    """
    if isinstance(value, InputSpec | StaticSpec):
        return value
    if isinstance(given, InputSpec) and given.is_number:
        return given  # a run checks it
    role = next((role for kind, role in _ROLES.items() if isinstance(value, kind)), None)
    if isinstance(given, StaticSpec) or (given is None and role is None):
        return static(value)
    spec = InputSpec(role or "") if given is None else given
    if role != spec.role:
        raise _other(name, "kind", role or type(value).__name__, spec.role)
    stated = role in _STATED.values()
    facts = {axis: getattr(value.state, axis) for axis in VALUE_AXES} if stated else {}
    for axis, said in spec.axes.items():
        if said is not None and facts.get(axis, said) != said:
            raise _other(name, axis, facts[axis], said)
    return InputSpec(spec.role, {**spec.axes, **facts})


def _other(name: str, fact: str, found: object, said: object) -> CompileInputError:
    return CompileInputError(
        "compile",
        f"the {fact.replace('_', ' ')} of {name!r} is {found}, its spec says {said}",
        "A value is what its spec says",
        "Pass such a value, or correct the spec",
    )


def call_key(arguments: Sequence[Any], numbers: Set[int]) -> Hashable | None:
    """Return what two calls share that one executable serves; None where a static has no hash.

    Args:
        arguments: In the order of the parameters.
        numbers: Positions of public numbers, whose value is known at each run alone.
    """
    parts: list[Any] = []
    for position, value in enumerate(arguments):
        kind = type(value)
        if kind in _STATED:
            state = value.state
            parts += (kind, value.data.device, state.config.context_id, _AXES(state))
        else:
            runs = isinstance(value, torch.Tensor) or position in numbers
            parts += (kind, None if runs else value)
    key = tuple(parts)
    try:
        hash(key)
    except TypeError:
        return None
    return key


def completed(spec: InputSpec | StaticSpec, config: CkksConfig) -> InputSpec | StaticSpec:
    """Return the spec of a ciphertext with what it is unless something else is said of it."""
    if not isinstance(spec, InputSpec) or spec.role != "encrypted":
        return spec
    said = {axis: value for axis, value in spec.axes.items() if value is not None}
    usual: dict[str, Any] = {"residue_representation": "standard"}
    if "depth" in said:
        usual["scale"] = config.scale_at(said["depth"])
    return InputSpec(spec.role, {**usual, **said})


def spec_key(name: str, spec: InputSpec | StaticSpec) -> Hashable:
    """Return what two inputs share that one Program serves.

    Raises:
        CompileInputError: A static argument is not hashable.
    """
    if isinstance(spec, InputSpec):
        return (spec.role, *sorted((k, v) for k, v in spec.axes.items() if v is not None))
    try:
        hash(spec.value)
    except TypeError:
        if isinstance(spec.value, np.ndarray):
            raise CompileInputError(
                "compile",
                f"{name!r} is a NumPy array",
                "Public vectors are passed as tensors",
                f"Pass torch.from_numpy({name})",
            ) from None
        raise CompileInputError(
            "compile",
            f"the static argument {name!r} is a {type(spec.value).__name__}, which has no hash",
            "A Program is kept for each value of its static arguments",
            "Pass a tuple, a number or a string, or close over the value",
        ) from None
    return ("static", type(spec.value), spec.value)


def program_for(program: Program, specs: Mapping[str, Any]) -> Program:
    """Return a copy of a Program whose inputs know what the specs know."""
    found = program.clone()
    for entry in found.inputs:
        spec = specs[entry.name]
        if isinstance(entry.type, StatefulType) and isinstance(spec, InputSpec):
            facts = {axis: spec.axes.get(axis) for axis in entry.type.AXES}
            facts["role"] = spec.role
            known = {axis: value for axis, value in facts.items() if value is not None}
            found.retype(entry.value, entry.type.of(**{**known, **entry.type.known}))
    found.update_signature()
    return found


def number_specs(program: Program) -> dict[str, InputSpec]:
    """Return the specs of the inputs of a Program that are public numbers."""
    roles = {spec.type(): spec for spec in (count(), condition())}
    return {entry.name: roles[entry.type] for entry in program.inputs if entry.type in roles}
