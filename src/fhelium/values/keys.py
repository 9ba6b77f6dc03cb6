"""What all keys share, and the public key."""

from __future__ import annotations

from typing import ClassVar, Final, cast

import torch

from fhelium.config import CkksConfig
from fhelium.errors import OperandTypeError, StateError
from fhelium.text import count_text
from fhelium.values.registry import register_value
from fhelium.values.resident import TensorResident
from fhelium.values.state import CkksState

SEED_BYTES: Final = 32


def key_state(
    config: CkksConfig, *, key_id: str, components: int, insecure: bool = False
) -> CkksState:
    """Return the state that every key has: all primes, NTT domain, Montgomery residues.

    Args:
        config: The parameters of the ring; an insecure one marks the state.
        key_id: Random name of the secret key that the key is, or was made from.
        components: 1 for a secret key, 2 for a public or switching key.
        insecure: Marks the state even where the config is secure.

    Raises:
        StateError: key_id is empty or components is not 1, 2 or 3.

    Example:
        >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
        >>> key_state(config, key_id="5f0c", components=2).prime_ids == config.prime_ids("QP", 0)
        True
    """
    return CkksState(
        config=config,
        depth=0,
        polynomial_domain="ntt",
        modulus_basis="QP",
        residue_representation="montgomery",
        components=components,
        key_id=key_id,
        insecure=insecure or config.insecure,
    ).check("key_state")


class Key(TensorResident):
    """Carry key polynomials over all primes; the base of every key."""

    __slots__ = ()

    _key_components: ClassVar[int]

    def _check_state(self, state: CkksState) -> None:
        wanted = key_state(
            state.config,
            key_id=state.key_id or "unknown",
            components=self._key_components,
            insecure=state.insecure,
        )
        if state != wanted or state.key_id is None:
            raise StateError(
                type(self).__name__,
                f"its state is {state!r} with key_id {state.key_id!r}",
                f"A key's state is {wanted!r} with a key_id",
                "Make it with fhelium.values.key_state",
            )

    def _payload_shape(self, config: CkksConfig) -> tuple[int, ...]:
        raise NotImplementedError

    def _check_shape(self, data: torch.Tensor, state: CkksState) -> None:
        wanted = self._payload_shape(state.config)
        if tuple(data.shape) != wanted:
            raise StateError(
                type(self).__name__,
                f"data has shape {tuple(data.shape)} and its config asks for {wanted}",
                "A key holds all primes of Q, then those of P",
                "Make it with an Engine of the same config",
                shape=tuple(data.shape),
            )

    @property
    def key_id(self) -> str:
        """Return the random name of the secret key that this is, or was made from."""
        return cast(str, self._state.key_id)

    def _repr_parts(self) -> list[str]:
        limbs = count_text(len(self.prime_ids), "limb")
        return [f"key {self.key_id}", f"N {self.config.N}", f"{limbs} QP", *self._place_parts()]


def require_seed(kind: str, seed: object) -> None:
    """Refuse what is no public seed."""
    if not isinstance(seed, bytes) or len(seed) != SEED_BYTES:
        size = f" of length {len(seed)}" if isinstance(seed, bytes) else ""
        raise OperandTypeError(
            kind,
            f"public_seed is {type(seed).__name__}{size}",
            f"A public seed is {SEED_BYTES} bytes",
            "Pass the seed that the uniform half was drawn from",
        )


class SeededKey(Key):
    """Carry a public key whose uniform half `a` came from a stored seed.

    The half is in the payload like the other; files keep the seed in its place.
    """

    __slots__ = ("_public_seed",)

    detail_names = ("public_seed",)
    _key_components = 2

    def __init__(self, data: torch.Tensor, state: CkksState, *, public_seed: bytes) -> None:
        require_seed(type(self).__name__, public_seed)
        super().__init__(data, state)
        self._public_seed = public_seed

    @property
    def public_seed(self) -> bytes:
        """Return the 32 bytes from which the uniform half was drawn; they are no secret."""
        return self._public_seed


@register_value("PublicKey", 1, ("data",))
class PublicKey(SeededKey):
    """Carry an encryption of zero, with which anyone can encrypt.

    Formula: (b, a) with a uniform and b = -a s + e modulo Q P.

    Shapes: data [2, L + K, N], NTT domain, Montgomery residues over QP.

    Args:
        data: Residues of b and a.
        state: As `key_state(config, key_id=..., components=2)` makes it.
        public_seed: The 32 bytes from which a was drawn.

    Raises:
        StateError: Payload and state disagree; the text names both.
        TypeError: data, state or public_seed is of another type.

    Example:
        >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
        >>> state = key_state(config, key_id="5f0c", components=2)
        >>> data = torch.zeros(2, len(config.primes), config.N, dtype=torch.int64)
        >>> PublicKey(data, state, public_seed=bytes(32)).key_id
        '5f0c'
    """

    __slots__ = ()

    def _payload_shape(self, config: CkksConfig) -> tuple[int, ...]:
        return (2, len(config.primes), config.N)
