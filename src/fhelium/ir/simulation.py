"""Simulation: what a Program computes, on clear vectors, with the errors of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue

from fhelium.config import CkksConfig
from fhelium.errors import MessageValueError, ProgramError
from fhelium.ir import noise
from fhelium.ir.control_flow import NUMBER_TYPES, executed, require_number
from fhelium.ir.dialects.ckks import CKKS, CiphertextType, PlaintextType
from fhelium.ir.dialects.codec import CODEC, MessageType
from fhelium.ir.dialects.core import CastOp, ConstantOp, MaterialOp
from fhelium.ir.dialects.semantic import MeaningfulOperation
from fhelium.ir.function import FunctionModule
from fhelium.ir.operation import DeclaredOperation
from fhelium.ir.rules import covering_power
from fhelium.ir.types import StatefulType, ValueType
from fhelium.values import CkksState

_SIMULATED = frozenset((*CKKS.operations, *CODEC.operations))


@dataclass(frozen=True)
class SimulatedValue:
    """What an output would hold, and how far off a run would be.

    Args:
        value: The exact slots, [*batch, slot], complex128.
        error_rms: Root mean square over all slots of the error that a run shows before decryption
            adds any; 0 where nothing is encrypted.
        error_bound: Largest error that a slot of any such message can have; None above ckks.
        state: Depth, scale and bounds of the output; None above ckks.
    """

    value: torch.Tensor
    error_rms: float
    error_bound: float | None
    state: CkksState | None

    @property
    def bits(self) -> float:
        """Return the predicted precision, -log2 of ``error_rms``."""
        return -math.log2(self.error_rms) if self.error_rms > 0 else math.inf

    @property
    def guaranteed_bits(self) -> float | None:
        """Return the precision that holds for every message, -log2 of ``error_bound``."""
        return None if self.state is None else self.state.bits_left()

    def __repr__(self) -> str:
        known = "" if self.state is None else f", {self.guaranteed_bits:.1f} guaranteed"
        return f"SimulatedValue({tuple(self.value.shape)}, {self.bits:.1f} bits{known})"


@dataclass(eq=False)
class _Track:
    """One value on its way: exact slots, the same with errors, and the state."""

    exact: torch.Tensor
    noisy: torch.Tensor
    state: CkksState | None


class _Simulator:
    """Hold what is known of the values of one Program."""

    def __init__(
        self,
        program: FunctionModule,
        inputs: Mapping[str, Any],
        config: CkksConfig | None,
        message_bound: float,
    ) -> None:
        self.program, self.inputs, self.config = program, inputs, config
        self.message_bound = message_bound
        self.random = torch.Generator().manual_seed(0)
        self.tracks: dict[SSAValue, Any] = {}  # and public numbers
        self.made: dict[Any, list[_Track]] = {}

    def run(self) -> tuple[SimulatedValue, ...]:
        for entry in self.program.inputs:
            if entry.type in NUMBER_TYPES:
                number = _given(entry.name, self.inputs)
                require_number("simulate", entry.name, entry.type, number)
                self.tracks[entry.value] = number
            else:
                self.tracks[entry.value] = self._entered(entry.name, entry.value)
        for index, operation in executed(self.program, self.tracks):
            self._step(index, operation)
        return tuple(_simulated(self.tracks[value]) for value in self.program.outputs)

    def _step(self, index: int, operation: Operation) -> None:
        if isinstance(operation, MaterialOp):
            if isinstance(operation.result.type, PlaintextType):
                found = self._entered(operation.symbol.data, operation.result)
                self.tracks[operation.result] = found
        elif isinstance(operation, ConstantOp):
            slots = operation.numbers().to(torch.complex128)
            self.tracks[operation.result] = self._public(operation.result, slots)
        elif isinstance(operation, CastOp):
            if operation.input in self.tracks:
                self.tracks[operation.result] = self.tracks[operation.input]
        elif isinstance(operation, DeclaredOperation) and type(operation) in _SIMULATED:
            self._call(operation)
        elif isinstance(operation, MeaningfulOperation):
            tracks = [self.tracks[value] for value in operation.operands]
            options = operation.python_attributes()
            exact = operation.reference(*(track.exact for track in tracks), **options)
            self.tracks[operation.results[0]] = _Track(exact, exact, None)
        elif not isinstance(operation, ReturnOp):
            raise ProgramError(
                "simulate",
                f"operation {index} ({operation.name}) has no meaning on clear vectors",
                "Simulated are vectors, and ciphertexts before they are lowered to residues",
                "Simulate the Program that was lowered",
                index=index,
                name=operation.name,
            )

    def _call(self, operation: DeclaredOperation) -> None:
        """Compute a ckks operation exactly, and with errors."""
        tracks = [self.tracks[value] for value in operation.operands if value in self.tracks]
        # The same call twice rounds the same way twice: the difference of both is zero.
        options = operation.python_attributes()
        call = (type(operation), tuple(tracks), tuple(options.items()))
        if call not in self.made:
            self.made[call] = self._computed(operation, tracks, options)
        self.tracks.update(zip(operation.results, self.made[call], strict=True))

    def _computed(
        self, operation: DeclaredOperation, tracks: list[_Track], options: dict[str, Any]
    ) -> list[_Track]:
        config = self._required_config(operation.name)
        states = operation.operand_states(config, self._state)
        state = operation.transfer(*states, **options)
        written = {**options, **operation.written_attributes(*states, **options)}
        exact = operation.reference(*(track.exact for track in tracks), **{**written, **options})
        noisy = operation.reference(*(track.noisy for track in tracks), **written)
        error = operation.added_error(*states, **options)
        return [
            _Track(without, self._disturbed(disturbed, error), state)
            for without, disturbed in zip(_listed(exact), _listed(noisy), strict=True)
        ]

    def _state(self, value: SSAValue) -> CkksState:
        if value in self.tracks:
            return self.tracks[value].state
        assert isinstance(value.type, ValueType)  # a key's
        return value.type.state(self._required_config("a key"))

    def _entered(self, name: str, value: SSAValue) -> _Track:
        """Give an input or an encoded material as it comes: encrypted or encoded, with its error.

        What its type leaves open is as ``encrypt_message`` and ``encode`` have it.
        """
        kind = value.type
        slots = _slots(name, self.inputs, self._slot_count(kind))
        if not isinstance(kind, CiphertextType | PlaintextType):
            return self._public(value, slots)
        config = self._required_config(name)
        state = kind.state(config)
        depth = state.depth or 0
        scale = config.scale_at(depth) if state.scale is None else state.scale
        encrypted = isinstance(kind, CiphertextType)
        bound = self.message_bound if encrypted else covering_power(float(slots.abs().max()))
        error = noise.encoding(config, scale, bound)
        if encrypted:
            _require_within(name, slots, bound)
            error += noise.public_key_encryption(config, scale)
        state = state.replace(
            depth=depth,
            scale=scale,
            components=state.components or (2 if encrypted else 1),
            modulus_basis=state.modulus_basis or "Q",
            residue_representation=state.residue_representation
            or ("standard" if encrypted else None),
            noise_bound=error.bound,
            message_bound=bound,
        )
        return _Track(slots, self._disturbed(slots, error), state.check_bounds("simulate"))

    def _public(self, value: SSAValue, slots: torch.Tensor) -> _Track:
        """Give a vector that is not encoded; operations on ciphertexts ask for its bound."""
        filled, state = self._repeated(slots), None
        if isinstance(value.type, MessageType):
            state = CkksState(
                config=self._required_config("a public vector"),
                message_bound=covering_power(float(slots.abs().max())),
            )
        return _Track(filled, filled, state)

    def _slot_count(self, kind: Any) -> int | None:
        if isinstance(kind, MessageType):
            return None
        if isinstance(kind, StatefulType) and "slots" in kind.AXES:
            return kind.known.get("slots")
        return None if self.config is None else self.config.num_slots

    def _repeated(self, slots: torch.Tensor) -> torch.Tensor:
        """Repeat a period until all slots are full, where it is known how many there are."""
        count = slots.shape[-1] if self.config is None else self.config.num_slots
        times, rest = divmod(count, slots.shape[-1])
        if rest:
            raise MessageValueError(
                "simulate",
                f"a vector has {slots.shape[-1]} values, the number of slots is {count}",
                "A public vector repeats until all slots are full",
                "Pad its last axis to a power of two",
            )
        return slots.repeat(*[1] * (slots.dim() - 1), times)

    def _required_config(self, name: str) -> CkksConfig:
        if self.config is None:
            raise ProgramError(
                "simulate",
                f"{name} is a ciphertext or encoded, and no parameters are given",
                "Its error is a function of the parameters",
                "Pass config=, or call Compilation.simulate",
            )
        return self.config

    def _disturbed(self, slots: torch.Tensor, error: noise.Error) -> torch.Tensor:
        if error.rms == 0:
            return slots
        drawn = torch.randn(slots.shape, dtype=slots.dtype, generator=self.random)
        return slots + error.rms * drawn


def simulate(
    program: FunctionModule,
    inputs: Mapping[str, Any],
    config: CkksConfig | None,
    message_bound: float,
) -> tuple[SimulatedValue, ...]:
    """Simulate a Program; ``Program.simulate`` says how."""
    return _Simulator(program, inputs, config, message_bound).run()


def _listed(result: Any) -> list[torch.Tensor]:
    return result if isinstance(result, list) else [result]


def _given(name: str, inputs: Mapping[str, Any]) -> Any:
    if name not in inputs:
        raise ProgramError(
            "simulate",
            f"{name} is missing; given are {sorted(inputs)}",
            "Every input and every encoded material has clear slots, or is a public number",
            "Pass them by name, materials by symbol",
        )
    return inputs[name]


def _slots(name: str, inputs: Mapping[str, Any], count: int | None) -> torch.Tensor:
    """Return an input's clear slots as complex128."""
    slots = torch.as_tensor(_given(name, inputs)).to(torch.complex128)
    if slots.dim() == 0:
        slots = slots.expand(count or 1)
    if count is not None and slots.shape[-1] != count:
        raise MessageValueError(
            "simulate",
            f"{name} has shape {tuple(slots.shape)}, needed is {count} at the end",
            "The last axis of a message holds all slots",
            "Repeat or pad it",
        )
    return slots


def _require_within(name: str, slots: torch.Tensor, message_bound: float) -> None:
    if not bool(torch.view_as_real(slots).isfinite().all()):
        raise MessageValueError(
            "simulate",
            f"{name} holds NaN or infinity",
            "They cannot be encoded",
            "Pass finite values",
        )
    if not bool((slots.abs() <= message_bound * (1 + 2.0**-50)).all()):
        raise MessageValueError(
            "simulate",
            f"a slot of {name} is beyond message_bound {message_bound}",
            "A message obeys its declared bound",
            "Pass a larger message_bound",
        )


def _simulated(track: _Track) -> SimulatedValue:
    error = (track.noisy - track.exact).abs().square().mean().sqrt()
    bound = None if track.state is None else track.state.noise_bound
    return SimulatedValue(track.exact, float(error), bound, track.state)
