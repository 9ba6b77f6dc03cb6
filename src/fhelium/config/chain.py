"""Canonical scales of a modulus chain, and the search for the primes that keep them together."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Sequence
from fractions import Fraction

from fhelium.config.primes import largest_prime_below, nearest_prime, smallest_prime_from
from fhelium.config.words import WORDS, Word
from fhelium.errors import ParameterError

# Each step squares the scale, so an error doubles with every depth: 640 binary places leave 385
# right ones after 255 steps, far more than the 53 of a float64.
_FRACTION_BITS = 640
MAX_DRIFT_BITS = 1.0
_ROUNDING_BITS = 1e-9  # far above the error of log2, far below the gap between two primes
HEADROOM_BITS = 10
SPECIAL_MARGIN_BITS = 6
MIN_SPECIAL_MARGIN_BITS = 5.9


def canonical_scales(default_scale: float, dropped: Sequence[int]) -> tuple[float, ...]:
    """Compute the canonical scale of every depth.

    Formula: D_0 = default_scale, D_{d+1} = D_d^2 / q_d. The product of two ciphertexts of scale
    D_d, rescaled by q_d, has scale D_{d+1}; so results that took different ways to one depth can
    be added.

    Args:
        default_scale: D_0, at least 1.
        dropped: The primes q_0, q_1, ... in the order in which rescaling drops them.

    Returns:
        len(dropped) + 1 float64 numbers, each the exact value rounded once.

    Raises:
        ParameterError: A scale is more than a factor of two away from D_0; use primes near D_0.

    Example:
        >>> canonical_scales(2.0**30, [2**30 + 1, 2**30 - 3])[1]
        1073741823.0
    """
    start = _fixed_point(default_scale)
    scales, scale = [float(default_scale)], start
    for depth, prime in enumerate(dropped, start=1):
        scale = scale * scale // (prime << _FRACTION_BITS)
        drift = math.log2(scale / start) if scale else -math.inf
        if abs(drift) > MAX_DRIFT_BITS:
            raise ParameterError(
                "CkksConfig",
                f"the canonical scale at depth {depth} is 2^{drift:+.2f} times the default scale "
                f"2^{math.log2(default_scale):.2f}",
                f"It must stay within a factor of 2^{MAX_DRIFT_BITS:g}, so that every depth has "
                "the precision of the first",
                "Use primes nearer to the scale (CkksConfig.create takes the nearest) or a larger "
                "scale, around which they lie closer",
                depth=depth,
                drift_bits=drift,
            )
        scales.append(scale / (1 << _FRACTION_BITS))  # int / int rounds once, to nearest
    return tuple(scales)


def search_q_chain(
    N: int, depth: int, default_scale: float, base_bits: int, base_primes: int = 1
) -> tuple[int, ...]:
    """Find the Q primes of a ring: `depth` scale primes in drop order, then the base primes.

    Formula: q_d is the unused prime nearest to D_d^2 / D_0, which brings D_{d+1} back to D_0. The
    base primes are the largest ones below 2^(base_bits / base_primes).

    Cost: about ln(q)/2 primality tests for each prime; some milliseconds for a whole chain.

    Args:
        N: Ring degree, a power of two.
        depth: Number of scale primes.
        default_scale: D_0.
        base_bits: Bits of the base modulus, scale plus headroom.
        base_primes: How many primes the base has.

    Raises:
        ParameterError: Too few primes exist near the scale; use a larger scale or a smaller N.

    Example:
        >>> [q.bit_length() for q in search_q_chain(1024, 2, 2.0**30, 40)]
        [31, 30, 40]
    """
    bound = math.floor(2.0 ** (base_bits / base_primes))
    base = _take(base_primes, (), lambda used: largest_prime_below(bound, N, used))
    used = set(base)
    chain: list[int] = []
    start = scale = _fixed_point(default_scale)
    for _ in range(depth):
        target = scale * scale // start
        prime = nearest_prime(target, N, used, fraction_bits=_FRACTION_BITS)
        scale = scale * scale // (prime << _FRACTION_BITS)
        used.add(prime)
        chain.append(prime)
    return (*chain, *base)


def digit_bits(q_primes: Sequence[int], alpha: int) -> float:
    """Return log2 of the largest product of one digit, in bits."""
    starts = range(0, len(q_primes), alpha)
    return max(math.log2(math.prod(q_primes[start : start + alpha])) for start in starts)


def special_prime_shape(
    q_primes: Sequence[int], alpha: int, word: Word = WORDS["int64"]
) -> tuple[int, float]:
    """Choose how many special primes a digit size takes, and log2 of their product.

    Formula: P = 2^6 D for the largest digit product D, over as few primes as fit below 2^50 each,
    or below 2^60 where Q has larger primes anyway: transforms modulo larger primes are slower. For
    int32 residues they lie below 2^30.

    Returns:
        Number of special primes K and log2(P), an upper bound on what the search will find.
    """
    bits = digit_bits(q_primes, alpha) + SPECIAL_MARGIN_BITS
    fast = max(q_primes) < 1 << word.fast_bits
    return math.ceil(bits / (word.fast_bits if fast else word.wide_bits)), bits


def search_special_primes(
    N: int, q_primes: Sequence[int], alpha: int, word: Word = WORDS["int64"]
) -> tuple[int, ...]:
    """Find the special primes of a digit size: the largest unused ones of the wanted size.

    Where primes are so rare that P would fall short of 2^5.9 times the largest digit, the last one
    is the smallest that reaches it, or, where the residue type has no room for that one, all are
    the smallest unused ones from the wanted size on.

    Args:
        N: Ring degree, a power of two.
        q_primes: All Q primes in drop order.
        alpha: Rows of a digit.
        word: What the residue type decides.

    Returns:
        K primes, their product a little below 2^6 times the largest digit as a rule.

    Raises:
        ParameterError: Too few primes of that size exist; use another alpha or a smaller N.

    Example:
        >>> chain = search_q_chain(1024, 1, 2.0**40, 50)
        >>> [p.bit_length() for p in search_special_primes(1024, chain, alpha=2)]
        [48, 48]
    """
    count, bits = special_prime_shape(q_primes, alpha, word)
    bound = math.floor(2.0 ** (bits / count))
    try:
        special = _take(count, q_primes, lambda used: largest_prime_below(bound, N, used))
    except ParameterError:  # there are none so small
        return _take(count, q_primes, lambda used: smallest_prime_from(bound, N, used))
    least = bits - SPECIAL_MARGIN_BITS + MIN_SPECIAL_MARGIN_BITS
    if math.log2(math.prod(special)) >= least:
        return special
    rest = special[:-1]
    lacking = math.ceil(2.0 ** (least - math.log2(math.prod(rest)) + _ROUNDING_BITS))
    last = smallest_prime_from(lacking, N, {*q_primes, *rest})
    if last < 1 << word.prime_bits:
        return (*rest, last)
    return _take(count, q_primes, lambda used: smallest_prime_from(bound, N, used))


def _take(
    count: int, used: Sequence[int], find: Callable[[Container[int]], int]
) -> tuple[int, ...]:
    found: list[int] = []
    for _ in range(count):
        found.append(find({*used, *found}))
    return tuple(found)


def _fixed_point(scale: float) -> int:
    # Exact: a float64 of at least 1 has at most 52 binary places.
    return int(Fraction(scale) * (1 << _FRACTION_BITS))
