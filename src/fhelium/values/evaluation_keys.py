"""A set of evaluation keys of one secret key, with lookups that say what is missing."""

from __future__ import annotations

import operator
import threading
from collections.abc import Iterator
from typing import Any, NoReturn, Self, SupportsIndex

import torch

from fhelium.config import CkksConfig
from fhelium.errors import (
    ContextMismatchError,
    KeyMismatchError,
    MissingKeyError,
    OperandTypeError,
    SecretExposureError,
)
from fhelium.text import count_text, list_text, size_text
from fhelium.values.secret_key import SecretKey
from fhelium.values.switching_keys import (
    ConjugationKey,
    RelinearizationKey,
    RotationKey,
    SwitchingKey,
)


class EvaluationKeys:
    """Hold the public keys that computing on one secret key's ciphertexts needs.

    The set accepts keys of one context and one key id and never a secret key. A key with the same
    purpose as one it holds takes its place. Iteration goes in a fixed order: relinearization,
    conjugation, rotations by step, then switching keys by source. Threads may add, look up and
    iterate at once: each reader sees the set before or after an addition.

    Args:
        *keys: Evaluation keys to begin with.
        config: Parameters that all keys must have; those of the first key by default.

    Raises:
        SecretExposureError: A secret key was passed; keep it where values are decrypted.
        ContextMismatchError: A key has other parameters.
        KeyMismatchError: A key was made from another secret key.
        TypeError: An argument is no evaluation key.

    Example:
        >>> from fhelium.values import key_state, switching_key_storage
        >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
        >>> state = key_state(config, key_id="5f0c", components=2)
        >>> data = switching_key_storage(config.dnum, len(config.primes), config.N).zero_()
        >>> keys = EvaluationKeys(RotationKey(data, state, public_seed=bytes(32), step=1))
        >>> keys.steps, keys.rotation(513).step
        ((1,), 1)
        >>> try:
        ...     keys.rotation(-1)
        ... except MissingKeyError as error:
        ...     print(error.canonical_step, error.available_steps)
        511 (1,)
    """

    def __init__(self, *keys: SwitchingKey, config: CkksConfig | None = None) -> None:
        self._config = config
        self._keys: dict[tuple[str, int | str], SwitchingKey] = {}
        self.add(*keys)

    def add(self, *keys: SwitchingKey) -> None:
        """Add keys, all of them or, where one is refused, none.

        Args:
            *keys: Evaluation keys; one with the purpose of a held key takes its place.

        Raises:
            SecretExposureError: A secret key was passed; keep it where values are decrypted.
            ContextMismatchError: A key has other parameters.
            KeyMismatchError: A key was made from another secret key.
            TypeError: An argument is no evaluation key.
        """
        with _CHANGE:
            config = self._config_with(keys)
            held = self._keys | {_slot(key): key for key in keys}
            # Readers hold no lock: they see the old dict or the new one, never one that grows. One
            # call sets both, so an interrupt leaves both or neither.
            vars(self).update(_config=config, _keys=held)

    def _config_with(self, keys: tuple[SwitchingKey, ...]) -> CkksConfig | None:
        """Return the parameters of this set and some more keys, or refuse those."""
        config, key_id = self._config, self.key_id
        for key in keys:
            if not isinstance(key, SwitchingKey):
                _refuse_kind(key)
            if config is not None and key.context_id != config.context_id:
                raise ContextMismatchError(
                    "add_keys",
                    f"context_id is {config.context_id} for the set and {key.context_id} for the "
                    "key",
                    "Values and keys mix only within one parameter set",
                    "Keep one set for each config",
                    context_ids=(config.context_id, key.context_id),
                )
            if key_id is not None and key.key_id != key_id:
                raise KeyMismatchError(
                    "add_keys",
                    f"key_id is {key_id} for the set and {key.key_id} for the key",
                    "A set belongs to one secret key",
                    "Keep one set for each secret key",
                    key_ids=(key_id, key.key_id),
                )
            config, key_id = key.config if config is None else config, key.key_id
        return config

    def rotation(self, step: SupportsIndex) -> RotationKey:
        """Return the key that rotates by a step; +k moves slot i to slot i+k.

        Args:
            step: Any integer; taken modulo the slot count.

        Raises:
            MissingKeyError: There is none; the text names the step, its canonical form and the
                steps that exist.
            TypeError: step is not an integer.
        """
        if isinstance(step, bool) or not hasattr(step, "__index__"):
            raise OperandTypeError(
                "rotation", f"step is a {type(step).__name__}", "A step is an int", "Pass an int"
            )
        step = operator.index(step)
        canonical = step if self._config is None else step % self._config.num_slots
        key = self._keys.get(("rotation", canonical))
        if not isinstance(key, RotationKey):
            self._refuse_step(step, canonical)
        return key

    def relinearization(self) -> RelinearizationKey:
        """Return the relinearization key.

        Raises:
            MissingKeyError: There is none; create and add it.
        """
        key = self._keys.get(("relinearization", 0))
        if not isinstance(key, RelinearizationKey):
            self._refuse_missing("relinearization", "create_relinearization_key(secret_key)")
        return key

    def conjugation(self) -> ConjugationKey:
        """Return the conjugation key.

        Raises:
            MissingKeyError: There is none; create and add it.
        """
        key = self._keys.get(("conjugation", 0))
        if not isinstance(key, ConjugationKey):
            self._refuse_missing("conjugation", "create_conjugation_key(secret_key)")
        return key

    def switching(self, source_key_id: str) -> SwitchingKey:
        """Return the key that switches values of another secret key to this set's.

        Args:
            source_key_id: Names the secret key whose values are switched.

        Raises:
            MissingKeyError: There is none; create and add it.
        """
        key = self._keys.get(("switching", source_key_id))
        if key is None:
            self._refuse_missing(
                f"switching from {source_key_id}", "create_switching_key(old_key, new_key)"
            )
        return key

    @property
    def steps(self) -> tuple[int, ...]:
        """Return the canonical rotation steps there are keys for, in order."""
        rotations = (key for key in self._keys.values() if isinstance(key, RotationKey))
        return tuple(sorted(key.step for key in rotations))

    @property
    def config(self) -> CkksConfig | None:
        """Return the parameters of the keys, or None while nothing has set them."""
        return self._config

    @property
    def context_id(self) -> str | None:
        """Return the parameter identity of the keys, or None while nothing has set it."""
        return None if self._config is None else self._config.context_id

    @property
    def key_id(self) -> str | None:
        """Return the secret key that all keys were made from, or None for an empty set."""
        return next((key.key_id for key in self._keys.values()), None)

    @property
    def nbytes(self) -> int:
        """Return the payload bytes of all keys."""
        return sum(key.nbytes for key in self._keys.values())

    @property
    def insecure(self) -> bool:
        """Return whether any key is marked insecure."""
        return any(key.insecure for key in self._keys.values())

    def merge(self, *others: EvaluationKeys) -> Self:
        """Return a new set with the keys of all; of two with one purpose the later one stays.

        Args:
            *others: Sets of the same context and key id; they stay as they are.

        Raises:
            ContextMismatchError: A set has other parameters.
            KeyMismatchError: A set belongs to another secret key.
        """
        merged = type(self)(*self, config=self._config)
        for other in others:
            if not isinstance(other, EvaluationKeys):
                raise OperandTypeError(
                    "merge",
                    f"operand is a {type(other).__name__}",
                    "Sets are merged with sets",
                    "Pass EvaluationKeys, or add single keys with add",
                )
            merged.add(*other)
        return merged

    def discard(self, *keys: SwitchingKey) -> None:
        """Remove these very keys; those that are not held are passed over."""
        with _CHANGE:
            gone = {_slot(key) for key in keys if key in self}
            self._keys = {slot: key for slot, key in self._keys.items() if slot not in gone}

    def to(self, device: torch.device | str | int, *, non_blocking: bool = False) -> Self:
        """Return a set with each key on a device."""
        moved = (key.to(device, non_blocking=non_blocking) for key in self)
        return type(self)(*moved, config=self._config)

    def __iter__(self) -> Iterator[SwitchingKey]:
        keys = self._keys
        return iter([keys[slot] for slot in sorted(keys, key=_order)])

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, SwitchingKey) and self._keys.get(_slot(key)) is key

    def __repr__(self) -> str:
        kinds = [kind for kind, _ in sorted(self._keys, key=_order)]
        parts = [kind for kind in ("relinearization", "conjugation") if kind in kinds]
        if self.steps:
            parts.append(f"{count_text(len(self.steps), 'rotation')} {list_text(self.steps)}")
        if "switching" in kinds:
            parts.append(count_text(kinds.count("switching"), "switching key"))
        parts += [f"key {self.key_id}"] * (self.key_id is not None)
        return f"EvaluationKeys({', '.join([*parts, size_text(self.nbytes)])}{self._mark()})"

    def _mark(self) -> str:
        return ", insecure" if self.insecure else ""

    def _refuse_step(self, step: int, canonical: int) -> NoReturn:
        steps = self.steps
        slots = "" if self._config is None else f" of {self._config.num_slots} slots"
        other = f" (canonical step {canonical}{slots})" if step != canonical else ""
        fact = f"no key for step {step}{other}"
        held = f"the steps that exist are {list_text(steps)}" if steps else "no rotation keys exist"
        remedy = (
            f"Create it with engine.create_rotation_key({canonical}, secret_key) and add it with "
            "engine.add_keys(key)"
        )
        if canonical == 0:
            remedy = "Step 0 needs no key: use the value as it is"
        raise MissingKeyError(
            "rotation",
            f"{fact}; {held}",
            "Each rotation step needs its own key",
            remedy,
            step=step,
            canonical_step=canonical,
            available_steps=steps,
        )

    def _refuse_missing(self, purpose: str, creation: str) -> NoReturn:
        held = sorted({kind for kind, _ in self._keys}, key=_KINDS.index)
        raise MissingKeyError(
            purpose.partition(" ")[0],
            f"no key for {purpose}; the kinds that exist are {list_text(held)}",
            "This operation needs its own key",
            f"Create it with engine.{creation} and add it with engine.add_keys(key)",
            available_kinds=tuple(held),
        )


