"""One row of arguments for each native operator, legal, made anew on every call.

A row is a function of a `Ring`, which says type, degree, primes and batch; operators without
residues ignore most of it. The checks of wrappers, shapes, tracing and devices run over these rows;
a new operator needs one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import torch
from torch import Tensor

from fhelium.native.wrapper import ckks_ops, ntt_diagnostic_ops, ntt_ops
from tests.native.rings import INT64, Ring


def one(ring: Ring) -> tuple[Tensor, Tensor]:
    """A batch and its parameters."""
    return ring.residues(*ring.batch), ring.parameters()


def pair(ring: Ring) -> tuple[Tensor, Tensor, Tensor]:
    """A batch, one without batch axes that repeats over it, and the parameters."""
    return ring.residues(*ring.batch, seed=1), ring.residues(seed=2), ring.parameters()


def lazy(ring: Ring) -> tuple[Tensor, Tensor]:
    """The same as `one` with residues on either side of q."""
    input, params = one(ring)
    return 2 * input, params


def lazy_pair(ring: Ring) -> tuple[Tensor, Tensor, Tensor]:
    lhs, rhs, params = pair(ring)
    return 2 * lhs, 2 * rhs, params


def raising(ring: Ring) -> tuple[Tensor, ...]:
    """Digits raised to Q and P."""
    cofactors = [math.prod(digit) // d for digit in ring.digits for d in digit]
    inverses = (pow(c, -1, d) for c, d in zip(cofactors, ring.primes, strict=True))
    return (
        ring.residues(*ring.batch),
        ring.bounds,
        ring.montgomery(inverses, ring.primes),
        ring.in_every(cofactors, ring.whole),
        ring.in_every(map(math.prod, ring.digits), ring.whole),
        ring.parameters(ring.whole),
    )


def lowering(ring: Ring) -> tuple[Tensor, ...]:
    """Q and P divided by P."""
    product = math.prod(ring.special)
    cofactors = [product // p for p in ring.special]
    inverses = (pow(c, -1, p) for c, p in zip(cofactors, ring.special, strict=True))
    return (
        ring.residues(*ring.batch, primes=ring.whole),
        ring.montgomery(inverses, ring.special),
        ring.in_every(cofactors, ring.primes),
        ring.in_every([product], ring.primes)[0],
        ring.inverses(product, ring.primes),
        ring.parameters(ring.whole),
    )


def mixed_radix(ring: Ring) -> tuple[Tensor, Tensor, Tensor]:
    """Residues, and in row j the inverse of prime j modulo those behind it."""
    rows = [
        ring.montgomery(
            (pow(d, -1, q) if i > j else 0 for i, q in enumerate(ring.primes)), ring.primes
        )
        for j, d in enumerate(ring.primes)
    ]
    return ring.residues(*ring.batch), torch.stack(rows), ring.parameters()


def mixed_radix_digits(ring: Ring) -> tuple[Tensor, ...]:
    """Digits, what each counts for, their parameters and those of the special primes."""
    radices = (math.prod(ring.primes[:i]) for i in range(len(ring.primes) + 1))
    return (
        ring.residues(*ring.batch),
        ring.in_every(radices, ring.special),
        ring.parameters(),
        ring.parameters(ring.special),
    )


def dropping(ring: Ring) -> tuple[Tensor, ...]:
    """Division by the first prime."""
    first, *others = ring.primes
    return ring.residues(*ring.batch), ring.inverses(first, others), ring.parameters()


def dropping_in_ntt(ring: Ring) -> tuple[Tensor, ...]:
    """Division of NTT values by the first prime."""
    values, inverse, params = dropping(ring)
    return values, inverse, ring.ntt_tables(), params


def ciphertext_and_plaintext(ring: Ring) -> tuple[Tensor, Tensor, Tensor]:
    return ring.residues(2, *ring.batch), ring.residues(*ring.batch, seed=1), ring.parameters()


def two_ciphertexts(ring: Ring) -> tuple[Tensor, Tensor, Tensor]:
    return ring.residues(2, *ring.batch), ring.residues(2, *ring.batch, seed=1), ring.parameters()


def digits_and_key(ring: Ring) -> tuple[Tensor, Tensor, Tensor]:
    count = len(ring.digits)
    return ring.residues(count, *ring.batch), ring.residues(count, 2, seed=1), ring.parameters()


def packed(ring: Ring) -> tuple[Tensor, Tensor, Tensor]:
    return ring.residues(*ring.batch), ring.ntt_tables(), ring.parameters()


def in_passes(ring: Ring, levels: Sequence[int]) -> tuple[Tensor, ...]:
    """A transform whose passes take so many levels; what is 0 is no pass."""
    schedule = torch.tensor([level for level in levels if level])
    twiddles = replace(ring, cuda_tables=True).ntt_tables()
    return ring.residues(*ring.batch), schedule, twiddles, ring.parameters()


def compact(ring: Ring) -> tuple[Tensor, ...]:
    levels = ring.degree.bit_length() - 1
    return in_passes(ring, [max(levels - 8, 0), min(levels, 8)])


def fixed_radix(ring: Ring) -> tuple[Tensor, ...]:
    levels = ring.degree.bit_length() - 1
    return in_passes(ring, [levels % 4] + [4] * (levels // 4))


@cache
def butterflies(degree: int, inverse: bool = False) -> tuple[Tensor, ...]:
    """Even and odd positions and twiddle numbers of a radix-2 transform, as its three loops."""
    stages, blocks = [], 1
    while blocks < degree:
        half = degree // (2 * blocks)
        evens = [(2 * half * i + j, i) for i in range(blocks) for j in range(half)]
        stages.append([(even, even + half, blocks + i) for even, i in evens])
        blocks *= 2
    return torch.tensor(stages[::-1] if inverse else stages).unbind(-1)


def indexed(ring: Ring, inverse: bool) -> tuple[Tensor, ...]:
    twiddles = ntt_ops.radix2_twiddles(ring.roots(), ring.degree, ring.parameters())[int(inverse)]
    places = [index.clone() for index in butterflies(ring.degree, inverse)]
    return ring.residues(*ring.batch), *places, twiddles, ring.parameters()


def making_tables(ring: Ring) -> tuple[Tensor, int, Tensor]:
    return ring.roots(), ring.degree, ring.parameters()


def variant(ring: Ring) -> tuple[str, Tensor, Tensor, Tensor]:
    """The transforms of a named instruction set exist for int64 residues alone."""
    wide = replace(ring, dtype=INT64)
    tables = ntt_diagnostic_ops.variant_tables("scalar", *making_tables(wide))
    return "scalar", wide.residues(*ring.batch), tables, wide.parameters()


def whole(ring: Ring) -> tuple[Tensor, Tensor]:
    """Switching tables and transforms, both on Q and P."""
    params, specials = ring.parameters(ring.whole), len(ring.special)
    tables = ckks_ops.key_switch_tables(ring.bounds, specials, params, ring.dtype)
    return tables, ring.ntt_tables(ring.whole)


def switching(ring: Ring, seed: int = 3) -> tuple[Tensor, Tensor, Tensor]:
    """A key over Q and P, its constants, and the transform's tables."""
    return ring.residues(len(ring.digits), 2, seed=seed, primes=ring.whole), *whole(ring)


