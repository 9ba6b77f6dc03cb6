"""Primes of a number-theoretic ring: a proven test, the two searches, and 2N-th roots of unity.

A prime q serves a ring of degree N when q = 1 (mod 2N): only then does Z_q hold a primitive 2N-th
root of unity, and with it a negacyclic number-theoretic transform.
"""

from __future__ import annotations

from collections.abc import Container
from functools import lru_cache

from fhelium.errors import ParameterError

_SMALL_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
# The first 12 primes as bases decide every n below this bound (Sorenson and Webster 2015).
_PROVEN_BELOW = 318665857834031151167461


@lru_cache(maxsize=1 << 14)
def is_prime(n: int) -> bool:
    """Decide whether n is prime, without any chance of error.

    Formula: n - 1 = 2^s t, t odd; n passes base a when a^t = 1 or a^(2^r t) = -1 (mod n), r < s.

    Cost: at most 12 modular powers; a composite almost always falls at the first.

    Args:
        n: Any integer below 3.18e23; all moduli of this library are below 2^62.

    Returns:
        True exactly when n is prime.

    Raises:
        ParameterError: n is past the bound up to which the test is proven; take a smaller one.

    Example:
        >>> is_prime(2**61 - 1), is_prime(3215031751)  # the second fools bases 2, 3, 5 and 7
        (True, False)

    Source: J. Sorenson, J. Webster, "Strong pseudoprimes to twelve prime bases",
        Math. Comp. 86 (2017), doi 10.1090/mcom/3134.
    """
    if n < 2:
        return False
    for small in _SMALL_PRIMES:
        if n % small == 0:
            return n == small
    if n >= _PROVEN_BELOW:
        raise ParameterError(
            "is_prime",
            f"n has {n.bit_length()} bits and the test is proven below {_PROVEN_BELOW}",
            "Moduli are proven primes",
            "Use a modulus below 2^62",
        )
    s = ((n - 1) & -(n - 1)).bit_length() - 1
    t = (n - 1) >> s
    return all(_passes(n, base, s, t) for base in _SMALL_PRIMES)


def _passes(n: int, base: int, s: int, t: int) -> bool:
    x = pow(base, t, n)
    if x in (1, n - 1):
        return True
    for _ in range(s - 1):
        x = x * x % n
        if x == n - 1:
            return True
    return False


def largest_prime_below(bound: int, N: int, used: Container[int] = ()) -> int:
    """Find the largest unused prime q < bound with q = 1 (mod 2N).

    Returns:
        The prime.
    """
    step = 2 * N
    for candidate in range((bound - 2) // step * step + 1, 1, -step):
        if candidate not in used and is_prime(candidate):
            return candidate
    raise ParameterError(
        "CkksConfig.create",
        f"no unused prime q = 1 (mod {step}) lies below {bound}",
        "Each limb needs a prime of its own with q = 1 (mod 2N)",
        "Use more bits for this prime or a smaller N",
        N=N,
    )


def smallest_prime_from(bound: int, N: int, used: Container[int] = ()) -> int:
    """Find the smallest unused prime q >= bound with q = 1 (mod 2N).

    Returns:
        The prime.
    """
    step = 2 * N
    candidate = max(bound - 2, 0) // step * step + 1 + step
    while candidate in used or not is_prime(candidate):
        candidate += step
    return candidate


def nearest_prime(target: int, N: int, used: Container[int] = (), *, fraction_bits: int = 0) -> int:
    """Find the unused prime q = 1 (mod 2N) that lies nearest to target / 2^fraction_bits.

    Args:
        target: Where to look, as a fixed-point number; of two equally near primes the smaller wins.
        N: Ring degree, a power of two.
        used: Primes that are taken already.
        fraction_bits: Number of binary places of target.

    Returns:
        The prime.

    Raises:
        ParameterError: None lies within half of the target; use a larger scale or a smaller N.

    Example:
        >>> nearest_prime(2**30, 8192)
        1073692673
    """
    step = 2 * N
    below = ((target >> fraction_bits) - 1) // step * step + 1
    above = below + step
    while True:
        down, up = target - (below << fraction_bits), (above << fraction_bits) - target
        if min(down, up) > target // 2:
            break
        if down <= up:
            candidate, below = below, below - step
        else:
            candidate, above = above, above + step
        if candidate > 1 and candidate not in used and is_prime(candidate):
            return candidate
    raise ParameterError(
        "CkksConfig.create",
        f"no unused prime q = 1 (mod {step}) lies within half of {target >> fraction_bits}",
        "Each limb needs a prime of its own with q = 1 (mod 2N), near the scale",
        "Use a larger scale, less depth or a smaller N",
        N=N,
    )


@lru_cache(maxsize=1 << 12)
def primitive_root(q: int, N: int) -> int:
    """Return the primitive 2N-th root of unity modulo q on which NTT tables are built.

    Formula: psi = g^((q-1)/2N) mod q for the smallest g = 2, 3, ... with psi^N = -1 (mod q).

    Cost: two modular powers for each g tried, two tries on average; remembered afterwards.

    Args:
        q: Prime with q = 1 (mod 2N).
        N: Ring degree, a power of two.

    Returns:
        psi, in [2, q).

    Raises:
        ParameterError: q has no such root; use a prime q = 1 (mod 2N).

    Example:
        >>> psi = primitive_root(1038337, 1024)
        >>> pow(psi, 1024, 1038337) == 1038337 - 1
        True
    """
    if (q - 1) % (2 * N) == 0 and is_prime(q):
        for g in range(2, q):
            psi = pow(g, (q - 1) // (2 * N), q)
            if pow(psi, N, q) == q - 1:
                return psi
    raise ParameterError(
        "primitive_root",
        f"q is {q} and 2N is {2 * N}",
        "A primitive 2N-th root of unity exists only modulo a prime q = 1 (mod 2N)",
        "Use a prime of config.primes and the degree of the same config",
        q=q,
        N=N,
    )
