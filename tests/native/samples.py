"""One row of arguments for each native operator, small and legal, made anew on every call.

A row is a function of the residue type; operators without residues ignore it. The checks of
wrappers, shapes and tracing run over these rows; a new operator needs one.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from fhelium.native.wrapper import ckks_ops, ntt_diagnostic_ops, ntt_ops, rns_ops

DEGREE = 16
PRIMES = (97, 193, 257)  # each is 1 modulo 2 DEGREE
SPECIAL = (353, 449)


INT64 = torch.int64
TYPES = (INT64, torch.int32)


def moduli(dtype: torch.dtype = torch.int64) -> Tensor:
    return torch.tensor(PRIMES, dtype=dtype)


def parameters(dtype: torch.dtype = torch.int64, primes: Sequence[int] = PRIMES) -> Tensor:
    return rns_ops.rns_parameters(torch.tensor(primes, dtype=dtype), DEGREE)


def residues(
    *batch: int, seed: int = 0, limbs: int = len(PRIMES), dtype: torch.dtype = torch.int64
) -> Tensor:
    """Uniform standard residues [*batch, limb, N]."""
    generator = torch.Generator().manual_seed(seed)
    shape = (*batch, limbs, DEGREE)
    return torch.randint(0, min(PRIMES), shape, generator=generator).to(dtype)


def montgomery(values: Iterable[int], primes: Sequence[int], dtype: torch.dtype) -> Tensor:
    """One constant for each prime, in Montgomery form: R is 2^52 below 2^50, 2^32 for int32."""
    radix = 2**32 if dtype == torch.int32 else 2**52
    return torch.tensor([v * radix % q for v, q in zip(values, primes, strict=True)], dtype=dtype)


def in_every(constants: Iterable[int], primes: Sequence[int], dtype: torch.dtype) -> Tensor:
    """[constant, limb]: each constant modulo every prime, in Montgomery form."""
    return torch.stack([montgomery([c] * len(primes), primes, dtype) for c in constants])


def raising(dtype: torch.dtype) -> tuple[Tensor, ...]:
    """Two digits, of two primes and of one, raised to Q and P."""
    digits, whole = (PRIMES[:2], PRIMES[2:]), PRIMES + SPECIAL
    cofactors = [math.prod(digit) // d for digit in digits for d in digit]
    inverses = (pow(c, -1, d) for c, d in zip(cofactors, PRIMES, strict=True))
    return (
        residues(2, dtype=dtype),
        torch.tensor([0, 2, 3]),
        montgomery(inverses, PRIMES, dtype),
        in_every(cofactors, whole, dtype),
        in_every(map(math.prod, digits), whole, dtype),
        parameters(dtype, whole),
    )


def lowering(dtype: torch.dtype) -> tuple[Tensor, ...]:
    """Q and P divided by P."""
    product = math.prod(SPECIAL)
    cofactors = [product // p for p in SPECIAL]
    inverses = (pow(c, -1, p) for c, p in zip(cofactors, SPECIAL, strict=True))
    return (
        residues(2, limbs=len(PRIMES + SPECIAL), dtype=dtype),
        montgomery(inverses, SPECIAL, dtype),
        in_every(cofactors, PRIMES, dtype),
        in_every([product], PRIMES, dtype)[0],
        montgomery((pow(product, -1, q) for q in PRIMES), PRIMES, dtype),
        parameters(dtype, PRIMES + SPECIAL),
    )


def dropping(dtype: torch.dtype) -> tuple[Tensor, ...]:
    """Division by the first prime."""
    inverse = montgomery((pow(PRIMES[0], -1, q) for q in PRIMES[1:]), PRIMES[1:], dtype)
    return residues(2, dtype=dtype), inverse, parameters(dtype)


def reals(*shape: int) -> Tensor:
    return torch.linspace(-1, 1, math.prod(shape), dtype=torch.float64).reshape(shape)


def embedding() -> Tensor:
    return ckks_ops.embedding_tables(DEGREE)


def pair(dtype: torch.dtype = torch.int64) -> tuple[Tensor, Tensor, Tensor]:
    """A batch, one without batch axes that repeats over it, and the parameters."""
    return residues(2, seed=1, dtype=dtype), residues(seed=2, dtype=dtype), parameters(dtype)


def one(dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """A batch and its parameters."""
    return residues(2, dtype=dtype), parameters(dtype)


def lazy(dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """The same with residues on either side of q."""
    input, params = one(dtype)
    return 2 * input, params


def lazy_pair(dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    lhs, rhs, params = pair(dtype)
    return 2 * lhs, 2 * rhs, params


def mixed_radix(dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """Residues, and in row j the inverse of prime j modulo those behind it."""
    rows = [
        montgomery((pow(d, -1, q) if i > j else 0 for i, q in enumerate(PRIMES)), PRIMES, dtype)
        for j, d in enumerate(PRIMES)
    ]
    return residues(2, dtype=dtype), torch.stack(rows), parameters(dtype)


def mixed_radix_digits(dtype: torch.dtype) -> tuple[Tensor, ...]:
    """Digits, what each counts for, their parameters and those of the special primes."""
    radices = in_every((math.prod(PRIMES[:i]) for i in range(len(PRIMES) + 1)), SPECIAL, dtype)
    return residues(2, dtype=dtype), radices, parameters(dtype), parameters(dtype, SPECIAL)


def ciphertext_and_plaintext(dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    return residues(2, 4, dtype=dtype), residues(4, dtype=dtype), parameters(dtype)


def two_ciphertexts(dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    return residues(2, 4, dtype=dtype), residues(2, 4, seed=1, dtype=dtype), parameters(dtype)


def digits_and_key(dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    return residues(2, 4, dtype=dtype), residues(2, 2, seed=1, dtype=dtype), parameters(dtype)


def roots(dtype: torch.dtype, primes: Sequence[int] = PRIMES) -> Tensor:
    """Primitive 32nd roots of unity: the smallest power residues of order 2 DEGREE."""
    found = [next(x for x in range(2, q) if pow(x, DEGREE, q) == q - 1) for q in primes]
    return torch.tensor(found, dtype=dtype)


def packed(dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    tables = ntt_ops.ntt_tables(roots(dtype), DEGREE, parameters(dtype))
    return residues(2, dtype=dtype), tables, parameters(dtype)


def variant(dtype: torch.dtype) -> tuple[str, Tensor, Tensor, Tensor]:
    """The transforms of a named instruction set exist for int64 residues alone."""
    tables = ntt_diagnostic_ops.variant_tables("scalar", roots(INT64), DEGREE, parameters())
    return "scalar", residues(2), tables, parameters()


def dropping_in_ntt(dtype: torch.dtype) -> tuple[Tensor, ...]:
    """Division of NTT values by the first prime."""
    values, inverse, params = dropping(dtype)
    return values, inverse, packed(dtype)[1], params


def switching(dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """A key of two digits over Q and P, its constants, and the transform's tables."""
    primes = PRIMES + SPECIAL
    params = parameters(dtype, primes)
    return (
        residues(2, 2, seed=3, limbs=len(primes), dtype=dtype),
        ckks_ops.key_switch_tables(torch.tensor([0, 2, 3]), len(SPECIAL), params, dtype),
        ntt_ops.ntt_tables(roots(dtype, primes), DEGREE, params),
    )


