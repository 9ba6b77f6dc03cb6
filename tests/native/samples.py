"""One row of arguments for each native operator, small and legal, made anew on every call.

The checks of wrappers, shapes and tracing run over these rows; a new operator needs one.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from fhelium.native.wrapper import ckks_ops, ntt_ops, rns_ops

DEGREE = 16
PRIMES = (97, 193, 257)  # each is 1 modulo 2 DEGREE
SPECIAL = (353, 449)


def moduli() -> Tensor:
    return torch.tensor(PRIMES)


def parameters(primes: Sequence[int] = PRIMES) -> Tensor:
    return rns_ops.rns_parameters(torch.tensor(primes), DEGREE)


def residues(*batch: int, seed: int = 0, limbs: int = len(PRIMES)) -> Tensor:
    """Uniform standard residues [*batch, limb, N]."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, min(PRIMES), (*batch, limbs, DEGREE), generator=generator)


def montgomery(values: Iterable[int], primes: Sequence[int]) -> Tensor:
    """One constant for each prime, in Montgomery form: R is 2^52 below 2^50."""
    return torch.tensor([v * 2**52 % q for v, q in zip(values, primes, strict=True)])


def in_every(constants: Iterable[int], primes: Sequence[int]) -> Tensor:
    """[constant, limb]: each constant modulo every prime, in Montgomery form."""
    return torch.stack([montgomery([c] * len(primes), primes) for c in constants])


