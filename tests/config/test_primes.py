"""Primality, prime search and roots of unity against python-flint and sympy."""

from __future__ import annotations

import flint
import pytest
import sympy
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fhelium.config.primes import (
    is_prime,
    largest_prime_below,
    nearest_prime,
    primitive_root,
    smallest_prime_from,
)
from fhelium.errors import ParameterError

# Composites that pass the strong test for the first 1, 2, 3, 4, 5, 6, 8, 11 prime bases.
STRONG_PSEUDOPRIMES = (
    2047,
    1373653,
    25326001,
    3215031751,
    2152302898747,
    3474749660383,
    341550071728321,
    3825123056546413051,
)
CARMICHAEL = (561, 1105, 1729, 41041, 825265, 321197185, 9746347772161)
degrees = st.integers(4, 17).map(lambda bits: 1 << bits)


def test_small_numbers_one_by_one():
    assert [n for n in range(-5, 5000) if is_prime(n)] == list(sympy.primerange(5000))


@given(st.integers(0, 2**64))
@example(2**61 - 1)
@example((2**31 - 1) ** 2)
@example(2**62 - 57)
def test_random_numbers_agree_with_flint(n):
    assert is_prime(n) == flint.fmpz(n).is_prime()


@given(st.integers(3, 2**31), st.integers(3, 2**31))
@settings(max_examples=50)
def test_products_of_two_primes_are_composite(a, b):
    p, q = sympy.nextprime(a), sympy.nextprime(b)
    assert is_prime(p)
    assert is_prime(q)
    assert not is_prime(p * q)


@pytest.mark.parametrize("n", STRONG_PSEUDOPRIMES + CARMICHAEL)
def test_pseudoprimes_are_not_primes(n):
    assert not flint.fmpz(n).is_prime()
    assert not is_prime(n)


def test_a_number_past_the_proven_bound_is_refused():
    with pytest.raises(ParameterError, match=r"89 bits.*318665857834031151167461"):
        is_prime(2**89 - 1)


@given(degrees, st.integers(28, 61), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_largest_prime_below_skips_no_prime(N, bits, already):
    used: set[int] = set()
    for _ in range(already):
        used.add(largest_prime_below(1 << bits, N, used))
    found = largest_prime_below(1 << bits, N, used)
    between = range(found, 1 << bits, 2 * N)
    assert found % (2 * N) == 1
    assert {n for n in between if flint.fmpz(n).is_prime()} == used | {found}


@given(degrees, st.integers(1, 2**60))
@settings(max_examples=60, deadline=None)
def test_smallest_prime_from_skips_no_prime(N, bound):
    found = smallest_prime_from(bound, N)
    again = smallest_prime_from(bound, N, {found})
    first = bound + (1 - bound) % (2 * N)
    primes = [n for n in range(first, again + 1, 2 * N) if flint.fmpz(n).is_prime()]
    assert primes == [found, again]


@given(degrees, st.floats(2**28, 2**60), st.integers(0, 40))
@settings(max_examples=60, deadline=None)
def test_nearest_prime_is_the_nearest(N, target, fraction_bits):
    scaled = int(target * 2**fraction_bits)
    found = nearest_prime(scaled, N, fraction_bits=fraction_bits)
    distance = abs((found << fraction_bits) - scaled)
    low, high = (scaled - distance) >> fraction_bits, (scaled + distance) >> fraction_bits
    first = low + (1 - low) % (2 * N)
    closer = [
        n
        for n in range(first, high + 1, 2 * N)
        if abs((n << fraction_bits) - scaled) < distance and flint.fmpz(n).is_prime()
    ]
    assert found % (2 * N) == 1
    assert flint.fmpz(found).is_prime()
    assert closer == []


def test_nearest_prime_takes_the_smaller_of_two_equally_near():
    # 2N = 32; 97 and 193 are the neighbours, 145 lies half way.
    assert nearest_prime(145, 16) == 97
    assert nearest_prime(145 * 4 + 1, 16, fraction_bits=2) == 193
    assert nearest_prime(145, 16, {97}) == 193


def test_searches_that_cannot_succeed_say_so():
    with pytest.raises(ParameterError, match=r"1 \(mod 262144\).*smaller N"):
        largest_prime_below(1 << 18, 1 << 17)
    with pytest.raises(ParameterError, match=r"within half of 1024.*larger scale"):
        nearest_prime(1024, 1 << 16)


@given(degrees, st.integers(28, 61))
@settings(max_examples=40, deadline=None)
def test_primitive_root_has_order_2n_and_comes_of_the_smallest_generator(N, bits):
    q = largest_prime_below(1 << bits, N)
    psi = primitive_root(q, N)
    nonresidue = next(g for g in range(2, q) if sympy.jacobi_symbol(g, q) == -1)
    # psi^N = g^((q-1)/2) = -1 exactly for a quadratic non-residue g.
    assert psi == pow(nonresidue, (q - 1) // (2 * N), q)
    assert sympy.n_order(psi, q) == 2 * N


@pytest.mark.parametrize(("q", "N"), [(97, 32), (65, 16), (2, 16), (1, 16)])
def test_a_modulus_without_a_root_is_refused(q, N):
    with pytest.raises(ParameterError, match=f"q is {q} and 2N is {2 * N}"):
        primitive_root(q, N)