def reals(*shape: int) -> Tensor:
    return torch.linspace(-1, 1, math.prod(shape), dtype=torch.float64).reshape(shape)


def slots(ring: Ring) -> Tensor:
    return reals(*ring.batch, ring.degree // 2, 2)


def embedding(ring: Ring) -> Tensor:
    return ckks_ops.embedding_tables(ring.degree)


def stream_key(ring: Ring) -> Tensor:
    return torch.arange(32, dtype=torch.uint8) + ring.seed % 200


def integers(ring: Ring) -> tuple[Tensor, int, int, int]:
    return stream_key(ring), 1, math.prod(ring.batch), ring.degree


def encrypting_with_secret(ring: Ring) -> tuple[Any, ...]:
    secret, key = ring.residues(seed=1), stream_key(ring)
    tables, params = ring.ntt_tables(), ring.parameters()
    return ring.residues(*ring.batch), secret, key, key.flip(0), 4, tables, params, True


def encrypting_with_public(ring: Ring) -> tuple[Any, ...]:
    public_key, key = ring.residues(2, seed=1, primes=ring.whole), stream_key(ring)
    return ring.residues(*ring.batch), public_key, key, key.flip(0), *whole(ring), False


def decrypting(ring: Ring) -> tuple[Any, ...]:
    secret, tables = ring.residues(seed=1), ring.ntt_tables()
    return ring.residues(3, *ring.batch), secret, tables, ring.parameters(), False


def making_public_key(ring: Ring) -> tuple[Any, ...]:
    key = stream_key(ring)
    return ring.residues(), key, key.flip(0), ring.ntt_tables(), ring.parameters()


def making_switching_key(ring: Ring) -> tuple[Any, ...]:
    shape = (len(ring.whole), len(ring.digits), 2, ring.degree)
    key = torch.zeros(shape, dtype=ring.dtype).permute(1, 2, 0, 3)
    source, secret = (ring.residues(seed=seed, primes=ring.whole) for seed in (1, 2))
    stream = stream_key(ring)
    return key, source, secret, stream, stream.flip(0), *whole(ring)


SAMPLES: dict[str, Callable[[Ring], tuple[Any, ...]]] = {
    "fhelium_rns_ops::rns_parameters": lambda ring: (ring.moduli(), ring.degree),
    "fhelium_rns_ops::parameter_row_names": lambda ring: (),
    "fhelium_rns_ops::cpu_isa": lambda ring: (),
    "fhelium_rns_ops::workspace_bytes": lambda ring: (),
    "fhelium_rns_ops::release_workspace": lambda ring: (),
    "fhelium_rns_ops::add_standard": pair,
    "fhelium_rns_ops::add_standard_": pair,
    "fhelium_rns_ops::subtract_standard": pair,
    "fhelium_rns_ops::subtract_standard_": pair,
    "fhelium_rns_ops::negate_standard": one,
    "fhelium_rns_ops::negate_standard_": one,
    "fhelium_rns_ops::multiply_montgomery": pair,
    "fhelium_rns_ops::multiply_montgomery_": pair,
    "fhelium_rns_ops::to_montgomery": one,
    "fhelium_rns_ops::to_montgomery_": one,
    "fhelium_rns_ops::from_montgomery": one,
    "fhelium_rns_ops::from_montgomery_": one,
    "fhelium_rns_ops::add_lazy": lazy_pair,
    "fhelium_rns_ops::add_lazy_": lazy_pair,
    "fhelium_rns_ops::subtract_lazy": lazy_pair,
    "fhelium_rns_ops::subtract_lazy_": lazy_pair,
    "fhelium_rns_ops::negate_lazy": lazy,
    "fhelium_rns_ops::negate_lazy_": lazy,
    "fhelium_rns_ops::multiply_montgomery_lazy": lazy_pair,
    "fhelium_rns_ops::multiply_montgomery_lazy_": lazy_pair,
    "fhelium_rns_ops::reduce_lazy": lazy,
    "fhelium_rns_ops::reduce_lazy_": lazy,
    "fhelium_rns_ops::mixed_radix_digits": mixed_radix,
    "fhelium_rns_ops::mixed_radix_extend": mixed_radix_digits,
    "fhelium_rns_ops::reduce_integers": lambda ring: (
        ring.residues(*ring.batch)[..., 0, :].long() - ring.primes[0] // 2,
        ring.parameters(),
        ring.dtype,
    ),
    "fhelium_rns_ops::round_to_residues": lambda ring: (
        reals(*ring.batch, ring.degree),
        2.0**20,
        ring.parameters(),
        ring.dtype,
    ),
    "fhelium_rns_ops::count_out_of_range": lambda ring: (
        ring.residues(*ring.batch) + 1,  # one of q - 1 is none any more
        ring.parameters(),
    ),
    "fhelium_rns_ops::mod_up": raising,
    "fhelium_rns_ops::mod_down": lowering,
    "fhelium_rns_ops::residues_to_real": one,
    "fhelium_ckks_ops::key_switch_inner_product": digits_and_key,
    "fhelium_ckks_ops::automorphism_coefficient": lambda ring: (
        ring.residues(*ring.batch),
        5,
        ring.parameters(),
    ),
    "fhelium_ckks_ops::automorphism_ntt": lambda ring: (ring.residues(*ring.batch), 5),
    "fhelium_ckks_ops::add_plaintext": ciphertext_and_plaintext,
    "fhelium_ckks_ops::add_plaintext_": ciphertext_and_plaintext,
    "fhelium_ckks_ops::multiply_plaintext": ciphertext_and_plaintext,
    "fhelium_ckks_ops::multiply_plaintext_": ciphertext_and_plaintext,
    "fhelium_ckks_ops::multiply_plaintext_rescale": lambda ring: (
        *ciphertext_and_plaintext(ring)[:2],
        *dropping_in_ntt(ring)[1:],
    ),
    "fhelium_ckks_ops::sum_plaintext_products": lambda ring: (
        [ring.residues(2, *ring.batch, seed=seed) for seed in range(3)],
        [ring.residues(*ring.batch, seed=seed) for seed in range(3, 6)],
        ring.parameters(),
    ),
    # k x - w, with a constant beside a plaintext of every coefficient.
    "fhelium_ckks_ops::coefficient_program": lambda ring: (
        [ring.residues(2, *ring.batch)],
        [ring.residues(*ring.batch, seed=1), ring.residues(seed=2)[..., :1]],
        [3, 0, 0, 3, 3, 1, 1, 3, 1, 0, 4, 2],
        2,
        ring.parameters(),
    ),
    "fhelium_ckks_ops::ciphertext_product": two_ciphertexts,
    "fhelium_ckks_ops::ciphertext_square": lambda ring: (
        ring.residues(2, *ring.batch),
        ring.parameters(),
    ),
    "fhelium_ckks_ops::key_switch_tables": lambda ring: (
        ring.bounds,
        len(ring.special),
        ring.parameters(ring.whole),
        ring.dtype,
    ),
    "fhelium_ckks_ops::relinearize": lambda ring: (
        ring.residues(3, *ring.batch),
        *switching(ring),
        True,
        False,
    ),
    "fhelium_ckks_ops::switch_galois": lambda ring: (
        ring.residues(2, *ring.batch),
        5,
        *switching(ring),
        False,
        True,
    ),
    "fhelium_ckks_ops::switch_hoisted": lambda ring: (
        ring.residues(2, *ring.batch),
        [5, 1],
        [switching(ring)[0], switching(ring, seed=4)[0]],
        *whole(ring),
        True,
        True,
    ),
    "fhelium_ckks_ops::multiply_relinearize_rescale": lambda ring: (
        *two_ciphertexts(ring)[:2],
        *switching(ring),
    ),
    "fhelium_ckks_ops::rescale_nearest": dropping,
    "fhelium_ckks_ops::rescale_ntt": dropping_in_ntt,
    "fhelium_ckks_ops::rescale_truncating": dropping,
    "fhelium_ckks_ops::encrypt_with_public": encrypting_with_public,
    "fhelium_ckks_ops::encrypt_with_secret": encrypting_with_secret,
    "fhelium_ckks_ops::decrypt_residues": decrypting,
    "fhelium_ckks_ops::make_public_key": making_public_key,
    "fhelium_ckks_ops::make_switching_key_": making_switching_key,
    "fhelium_ckks_ops::encode_slots": lambda ring: (
        slots(ring),
        embedding(ring),
        2.0**20,
        ring.parameters(),
        ring.dtype,
    ),
    "fhelium_ckks_ops::decode_residues": lambda ring: (
        ring.residues(*ring.batch),
        embedding(ring),
        2.0**5,
        ring.parameters(),
    ),
    "fhelium_ckks_ops::embedding_tables": lambda ring: (ring.degree,),
    "fhelium_ckks_ops::slots_to_coefficients": lambda ring: (slots(ring), embedding(ring)),
    "fhelium_ckks_ops::coefficients_to_slots": lambda ring: (
        reals(*ring.batch, ring.degree),
        embedding(ring),
    ),
    "fhelium_ntt_ops::ntt_tables": making_tables,
    "fhelium_ntt_ops::ntt_packed": packed,
    "fhelium_ntt_ops::ntt_packed_": packed,
    "fhelium_ntt_ops::intt_packed": packed,
    "fhelium_ntt_ops::intt_packed_": packed,
    "fhelium_ntt_ops::radix2_twiddles": making_tables,
    "fhelium_ntt_ops::compact_twiddles": making_tables,
    "fhelium_ntt_ops::ntt_radix2_indexed": lambda ring: indexed(ring, False),
    "fhelium_ntt_ops::ntt_radix2_indexed_": lambda ring: indexed(ring, False),
    "fhelium_ntt_ops::intt_radix2_indexed": lambda ring: indexed(ring, True),
    "fhelium_ntt_ops::intt_radix2_indexed_": lambda ring: indexed(ring, True),
    "fhelium_ntt_diagnostic_ops::variant_names": lambda ring: (),
    "fhelium_ntt_diagnostic_ops::variant_tables": lambda ring: (
        "scalar",
        *making_tables(replace(ring, dtype=INT64)),
    ),
    "fhelium_ntt_diagnostic_ops::variant_ntt": variant,
    "fhelium_ntt_diagnostic_ops::variant_intt": variant,
    "fhelium_random_ops::chacha20_blocks": lambda ring: (
        stream_key(ring),
        stream_key(ring)[:12],
        3,
        ring.degree // 2 - 3,
    ),
    "fhelium_random_ops::sample_uniform": lambda ring: (
        stream_key(ring),
        torch.arange(len(ring.primes)),
        1,
        2,
        math.prod(ring.batch),
        ring.degree,
        ring.parameters(),
        ring.dtype,
    ),
    "fhelium_random_ops::sample_ternary": integers,
    "fhelium_random_ops::sample_gaussian": integers,
    "fhelium_random_ops::sample_rounded_gaussian": lambda ring: (
        stream_key(ring),
        36.1,
        math.prod(ring.batch),
        ring.degree,
    ),
}

CUDA_ONLY = {
    f"fhelium_ntt_ops::{direction}_{policy.__name__}{twin}": policy
    for direction in ("ntt", "intt")
    for policy in (compact, fixed_radix)
    for twin in ("", "_")
}
"""Rows of the operators that the CPU refuses."""