# One lock for all sets: additions are rare and short, and a set stays copyable and picklable.
_CHANGE = threading.Lock()

_KINDS = ("relinearization", "conjugation", "rotation", "switching")


def _order(slot: tuple[str, int | str]) -> tuple[int, int | str]:
    return _KINDS.index(slot[0]), slot[1]


def _slot(key: SwitchingKey) -> tuple[str, int | str]:
    """Return the purpose of a key; the set holds one key for each."""
    if isinstance(key, RelinearizationKey):
        return "relinearization", 0
    if isinstance(key, ConjugationKey):
        return "conjugation", 0
    if isinstance(key, RotationKey):
        return "rotation", key.step
    return "switching", key.source_key_id


def _refuse_kind(key: Any) -> NoReturn:
    if isinstance(key, SecretKey):
        raise SecretExposureError(
            "add_keys",
            f"operand is secret key {key.key_id}",
            "A set of evaluation keys goes to whoever computes and never holds a secret key",
            "Keep the secret key where values are decrypted",
            key_id=key.key_id,
        )
    raise OperandTypeError(
        "add_keys",
        f"operand is a {type(key).__name__}",
        "Evaluation keys are relinearization, rotation, conjugation and switching keys",
        "Pass keys that engine.create_..._key made; a public key is passed to encrypt directly",
    )
