"""Errors of one slot, bounded and typical, as functions of the parameters alone.

The error of an elementary operation is a polynomial with independent centred coefficients, or a
sum of products of such polynomials, read at a root of unity. Coefficients are uniform (rounding),
ternary (masks, the secret) or discrete Gaussian (encryption and keys). None has a larger moment
generating function than a Gaussian of its variance v, so for a polynomial X of degree below N

    E exp(z |X(zeta)|^2 / (N v)) <= 1 / (1 - z)    for 0 <= z < 1,

which is what a complex Gaussian has, and Markov's inequality gives, for t > 1,

    P(|X(zeta)| > t sqrt(N v)) <= e t^2 exp(-t^2).

The constants below are where that reaches 2^-50, for one polynomial and for products: they hold for
every N, not only in the limit, and they never depend on message data. That the remainders of a
division are independent and uniform is the one heuristic step; it rests on ciphertexts looking
random. An encoder's rounding errors are a function of the message, so they get a worst case instead
of a tail. Errors of different operations are added (triangle inequality) in the transfer rules:
one ciphertext can be used twice, so errors of two operands are never taken to be independent.

The same terms without their tails are root mean squares, and those add in quadrature: what a run
typically shows. The simulator draws errors of that size; nothing else reads them.

Source: the canonical-embedding estimates of Gentry, Halevi, Smart (CRYPTO 2012, "Homomorphic
evaluation of the AES circuit", appendix A), with tails worked out for 2^-50.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from fhelium.config import CkksConfig


@dataclass(frozen=True, slots=True)
class Error:
    """An error of one slot that is independent of what it is added to.

    Args:
        bound: Exceeded with probability 2^-50 at the most.
        rms: Root mean square over slots and runs.
    """

    bound: float
    rms: float

    def __add__(self, other: Error) -> Error:
        return Error(self.bound + other.bound, math.hypot(self.rms, other.rms))

    def __mul__(self, factor: float) -> Error:
        return Error(self.bound * factor, self.rms * factor)

    def __truediv__(self, scale: float) -> Error:
        return Error(self.bound / scale, self.rms / scale)


EXACT = Error(0.0, 0.0)
"""The error of an operation on residues that rounds nothing."""

# P(|X| > t) < 2^-50 for polynomials of E|X|^2 = 1 ...
TAIL = 6.272
# ... P(|X Y| > t), for a product with one independent of it ...
PRODUCT_TAIL = 22.49
# ... and P(|X| |Y|^2 > t), for a rounding error times the square of the secret.
TRIPLE_TAIL = 115.4

# Relative error of a scale after a product and a rescale: two roundings each.
SCALE_ROUNDING = 2.0**-51

_ROUNDING_VARIANCE = 1 / 12
_TERNARY_VARIANCE = 2 / 3


def embedding_rounding(config: CkksConfig, message_bound: float) -> float:
    """Bound what float64 does to a slot on its way into coefficients and, later, out again.

    Each of the log2(N) stages of either transform rounds at 2^-53 of the values; 4 log2(N) such
    roundings are four times the largest error that was found. It matters for large messages only.
    """
    return 2.0**-51 * math.log2(config.N) * message_bound


def encoding(config: CkksConfig, scale: float, message_bound: float) -> Error:
    """Return the error of rounding each coefficient of an encoded message to an integer.

    |sum_k r_k zeta^k| with |r_k| <= 1/2 is at most 1 / (2 sin(pi / 2N)), about N / pi, and nearly
    that for a small number in one slot among zeros: all its coefficients are rounded to zero.
    """
    worst = 0.5 / math.sin(math.pi / (2 * config.N))
    size = Error(worst, math.sqrt(config.N * _ROUNDING_VARIANCE)) / scale
    return Error(size.bound + embedding_rounding(config, message_bound), size.rms)


def constant(scale: float) -> Error:
    """Return the error of one real number that is rounded to an integer at a scale."""
    return Error(0.5, math.sqrt(_ROUNDING_VARIANCE)) / scale


def rounding(config: CkksConfig, components: int, scale: float) -> Error:
    """Return the error of one division with rounding of a ciphertext: r0 + r1 s (+ r2 s^2)."""
    return _rounding_size(config.N, components) / scale


@lru_cache(maxsize=256)
def _rounding_size(degree: int, components: int) -> Error:
    one = math.sqrt(degree * _ROUNDING_VARIANCE)
    secret = math.sqrt(degree * _TERNARY_VARIANCE)
    tails = (TAIL, PRODUCT_TAIL, TRIPLE_TAIL)
    return _total(
        # E |s|^4 = 2 (E |s|^2)^2 at a root of unity, where s is close to a complex Gaussian.
        Error(tails[k] * one * secret**k, one * secret**k * math.sqrt(math.factorial(k)))
        for k in range(components)
    )


def _total(terms: Iterable[Error]) -> Error:
    return sum(terms, EXACT)


def truncation(config: CkksConfig, components: int, scale: float) -> Error:
    """Return the error of one division that rounds down: a rounding error and its mean of 1/2.

    The mean polynomial 1/2 (1 + X + ... + X^(N-1)) is largest at the root next to 1, where its
    value is 1/2 / sin(pi / 2N), about N / pi; over all slots its root mean square is sqrt(N) / 2.
    """
    mean = Error(0.5 / math.sin(math.pi / (2 * config.N)), 0.5 * math.sqrt(config.N))
    secret = Error(TAIL, 1.0) * math.sqrt(config.N * _TERNARY_VARIANCE)
    means = _total(
        Error(mean.bound * secret.bound**k, mean.rms * secret.rms**k) for k in range(components)
    )
    return rounding(config, components, scale) + means / scale


def public_key_encryption(config: CkksConfig, scale: float) -> Error:
    """Return the error of ModDown(v pk + e): the key's and encryption's over P, and a rounding."""
    error = math.sqrt(config.N) * config.sigma
    ternary = math.sqrt(config.N * _TERNARY_VARIANCE)
    # v e_pk + e0 + e1 s
    product = Error(PRODUCT_TAIL, 1.0) * (error * ternary)
    raw = product + Error(TAIL, 1.0) * error + product
    return raw / config.special_modulus / scale + rounding(config, 2, scale)


def secret_key_encryption(config: CkksConfig, scale: float) -> Error:
    """Return the one Gaussian error of -a s + e."""
    return Error(TAIL, 1.0) * (math.sqrt(config.N) * config.sigma) / scale


def key_switch(config: CkksConfig, depth: int, scale: float) -> Error:
    """Return the error of a hybrid key switch: centred digits times key errors over P, a rounding.

    Each digit is uniform in (-D/2, D/2): variance D^2/12 a coefficient. A sum of products of one
    total variance has no heavier tail than a single product.
    """
    return _key_switch_size(config, depth) / scale + rounding(config, 2, scale)


@lru_cache(maxsize=1024)
def _key_switch_size(config: CkksConfig, depth: int) -> Error:
    ratio_squares = 0.0
    for start, end in config.digits(depth):
        digit = math.prod(config.q_primes[start:end])
        ratio_squares += (digit / config.special_modulus) ** 2
    size = config.N * config.sigma * math.sqrt(ratio_squares * _ROUNDING_VARIANCE)
    return Error(PRODUCT_TAIL, 1.0) * size


def typical_coefficient_noise(config: CkksConfig, noise_bound: float, scale: float) -> float:
    """Return the standard deviation of a coefficient that a slot bound stands for."""
    return noise_bound * scale / (PRODUCT_TAIL * math.sqrt(config.N))


def coefficient_norm(noise_bound: float, scale: float) -> float:
    """Bound the Euclidean norm of the error's N coefficients, sqrt(sum_k e_k^2).

    The N complex values at the roots of X^N + 1 have N times the square sum of the coefficients
    (Parseval), and each is at most scale * noise_bound.
    """
    return noise_bound * scale


def covering(config: CkksConfig, sigma: float, scale: float) -> float:
    """Bound in a slot what a rounded Gaussian of width sigma on every coefficient adds."""
    return TAIL * math.sqrt(config.N) * (sigma + 0.5) / scale