def butterflies(degree: int, inverse: bool = False) -> tuple[Tensor, ...]:
    """Even and odd positions and twiddle numbers of a radix-2 transform, as its three loops."""
    stages, blocks = [], 1
    while blocks < degree:
        half = degree // (2 * blocks)
        evens = [(2 * half * i + j, i) for i in range(blocks) for j in range(half)]
        stages.append([(even, even + half, blocks + i) for even, i in evens])
        blocks *= 2
    return torch.tensor(stages[::-1] if inverse else stages).unbind(-1)


def indexed(dtype: torch.dtype, inverse: bool) -> tuple[Tensor, ...]:
    twiddles = ntt_ops.radix2_twiddles(roots(dtype), DEGREE, parameters(dtype))[int(inverse)]
    return residues(2, dtype=dtype), *butterflies(DEGREE, inverse), twiddles, parameters(dtype)


def stream_key() -> Tensor:
    return torch.arange(32, dtype=torch.uint8)


def whole(dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Switching tables of two digits and packed transforms, both on Q and P."""
    primes = PRIMES + SPECIAL
    params = parameters(dtype, primes)
    tables = ntt_ops.ntt_tables(roots(dtype, primes), DEGREE, params)
    bounds = torch.tensor([0, 2, 3])
    return ckks_ops.key_switch_tables(bounds, len(SPECIAL), params, dtype), tables


def encrypting_with_secret(dtype: torch.dtype) -> tuple[Any, ...]:
    _, tables, params = packed(dtype)
    secret, key = residues(seed=1, dtype=dtype), stream_key()
    return residues(2, dtype=dtype), secret, key, key.flip(0), 4, tables, params, True


def encrypting_with_public(dtype: torch.dtype) -> tuple[Any, ...]:
    public_key = residues(2, seed=1, limbs=len(PRIMES + SPECIAL), dtype=dtype)
    key = stream_key()
    return residues(2, dtype=dtype), public_key, key, key.flip(0), *whole(dtype), False


def decrypting(dtype: torch.dtype) -> tuple[Any, ...]:
    _, tables, params = packed(dtype)
    return residues(3, 4, dtype=dtype), residues(seed=1, dtype=dtype), tables, params, False


def making_public_key(dtype: torch.dtype) -> tuple[Any, ...]:
    _, tables, params = packed(dtype)
    return residues(dtype=dtype), stream_key(), stream_key().flip(0), tables, params


def making_switching_key(dtype: torch.dtype) -> tuple[Any, ...]:
    limbs = len(PRIMES + SPECIAL)
    key = torch.zeros(limbs, 2, 2, DEGREE, dtype=dtype).permute(1, 2, 0, 3)
    source, secret = (residues(seed=seed, limbs=limbs, dtype=dtype) for seed in (1, 2))
    return key, source, secret, stream_key(), stream_key().flip(0), *whole(dtype)


SAMPLES: dict[str, Callable[[torch.dtype], tuple[Any, ...]]] = {
    "fhelium_rns_ops::rns_parameters": lambda dtype: (moduli(dtype), DEGREE),
    "fhelium_rns_ops::parameter_row_names": lambda dtype: (),
    "fhelium_rns_ops::cpu_isa": lambda dtype: (),
    "fhelium_rns_ops::workspace_bytes": lambda dtype: (),
    "fhelium_rns_ops::release_workspace": lambda dtype: (),
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
    "fhelium_rns_ops::reduce_integers": lambda dtype: (
        residues(2)[:, 0] - 50,
        parameters(dtype),
        dtype,
    ),
    "fhelium_rns_ops::round_to_residues": lambda dtype: (
        reals(2, DEGREE),
        2.0**20,
        parameters(dtype),
        dtype,
    ),
    "fhelium_rns_ops::count_out_of_range": one,
    "fhelium_rns_ops::mod_up": raising,
    "fhelium_rns_ops::mod_down": lowering,
    "fhelium_rns_ops::residues_to_real": one,
    "fhelium_ckks_ops::key_switch_inner_product": digits_and_key,
    "fhelium_ckks_ops::automorphism_coefficient": lambda dtype: (
        residues(2, dtype=dtype),
        5,
        parameters(dtype),
    ),
    "fhelium_ckks_ops::automorphism_ntt": lambda dtype: (residues(2, dtype=dtype), 5),
    "fhelium_ckks_ops::add_plaintext": ciphertext_and_plaintext,
    "fhelium_ckks_ops::add_plaintext_": ciphertext_and_plaintext,
    "fhelium_ckks_ops::multiply_plaintext": ciphertext_and_plaintext,
    "fhelium_ckks_ops::multiply_plaintext_": ciphertext_and_plaintext,
    "fhelium_ckks_ops::multiply_plaintext_rescale": lambda dtype: (
        *ciphertext_and_plaintext(dtype)[:2],
        *dropping_in_ntt(dtype)[1:],
    ),
    "fhelium_ckks_ops::sum_plaintext_products": lambda dtype: (
        [residues(2, 4, seed=seed, dtype=dtype) for seed in range(3)],
        [residues(4, seed=seed, dtype=dtype) for seed in range(3, 6)],
        parameters(dtype),
    ),
    # k x - w, with a constant beside a plaintext of every coefficient.
    "fhelium_ckks_ops::coefficient_program": lambda dtype: (
        [residues(2, 4, dtype=dtype)],
        [residues(4, seed=1, dtype=dtype), residues(1, seed=2, dtype=dtype)[..., :1]],
        [3, 0, 0, 3, 3, 1, 1, 3, 1, 0, 4, 2],
        2,
        parameters(dtype),
    ),
    "fhelium_ckks_ops::ciphertext_product": two_ciphertexts,
    "fhelium_ckks_ops::ciphertext_square": one,
    "fhelium_ckks_ops::key_switch_tables": lambda dtype: (
        torch.tensor([0, 2, 3]),
        len(SPECIAL),
        parameters(dtype, PRIMES + SPECIAL),
        dtype,
    ),
    "fhelium_ckks_ops::relinearize": lambda dtype: (
        residues(3, 4, dtype=dtype),
        *switching(dtype),
        True,
        False,
    ),
    "fhelium_ckks_ops::switch_galois": lambda dtype: (
        residues(2, 4, dtype=dtype),
        5,
        *switching(dtype),
        False,
        True,
    ),
    "fhelium_ckks_ops::switch_hoisted": lambda dtype: (
        residues(2, 4, dtype=dtype),
        [5, 1],
        [switching(dtype)[0]] * 2,
        *switching(dtype)[1:],
        True,
        True,
    ),
    "fhelium_ckks_ops::multiply_relinearize_rescale": lambda dtype: (
        residues(2, 4, dtype=dtype),
        residues(2, 4, seed=1, dtype=dtype),
        *switching(dtype),
    ),
    "fhelium_ckks_ops::rescale_nearest": dropping,
    "fhelium_ckks_ops::rescale_ntt": dropping_in_ntt,
    "fhelium_ckks_ops::rescale_truncating": dropping,
    "fhelium_ckks_ops::encrypt_with_public": encrypting_with_public,
    "fhelium_ckks_ops::encrypt_with_secret": encrypting_with_secret,
    "fhelium_ckks_ops::decrypt_residues": decrypting,
    "fhelium_ckks_ops::make_public_key": making_public_key,
    "fhelium_ckks_ops::make_switching_key_": making_switching_key,
    "fhelium_ckks_ops::encode_slots": lambda dtype: (
        reals(3, DEGREE // 2, 2),
        embedding(),
        2.0**20,
        parameters(dtype),
        dtype,
    ),
    "fhelium_ckks_ops::decode_residues": lambda dtype: (
        residues(3, dtype=dtype),
        embedding(),
        2.0**5,
        parameters(dtype),
    ),
    "fhelium_ckks_ops::embedding_tables": lambda dtype: (DEGREE,),
    "fhelium_ckks_ops::slots_to_coefficients": lambda dtype: (
        reals(3, DEGREE // 2, 2),
        embedding(),
    ),
    "fhelium_ckks_ops::coefficients_to_slots": lambda dtype: (reals(3, DEGREE), embedding()),
    "fhelium_ntt_ops::ntt_tables": lambda dtype: (roots(dtype), DEGREE, parameters(dtype)),
    "fhelium_ntt_ops::ntt_packed": packed,
    "fhelium_ntt_ops::ntt_packed_": packed,
    "fhelium_ntt_ops::intt_packed": packed,
    "fhelium_ntt_ops::intt_packed_": packed,
    "fhelium_ntt_ops::radix2_twiddles": lambda dtype: (roots(dtype), DEGREE, parameters(dtype)),
    "fhelium_ntt_ops::compact_twiddles": lambda dtype: (roots(dtype), DEGREE, parameters(dtype)),
    "fhelium_ntt_ops::ntt_radix2_indexed": lambda dtype: indexed(dtype, False),
    "fhelium_ntt_ops::ntt_radix2_indexed_": lambda dtype: indexed(dtype, False),
    "fhelium_ntt_ops::intt_radix2_indexed": lambda dtype: indexed(dtype, True),
    "fhelium_ntt_ops::intt_radix2_indexed_": lambda dtype: indexed(dtype, True),
    "fhelium_ntt_diagnostic_ops::variant_names": lambda dtype: (),
    "fhelium_ntt_diagnostic_ops::variant_tables": lambda dtype: (
        "scalar",
        roots(INT64),
        DEGREE,
        parameters(),
    ),
    "fhelium_ntt_diagnostic_ops::variant_ntt": variant,
    "fhelium_ntt_diagnostic_ops::variant_intt": variant,
    "fhelium_random_ops::chacha20_blocks": lambda dtype: (stream_key(), stream_key()[:12], 3, 5),
    "fhelium_random_ops::sample_uniform": lambda dtype: (
        stream_key(),
        torch.arange(len(PRIMES)),
        1,
        2,
        3,
        DEGREE,
        parameters(dtype),
        dtype,
    ),
    "fhelium_random_ops::sample_ternary": lambda dtype: (stream_key(), 1, 2, DEGREE),
    "fhelium_random_ops::sample_gaussian": lambda dtype: (stream_key(), 1, 2, DEGREE),
    "fhelium_random_ops::sample_rounded_gaussian": lambda dtype: (stream_key(), 36.1, 2, DEGREE),
}

CUDA_ONLY = {
    f"fhelium_ntt_ops::{direction}_{policy}{twin}": lambda dtype: (
        residues(2, dtype=dtype),
        torch.zeros(1, dtype=torch.int64),
        roots(dtype),
        parameters(dtype),
    )
    for direction in ("ntt", "intt")
    for policy in ("compact", "fixed_radix")
    for twin in ("", "_")
}
"""Rows of the operators that the CPU refuses."""
