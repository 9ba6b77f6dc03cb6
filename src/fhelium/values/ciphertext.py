"""Encrypted values."""

from __future__ import annotations

from fhelium.values.batched import BatchedValue
from fhelium.values.registry import register_value


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

    Raises:
        StateError: Payload and state disagree; the text names both.
        TypeError: data is not a tensor or state is not a CkksState.

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

    __slots__ = ()

    _batch_start = 1
    _component_counts = (2, 3)
