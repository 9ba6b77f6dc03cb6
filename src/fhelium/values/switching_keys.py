"""The public keys that computing needs: relinearization, rotation, conjugation, switching."""

from __future__ import annotations

import torch

from fhelium.config import CkksConfig
from fhelium.errors import OperandTypeError, StateError
from fhelium.text import count_text
from fhelium.values.keys import SeededKey
from fhelium.values.registry import register_value
from fhelium.values.state import CkksState


def galois_element(step: int, config: CkksConfig) -> int:
    """Return the ring automorphism X -> X^g that rotates slots by a step.

    Formula: g = 5^(-step) mod 2N. Step +k moves slot i to slot i+k, as torch.roll does; OpenFHE,
    SEAL and Lattigo mean the other direction.

    Args:
        step: Slots to move by, any integer; taken modulo config.num_slots.
        config: The parameters of the ring.

    Example:
        >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
        >>> galois_element(0, config), galois_element(1, config) * 5 % 2048
        (1, 1)
    """
    return pow(5, -step % config.num_slots, 2 * config.N)


def conjugation_element(config: CkksConfig) -> int:
    """Return the ring automorphism X -> X^g that conjugates slots: g = 2N - 1.

    Args:
        config: The parameters of the ring.

    Example:
        >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
        >>> conjugation_element(config)
        2047
    """
    return 2 * config.N - 1


def switching_key_storage(
    digits: int,
    limbs: int,
    N: int,
    *,
    dtype: torch.dtype = torch.int64,
    device: torch.device | str | None = None,
) -> torch.Tensor:
    """Return an uninitialised switching-key payload on the storage layout that keys have.

    The storage is contiguous [limb][digit][2][N], so the rows that are active at a depth are one
    slice of it; the payload is its permuted view.

    Shapes: result [digit, 2, limb, N].

    Args:
        digits: Key-switching digits, config.dnum.
        limbs: Primes of the basis QP.
        N: Ring degree.
        dtype: Of the residues.
        device: Of the residues.

    Example:
        >>> switching_key_storage(2, 5, 1024).stride()
        (2048, 1024, 4096, 1)
    """
    return torch.empty(limbs, digits, 2, N, dtype=dtype, device=device).permute(1, 2, 0, 3)


def is_switching_key_layout(data: torch.Tensor) -> bool:
    """Return whether a payload is a permuted view of contiguous [limb][digit][2][N] storage.

    Args:
        data: Tensor [digit, 2, limb, N].

    Example:
        >>> is_switching_key_layout(switching_key_storage(2, 5, 1024))
        True
        >>> is_switching_key_layout(torch.empty(2, 2, 5, 1024, dtype=torch.int64))
        False
    """
    return data.dim() == 4 and data.permute(2, 0, 1, 3).is_contiguous()


@register_value("SwitchingKey", 1, ("data",))
class SwitchingKey(SeededKey):
    """Carry what turns a polynomial under one secret s' into one under another secret s.

    Formula: digit j is (b_j, a_j), a_j uniform, b_j = -a_j s + e_j + [row in digit j] P s'.

    Shapes: data [digit, 2, limb, N], a permuted view of contiguous [limb][digit][2][N] storage; NTT
    domain, Montgomery residues over QP.

    Args:
        data: Residues, on the layout of `switching_key_storage`.
        state: As `key_state(config, key_id=..., components=2)` makes it; its key_id names s, under
            which results are.
        public_seed: The 32 bytes from which all a_j were drawn.
        source_key_id: Names the secret key that s' belongs to; s's own by default.

    Raises:
        StateError: Payload and state disagree, or the layout is another; the text names both.
        TypeError: data, state, public_seed or source_key_id is of another type.

    Example:
        >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
        >>> from fhelium.values import key_state
        >>> state = key_state(config, key_id="new", components=2)
        >>> data = switching_key_storage(config.dnum, len(config.primes), config.N).zero_()
        >>> key = SwitchingKey(data, state, public_seed=bytes(32), source_key_id="old")
        >>> key.source_key_id, key.key_id
        ('old', 'new')
    """

    __slots__ = ("_source_key_id",)

    detail_names = ("public_seed", "source_key_id")

    def __init__(
        self,
        data: torch.Tensor,
        state: CkksState,
        *,
        public_seed: bytes,
        source_key_id: str | None = None,
    ) -> None:
        super().__init__(data, state, public_seed=public_seed)
        source = self.key_id if source_key_id is None else source_key_id
        if not isinstance(source, str) or not source:
            raise OperandTypeError(
                type(self).__name__,
                f"source_key_id is {source!r}",
                "A key id is the non-empty text that a secret key was given",
                "Pass secret_key.key_id",
            )
        self._source_key_id = source

    @property
    def source_key_id(self) -> str:
        """Return the name of the secret key whose values this switches from."""
        return self._source_key_id

    @property
    def digits(self) -> int:
        """Return the number of key-switching digits."""
        return self._data.shape[0]

    def _payload_shape(self, config: CkksConfig) -> tuple[int, ...]:
        return (config.dnum, 2, len(config.primes), config.N)

    def _check_shape(self, data: torch.Tensor, state: CkksState) -> None:
        super()._check_shape(data, state)
        if not is_switching_key_layout(data):
            wanted = switching_key_storage(self.digits, data.shape[2], data.shape[3], device="meta")
            raise StateError(
                type(self).__name__,
                f"data has strides {data.stride()} and the layout asks for {wanted.stride()}",
                "A switching key is a permuted view of contiguous [limb][digit][2][N] storage",
                "Copy the residues into fhelium.values.switching_key_storage(...)",
                stride=data.stride(),
            )

    def _repr_parts(self) -> list[str]:
        key, degree, *rest = super()._repr_parts()
        return [key, *self._purpose(), degree, count_text(self.digits, "digit"), *rest]

    def _purpose(self) -> list[str]:
        return [f"from key {self.source_key_id}"]


