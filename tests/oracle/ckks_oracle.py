"""CKKS once more, in Python integers: the oracle that Eager's residues are compared with.

Nothing here is imported from the product. The oracle is told a ring (degree, primes, roots of
unity, digits) and reads residues as lists of integers. It knows the product's number formats from
their definitions alone, and every step is the definition itself rather than a fast method: centred
representatives are integers, divisions are divisions of integers, products are products of integer
polynomials. python-flint multiplies polynomials, `cryptography` gives ChaCha20, numpy the FFT.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from flint import fmpz_poly, nmod_poly

Integers = list[int]
Rows = Sequence[Sequence[int]]


# ---- polynomials --------------------------------------------------------------------------------


def bit_reversed(index: int, bits: int) -> int:
    """Return the index with its lowest `bits` bits in the opposite order."""
    return int(format(index, f"0{bits}b")[::-1], 2) if bits else 0


def inverse_ntt_by_definition(values: Sequence[int], q: int, psi: int) -> Integers:
    """Return the c with values[k] = c(psi^(2 bitrev(k) + 1)) mod q, term by term."""
    n = len(values)
    bits = n.bit_length() - 1
    points = [pow(psi, -(2 * bit_reversed(k, bits) + 1), q) for k in range(n)]
    inverse = pow(n, -1, q)
    return [
        inverse * sum(v * pow(p, j, q) for v, p in zip(values, points, strict=True)) % q
        for j in range(n)
    ]


def inverse_ntt(values: Sequence[int], q: int, psi: int) -> Integers:
    """Return the same by one polynomial product (Bluestein), for large degrees.

    With w in natural order and z = psi^-2: c_j = n^-1 psi^-j sum_m w_m z^(m j), and
    m j = T(m + j) - T(m) - T(j) for the triangular numbers T(i) = i (i - 1) / 2.
    """
    n = len(values)
    chirp, inverse_chirp, factors, positions = _bluestein(n, q, psi)
    left = [values[k] * c % q for k, c in zip(positions, inverse_chirp, strict=True)]
    product = [int(c) for c in (nmod_poly(left[::-1], q) * chirp).coeffs()]
    product += [0] * (3 * n - len(product))
    return [f * c % q for f, c in zip(factors, product[n - 1 : 2 * n - 1], strict=True)]


@cache
def _bluestein(n: int, q: int, psi: int) -> tuple[nmod_poly, Integers, Integers, Integers]:
    """Return z^T(i) as a polynomial, z^-T(i), n^-1 psi^-i z^-T(i), and bitrev(i)."""
    bits = n.bit_length() - 1
    z = pow(psi, -2, q)
    chirp, inverse_chirp = _chirp(2 * n, z, q), _chirp(n, pow(z, -1, q), q)
    factors, power, down = [], pow(n, -1, q), pow(psi, -1, q)
    for c in inverse_chirp:
        factors.append(power * c % q)
        power = power * down % q
    positions = [bit_reversed(m, bits) for m in range(n)]
    return nmod_poly(chirp, q), inverse_chirp, factors, positions


def _chirp(count: int, z: int, q: int) -> Integers:
    """Return z^T(i) mod q for i < count."""
    result, power, step = [], 1, 1
    for _ in range(count):
        result.append(power)
        power, step = power * step % q, step * z % q
    return result


def centred(x: int, modulus: int) -> int:
    """Return the representative of x with |x| <= (modulus - 1) / 2, modulus odd."""
    x %= modulus
    return x - modulus if 2 * x > modulus else x


def centred_crt(rows: Rows, moduli: Sequence[int]) -> Integers:
    """Return the integers nearest to zero that have these residues, one row a modulus."""
    whole = math.prod(moduli)
    basis = [whole // q * pow(whole // q, -1, q) % whole for q in moduli]
    return [
        centred(sum(r * b for r, b in zip(column, basis, strict=True)), whole)
        for column in zip(*rows, strict=True)
    ]


def negacyclic(a: Integers, b: Integers) -> Integers:
    """Return a b mod X^n + 1 in Z[X]."""
    n = len(a)
    product = [int(c) for c in (fmpz_poly(a) * fmpz_poly(b)).coeffs()]
    product += [0] * (2 * n - len(product))
    return [product[i] - product[n + i] for i in range(n)]


def automorphism(a: Sequence[int], g: int) -> Integers:
    """Return a(X^g) mod X^n + 1."""
    n = len(a)
    result = [0] * n
    for i, c in enumerate(a):
        exponent = i * g % (2 * n)
        result[exponent % n] = c if exponent < n else -c
    return result


def divide_nearest(x: int, d: int) -> int:
    """Return x / d rounded to the nearest integer, d odd (so that there are no ties)."""
    return (x - centred(x, d)) // d


# ---- the embedding ------------------------------------------------------------------------------


def slot_positions(degree: int) -> np.ndarray:
    """Return k for each slot j, where 2 k + 1 = 5^j mod 2 degree."""
    powers, power = [], 1
    for _ in range(degree // 2):
        powers.append((power - 1) // 2)
        power = power * 5 % (2 * degree)
    return np.array(powers)


def decode(coefficients: Sequence[float] | np.ndarray, scale: float) -> np.ndarray:
    """Return m(zeta^(5^j)) / scale for every slot j, zeta = exp(i pi / n)."""
    c = np.array([float(x) for x in coefficients]) / scale
    n = len(c)
    twisted = c * np.exp(1j * np.pi * np.arange(n) / n)
    return (n * np.fft.ifft(twisted))[slot_positions(n)]


def encode(slots: np.ndarray, degree: int) -> np.ndarray:
    """Return the real coefficients m with m(zeta^(5^j)) = slots[j], not rounded."""
    values = np.zeros(degree, dtype=complex)
    k = slot_positions(degree)
    values[k] = slots
    values[degree - 1 - k] = np.conj(slots)
    untwist = np.exp(-1j * np.pi * np.arange(degree) / degree)
    return (np.fft.fft(values) / degree * untwist).real


# ---- the scheme ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ring:
    """Z[X]/(X^degree + 1) with a modulus chain.

    `primes` are the ciphertext primes in drop order, then `special` many special ones; `roots` are
    their primitive 2 degree-th roots of unity, `alpha` the primes of one key-switching digit.
    `word_bits` are those of a stored residue.
    """

    degree: int
    primes: tuple[int, ...]
    special: int
    alpha: int
    roots: tuple[int, ...]
    word_bits: int = 64

    @property
    def levels(self) -> int:
        return len(self.primes) - self.special

    @cached_property
    def special_modulus(self) -> int:
        return math.prod(self.primes[self.levels :])

    def ids(self, basis: str, depth: int) -> range:
        return range(depth, len(self.primes) if basis == "QP" else self.levels)

    def moduli(self, basis: str, depth: int) -> list[int]:
        return [self.primes[i] for i in self.ids(basis, depth)]

    def digits(self, depth: int) -> list[tuple[int, list[int]]]:
        """Return (number, prime ids) of each digit with rows left at a depth."""
        found = []
        for number in range(-(-self.levels // self.alpha)):
            last = min((number + 1) * self.alpha, self.levels)
            ids = [i for i in range(number * self.alpha, last) if i >= depth]
            if ids:
                found.append((number, ids))
        return found

    def radix(self, prime_id: int) -> int:
        """Return R of the Montgomery form x R mod q."""
        if self.word_bits == 32:
            return 2**32
        return 2**52 if self.primes[prime_id] < 2**50 else 2**64

    def coefficients(
        self, rows: Rows, ids: Sequence[int], *, ntt: bool, montgomery: bool = False
    ) -> list[Integers]:
        """Return the standard coefficient residues of rows in any representation."""
        result = []
        for row, i in zip(rows, ids, strict=True):
            q = self.primes[i]
            factor = pow(self.radix(i), -1, q) if montgomery else 1
            plain = [x * factor % q for x in row]
            result.append(inverse_ntt(plain, q, self.roots[i]) if ntt else plain)
        return result

    def integers(
        self, rows: Rows, basis: str, depth: int, *, ntt: bool, montgomery: bool = False
    ) -> Integers:
        """Return the centred integer polynomial that rows of a basis at a depth stand for."""
        plain = self.coefficients(rows, self.ids(basis, depth), ntt=ntt, montgomery=montgomery)
        return centred_crt(plain, self.moduli(basis, depth))

    def residues(self, polynomial: Integers, basis: str, depth: int) -> list[Integers]:
        return [[x % q for x in polynomial] for q in self.moduli(basis, depth)]

    def decrypt(self, parts: Sequence[Integers], secret: Integers, depth: int) -> Integers:
        """Return c0 + c1 s + c2 s^2, centred modulo Q at a depth."""
        modulus = math.prod(self.moduli("Q", depth))
        total = parts[-1]
        for part in reversed(parts[:-1]):
            total = [
                centred(x + y, modulus)
                for x, y in zip(negacyclic(total, secret), part, strict=True)
            ]
        return total

    def switch_key(
        self, polynomial: Integers, key: Sequence[tuple[Integers, Integers]], depth: int
    ) -> tuple[Integers, Integers]:
        """Return the hybrid key switch of a polynomial modulo Q at a depth.

        Digit j is the centred integer x_j with |x_j| <= (D_j - 1) / 2, D_j the product of its
        primes left; the result is (sum_j x_j b_j / P, sum_j x_j a_j / P), each sum taken modulo
        Q P and divided with rounding.

        `key[j]` is the pair (b_j, a_j) of integer polynomials of digit number j of the full chain.
        """
        sums = [[0] * self.degree, [0] * self.degree]
        for number, ids in self.digits(depth):
            product = math.prod(self.primes[i] for i in ids)
            digit = [centred(x, product) for x in polynomial]
            for side in range(2):
                term = negacyclic(digit, key[number][side])
                sums[side] = [x + y for x, y in zip(sums[side], term, strict=True)]
        whole = math.prod(self.moduli("QP", depth))
        modulus = whole // self.special_modulus
        first, second = (
            [divide_nearest(x % whole, self.special_modulus) % modulus for x in total]
            for total in sums
        )
        return first, second

    def rescale(self, polynomial: Integers, depth: int) -> Integers:
        """Return a polynomial modulo Q at a depth divided by the prime that the depth drops."""
        modulus = math.prod(self.moduli("Q", depth + 1))
        return [divide_nearest(x, self.primes[depth]) % modulus for x in polynomial]

    def rotation(self, step: int) -> int:
        """Return g with decode(a(X^g))_i = decode(a)_(i - step): slots move up by step."""
        return pow(5, -step, 2 * self.degree)


# ---- random streams -----------------------------------------------------------------------------


def derive(root: bytes, *labels: str | int) -> bytes:
    """Return the sub-key of a root: keyed BLAKE2b over tagged, length-prefixed labels."""
    digest = hashlib.blake2b(key=root, digest_size=32, person=b"FHElium-rng-1")
    for label in labels:
        if isinstance(label, str):
            tag, contents = b"s", label.encode()
        else:
            size = label.bit_length() // 8 + 1
            tag, contents = b"i", label.to_bytes(size, "little", signed=True)
        digest.update(tag + len(contents).to_bytes(8, "little") + contents)
    return digest.digest()


def stream_words(
    key: bytes, prime_id: int, index: int, component: int, attempt: int, count: int
) -> Integers:
    """Return `count` 64-bit words of the ChaCha20 stream at a position, from block 0."""
    words = (prime_id, index, component | attempt << 8)
    nonce = b"".join(word.to_bytes(4, "little") for word in (0, *words))  # counter 0 first
    encryptor = Cipher(algorithms.ChaCha20(key, nonce), mode=None).encryptor()
    return np.frombuffer(encryptor.update(bytes(8 * count)), dtype="<u8").tolist()


def uniform_polynomial(
    key: bytes, prime_id: int, index: int, component: int, q: int, degree: int
) -> Integers:
    """Return the polynomial mod q at a position: word j, or that of the next attempt."""
    limit = 2**64 // q * q
    result: list[int | None] = [None] * degree
    attempt = 0
    while None in result:
        words = stream_words(key, prime_id, index, component, attempt, degree)
        for j, word in enumerate(words):
            if result[j] is None and word < limit:
                result[j] = word % q
        attempt += 1
    return [x for x in result if x is not None]