def raising() -> tuple[Tensor, ...]:
    """Two digits, of two primes and of one, raised to Q and P."""
    digits, whole = (PRIMES[:2], PRIMES[2:]), PRIMES + SPECIAL
    cofactors = [math.prod(digit) // d for digit in digits for d in digit]
    scale = montgomery((pow(c, -1, d) for c, d in zip(cofactors, PRIMES, strict=True)), PRIMES)
    bounds = torch.tensor([0, 2, 3])
    products = in_every(map(math.prod, digits), whole)
    return residues(2), bounds, scale, in_every(cofactors, whole), products, parameters(whole)


def lowering() -> tuple[Tensor, ...]:
    """Q and P divided by P."""
    product = math.prod(SPECIAL)
    cofactors = [product // p for p in SPECIAL]
    scale = montgomery((pow(c, -1, p) for c, p in zip(cofactors, SPECIAL, strict=True)), SPECIAL)
    matrix, correction = in_every(cofactors, PRIMES), in_every([product], PRIMES)[0]
    inverse = montgomery((pow(product, -1, q) for q in PRIMES), PRIMES)
    values = residues(2, limbs=len(PRIMES + SPECIAL))
    return values, scale, matrix, correction, inverse, parameters(PRIMES + SPECIAL)


def dropping() -> tuple[Tensor, ...]:
    """Division by the first prime."""
    inverse = montgomery((pow(PRIMES[0], -1, q) for q in PRIMES[1:]), PRIMES[1:])
    return residues(2), inverse, parameters()


def reals(*shape: int) -> Tensor:
    return torch.linspace(-1, 1, math.prod(shape), dtype=torch.float64).reshape(shape)


def embedding() -> Tensor:
    return ckks_ops.embedding_tables(DEGREE)


def pair() -> tuple[Tensor, Tensor, Tensor]:
    """A batch, one without batch axes that repeats over it, and the parameters."""
    return residues(2, seed=1), residues(seed=2), parameters()


def roots() -> Tensor:
    """Primitive 32nd roots of unity: the smallest power residues of order 2 DEGREE."""
    found = [next(x for x in range(2, q) if pow(x, DEGREE, q) == q - 1) for q in PRIMES]
    return torch.tensor(found)


def packed() -> tuple[Tensor, Tensor, Tensor]:
    return residues(2), ntt_ops.ntt_tables(roots(), DEGREE, parameters()), parameters()


def butterflies(degree: int, inverse: bool = False) -> tuple[Tensor, ...]:
    """Even and odd positions and twiddle numbers of a radix-2 transform, as its three loops."""
    stages, blocks = [], 1
    while blocks < degree:
        half = degree // (2 * blocks)
        evens = [(2 * half * i + j, i) for i in range(blocks) for j in range(half)]
        stages.append([(even, even + half, blocks + i) for even, i in evens])
        blocks *= 2
    return torch.tensor(stages[::-1] if inverse else stages).unbind(-1)


def indexed(inverse: bool) -> tuple[Tensor, ...]:
    twiddles = ntt_ops.radix2_twiddles(roots(), DEGREE, parameters())[int(inverse)]
    return residues(2), *butterflies(DEGREE, inverse), twiddles, parameters()


def stream_key() -> Tensor:
    return torch.arange(32, dtype=torch.uint8)


SAMPLES: dict[str, Callable[[], tuple[Any, ...]]] = {
    "fhelium_rns_ops::rns_parameters": lambda: (moduli(), DEGREE),
    "fhelium_rns_ops::parameter_row_names": lambda: (),
    "fhelium_rns_ops::cpu_isa": lambda: (),
    "fhelium_rns_ops::add_standard": pair,
    "fhelium_rns_ops::add_standard_": pair,
    "fhelium_rns_ops::subtract_standard": pair,
    "fhelium_rns_ops::subtract_standard_": pair,
    "fhelium_rns_ops::negate_standard": lambda: (residues(2), parameters()),
    "fhelium_rns_ops::negate_standard_": lambda: (residues(2), parameters()),
    "fhelium_rns_ops::multiply_montgomery": pair,
    "fhelium_rns_ops::multiply_montgomery_": pair,
    "fhelium_rns_ops::to_montgomery": lambda: (residues(2), parameters()),
    "fhelium_rns_ops::to_montgomery_": lambda: (residues(2), parameters()),
    "fhelium_rns_ops::from_montgomery": lambda: (residues(2), parameters()),
    "fhelium_rns_ops::from_montgomery_": lambda: (residues(2), parameters()),
    "fhelium_rns_ops::reduce_integers": lambda: (residues(2)[:, 0] - 50, parameters()),
    "fhelium_rns_ops::count_out_of_range": lambda: (residues(2) + 60, parameters()),
    "fhelium_rns_ops::round_to_residues": lambda: (reals(2, DEGREE), 2.0**20, parameters()),
    "fhelium_rns_ops::mod_up": raising,
    "fhelium_rns_ops::mod_down": lowering,
    "fhelium_rns_ops::residues_to_real": lambda: (residues(2), parameters()),
    "fhelium_ckks_ops::key_switch_inner_product": lambda: (
        residues(2, 4),
        residues(2, 2, seed=1),
        parameters(),
    ),
    "fhelium_ckks_ops::automorphism_coefficient": lambda: (residues(2), 5, parameters()),
    "fhelium_ckks_ops::automorphism_ntt": lambda: (residues(2), 5),
    "fhelium_ckks_ops::add_plaintext": lambda: (residues(2, 4), residues(4), parameters()),
    "fhelium_ckks_ops::add_plaintext_": lambda: (residues(2, 4), residues(4), parameters()),
    "fhelium_ckks_ops::multiply_plaintext": lambda: (residues(2, 4), residues(4), parameters()),
    "fhelium_ckks_ops::multiply_plaintext_": lambda: (residues(2, 4), residues(4), parameters()),
    "fhelium_ckks_ops::ciphertext_product": lambda: (
        residues(2, 4),
        residues(2, 4, seed=1),
        parameters(),
    ),
    "fhelium_ckks_ops::ciphertext_square": lambda: (residues(2, 4), parameters()),
    "fhelium_ckks_ops::rescale_nearest": dropping,
    "fhelium_ckks_ops::embedding_tables": lambda: (DEGREE,),
    "fhelium_ckks_ops::slots_to_coefficients": lambda: (reals(3, DEGREE // 2, 2), embedding()),
    "fhelium_ckks_ops::coefficients_to_slots": lambda: (reals(3, DEGREE), embedding()),
    "fhelium_ntt_ops::ntt_tables": lambda: (roots(), DEGREE, parameters()),
    "fhelium_ntt_ops::ntt_packed": packed,
    "fhelium_ntt_ops::ntt_packed_": packed,
    "fhelium_ntt_ops::intt_packed": packed,
    "fhelium_ntt_ops::intt_packed_": packed,
    "fhelium_ntt_ops::radix2_twiddles": lambda: (roots(), DEGREE, parameters()),
    "fhelium_ntt_ops::ntt_radix2_indexed": lambda: indexed(False),
    "fhelium_ntt_ops::ntt_radix2_indexed_": lambda: indexed(False),
    "fhelium_ntt_ops::intt_radix2_indexed": lambda: indexed(True),
    "fhelium_ntt_ops::intt_radix2_indexed_": lambda: indexed(True),
    "fhelium_random_ops::chacha20_blocks": lambda: (stream_key(), stream_key()[:12], 3, 5),
    "fhelium_random_ops::sample_uniform": lambda: (
        stream_key(),
        torch.arange(len(PRIMES)),
        1,
        2,
        3,
        DEGREE,
        parameters(),
    ),
    "fhelium_random_ops::sample_ternary": lambda: (stream_key(), 1, 2, DEGREE),
    "fhelium_random_ops::sample_gaussian": lambda: (stream_key(), 1, 2, DEGREE),
    "fhelium_random_ops::sample_rounded_gaussian": lambda: (stream_key(), 36.1, 2, DEGREE),
}
