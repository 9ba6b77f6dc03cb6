"""One row of arguments for each native operator, small and legal, made anew on every call.

The checks of wrappers, shapes and tracing run over these rows; a new operator needs one.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from fhelium.native.wrapper import ckks_ops, ntt_ops, rns_ops

DEGREE = 16
PRIMES = (97, 193, 257)  # each is 1 modulo 2 DEGREE


def moduli() -> Tensor:
    return torch.tensor(PRIMES)


def parameters() -> Tensor:
    return rns_ops.rns_parameters(moduli(), DEGREE)


def residues(*batch: int, seed: int = 0) -> Tensor:
    """Uniform standard residues [*batch, limb, N]."""
    generator = torch.Generator().manual_seed(seed)
    shape = (*batch, len(PRIMES), DEGREE)
    return torch.randint(0, min(PRIMES), shape, generator=generator)


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


def in_montgomery(values: list[list[int]]) -> Tensor:
    """Constants [row, limb] in the Montgomery form of each limb, for the first limbs."""
    standard = torch.tensor(values)[..., None]
    limbs = standard.shape[-2]
    return rns_ops.to_montgomery(standard, parameters()[:, :limbs])[..., 0]


def single() -> tuple[Tensor, Tensor]:
    return residues(2), parameters()


def mod_up() -> tuple[Tensor, ...]:
    """Two digits of one prime each; the third prime is special."""
    first, second, _ = PRIMES
    ones = in_montgomery([[1, 1]])[0]
    matrix = in_montgomery([[1, 1, 1], [1, 1, 1]])  # D / d = 1 for a digit of one prime
    correction = in_montgomery([[first % q for q in PRIMES], [second % q for q in PRIMES]])
    bounds = torch.tensor([0, 1, 2])
    return residues(2)[:, :2].clone(), bounds, ones, matrix, correction, parameters()


def mod_down() -> tuple[Tensor, ...]:
    """One special prime, the third."""
    kept, special = PRIMES[:2], PRIMES[2]
    scale = rns_ops.to_montgomery(torch.ones(1, 1, dtype=torch.int64), parameters()[:, 2:])[0]
    matrix = in_montgomery([[1, 1]])
    correction = in_montgomery([[special % q for q in kept]])[0]
    inverse = in_montgomery([[pow(special, -1, q) for q in kept]])[0]
    return residues(2), scale, matrix, correction, inverse, parameters()


def rescale() -> tuple[Tensor, ...]:
    inverse = [pow(PRIMES[0], -1, q) for q in PRIMES[1:]]
    standard = torch.tensor(inverse)[:, None]
    constants = rns_ops.to_montgomery(standard, parameters()[:, 1:])[:, 0]
    return residues(2), constants, parameters()


def ciphertext_and_plaintext() -> tuple[Tensor, Tensor, Tensor]:
    return residues(2, 3), residues(3, seed=4), parameters()


def ciphertexts() -> tuple[Tensor, Tensor, Tensor]:
    return residues(2, 3), residues(2, 3, seed=4), parameters()


def reals(*shape: int) -> Tensor:
    return torch.linspace(-1, 1, torch.Size(shape).numel(), dtype=torch.float64).view(shape)


SAMPLES: dict[str, Callable[[], tuple[Any, ...]]] = {
    "fhelium_rns_ops::rns_parameters": lambda: (moduli(), DEGREE),
    "fhelium_rns_ops::parameter_row_names": lambda: (),
    "fhelium_rns_ops::cpu_isa": lambda: (),
    "fhelium_rns_ops::add_standard": pair,
    "fhelium_rns_ops::add_standard_": pair,
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
    "fhelium_rns_ops::subtract_standard": pair,
    "fhelium_rns_ops::subtract_standard_": pair,
    "fhelium_rns_ops::multiply_montgomery": pair,
    "fhelium_rns_ops::multiply_montgomery_": pair,
    "fhelium_rns_ops::negate_standard": single,
    "fhelium_rns_ops::negate_standard_": single,
    "fhelium_rns_ops::to_montgomery": single,
    "fhelium_rns_ops::to_montgomery_": single,
    "fhelium_rns_ops::from_montgomery": single,
    "fhelium_rns_ops::from_montgomery_": single,
    "fhelium_rns_ops::reduce_integers": lambda: (
        torch.arange(-DEGREE, DEGREE).view(2, DEGREE),
        parameters(),
    ),
    "fhelium_rns_ops::round_to_residues": lambda: (reals(2, DEGREE), 2.0**70, parameters()),
    "fhelium_rns_ops::residues_to_real": single,
    "fhelium_rns_ops::mod_up": mod_up,
    "fhelium_rns_ops::mod_down": mod_down,
    "fhelium_ckks_ops::embedding_tables": lambda: (DEGREE,),
    "fhelium_ckks_ops::slots_to_coefficients": lambda: (
        reals(2, DEGREE // 2, 2),
        ckks_ops.embedding_tables(DEGREE),
    ),
    "fhelium_ckks_ops::coefficients_to_slots": lambda: (
        reals(2, DEGREE),
        ckks_ops.embedding_tables(DEGREE),
    ),
    "fhelium_ckks_ops::add_plaintext": ciphertext_and_plaintext,
    "fhelium_ckks_ops::add_plaintext_": ciphertext_and_plaintext,
    "fhelium_ckks_ops::multiply_plaintext": ciphertext_and_plaintext,
    "fhelium_ckks_ops::multiply_plaintext_": ciphertext_and_plaintext,
    "fhelium_ckks_ops::ciphertext_product": ciphertexts,
    "fhelium_ckks_ops::ciphertext_square": lambda: (residues(2, 3), parameters()),
    "fhelium_ckks_ops::key_switch_inner_product": lambda: (
        residues(2, 3),  # two digits, a batch of three
        residues(2, 2, seed=5),
        parameters(),
    ),
    "fhelium_ckks_ops::rescale_nearest": rescale,
    "fhelium_ckks_ops::automorphism_coefficient": lambda: (residues(2), 5, parameters()),
    "fhelium_ckks_ops::automorphism_ntt": lambda: (residues(2), 5),
}
