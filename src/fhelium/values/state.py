"""The one state type: everything that gives the residues of a value their meaning."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final, Literal, Self, get_args

from fhelium.config import CkksConfig, choose_more_depth
from fhelium.errors import BoundError, OperandTypeError, StateError
from fhelium.text import bits_text, count_text, list_text, scale_text

PolynomialDomain = Literal["coefficient", "ntt"]
ModulusBasis = Literal["Q", "QP"]
ResidueRepresentation = Literal["standard", "montgomery"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CkksState:
    """Say how the residues of one value are to be read; None means not known yet.

    Eager's values know every axis that applies to them. Compile works on the same type with axes
    that a pass has still to find. A state is immutable, hashable and never depends on message
    data, so it can be compared, cached and shared between values.

    A slot v is represented by residues of scale * v modulo the primes `prime_ids`. Depth counts up
    from 0 at encryption, as in OpenFHE; `level` counts down, as in Lattigo and SEAL.

    Args:
        config: The parameters of the ring.
        depth: How many primes have been dropped, 0 to config.max_depth.
        scale: Factor between a message and its integer coefficients, at least 1.
        polynomial_domain: "coefficient", or "ntt" for values at the roots of X^N + 1.
        modulus_basis: "Q", or "QP" with the special primes of key switching.
        residue_representation: "standard" residues, or "montgomery" ones (x R mod q).
        components: Polynomials in the value: 1 for clear rows, 2 or 3 for a ciphertext.
        key_id: Random name of the secret key that opens the value.
        noise_bound: Largest error of any slot, in message units.
        message_bound: Largest magnitude of any slot, in message units.
        insecure: Whether parameters or randomness behind the value are marked insecure.

    Example:
        >>> from fhelium.config import CkksConfig
        >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
        >>> state = CkksState.fresh(config, noise_bound=2.0**-20)
        >>> state.replace(depth=1).prime_ids
        (1, 2, 3)
        >>> state.level, state.bits_left()
        (3, 20.0)
    """

    config: CkksConfig
    depth: int | None = None
    scale: float | None = None
    polynomial_domain: PolynomialDomain | None = None
    modulus_basis: ModulusBasis | None = None
    residue_representation: ResidueRepresentation | None = None
    components: int | None = None
    key_id: str | None = None
    noise_bound: float | None = None
    message_bound: float | None = None
    insecure: bool = False

    @classmethod
    def fresh(
        cls,
        config: CkksConfig,
        *,
        depth: int = 0,
        scale: float | None = None,
        polynomial_domain: PolynomialDomain = "coefficient",
        modulus_basis: ModulusBasis = "Q",
        residue_representation: ResidueRepresentation = "standard",
        components: int = 2,
        key_id: str | None = None,
        noise_bound: float | None = None,
        message_bound: float | None = None,
        insecure: bool = False,
        operation: str = "CkksState",
    ) -> Self:
        """Return the checked state of a value that was just encoded or encrypted.

        Args:
            config: The parameters of the ring; insecure ones mark the state.
            depth: 0 to config.max_depth.
            scale: Defaults to the canonical scale of the depth.
            polynomial_domain: As in the class, and so are the axes that follow.
            insecure: Marks the state even where the parameters are secure.
            operation: Name that an error text begins with.

        Raises:
            StateError: An axis is illegal; the text names it and what it may be.

        Example:
            >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
            >>> CkksState.fresh(config, depth=2).scale == config.scale_at(2)
            True
        """
        return cls(
            config=config,
            depth=depth,
            scale=config.scale_at(depth) if scale is None else _real(scale),
            polynomial_domain=polynomial_domain,
            modulus_basis=modulus_basis,
            residue_representation=residue_representation,
            components=components,
            key_id=key_id,
            noise_bound=_real(noise_bound),
            message_bound=_real(message_bound),
            insecure=insecure or config.insecure,
        ).check(operation)

    @property
    def context_id(self) -> str:
        """Return the parameter identity; values of different contexts never mix."""
        return self.config.context_id

    @property
    def prime_ids(self) -> tuple[int, ...] | None:
        """Return the index in config.primes of each limb, or None while that is unknown."""
        if self.depth is None or self.modulus_basis is None:
            return None
        return self.config.prime_ids(self.modulus_basis, self.depth)

    @property
    def limb_count(self) -> int | None:
        """Return how many limbs the value has, or None while that is unknown."""
        # Counted rather than len(prime_ids): every construction of a value asks for it.
        if self.depth is None or self.modulus_basis is None:
            return None
        config = self.config
        special = len(config.p_primes) if self.modulus_basis == "QP" else 0
        return len(config.q_primes) - self.depth + special

    @property
    def level(self) -> int | None:
        """Return how many primes can still be dropped, max_depth - depth: it counts down."""
        return None if self.depth is None else self.config.max_depth - self.depth

    def bits_left(self) -> float | None:
        """Return the precision that is left, -log2(noise_bound) bits after the binary point.

        Returns:
            None while the bound is unknown, infinity for an exact value.

        Example:
            >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
            >>> CkksState(config=config).bits_left() is None
            True
        """
        if self.noise_bound is None:
            return None
        return -math.log2(self.noise_bound) if self.noise_bound > 0 else math.inf

    def replace(self, **changes: Any) -> CkksState:
        """Return the state with some axes changed.

        Nothing is validated: transfer rules call this for each operation. `check` validates.

        Args:
            **changes: New values by axis name.

        Raises:
            TypeError: There is no such axis; the text lists the axes.

        Example:
            >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
            >>> CkksState.fresh(config).replace(components=3).components
            3
        """
        # Slot descriptors called directly: about half the time of dataclasses.replace.
        new = _NEW(CkksState)
        for setter, value in zip(_SETTERS, _VALUES(self), strict=False):
            setter(new, value)
        try:
            for name, value in changes.items():
                _SETTER_OF[name](new, value)
        except KeyError as error:
            raise OperandTypeError(
                "replace", f"{error.args[0]!r} is not an axis", f"Axes are {list_text(AXES)}"
            ) from None
        return new

    def check(self, operation: str = "CkksState") -> Self:
        """Return the state if all its known axes are legal together.

        Args:
            operation: Name that an error text begins with.

        Raises:
            StateError: An axis is outside its values; the text names it and what it may be.
            BoundError: The tracked bounds do not fit the modulus: decryption would be garbage.
                Encrypt at a smaller scale, or declare a tighter message_bound.

        Example:
            >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
            >>> try:
            ...     CkksState.fresh(config).replace(depth=9).check()
            ... except StateError as error:
            ...     print(error.fact)
            depth is 9 and max_depth is 3
        """
        _check_axes(self, operation)
        _check_sizes(self, operation)
        return self

    def check_bounds(self, operation: str) -> Self:
        """Return the state if the value it describes fits its modulus, as far as is known.

        A coefficient is at most scale * max |slot|, and centred representatives end at half the
        modulus: beyond it a value decrypts to garbage.

        Args:
            operation: Name that an error text begins with.

        Raises:
            BoundError: scale * (message_bound + noise_bound) reaches half the modulus.

        Example:
            >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
            >>> state = CkksState.fresh(config, depth=3, noise_bound=0.0, message_bound=1.0)
            >>> state.check_bounds("multiply") is state
            True
        """
        if self.noise_bound is None or self.message_bound is None or self.scale is None:
            return self
        if self.depth is None or self.modulus_basis is None:
            return self
        size = (self.message_bound + self.noise_bound) * self.scale
        room = half_modulus(self.config, self.modulus_basis, self.depth)
        if not size < room * _BELOW_ROOM:
            canonical = self.config.scale_at(self.depth)
            last = self.depth == self.config.max_depth and self.scale > canonical**1.5
            raise BoundError(
                operation,
                f"message_bound {self.message_bound:.4g} with noise_bound {self.noise_bound:.4g} "
                f"at scale {scale_text(self.scale)} needs {scale_text(size)}, half the modulus at "
                f"depth {self.depth} is {scale_text(room)}",
                "A value beyond half the modulus decrypts to garbage",
                f"The depth is used up, {self.depth} of {self.config.max_depth}: no prime is left "
                f"to rescale by. {choose_more_depth(self.config)}, multiply less, or rescale a "
                "product before its primes are dropped"
                if last
                else "Rescale products, start shallower, declare a smaller message_bound when "
                "encrypting, or choose parameters with a larger base prime",
                noise_bound=self.noise_bound,
                message_bound=self.message_bound,
            )
        return self

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self  # immutable, and so is its config

    def __repr__(self) -> str:
        depth = "unknown" if self.depth is None else self.depth
        count = self.components
        parts = [
            f"depth {depth}/{self.config.max_depth}",
            f"scale {scale_text(self.scale)}",
            self.polynomial_domain or "domain unknown",
            self.residue_representation or "representation unknown",
            self.modulus_basis or "basis unknown",
            "components unknown" if count is None else count_text(count, "component"),
            bits_text(self.bits_left()),
        ]
        return f"CkksState({', '.join(parts)}{', insecure' if self.insecure else ''})"


@lru_cache(maxsize=1024)
def half_modulus(config: CkksConfig, basis: ModulusBasis, depth: int) -> float:
    """Return half the modulus of a basis and depth; infinity beyond the float range.

    Example:
        >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
        >>> half_modulus(config, "Q", 3) == config.q_primes[3] / 2
        True
    """
    modulus = math.prod(config.primes[i] for i in config.prime_ids(basis, depth))
    try:
        return modulus / 2
    except OverflowError:
        return math.inf


AXES: Final = tuple(field.name for field in fields(CkksState))
_NEW: Final = object.__new__
_VALUES: Final = attrgetter(*AXES)
_SETTER_OF: Final[dict[str, Callable[[CkksState, Any], None]]] = {
    name: getattr(CkksState, name).__set__ for name in AXES
}
_SETTERS: Final = tuple(_SETTER_OF.values())


_BELOW_ROOM: Final = 1 - 2.0**-40  # far more than what float64 rounds off scales and bounds

_CHOICES: Final[dict[str, tuple[object, ...]]] = {
    "polynomial_domain": get_args(PolynomialDomain),
    "modulus_basis": get_args(ModulusBasis),
    "residue_representation": get_args(ResidueRepresentation),
    "components": (1, 2, 3),
    "insecure": (False, True),
}


def _check_axes(state: CkksState, operation: str) -> None:
    max_depth = state.config.max_depth
    if state.depth is not None and not (type(state.depth) is int and 0 <= state.depth <= max_depth):
        raise StateError(
            operation,
            f"depth is {state.depth!r} and max_depth is {max_depth}",
            "Depth counts up from 0 at encryption to max_depth",
            f"Use an integer from 0 to {max_depth}",
            depth=state.depth,
            max_depth=max_depth,
        )
    for name, choices in _CHOICES.items():
        _check_choice(operation, name, getattr(state, name), choices)
    if state.key_id is not None and not (type(state.key_id) is str and state.key_id):
        raise StateError(
            operation,
            f"key_id is {state.key_id!r}",
            "A key id is the non-empty text that a secret key was given",
            "Pass secret_key.key_id",
            key_id=state.key_id,
        )
    if state.config.insecure and not state.insecure:
        raise StateError(
            operation,
            "config is insecure and the state is not marked insecure",
            "A state is marked insecure where its parameters are",
            "Pass insecure=True or use parameters within the security table",
        )


def _real(value: float | None) -> float | None:
    """Return an int as the float that axes hold; leave anything else to the check."""
    return float(value) if type(value) is int else value


def _check_choice(operation: str, name: str, value: object, choices: Sequence[object]) -> None:
    known = any(type(value) is type(choice) and value == choice for choice in choices)
    if not known and (value is not None or name == "insecure"):
        allowed = " or ".join(repr(choice) for choice in choices)
        fact = f"{name} is {value!r}"
        rule = f"{name} is {allowed}"
        raise StateError(operation, fact, rule, f"Use {allowed}", **{name: value})


def _check_sizes(state: CkksState, operation: str) -> None:
    for name in ("scale", "noise_bound", "message_bound"):
        value = getattr(state, name)
        least = 1 if name == "scale" else 0
        if value is not None and not (isinstance(value, float) and least <= value < math.inf):
            raise StateError(
                operation,
                f"{name} is {value!r}",
                f"{name} is a finite float of at least {least}",
                "Pass a float, or None while it is unknown",
                **{name: value},
            )
    if state.scale is None or state.prime_ids is None:
        return
    modulus = math.prod(state.config.primes[i] for i in state.prime_ids)
    if state.scale >= modulus:
        raise StateError(
            operation,
            f"scale is {scale_text(state.scale)} and the modulus at depth {state.depth} is "
            f"2^{math.log2(modulus):.1f}",
            "A scale is smaller than the modulus",
            "Use a smaller scale or a smaller depth",
            scale=state.scale,
        )
    state.check_bounds(operation)
