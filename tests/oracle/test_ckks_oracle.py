"""The oracle itself, against definitions written out term by term and against known answers."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.oracle import ckks_oracle as oracle

Q, N = 7681, 16  # 7681 = 1 mod 2 * 16 * 240
PSI = pow(17, (Q - 1) // (2 * N), Q)  # 17 generates the units


def polynomial(seed: int, bound: int = Q) -> list[int]:
    draw = random.Random(seed)
    return [draw.randrange(-bound, bound) for _ in range(N)]


def test_inverse_ntt_is_evaluation_turned_around():
    assert pow(PSI, N, Q) == Q - 1
    coefficients = [c % Q for c in polynomial(1)]
    values = [
        sum(
            c * pow(PSI, (2 * oracle.bit_reversed(k, 4) + 1) * j, Q)
            for j, c in enumerate(coefficients)
        )
        % Q
        for k in range(N)
    ]
    assert oracle.inverse_ntt_by_definition(values, Q, PSI) == coefficients
    assert oracle.inverse_ntt(values, Q, PSI) == coefficients


def test_bit_reversal_by_hand():
    assert [oracle.bit_reversed(k, 3) for k in range(8)] == [0, 4, 2, 6, 1, 5, 3, 7]


def test_products_wrap_with_a_sign():
    a, b = polynomial(2, 2**90), polynomial(3, 2**90)
    expected = [0] * N
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            expected[(i + j) % N] += x * y if i + j < N else -x * y
    assert oracle.negacyclic(a, b) == expected
    assert oracle.negacyclic([0] * N, b) == [0] * N


@pytest.mark.parametrize("g", [1, 3, 5, 2 * N - 1])
def test_an_automorphism_is_a_ring_map(g):
    a, b = polynomial(4), polynomial(5)
    product = oracle.automorphism(oracle.negacyclic(a, b), g)
    assert product == oracle.negacyclic(oracle.automorphism(a, g), oracle.automorphism(b, g))
    x = [0, 1] + [0] * (N - 2)
    power = [1] + [0] * (N - 1)
    for _ in range(g):
        power = oracle.negacyclic(power, x)
    assert oracle.automorphism(x, g) == power


def test_centred_representatives():
    moduli = (97, 193, 257)
    whole = 97 * 193 * 257
    wanted = [0, 1, -1, (whole - 1) // 2, -(whole - 1) // 2, 12345]
    rows = [[x % q for x in wanted] for q in moduli]
    assert oracle.centred_crt(rows, moduli) == wanted
    assert [oracle.divide_nearest(x, 5) for x in (-8, -7, -3, -2, 0, 2, 3, 7, 8)] == [
        -2, -1, -1, 0, 0, 0, 1, 1, 2,
    ]  # fmt: skip


def test_slots_are_values_at_powers_of_five():
    draw = np.random.default_rng(6)
    slots = draw.standard_normal(N // 2) + 1j * draw.standard_normal(N // 2)
    coefficients = oracle.encode(slots, N)
    zeta = np.exp(1j * np.pi / N)
    for j in range(N // 2):
        point = zeta ** (5**j % (2 * N))
        assert abs(np.polyval(coefficients[::-1], point) - slots[j]) < 1e-12
    assert np.abs(oracle.decode(coefficients, 1.0) - slots).max() < 1e-12


def test_rotation_moves_slots_as_roll_does():
    ring = oracle.Ring(N, (Q,), 0, 1, (PSI,))
    a = polynomial(7)
    for step in (1, 3, -2):
        rotated = oracle.automorphism(a, ring.rotation(step))
        assert np.allclose(oracle.decode(rotated, 1.0), np.roll(oracle.decode(a, 1.0), step))
    conjugated = oracle.automorphism(a, 2 * N - 1)
    assert np.allclose(oracle.decode(conjugated, 1.0), oracle.decode(a, 1.0).conj())


def test_stream_words_are_rfc_8439():
    # Section 2.3.2 starts its block at counter 1, so its first bytes are word 8 of the stream.
    nonce = (0x09000000, 0x4A000000, 0x00000000)
    words = oracle.stream_words(bytes(range(32)), nonce[0], nonce[1], nonce[2], 0, 16)
    assert words[8].to_bytes(8, "little").hex() == "10f1e7e4d13b5915"


def test_rejected_words_are_drawn_again():
    q = 2**63 - 25  # nearly half of all words are rejected
    key = bytes(range(32))
    found = oracle.uniform_polynomial(key, 3, 1, 1, q, 64)
    limit = 2**64 // q * q
    for j, value in enumerate(found):
        attempt = 0
        while (word := oracle.stream_words(key, 3, 1, 1, attempt, j + 1)[j]) >= limit:
            attempt += 1
        assert value == word % q
