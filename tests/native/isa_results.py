"""What the residue, ciphertext, sampler and codec operators give on one instruction set.

Run as a script it prints {family: {case: digest of the result's bits}} as JSON. The instruction set
is chosen once per process, so the comparison starts one process for each.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import sys
from collections.abc import Iterator

import torch
from basis_chains import Chain, chain_of, crafted
from rns_oracle import INT32, INT64, centred, ckks, is_prime, parameters, primes, rns, seen_as
from test_rescaling_in_ntt import Chain as RescaleChain
from torch import Tensor

from tests.native import ntt_cases

sampler = torch.ops.fhelium_random_ops
Case = tuple[str, Tensor]

PATTERNS = ("random", "zero", "one", "largest", "alternating", "single tail")
LENGTHS = (1, 7, 8, 9, 13, 16, 31, 33, 100)  # with and without whole vectors, and with a rest


def largest_prime_below(bound: int) -> int:
    return next(n for n in range(bound - 1, 1, -1) if is_prime(n))


# Every size there is, and both sides of the border between the 52-bit and the 64-bit radix.
SIZES = [largest_prime_below(2**bits) for bits in range(2, 63)]
BORDER = list(primes(50, 3)) + [q for q in range(2**50 + 1, 2**50 + 200) if is_prime(q)][:2]
ALL = [*SIZES, *BORDER]


def moduli_column(moduli: list[int]) -> Tensor:
    return torch.tensor(moduli, dtype=torch.int64)[:, None]


def residues(shape, moduli: list[int], pattern: str = "random", seed: int = 0) -> Tensor:
    """Return residues [*shape[:-2], limb, N]."""
    q = moduli_column(moduli).expand(shape)
    if pattern == "random":
        generator = torch.Generator().manual_seed(seed)
        return torch.randint(0, 2**62, tuple(shape), generator=generator) % q
    out = torch.zeros(shape, dtype=torch.int64)
    if pattern == "one":
        out[:] = 1
    elif pattern == "largest":
        out = q - 1
    elif pattern == "alternating":
        out[..., 1::2] = (q - 1)[..., 1::2]
    elif pattern == "single tail":
        out[..., -1] = q[..., -1] - 1
    return out.clone()


def pairs(batch: tuple[int, ...], moduli: list[int]) -> Iterator[tuple[str, Tensor, Tensor]]:
    """Yield operands: every pattern at a short length with a rest, random ones at all lengths."""
    limbs = len(moduli)
    for left in PATTERNS:
        for right in PATTERNS:
            shape = (*batch, limbs, 37)
            yield (
                f"{left}, {right}",
                residues(shape, moduli, left),
                residues(shape, moduli, right, 1),
            )
    for n in (*LENGTHS, 2**4, 2**10, 2**14):
        shape = (*batch, limbs, n)
        yield f"N = {n}", residues(shape, moduli), residues(shape, moduli, seed=1)
    shape = (*batch, limbs, 40)
    for view in ("offset", "every second"):
        yield (
            view,
            seen_as(residues(shape, moduli), view),
            seen_as(residues(shape, moduli, seed=1), view),
        )


def coefficient_wise() -> Iterator[Case]:
    p = parameters(ALL)
    for what, x, y in pairs((), ALL):
        for name in ("add_standard", "subtract_standard", "multiply_montgomery"):
            yield f"{name}: {what}", getattr(rns, name)(x, y, p)
            yield f"{name}: {what}, constants", getattr(rns, name)(x, y[..., -1:], p)
            own = x.clone()
            getattr(rns, name + "_")(own, y, p)
            yield f"{name}_: {what}", own
        for name in ("negate_standard", "to_montgomery", "from_montgomery"):
            yield f"{name}: {what}", getattr(rns, name)(x, p)
            own = x.clone()
            getattr(rns, name + "_")(own, p)
            yield f"{name}_: {what}", own
    # Results of 16 MiB are written past the caches.
    for dtype, moduli, n in ((torch.int64, ALL[20:28], 2**18), (torch.int32, ALL[20:28], 2**19)):
        p = rns.rns_parameters(torch.tensor(moduli, dtype=dtype), 64)
        x, y = (residues((8, n), moduli, seed=seed).to(dtype) for seed in (0, 1))
        for name in ("add_standard", "subtract_standard", "multiply_montgomery"):
            yield f"{name}: {dtype}, large", getattr(rns, name)(x, y, p)
        yield f"negate_standard: {dtype}, large", rns.negate_standard(x, p)


def lazies() -> Iterator[Case]:
    """Residues on either side of q, of both types."""
    for dtype, moduli in ((torch.int64, ALL), (INT32.dtype, [q for q in ALL if q < 2**30])):
        p, q = rns.rns_parameters(torch.tensor(moduli, dtype=dtype), 64), moduli_column(moduli)
        for what, x, y in pairs((2,), moduli):
            for above in (0, 1):
                case = f"{dtype}, {what}, {above}"
                a, b = (x + q * (x % 2)).to(dtype), (y + q * above).to(dtype)
                for name in ("add_lazy", "subtract_lazy", "multiply_montgomery_lazy"):
                    yield f"{name}: {case}", getattr(rns, name)(a, b, p)
                    yield f"{name}: {case}, constants", getattr(rns, name)(a, b[..., -1:], p)
                for name in ("negate_lazy", "reduce_lazy"):
                    yield f"{name}: {case}", getattr(rns, name)(b, p)


def integers() -> Iterator[Case]:
    p = parameters(ALL)
    edges = [0, 1, -1, 2**63 - 1, -(2**63), 2**52, -(2**52), 2**52 - 1, 2**32, -(2**62)]
    near = [s * k * q + j for q in SIZES for k in (1, 2**62 // q) for s in (-1, 1) for j in (-1, 1)]
    generator = torch.Generator().manual_seed(5)
    words = torch.randint(-(2**63), 2**63 - 1, (2**14,), generator=generator)
    yield "reduce_integers: edges", rns.reduce_integers(torch.tensor(edges + near), p)
    yield "reduce_integers: random", rns.reduce_integers(words, p)
    for n in LENGTHS:  # words that are residues of some limbs only
        spread = words[: n * len(ALL)].reshape(len(ALL), n) >> (torch.arange(n) % 64)
        yield f"count_out_of_range: {n}", rns.count_out_of_range(spread, p)
        edge = moduli_column(ALL) - torch.arange(n) % 2
        yield f"count_out_of_range: edges, {n}", rns.count_out_of_range(edge, p)
    yield "reduce_integers: strided", rns.reduce_integers(words[1::3], p)
    yield "reduce_integers: shifted", rns.reduce_integers(words >> torch.arange(2**14) % 64, p)


def products() -> Iterator[Case]:
    p = parameters(ALL)
    for what, x, y in pairs((2,), ALL):
        yield f"ciphertext_product: {what}", ckks.ciphertext_product(x, y, p)
        yield f"ciphertext_square: {what}", ckks.ciphertext_square(x, p)
        yield f"multiply_plaintext: {what}", ckks.multiply_plaintext(x, y[0], p)
        yield f"add_plaintext: {what}", ckks.add_plaintext(x, y[0], p)
    small = parameters([*SIZES[:3], *BORDER])
    for count in (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 70):
        for pattern in ("random", "largest"):
            moduli, label = ALL, f"inner product: {count} digits, {pattern}"
            digits = residues((count, len(moduli), 45), moduli, pattern)
            key = residues((count, 2, len(moduli), 45), moduli, pattern, 1)
            yield label, ckks.key_switch_inner_product(digits, key, p)
    moduli = [*SIZES[:3], *BORDER]
    digits = residues((5000, 8, 8), moduli, "largest")  # far past what one carry holds
    key = residues((5000, 2, 8, 8), moduli, "largest")
    yield "inner product: 5000 digits", ckks.key_switch_inner_product(digits, key, small)
    digits, key = residues((3, len(ALL), 40), ALL), residues((3, 2, len(ALL), 40), ALL)
    strided = seen_as(digits, "every second")
    yield "inner product: strided", ckks.key_switch_inner_product(strided, key, p)


def rescaling() -> Iterator[Case]:
    for dropped in (*SIZES[::4], *BORDER, SIZES[-1]):
        moduli = [dropped] + [q for q in ALL if q != dropped]
        inverse = [pow(dropped, -1, q) * (2**52 if q < 2**50 else 2**64) % q for q in moduli[1:]]
        constants, p = torch.tensor(inverse), parameters(moduli)
        for pattern in PATTERNS:
            x = residues((2, len(moduli), 67), moduli, pattern)
            yield f"rescale by {dropped}: {pattern}", ckks.rescale_nearest(x, constants, p)
        middle = residues((len(moduli), 12), moduli)
        middle[0] = (dropped // 2 + torch.arange(-6, 6)) % dropped
        yield f"rescale by {dropped}: middle", ckks.rescale_nearest(middle, constants, p)


def rescaling_in_ntt() -> Iterator[Case]:
    """Every size of prime as the one that goes, and sums of products."""
    for word, n in ((INT64, 64), (INT32, 64), (INT64, 2**12), (INT32, 2**12)):
        mixed = [primes(bits, 1, n)[0] for bits in word.sizes]
        for first in range(len(mixed)):
            chain = RescaleChain(mixed[first:] + mixed[:first], n, word)
            p = chain.params
            for pattern in PATTERNS:
                x = residues((2, len(mixed), n), chain.moduli, pattern).to(word.dtype)
                y = residues((len(mixed), n), chain.moduli, seed=1).to(word.dtype)
                label = f"{word}, {n}, {chain.moduli[0]}, {pattern}"
                yield f"rescale_ntt: {label}", ckks.rescale_ntt(x, *chain.constants)
                product = ckks.multiply_plaintext_rescale(x, y, *chain.constants)
                yield f"multiply_plaintext_rescale: {label}", product
                total = ckks.sum_plaintext_products([x, x, x], [y, y, x[0]], p)
                yield f"sum_plaintext_products: {label}", total
                # Sums of products, standard and Montgomery, and what is added and taken away.
                sums, rest = [5, 3, 4, 2, 0, 0, 1, 2, 1, 0], [4, 0, 6, 3, 4, 7, 2, 2, 1, 7]
                steps = [*sums, *rest, 1, 1, 4, 0, 0, 0, 3, 1]
                found = ckks.coefficient_program([x], [y], steps, 2, p)
                yield f"coefficient_program: {label}", found


def automorphisms() -> Iterator[Case]:
    moduli = [*SIZES[:2], *BORDER]
    p = parameters(moduli)
    for log_n in range(15):
        n = 2**log_n
        x = residues((2, len(moduli), n), moduli)
        for g in {1, 3, 5, 25, pow(5, -1, 2 * n), 2 * n - 1, 2 * n - 5} & set(range(1, 2 * n, 2)):
            yield f"automorphism_ntt: {n}, {g}", ckks.automorphism_ntt(x, g)
            yield f"automorphism_coefficient: {n}, {g}", ckks.automorphism_coefficient(x, g, p)
    x = seen_as(residues((len(moduli), 32), moduli), "every second")
    yield "automorphism_ntt: strided", ckks.automorphism_ntt(x, 5)
    yield "automorphism_coefficient: strided", ckks.automorphism_coefficient(x, 5, p)


def columns_of(values: list[int], moduli: list[int]) -> Tensor:
    return torch.tensor([[v % q for v in values] for q in moduli])


def chains() -> dict[str, Chain]:
    """Conversions from 1 to 16 primes; sums of source primes below and above 2^52; mixed sizes."""
    found = {f"{k} of 45 bits": chain_of([[45] * k, [45]], [47, 50]) for k in range(1, 17)}
    found |= {f"{k} of 50 bits": chain_of([[50] * k, [51]], [50] * k) for k in range(1, 17, 3)}
    found |= {
        "small sources": chain_of([[20, 21, 22], [19]], [50, 60, 18]),
        "51 bits": chain_of([[51], [51, 50], [50, 51, 49]], [50, 51]),
        "one of 60 bits": chain_of([[40, 40], [40, 60]], [48, 48]),
        "special of 60 bits": chain_of([[40, 50], [50, 40]], [48, 60]),
    }
    return found


def conversions() -> Iterator[Case]:
    for name, chain in chains().items():
        whole, q = chain.whole, chain.q
        for pattern in PATTERNS:
            x = residues((2, len(whole), 300), whole, pattern)
            yield f"mod_up: {name}, {pattern}", rns.mod_up(x[:, : len(q)], *chain.up())
            yield f"mod_down: {name}, {pattern}", rns.mod_down(x, *chain.down())
        P = math.prod(chain.special)
        yield (
            f"mod_down: {name}, crafted",
            rns.mod_down(columns_of(crafted(P), whole), *chain.down()),
        )
        for digit in chain.digits:
            x = columns_of(crafted(math.prod(digit)), q)
            yield f"mod_up: {name}, crafted for {digit[0]}", rns.mod_up(x, *chain.up())
    chain = chain_of([[40, 40]] * 3 + [[40, 49]], [48, 48])
    x = residues((len(chain.whole), 2**14), chain.whole)
    yield "mod_up: large", rns.mod_up(x[: len(chain.q)], *chain.up())
    yield "mod_down: large", rns.mod_down(x, *chain.down())
    x = seen_as(x[:, :100], "every second")
    yield "mod_up: strided", rns.mod_up(x[: len(chain.q)], *chain.up())
    yield "mod_down: strided", rns.mod_down(x, *chain.down())


def narrow_words() -> Iterator[Case]:
    """32-bit residues, whose primes reach 2^31."""
    moduli = [q for q in ALL if q < 2**31]
    p = parameters(moduli, word=INT32)
    for what, x, y in pairs((2,), moduli):
        a, b = x.int(), y.int()
        for name in ("add_standard", "subtract_standard", "multiply_montgomery"):
            yield f"narrow {name}: {what}", getattr(rns, name)(a, b, p)
            yield f"narrow {name}: {what}, constants", getattr(rns, name)(a, b[..., -1:], p)
        for name in ("negate_standard", "to_montgomery", "from_montgomery"):
            yield f"narrow {name}: {what}", getattr(rns, name)(a, p)
        yield f"narrow ciphertext_product: {what}", ckks.ciphertext_product(a, b, p)
        yield f"narrow ciphertext_square: {what}", ckks.ciphertext_square(a, p)
    for count in (1, 2, 3, 4, 5, 9, 17):
        for pattern in ("random", "largest"):
            digits = residues((count, len(moduli), 45), moduli, pattern).int()
            key = residues((count, 2, len(moduli), 45), moduli, pattern, 1).int()
            label = f"narrow inner product: {count} digits, {pattern}"
            yield label, ckks.key_switch_inner_product(digits, key, p)
    for dropped in moduli[::4] + moduli[-2:]:
        rest = [dropped] + [q for q in moduli if q != dropped]
        inverse = torch.tensor([pow(dropped, -1, q) * 2**32 % q for q in rest[1:]]).int()
        for pattern in PATTERNS:
            x = residues((2, len(rest), 67), rest, pattern).int()
            drop = ckks.rescale_nearest(x, inverse, parameters(rest, word=INT32))
            yield f"narrow rescale by {dropped}: {pattern}", drop
    for log_n in range(12):
        x = residues((len(moduli), 2**log_n), moduli).int()
        for g in {1, 5, 2 ** (log_n + 1) - 1} & set(range(1, 2 ** (log_n + 1), 2)):
            yield f"narrow automorphism_ntt: {2**log_n}, {g}", ckks.automorphism_ntt(x, g)
    for bits in ([30] * 2, [31] * 3, [18] * 16, [31] * 16):
        chain = chain_of([bits, [25, 30]], bits, INT32)
        for pattern in PATTERNS:
            x = residues((len(chain.whole), 300), chain.whole, pattern).int()
            yield f"narrow mod_up: {bits}, {pattern}", rns.mod_up(x[: len(chain.q)], *chain.up())
            yield f"narrow mod_down: {bits}, {pattern}", rns.mod_down(x, *chain.down())
        x = columns_of(crafted(math.prod(chain.special)), chain.whole).int()
        yield f"narrow mod_down: {bits}, crafted", rns.mod_down(x, *chain.down())


def narrow_numbers() -> Iterator[Case]:
    """Integers and real numbers to 32-bit residues and back."""
    moduli = [q for q in ALL if q < 2**31]
    p, generator = parameters(moduli, word=INT32), torch.Generator().manual_seed(6)
    words = torch.randint(-(2**63), 2**63 - 1, (2**10 + 3,), generator=generator)
    shifted = words >> torch.arange(len(words)) % 64
    ends = torch.tensor([0, 1, -1, 2**63 - 1, -(2**63), 2**52, -(2**52), 2**32, 2**31])
    for what, x in (("random", words), ("shifted", shifted), ("ends", ends)):
        yield f"narrow reduce_integers: {what}", rns.reduce_integers(x, p, torch.int32)
    draw = torch.randn(2**10 + 3, dtype=torch.float64, generator=generator)
    for scale in (1.0, 2.0**25, 2.0**60, 2.0**80):
        rounded = rns.round_to_residues(draw, scale, p, torch.int32)
        yield f"narrow round_to_residues: {scale}", rounded
    integer = random.Random(4)
    for bits in (25, 31):
        for limbs in (1, 2, 3, 7, 8, 16, 40):
            chain = list(primes(bits, limbs))
            Q, q = math.prod(chain), parameters(chain, word=INT32)
            sizes = [integer.randrange(1, Q.bit_length() + 1) for _ in range(171)]
            values = [centred(integer.randrange(2**size), Q) for size in sizes]
            ties = [
                ((2**53 + j) << e) + d for e in range(0, 400, 23) for j in (1, 3) for d in (0, 1)
            ]
            values += [Q // 2, -(Q // 2), *(t for t in ties if t <= Q // 2)]
            both = [s * v for v in values for s in (1, -1)]
            label = f"narrow to real: {limbs} of {bits} bits"
            yield label, rns.residues_to_real(columns_of(both, chain).int(), q)
            for pattern in PATTERNS:
                x = residues((2, limbs, 77), chain, pattern).int()
                yield f"{label}, {pattern}", rns.residues_to_real(x, q)


def samplers() -> Iterator[Case]:
    key = torch.arange(7, 39, dtype=torch.uint8)
    nonce = torch.arange(100, 112, dtype=torch.uint8)
    for blocks in (0, 1, 15, 16, 17, 33, 64):
        counter = 2**32 - blocks - (blocks == 0)
        for start in (0, counter):
            yield (
                f"blocks: {blocks} from {start}",
                sampler.chacha20_blocks(key, nonce, start, blocks),
            )
    # Just above 2^64 / 16500, below 2^50: the rest of 2^64 is nearly the prime itself, and one word
    # in 16500 is rejected.
    often = next(q for q in range(2**64 // 16500 + 1, 2**50) if is_prime(q))
    for moduli, count, n in ((ALL, 1, 4), (ALL, 2, 2**9), ([often], 20, 2**14)):
        ids = torch.arange(len(moduli))
        drawn = sampler.sample_uniform(key, ids, 3, 5, count, n, parameters(moduli))
        yield f"uniform: {len(moduli)} limbs, {n}", drawn
    for n in (4, 2**9):  # the same values in 32-bit words
        p, ids = parameters(SIZES[:29], word=INT32), torch.arange(29)
        drawn = sampler.sample_uniform(key, ids, 3, 5, 2, n, p, torch.int32)
        yield f"uniform: 32-bit words, {n}", drawn
    for n in (1, 2, 4, 8, 32, 128, 256, 2**13):
        yield f"ternary: {n}", sampler.sample_ternary(key, 1, 3, n)
        yield f"gaussian: {n}", sampler.sample_gaussian(key, 2, 3, n)
        for sigma in (1.0, 3.19, 2.0**20, 2.0**47 + 1, 2.0**48, 2.0**57):
            drawn = sampler.sample_rounded_gaussian(key, sigma, 3, n)
            yield f"rounded gaussian: {n}, {sigma}", drawn
    yield "gaussian: many", sampler.sample_gaussian(key, 4, 16, 2**14)


def codec() -> Iterator[Case]:
    generator = torch.Generator().manual_seed(9)
    draw = torch.randn(2**12 + 3, dtype=torch.float64, generator=generator)
    halves = torch.arange(-40, 41, dtype=torch.float64) / 2
    edges = torch.tensor(
        [0, -0.0, 0.3, -0.3, 2**52 + 1, 2**53, -(2**62), 5e-324], dtype=halves.dtype
    )
    p = parameters(ALL)
    for scale in (1.0, 2.0**40, 1e12 + 0.1, 2.0**59):
        yield f"round: {scale}", rns.round_to_residues(draw, scale, p)
    for scale in (1.0, 2.0**80):
        yield f"round edges: {scale}", rns.round_to_residues(edges, scale, p)
        yield f"round halves: {scale}", rns.round_to_residues(halves, scale, p)
    integer = random.Random(3)
    for bits in (20, 45, 50, 51):
        for limbs in (1, 2, 3, 7, 8, 9, 16, 17, 40) if bits > 20 else (1, 2, 5):
            moduli = list(primes(bits, limbs))
            Q = math.prod(moduli)
            sizes = [integer.randrange(1, Q.bit_length() + 1) for _ in range(171)]
            values = [centred(integer.randrange(2**size), Q) for size in sizes]
            ties = [
                ((2**53 + j) << e) + d
                for e in range(0, 400, 23)
                for j in (1, 3)
                for d in (-1, 0, 1)
            ]
            ends = [0, 1, -1, Q // 2, -(Q // 2), *(t for t in ties if t <= Q // 2)]
            both = [s * v for v in (*values, *ends) for s in (1, -1)]
            label = f"to real: {limbs} of {bits} bits"
            yield label, rns.residues_to_real(columns_of(both, moduli), parameters(moduli))
            small = [v for v in both if abs(v) <= math.prod(moduli[-2:]) // 2]
            yield (
                f"{label}, small",
                rns.residues_to_real(columns_of(small, moduli), parameters(moduli)),
            )
            for pattern in PATTERNS:
                x = residues((2, limbs, 77), moduli, pattern)
                yield f"{label}, {pattern}", rns.residues_to_real(x, parameters(moduli))


def transforms() -> Iterator[Case]:
    for log_degree in ntt_cases.LOG_DEGREES:
        for name, found in ntt_cases.results(log_degree).items():
            yield f"2^{log_degree} {name}", found


def embedding() -> Iterator[Case]:
    for log_degree in range(1, 17):
        degree = 2**log_degree
        tables = ckks.embedding_tables(degree)
        generator = torch.Generator().manual_seed(degree)
        draw = torch.randn(2, degree, dtype=torch.float64, generator=generator)
        for what, x in (("", draw), ("huge, ", draw * 2.0**1000), ("tiny, ", draw * 2.0**-1040)):
            slots = x.reshape(2, -1, 2)
            yield f"to slots: {what}{degree}", ckks.coefficients_to_slots(x, tables)
            yield f"to coefficients: {what}{degree}", ckks.slots_to_coefficients(slots, tables)


FAMILIES = {
    f.__name__: f
    for f in (
        coefficient_wise, lazies, integers, products, rescaling, rescaling_in_ntt, automorphisms,
        conversions, narrow_words, narrow_numbers, samplers, codec, transforms, embedding,
    )
}  # fmt: skip


def digest(x: Tensor) -> str:
    """Return a digest of the bits, the type and the shape."""
    bits = hashlib.blake2b(x.contiguous().numpy().tobytes(), digest_size=16).hexdigest()
    return f"{x.dtype} {tuple(x.shape)} {bits}"


def main() -> None:
    """Print the digests of every family and the name of the instruction set."""
    results: dict[str, object] = {"isa": rns.cpu_isa()}
    for family, function in FAMILIES.items():
        results[family] = {name: digest(x) for name, x in function()}
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
