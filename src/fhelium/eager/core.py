"""What every Engine mixin stands on: parameters, keys, randomness and the one way to compute."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping
from typing import Any

import torch

from fhelium.backend import OperationBackend
from fhelium.backend.ntt import require_ntt_backend
from fhelium.config import CkksConfig, Preset
from fhelium.eager.dispatcher import DeviceDispatcher
from fhelium.errors import (
    ContextMismatchError,
    OperandTypeError,
    StateError,
)
from fhelium.ir.operation import DeclaredOperation
from fhelium.native import require_native
from fhelium.rng import RandomSource
from fhelium.values import Ciphertext, CkksState, EvaluationKeys, Plaintext, require_same_device

DEFAULT_PRESET = Preset.slots8192_scale40_depth7_int64


class EngineCore:
    """Hold one parameter set and run declared operations on values of it."""

    def __init__(
        self,
        config_or_preset: CkksConfig | Preset | str | Mapping[str, Any] | None = None,
        *,
        rng_seed: int | None = None,
        ntt_backend: str | None = None,
    ) -> None:
        source = DEFAULT_PRESET if config_or_preset is None else config_or_preset
        self.config = CkksConfig.parse(source)
        self.keys = EvaluationKeys()
        self._random = RandomSource(rng_seed)
        self._ntt_backend = require_ntt_backend(ntt_backend)
        self._backend = OperationBackend()
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
                    found = DeviceDispatcher(self.config, device, self._backend, self._ntt_backend)
                    self._dispatchers[device] = found
        return found

    def _apply(
        self, operation: type[DeclaredOperation], *operands: Any, **attributes: Any
    ) -> Ciphertext:
        """Check states, run the implementation, and wrap its tensor with the result state."""
        _require_types(operation, operands)
        states = [operand.state for operand in operands]
        self._require_context(operation.public_name(), states[0])
        state = operation.transfer(*states, **attributes)
        facts = operation.call_facts(*states, **attributes)
        device = operands[0].device
        tensors = tuple(operand.data for operand in operands)
        if len(operands) > 1:
            require_same_device(operation.public_name(), list(operands))
            tensors = _broadcast(operation, operands)
        call = self.dispatcher(device).prepared(operation, len(operands), facts)
        return Ciphertext(call(tensors), state)

    def _require_context(self, operation: str, state: CkksState) -> None:
        if state.config is not self.config and state.context_id != self.config.context_id:
            raise ContextMismatchError(
                operation,
                f"the value belongs to context {state.context_id}, this engine to "
                f"{self.config.context_id}",
                "An engine computes on values of its own parameters",
                "Use Engine(value.state.config)",
                contexts=(state.context_id, self.config.context_id),
            )


_SUGGESTIONS = {
    ("add", "number"): "Use engine.add_scalar(ciphertext, value)",
    ("subtract", "number"): "Use engine.add_scalar(ciphertext, -value)",
    ("multiply", "number"): "Use engine.multiply_scalar(ciphertext, value)",
    ("add", "clear"): "Use engine.add_plaintext with engine.prepare_plaintext",
    ("subtract", "clear"): "Use engine.add_plaintext with the negated message",
    ("multiply", "clear"): "Use engine.multiply_plaintext with engine.prepare_plaintext",
}


def _require_types(operation: type[DeclaredOperation], operands: tuple[Any, ...]) -> None:
    for (name, needed), operand in zip(operation.operand_classes(), operands, strict=True):
        if not isinstance(operand, needed):
            public = operation.public_name()
            kind = "number" if isinstance(operand, int | float) else "clear"
            raise OperandTypeError(
                public,
                f"{name} is a {type(operand).__name__}, needed is a {needed.__name__}",
                "Operands are values of the declared kinds",
                _SUGGESTIONS.get((public, kind), f"Pass a {needed.__name__}"),
            )


def _broadcast(
    operation: type[DeclaredOperation], operands: tuple[Any, ...]
) -> tuple[torch.Tensor, ...]:
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
