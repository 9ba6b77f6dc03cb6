"""Conversion constants of the modulus chain, computed in Python integers."""

from __future__ import annotations

import math
from fractions import Fraction

from fhelium.config import CkksConfig


def digit_bounds(config: CkksConfig, depth: int) -> list[int]:
    """Return the rows at which digits begin and end, those of depth ``depth`` counted from 0."""
    return [0, *(end - depth for _, end in config.digits(depth))]


def digit_constants(config: CkksConfig, depth: int) -> dict[str, list]:
    """Return the standard-form constants of ModUp at a depth.

    For digit D with primes d_i: ``digit_scale`` is (D/d_i)^-1 mod d_i, ``matrix[i][t]`` is D/d_i
    mod the target prime t of QP, and ``correction[digit][t]`` is D mod t.
    """
    targets = [config.primes[i] for i in config.prime_ids("QP", depth)]
    scale, matrix, correction = [], [], []
    for start, end in config.digits(depth):
        primes = config.q_primes[start:end]
        product = math.prod(primes)
        correction.append([product % target for target in targets])
        for prime in primes:
            rest = product // prime
            scale.append(pow(rest, -1, prime))
            matrix.append([rest % target for target in targets])
    return {
        "digit_scale": scale,
        "matrix": matrix,
        "correction": correction,
    }


def special_constants(config: CkksConfig, depth: int) -> dict[str, list]:
    """Return the standard-form constants of ModDown at a depth: the same with P as the digit."""
    targets = config.q_primes[depth:]
    product = config.special_modulus
    rests = [product // prime for prime in config.p_primes]
    return {
        "special_scale": [
            pow(rest, -1, prime) for rest, prime in zip(rests, config.p_primes, strict=True)
        ],
        "matrix": [[rest % target for target in targets] for rest in rests],
        "correction": [product % target for target in targets],
        "special_inverse": [pow(product, -1, target) for target in targets],
    }


def rescale_inverse(config: CkksConfig, depth: int) -> list[int]:
    """Return q_d^-1 modulo each prime that stays when depth d drops q_d."""
    dropped = config.q_primes[depth]
    return [pow(dropped, -1, prime) for prime in config.q_primes[depth + 1 :]]


def scalar_residues(config: CkksConfig, value: float, scale: float, depth: int) -> list[int]:
    """Return round(value * scale), exactly, modulo each prime of Q at a depth."""
    integer = round(Fraction(value) * Fraction(scale))
    return [integer % prime for prime in config.q_primes[depth:]]


def scalar_symbol(value: float, scale: float, depth: int, form: str) -> str:
    """Name the table that holds ``scalar_residues`` in standard or Montgomery form."""
    return f"scalar/{float(value).hex()}/{float(scale).hex()}/{depth}/{form}"
