"""The native operators as calls to time, with the streams that each has to move."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

from fhelium.native import require_native


@dataclass
class Operator:
    """One call to time, the rows it reads and writes, and the vector operations of its bound."""

    name: str
    call: Callable[[], object]
    reads: int = 0
    writes: int = 0
    row: int = 0  # words
    in_place: bool = False
    vector_operations: float = 0.0
    empty_call: Callable[[], object] | None = None


def operators(log_n: int) -> Iterator[Operator]:
    """Yield the operators at degree 2^log_n: 8 limbs of 40 bits and 2 special primes of 48."""
    require_native()
    yield from ciphertext_operators(log_n)
    yield from transforms(log_n)
    q, special = primes_below(40, 8), primes_below(48, 2)
    eight = [primes_below(45, 8)]
    yield from conversions(log_n, "preset", [q[2 * j : 2 * j + 2] for j in range(4)], special)
    yield from conversions(log_n - 2, "8 sources", eight, primes_below(46, 8))
    yield from conversions(log_n - 3, "8 sources, in cache", eight, primes_below(46, 16))
    yield from message_operators(log_n)


def ciphertext_operators(log_n: int) -> Iterator[Operator]:
    """Yield what one row at a time computes."""
    rns, ckks = torch.ops.fhelium_rns_ops, torch.ops.fhelium_ckks_ops
    n, q, special = 2**log_n, primes_below(40, 8), primes_below(48, 2)
    p, whole = (
        rns.rns_parameters(torch.tensor(q), n),
        rns.rns_parameters(torch.tensor(q + special), n),
    )
    limbs = len(q)

    def draw(*batch: int, moduli: list[int] = q) -> torch.Tensor:
        shape = (*batch, len(moduli), n)
        return torch.randint(0, 2**62, shape) % torch.tensor(moduli)[:, None]

    a, b, own = draw(2), draw(2), draw(2)
    for name in ("add_standard_", "subtract_standard_", "multiply_montgomery_"):
        f = getattr(rns, name)
        yield Operator(name, lambda f=f: f(own, b, p), 2, 1, 2 * limbs * n, True)
    for name in ("negate_standard_", "to_montgomery_", "from_montgomery_"):
        f = getattr(rns, name)
        yield Operator(name, lambda f=f: f(own, p), 1, 1, 2 * limbs * n, True)
    yield Operator("add_standard", lambda: rns.add_standard(a, b, p), 2, 1, 2 * limbs * n)
    yield Operator("multiply_plaintext_", lambda: ckks.multiply_plaintext_(own, b[0], p), 2, 1,
                   2 * limbs * n, True)  # fmt: skip
    yield Operator("ciphertext_product", lambda: ckks.ciphertext_product(a, b, p), 4, 3, limbs * n)
    yield Operator("ciphertext_square", lambda: ckks.ciphertext_square(a, p), 2, 3, limbs * n)
    digits, key = draw(4, moduli=q + special), draw(4, 2, moduli=q + special)
    inner = ckks.key_switch_inner_product
    yield Operator("inner_product, 4 digits", lambda: inner(digits, key, whole), 12, 2, 10 * n)
    inverse = torch.tensor([pow(q[0], -1, m) * 2**52 % m for m in q[1:]])
    yield Operator("rescale_nearest", lambda: ckks.rescale_nearest(a, inverse, p), 2, 1,
                   2 * (limbs - 1) * n)  # fmt: skip
    yield Operator("automorphism_ntt", lambda: ckks.automorphism_ntt(a, 5), 1, 1, 2 * limbs * n)
    yield Operator("automorphism_coefficient", lambda: ckks.automorphism_coefficient(a, 5, p), 1, 1,
                   2 * limbs * n)  # fmt: skip
    yield Operator("count_out_of_range", lambda: rns.count_out_of_range(a, p), 1, 0, 2 * limbs * n)


def transforms(log_n: int) -> Iterator[Operator]:
    """Yield the number-theoretic transforms of 8 limbs."""
    ntt, n, q = torch.ops.fhelium_ntt_ops, 2**log_n, primes_below(40, 8)
    p = torch.ops.fhelium_rns_ops.rns_parameters(torch.tensor(q), n)
    tables = ntt.ntt_tables(torch.tensor([root_of(m, n) for m in q]), n, p)
    x = torch.randint(0, min(q), (len(q), n))
    for name in ("ntt_packed_", "intt_packed_"):
        f = getattr(ntt, name)
        yield Operator(name, lambda f=f: f(x, tables, p), 1, 1, len(q) * n, True)


def message_operators(log_n: int) -> Iterator[Operator]:
    """Yield the codec and the samplers."""
    rns, sampler = torch.ops.fhelium_rns_ops, torch.ops.fhelium_random_ops
    n, q = 2**log_n, primes_below(40, 8)
    p, limbs, key_bytes = rns.rns_parameters(torch.tensor(q), n), len(q), torch.arange(32).byte()
    residues = torch.randint(0, min(q), (limbs, n))
    values = torch.randint(-(2**62), 2**62, (n,))
    yield Operator("reduce_integers", lambda: rns.reduce_integers(values, p), 1, 1, limbs * n)
    reals = torch.randn(n, dtype=torch.float64)
    yield Operator(
        "round_to_residues", lambda: rns.round_to_residues(reals, 2.0**40, p), 1, 1, limbs * n
    )
    for count in (2, 8):
        x, own_p = residues[:count].contiguous(), p[:, :count].contiguous()
        yield Operator(
            f"residues_to_real, {count} limbs", lambda x=x, o=own_p: rns.residues_to_real(x, o)
        )
    nonce = torch.zeros(12, dtype=torch.uint8)
    yield Operator("chacha20, 1 MiB", lambda: sampler.chacha20_blocks(key_bytes, nonce, 0, 2**14))
    ids = torch.arange(limbs)
    yield Operator("sample_uniform", lambda: sampler.sample_uniform(key_bytes, ids, 0, 0, 1, n, p))
    yield Operator("sample_ternary", lambda: sampler.sample_ternary(key_bytes, 0, 1, n))
    yield Operator("sample_gaussian", lambda: sampler.sample_gaussian(key_bytes, 0, 1, n))
    yield Operator(
        "sample_rounded_gaussian", lambda: sampler.sample_rounded_gaussian(key_bytes, 2.0**30, 1, n)
    )


def conversions(
    log_n: int, label: str, digits: list[list[int]], special: list[int]
) -> Iterator[Operator]:
    """Yield mod_up and mod_down of one chain; the primes are below 2^50, so R is 2^52."""
    q = [d for digit in digits for d in digit]
    limbs, rows, vectors = len(q), len(q) + len(special), 2**log_n / 8
    up = sum((rows - len(d)) * (2 * len(d) + 9) + 10 * len(d) + 6 for d in digits)
    down = limbs * (2 * len(special) + 18) + 10 * len(special) + 6
    (raise_it, lower_it), (raise_little, lower_little) = (
        conversion_calls(n, digits, special) for n in (2**log_n, 16)
    )
    yield Operator(
        f"mod_up, {label}", raise_it, limbs, len(digits) * rows, 2**log_n,
        vector_operations=up * vectors, empty_call=raise_little,
    )  # fmt: skip
    yield Operator(
        f"mod_down, {label}", lower_it, rows, limbs, 2**log_n,
        vector_operations=down * vectors, empty_call=lower_little,
    )  # fmt: skip


def conversion_calls(
    n: int, digits: list[list[int]], special: list[int]
) -> tuple[Callable[[], object], Callable[[], object]]:
    """Return calls of mod_up and mod_down at degree n."""
    rns = torch.ops.fhelium_rns_ops
    q = [d for digit in digits for d in digit]
    whole, limbs, P = q + special, len(q), math.prod(special)

    def form(value: int, m: int) -> int:
        return value * 2**52 % m

    bounds = torch.tensor([sum(map(len, digits[:j])) for j in range(len(digits) + 1)])
    cofactors = [(math.prod(digit) // d, d) for digit in digits for d in digit]
    scale = torch.tensor([form(pow(c, -1, d), d) for c, d in cofactors])
    matrix = torch.tensor([[form(c, m) for m in whole] for c, _ in cofactors])
    correction = torch.tensor([[form(math.prod(digit), m) for m in whole] for digit in digits])
    p = rns.rns_parameters(torch.tensor(whole), n)
    x = torch.randint(0, 2**62, (len(whole), n)) % torch.tensor(whole)[:, None]
    low = x[:limbs].contiguous()
    special_scale = torch.tensor([form(pow(P // s, -1, s), s) for s in special])
    down = torch.tensor([[form(P // s, m) for m in q] for s in special])
    product = torch.tensor([form(P, m) for m in q])
    division = torch.tensor([form(pow(P, -1, m), m) for m in q])
    return (
        lambda: rns.mod_up(low, bounds, scale, matrix, correction, p),
        lambda: rns.mod_down(x, special_scale, down, product, division, p),
    )


def primes_below(bits: int, count: int) -> list[int]:
    """Return the largest primes below 2^bits that are 1 modulo 2^17."""
    found, candidate = [], (2**bits - 1) // 2**17 * 2**17 + 1
    while len(found) < count:
        if all(pow(b, candidate - 1, candidate) == 1 for b in (2, 3, 5, 7, 11, 13)):
            found.append(candidate)
        candidate -= 2**17
    return found


def root_of(q: int, n: int) -> int:
    """Return a number of order 2 n modulo a prime."""
    candidates = (pow(g, (q - 1) // (2 * n), q) for g in range(2, q))
    return next(psi for psi in candidates if pow(psi, n, q) == q - 1)
