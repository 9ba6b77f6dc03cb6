"""What every Engine mixin stands on: parameters, keys, randomness and the one way to compute."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

import torch

from fhelium.backend import OperationBackend
from fhelium.backend.ntt import require_ntt_backend
from fhelium.config import DEFAULT_PRESET, CkksConfig, Preset
from fhelium.eager.dispatcher import DeviceDispatcher
from fhelium.eager.recorder import Recording, unread_results
from fhelium.errors import FHEliumError, OperandTypeError, StateError
from fhelium.ir.methods.core import DeclaredMethods, flattened
from fhelium.ir.methods.key_record import KeyRecord
from fhelium.ir.operation import DeclaredOperation
from fhelium.native.runtime import require_device, require_native
from fhelium.rng import RandomSource
from fhelium.values import (
    Ciphertext,
    CkksState,
    EvaluationKeys,
    Plaintext,
    SecretKey,
    require_same_device,
)


class EngineCore(DeclaredMethods):
    """Hold one parameter set and run declared operations on values of it."""

    def __init__(
        self,
        config_or_preset: CkksConfig | Preset | str | Mapping[str, Any] | None = None,
        *,
        rng_seed: int | None = None,
        ntt_backend: str | None = None,
        backend: OperationBackend | None = None,
    ) -> None:
        if backend is not None and not isinstance(backend, OperationBackend):
            raise OperandTypeError(
                "Engine",
                f"backend is a {type(backend).__name__}, needed is an OperationBackend",
                "An engine computes with the implementations of a backend",
                "Pass one, or ntt_backend= to choose among the built-in transforms",
            )
        source = DEFAULT_PRESET if config_or_preset is None else config_or_preset
        self.config = CkksConfig.parse(source)
        self.keys = EvaluationKeys()
        self._recording = Recording()
        self._random = RandomSource(rng_seed)
        self._ntt_backend = require_ntt_backend(ntt_backend)
        self._own_backend = backend is not None
        self._backend = OperationBackend() if backend is None else backend
        self._dispatchers: dict[torch.device, DeviceDispatcher] = {}
        self._lock = threading.Lock()

    @property
    def insecure(self) -> bool:
        """Say whether what this engine makes is marked insecure: by parameters or by a seed."""
        return self.config.insecure or self._random.insecure

    def add_keys(self, *keys: Any) -> None:
        """Store evaluation keys where operations look when a key argument is omitted.

        All of them are stored or, where one is refused, none. Other threads may compute meanwhile.

        Args:
            *keys: Relinearization, rotation and conjugation keys, or whole EvaluationKeys.

        Raises:
            StateError: A key belongs to other parameters or to another secret key than those
                already stored; keep such keys with an engine of their own.

        Example:
            >>> engine.add_keys(engine.create_rotation_key(2, secret_key))
            >>> 2 in engine.keys.steps
            True
        """
        sets = (key if isinstance(key, EvaluationKeys) else (key,) for key in keys)
        self.keys.add(*itertools.chain.from_iterable(sets))

    @contextmanager
    def record_keys(self) -> Iterator[KeyRecord]:
        """List the evaluation keys that a computation needs, before any of them exists.

        Inside the block this thread's calls check and track states as always but compute nothing:
        results live on torch's meta device. Operations find stand-ins for missing keys and note
        them in the record.

        Returns:
            A context manager that gives a KeyRecord with ``steps``, ``needs_relinearization`` and
            ``needs_conjugation``.

        Example:
            >>> with engine.record_keys() as needed:
            ...     _ = engine.rotate_by_step(engine.relinearize(engine.square(x)), 5)
            >>> needed.steps, needed.needs_relinearization, needed.needs_conjugation
            ((5,), True, False)
        """
        with self._recording.start(self.config) as record:
            yield record

    @property
    def _key_source(self) -> EvaluationKeys | KeyRecord:
        """Return where an operation looks for a key it was not given."""
        record = self._recording.record
        return self.keys if record is None else record

    def dispatcher(self, device: torch.device) -> DeviceDispatcher:
        """Return the dispatcher of a device, made on first use.

        Every operation asks for it before it touches a tensor, so here a forked child learns that
        it must not compute: torch's own loops would wait for threads that stayed in the parent.
        """
        require_native()
        found = self._dispatchers.get(device)
        if found is None:
            with self._lock:
                found = self._dispatchers.get(device)
                if found is None:
                    require_device(device)
                    found = DeviceDispatcher(self.config, device, self._backend, self._ntt_backend)
                    self._dispatchers[device] = found
        return found

    def _apply_many(
        self, operation: type[DeclaredOperation], *operands: Any, **attributes: Any
    ) -> list[Ciphertext]:
        """Do as ``_apply`` does for an operation with a list of results."""
        values, state, facts = self._checked(operation, operands, attributes)
        tensors = _broadcast(operation, values)
        if self._recording.record is not None:
            return unread_results(values, state, operation.result_count(*operands))
        call = self.dispatcher(values[0].device).prepared(operation, len(values), facts)
        return [Ciphertext(tensor, state) for tensor in call(tensors)]

    def _apply_in_place(
        self, operation: type[DeclaredOperation], *operands: Any, **attributes: Any
    ) -> Ciphertext:
        """Check states, write the result over the first operand, and give it the result state."""
        values, state, facts = self._checked(operation, operands, attributes)
        target: Ciphertext = values[0]
        tensors = _broadcast(operation, values)
        if self._recording.record is not None:
            return unread_results(values, state, 1)[0]
        _require_writable(operation, target, tensors[0])
        call = self.dispatcher(target.device).prepared(operation, len(values), facts)
        try:
            call((target.data, *tensors[1:]), in_place=True)
            target._restate(state)
        except (FHEliumError, RuntimeError, MemoryError):
            raise  # refused before anything was written
        except BaseException:
            target._spoil(f"{operation.public_name()}_")
            raise
        return target

    def _checked(
        self,
        operation: type[DeclaredOperation],
        operands: tuple[Any, ...],
        attributes: dict[str, Any],
    ) -> tuple[list[Any], CkksState, dict[str, Any]]:
        """Return the operands in one list, the result's state, and the facts of the call."""
        values = flattened(operation, operands)
        self._require_context(operation.public_name(), values[0].state)
        record, state_of = self._recording.record, _state_of
        if record is not None:
            record.note(values)
            state_of = record.state_of
        elif len(values) > 1:
            require_same_device(operation.public_name(), values)
        states = [
            [state_of(value) for value in operand]
            if isinstance(operand, list | tuple)
            else state_of(operand)
            for operand in operands
        ]
        state = operation.transfer(*states, **attributes)
        facts = operation.call_facts(*states, **attributes)
        return values, state, facts

    def _require_secret_key(self, operation: str, secret_key: object) -> None:
        if not isinstance(secret_key, SecretKey):
            raise OperandTypeError(
                operation,
                f"secret_key is a {type(secret_key).__name__}, needed is a SecretKey",
                "Only a secret key makes keys and opens ciphertexts",
                "Pass the one that engine.create_secret_key() made",
            )
        self._require_context(operation, secret_key.state)


