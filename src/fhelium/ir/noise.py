"""Bounds on the error of one slot, as functions of the parameters alone.

Every elementary error is a polynomial with independent coefficients of known variance, evaluated
at a root of unity: a complex number whose size has a Rayleigh tail. Products of two or three such
polynomials (rounding error times secret) have heavier tails. The constants below bound each at
failure probability 2^-50 per slot; they never depend on message data. Composition is by the
triangle inequality, in the transfer rules.

Source: the canonical-embedding heuristic of Gentry, Halevi and Smart (CRYPTO 2012, "Homomorphic
evaluation of the AES circuit", appendix A), with tails worked out for 2^-50.
"""

from __future__ import annotations

import math
from functools import lru_cache

from fhelium.config import CkksConfig

# |X| > t sqrt(E|X|^2) has probability exp(-t^2) for one complex Gaussian X.
TAIL = math.sqrt(50 * math.log(2))
# P(|X Y| > t) = 2 t K_1(2 t) for two: 2^-50 at t = 18.4.
PRODUCT_TAIL = 18.4
# P(|X| |Y|^2 > t), exponent 1.5 (2 t^2)^(1/3): below 2^-50 at t = 95.
TRIPLE_TAIL = 95.0

_ROUNDING_VARIANCE = 1 / 12
_TERNARY_VARIANCE = 2 / 3


def encoding(config: CkksConfig, scale: float) -> float:
    """Bound the error of rounding each coefficient of an encoded message to an integer."""
    return TAIL * math.sqrt(config.N * _ROUNDING_VARIANCE) / scale


def rounding(config: CkksConfig, components: int, scale: float) -> float:
    """Bound the error of one division with rounding of a ciphertext: r0 + r1 s (+ r2 s^2)."""
    return _rounding_size(config.N, components) / scale


@lru_cache(maxsize=256)
def _rounding_size(degree: int, components: int) -> float:
    one = math.sqrt(degree * _ROUNDING_VARIANCE)
    secret = math.sqrt(degree * _TERNARY_VARIANCE)
    tails = (TAIL, PRODUCT_TAIL, TRIPLE_TAIL)
    return sum(tails[k] * one * secret**k for k in range(components))


def public_key_encryption(config: CkksConfig, scale: float) -> float:
    """Bound ModDown(v pk + e): the key's and encryption's errors divided by P, and a rounding."""
    error = math.sqrt(config.N) * config.sigma
    ternary = math.sqrt(config.N * _TERNARY_VARIANCE)
    # v e_pk + e0 + e1 s
    raw = 2 * PRODUCT_TAIL * error * ternary + TAIL * error
    return raw / config.special_modulus / scale + rounding(config, 2, scale)


def secret_key_encryption(config: CkksConfig, scale: float) -> float:
    """Bound the one Gaussian error of -a s + e."""
    return TAIL * math.sqrt(config.N) * config.sigma / scale


def key_switch(config: CkksConfig, depth: int, scale: float) -> float:
    """Bound a hybrid key switch: centred digits times key errors over P, and a rounding."""
    return _key_switch_size(config, depth) / scale + rounding(config, 2, scale)


@lru_cache(maxsize=1024)
def _key_switch_size(config: CkksConfig, depth: int) -> float:
    ratio_squares = 0.0
    for start, end in config.digits(depth):
        digit = math.prod(config.q_primes[start:end])
        ratio_squares += (digit / config.special_modulus) ** 2
    # Each digit is uniform in (-D/2, D/2): variance D^2/12 a coefficient.
    return PRODUCT_TAIL * config.N * config.sigma * math.sqrt(ratio_squares / 12)


def typical_coefficient_noise(config: CkksConfig, noise_bound: float, scale: float) -> float:
    """Return the standard deviation of a coefficient that a slot bound stands for."""
    return noise_bound * scale / (PRODUCT_TAIL * math.sqrt(config.N))