class _OwnSwitchingKey(SwitchingKey):
    """Carry a switching key whose source belongs to the same secret key as its target."""

    __slots__ = ()

    detail_names = ("public_seed",)

    def __init__(self, data: torch.Tensor, state: CkksState, *, public_seed: bytes) -> None:
        super().__init__(data, state, public_seed=public_seed)

    def _purpose(self) -> list[str]:
        return []


@register_value("RelinearizationKey", 1, ("data",))
class RelinearizationKey(_OwnSwitchingKey):
    """Carry the switching key from s^2 to s, which brings a product back to two components.

    Shapes: data [digit, 2, limb, N], as for SwitchingKey.

    Args:
        data: Residues, on the layout of `switching_key_storage`.
        state: As `key_state(config, key_id=..., components=2)` makes it.
        public_seed: The 32 bytes from which the uniform halves were drawn.

    Raises:
        StateError: Payload and state disagree, or the layout is another; the text names both.
        TypeError: data, state or public_seed is of another type.

    Example:
        >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
        >>> from fhelium.values import key_state
        >>> state = key_state(config, key_id="5f0c", components=2)
        >>> data = switching_key_storage(config.dnum, len(config.primes), config.N).zero_()
        >>> RelinearizationKey(data, state, public_seed=bytes(32)).digits == config.dnum
        True
    """

    __slots__ = ()


@register_value("ConjugationKey", 1, ("data",))
class ConjugationKey(_OwnSwitchingKey):
    """Carry the switching key from s(X^(2N-1)) to s, for complex conjugation of the slots.

    Shapes: data [digit, 2, limb, N], as for SwitchingKey.

    Args:
        data: Residues, on the layout of `switching_key_storage`.
        state: As `key_state(config, key_id=..., components=2)` makes it.
        public_seed: The 32 bytes from which the uniform halves were drawn.

    Raises:
        StateError: Payload and state disagree, or the layout is another; the text names both.
        TypeError: data, state or public_seed is of another type.

    Example:
        >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
        >>> from fhelium.values import key_state
        >>> state = key_state(config, key_id="5f0c", components=2)
        >>> data = switching_key_storage(config.dnum, len(config.primes), config.N).zero_()
        >>> ConjugationKey(data, state, public_seed=bytes(32)).galois_element
        2047
    """

    __slots__ = ()

    @property
    def galois_element(self) -> int:
        """Return the exponent g of the automorphism X -> X^g, here 2N - 1."""
        return conjugation_element(self.config)


@register_value("RotationKey", 1, ("data",))
class RotationKey(_OwnSwitchingKey):
    """Carry the switching key from s(X^g) to s, for one rotation of the slots.

    Formula: g = 5^(-step) mod 2N. Step +k moves slot i to slot i+k, as torch.roll does; OpenFHE,
    SEAL and Lattigo mean the other direction.

    Shapes: data [digit, 2, limb, N], as for SwitchingKey.

    Args:
        data: Residues, on the layout of `switching_key_storage`.
        state: As `key_state(config, key_id=..., components=2)` makes it.
        public_seed: The 32 bytes from which the uniform halves were drawn.
        step: Slots to move by; kept modulo config.num_slots.

    Raises:
        StateError: Payload and state disagree, the layout is another, or step is a multiple of the
            slot count, which needs no key.
        TypeError: data, state, public_seed or step is of another type.

    Example:
        >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
        >>> from fhelium.values import key_state
        >>> state = key_state(config, key_id="5f0c", components=2)
        >>> data = switching_key_storage(config.dnum, len(config.primes), config.N).zero_()
        >>> key = RotationKey(data, state, public_seed=bytes(32), step=-1)
        >>> key.step, key.galois_element
        (511, 5)
    """

    __slots__ = ("_step",)

    detail_names = ("public_seed", "step")

    def __init__(
        self, data: torch.Tensor, state: CkksState, *, public_seed: bytes, step: int
    ) -> None:
        super().__init__(data, state, public_seed=public_seed)
        if type(step) is not int:
            raise OperandTypeError(
                "RotationKey", f"step is a {type(step).__name__}", "A step is an int", "Pass an int"
            )
        self._step = step % self.config.num_slots
        if self._step == 0:
            raise StateError(
                "RotationKey",
                f"step is {step} and there are {self.config.num_slots} slots",
                "A step that is a multiple of the slot count moves nothing and needs no key",
                "Leave this key out",
                step=step,
            )

    @property
    def step(self) -> int:
        """Return the canonical step, 1 to num_slots - 1; +k moves slot i to slot i+k."""
        return self._step

    @property
    def galois_element(self) -> int:
        """Return the exponent g of the automorphism X -> X^g, 5^(-step) mod 2N."""
        return galois_element(self._step, self.config)

    def _purpose(self) -> list[str]:
        return [f"step {self.step}"]