_state_of = attrgetter("state")


def _require_writable(
    operation: type[DeclaredOperation], target: Ciphertext, expanded: torch.Tensor
) -> None:
    """Refuse a target whose storage another value sees: that one's state would become untrue."""
    name = f"{operation.public_name()}_"
    data = target.data
    if expanded.shape != data.shape:
        raise StateError(
            name,
            f"the target's batch shape is {tuple(target.batch_shape)}, the result's "
            f"{tuple(expanded.shape[1:-2])}",
            "An in-place form does not grow its target",
            f"Use engine.{operation.public_name()} without the underscore",
        )
    if data.untyped_storage().nbytes() != data.numel() * data.element_size():
        raise StateError(
            name,
            f"the target holds {data.numel() * data.element_size()} bytes of a storage of "
            f"{data.untyped_storage().nbytes()}",
            "An in-place form writes to a storage of its own, or another value's bounds would "
            "become untrue",
            "Clone the target first",
        )
    if target._shares_storage():
        raise StateError(
            name,
            "the target's storage is read by another value, a copy or a part of it",
            "An in-place form writes to a storage of its own, or another value's state would "
            "become untrue",
            "Clone the target first, or let go of the other value",
        )
    if data.device.type == "cpu" and data.is_shared():
        raise StateError(
            name,
            "the target's storage is memory that another process may share",
            "An in-place form writes to a storage of its own, or the other process's value would "
            "become untrue",
            "Clone the target first",
        )


def _broadcast(operation: type[DeclaredOperation], operands: list[Any]) -> tuple[torch.Tensor, ...]:
    """Expand the batch axes of ciphertexts and plaintexts to one shape, as torch does."""
    batched = [o for o in operands if isinstance(o, Ciphertext | Plaintext)]
    shapes = {o.batch_shape for o in batched}
    if len(shapes) < 2:
        return tuple(operand.data for operand in operands)
    try:
        shape = torch.broadcast_shapes(*shapes)
    except RuntimeError:
        raise StateError(
            operation.public_name(),
            f"the batch shapes are {' and '.join(str(tuple(o.batch_shape)) for o in batched)}",
            "Batch axes are equal or broadcast, as torch's do",
            "Reshape or index one operand",
        ) from None
    tensors = []
    for operand in operands:
        data = operand.data
        if isinstance(operand, Ciphertext):
            padding = (None,) * (len(shape) - len(operand.batch_shape))
            data = data[(slice(None), *padding)].expand(-1, *shape, -1, -1)
        elif isinstance(operand, Plaintext):
            data = data.expand(*shape, -1, -1)
        tensors.append(data)
    return tuple(tensors)
