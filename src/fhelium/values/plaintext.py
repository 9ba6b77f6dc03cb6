"""Encoded clear values."""

from __future__ import annotations

from fhelium.values.batched import BatchedValue
from fhelium.values.registry import register_value


@register_value("Plaintext", 1, ("data",))
class Plaintext(BatchedValue):
    """Carry encoded clear slots: one polynomial over the primes of a depth.

    A plaintext is not secret: anyone who holds it can decode it. Prepared factors are kept in NTT
    domain and Montgomery representation.

    Formula: rows = scale * encode(message), rounded, modulo the primes of `prime_ids`.

    Shapes: data [*batch, limb, N].

    Args:
        data: Residues; the payload is used, not copied.
        state: A complete state with 1 component.

    Raises:
        StateError: Payload and state disagree; the text names both.
        TypeError: data is not a tensor or state is not a CkksState.

    Example:
        >>> import torch
        >>> from fhelium.config import CkksConfig
        >>> from fhelium.values import CkksState
        >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
        >>> state = CkksState.fresh(config, depth=2, components=1)
        >>> Plaintext(torch.zeros(2, 1024, dtype=torch.int64), state).prime_ids
        (2, 3)
    """

    __slots__ = ()

    _batch_start = 0
    _component_counts = (1,)
