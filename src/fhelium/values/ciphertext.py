"""Encrypted values."""

from __future__ import annotations

from typing import Self

import torch

from fhelium.values.batched import BatchedValue
from fhelium.values.keys import require_seed
from fhelium.values.registry import register_value
from fhelium.values.state import CkksState


@register_value("Ciphertext", 1, ("data",))
class Ciphertext(BatchedValue):
    """Carry encrypted slots: two or three polynomials over the primes of a depth.

    Formula: c0 + c1 s (+ c2 s^2) = scale * encode(message) + noise, modulo the primes of
    `prime_ids`, for the secret s that `key_id` names.

    Shapes: data [component, *batch, limb, N].

    Batch axes index like a tensor's, and one ciphertext of a batch is a view into it. Arithmetic
    belongs to an Engine: `+` and torch functions are refused with the method to call.

    Args:
        data: Residues, contiguous or not; the payload is used, not copied.
        state: A complete state with 2 or 3 components.
        public_seed: 32 bytes from which the second component was expanded, where that is so
            (``engine.encrypt_with_secret_key``): a file then keeps the seed in its place. It
            stays with copies of the whole value and with nothing computed from it.

    Raises:
        StateError: Payload and state disagree; the text names both.
        TypeError: data is not a tensor, state is not a CkksState, or public_seed is not 32 bytes.

    Example:
        >>> import torch
        >>> from fhelium.config import CkksConfig
        >>> from fhelium.values import CkksState
        >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
        >>> data = torch.zeros(2, 5, 4, 1024, dtype=torch.int64)
        >>> batch = Ciphertext(data, CkksState.fresh(config, noise_bound=2.0**-20))
        >>> len(batch), batch[1:3].batch_shape, batch[0].depth
        (5, torch.Size([2]), 0)
        >>> batch[torch.tensor([True, False, False, True, False])].batch_shape
        torch.Size([2])
        >>> batch[0].bits_left(), batch[0].nbytes
        (20.0, 65536)
    """

    __slots__ = ("_public_seed",)

    detail_names = ("public_seed",)
    _batch_start = 1
    _component_counts = (2, 3)

    def __init__(
        self, data: torch.Tensor, state: CkksState, *, public_seed: bytes | None = None
    ) -> None:
        super().__init__(data, state)
        if public_seed is not None:
            require_seed("Ciphertext", public_seed)
        self._public_seed = public_seed

    @property
    def public_seed(self) -> bytes | None:
        """Return the seed of the second component, or None where there is none."""
        return self._public_seed

    def metadata(self) -> tuple[tuple[str, object], ...]:
        """Return the axes but the bounds; a seed is payload, not meaning."""
        return tuple(item for item in super().metadata() if item[0] != "public_seed")

    def _of_rows(self, data: torch.Tensor) -> Self:
        # A seed expands to the whole batch, not to a part of it.
        return type(self)(data, self._state)

    def _restate(self, state: CkksState) -> None:
        super()._restate(state)
        self._public_seed = None
