"""The keys that a computation asks for, with stand-ins for those that do not exist yet."""

from __future__ import annotations

from typing import Any

from fhelium.config import CkksConfig
from fhelium.values import (
    CkksState,
    ConjugationKey,
    RelinearizationKey,
    RotationKey,
    key_state,
    switching_key_storage,
)

_STAND_IN = "stand-in"


class KeyRecord:
    """The evaluation keys that a recorded computation asked for.

    Example:
        >>> with engine.record_keys() as needed:
        ...     _ = engine.sum_slots(x, size=4)
        >>> slots = engine.config.num_slots
        >>> [step - slots for step in needed.steps]
        [-2, -1]
        >>> keys = engine.create_evaluation_keys(secret_key, steps=needed.steps)
    """

    def __init__(self, config: CkksConfig) -> None:
        self._config = config
        self._steps: set[int] = set()
        self._relinearization = False
        self._conjugation = False

    @property
    def steps(self) -> tuple[int, ...]:
        """Return the canonical rotation steps, in ascending order."""
        return tuple(sorted(self._steps))

    @property
    def needs_relinearization(self) -> bool:
        """Return whether a product was relinearized."""
        return self._relinearization

    @property
    def needs_conjugation(self) -> bool:
        """Return whether slots were conjugated."""
        return self._conjugation

    def rotation(self, step: int) -> RotationKey:
        """Note a rotation step and return a stand-in for its key."""
        self._steps.add(step % self._config.num_slots)
        return RotationKey(**self._parts(), step=step)

    def relinearization(self) -> RelinearizationKey:
        """Note the relinearization key and return a stand-in for it."""
        self._relinearization = True
        return RelinearizationKey(**self._parts())

    def conjugation(self) -> ConjugationKey:
        """Note the conjugation key and return a stand-in for it."""
        self._conjugation = True
        return ConjugationKey(**self._parts())

    def note(self, values: list[Any]) -> None:
        """Note the keys among the operands of a call that brought its own."""
        for value in values:
            if isinstance(value, RotationKey):
                self._steps.add(value.step)
            self._relinearization |= isinstance(value, RelinearizationKey)
            self._conjugation |= isinstance(value, ConjugationKey)

    @staticmethod
    def state_of(value: Any) -> CkksState:
        """Return a value's state; a stand-in belongs to any secret key."""
        state = value.state
        return state.replace(key_id=None) if state.key_id == _STAND_IN else state

    def __repr__(self) -> str:
        parts = [f"steps {list(self.steps)}"]
        parts += ["relinearization"] if self._relinearization else []
        parts += ["conjugation"] if self._conjugation else []
        return f"KeyRecord({', '.join(parts)})"

    def _parts(self) -> dict[str, Any]:
        config = self._config
        data = switching_key_storage(
            config.dnum, len(config.primes), config.N, dtype=config.dtype, device="meta"
        )
        state = key_state(config, key_id=_STAND_IN, components=2)
        return {"data": data, "state": state, "public_seed": bytes(32)}
