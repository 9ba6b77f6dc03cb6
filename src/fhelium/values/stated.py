"""The axes of a state as attributes of the value that carries it."""

from __future__ import annotations

from typing import cast

from fhelium.config import CkksConfig
from fhelium.values.state import (
    CkksState,
    ModulusBasis,
    PolynomialDomain,
    ResidueRepresentation,
)


class StateAxes:
    """Show the axes that every value and key has; all of them are known there."""

    __slots__ = ("_state",)

    _state: CkksState

    @property
    def state(self) -> CkksState:
        """Return the state, which is immutable."""
        return self._state

    @property
    def config(self) -> CkksConfig:
        """Return the parameters of the ring."""
        return self._state.config

    @property
    def context_id(self) -> str:
        """Return the parameter identity; values of different contexts never mix."""
        return self._state.context_id

    @property
    def key_id(self) -> str | None:
        """Return the random name of the secret key that this belongs to."""
        return self._state.key_id

    @property
    def insecure(self) -> bool:
        """Return whether parameters or randomness behind this are marked insecure."""
        return self._state.insecure

    @property
    def components(self) -> int:
        """Return the number of polynomials: 1 clear, 2 or 3 encrypted."""
        return cast(int, self._state.components)

    @property
    def prime_ids(self) -> tuple[int, ...]:
        """Return the index in config.primes of each limb."""
        return cast("tuple[int, ...]", self._state.prime_ids)

    @property
    def polynomial_domain(self) -> PolynomialDomain:
        """Return "coefficient" or "ntt"."""
        return cast(PolynomialDomain, self._state.polynomial_domain)

    @property
    def modulus_basis(self) -> ModulusBasis:
        """Return "Q", or "QP" with the special primes."""
        return cast(ModulusBasis, self._state.modulus_basis)

    @property
    def residue_representation(self) -> ResidueRepresentation:
        """Return "standard" or "montgomery"."""
        return cast(ResidueRepresentation, self._state.residue_representation)


class SlotAxes(StateAxes):
    """Show the axes that values with slots have besides."""

    __slots__ = ()

    @property
    def depth(self) -> int:
        """Return how many primes have been dropped; it counts up from 0 at encryption."""
        return cast(int, self._state.depth)

    @property
    def level(self) -> int:
        """Return how many primes can still be dropped, max_depth - depth: it counts down."""
        return cast(int, self._state.level)

    @property
    def max_depth(self) -> int:
        """Return the last depth of the parameters."""
        return self._state.config.max_depth

    @property
    def num_slots(self) -> int:
        """Return how many complex numbers one message holds, N/2."""
        return self._state.config.num_slots

    @property
    def scale(self) -> float:
        """Return the factor between a message and its integer coefficients."""
        return cast(float, self._state.scale)

    @property
    def noise_bound(self) -> float | None:
        """Return the largest error of any slot in message units, or None while unknown."""
        return self._state.noise_bound

    @property
    def message_bound(self) -> float | None:
        """Return the largest magnitude of any slot in message units, or None while unknown."""
        return self._state.message_bound

    def bits_left(self) -> float | None:
        """Return the precision that is left, -log2(noise_bound), or None while unknown."""
        return self._state.bits_left()
