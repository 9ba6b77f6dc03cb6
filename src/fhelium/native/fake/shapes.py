"""One function for each rule by which a native operator's output follows from its inputs.

Outputs are fresh and contiguous. Shapes are those of `fhelium.native.wrapper`; the operators
themselves check their inputs, so nothing is checked here.
"""

from __future__ import annotations

import torch
from torch import Tensor

PARAMETER_ROWS = 7
"""Rows of ``rns_params``; a test compares it with the enumeration in C++."""


def like(tensor: Tensor) -> Tensor:
    """Return the shape and type of an input."""
    return tensor.new_empty(tensor.shape)


def like_first(tensors: list[Tensor]) -> Tensor:
    """Return the shape and type of the first of some inputs."""
    return tensors[0].new_empty(tensors[0].shape)


def components_like(ciphertexts: list[Tensor], components: int) -> Tensor:
    """[any, *batch, limb, N], ... -> [component, *batch, limb, N]."""
    first = ciphertexts[0]
    return first.new_empty((components, *first.shape[1:]))


def parameter_rows(moduli: Tensor) -> Tensor:
    """[limb] -> int64 [row, limb]."""
    return moduli.new_empty((PARAMETER_ROWS, moduli.shape[0]), dtype=torch.int64)


def one_per_limb(rns_params: Tensor) -> Tensor:
    """[row, limb] -> int64 [limb]."""
    return rns_params.new_empty((rns_params.shape[1],))


def limbs_of_integers(values: Tensor, rns_params: Tensor, dtype: torch.dtype) -> Tensor:
    """[*batch, N] -> [*batch, limb, N]."""
    shape = (*values.shape[:-1], rns_params.shape[1], values.shape[-1])
    return values.new_empty(shape, dtype=dtype)


def limbs_of_parameters(residues: Tensor, rns_params: Tensor) -> Tensor:
    """[*batch, any, N] -> [*batch, limb, N] with a limb for each column of the parameters."""
    return residues.new_empty((*residues.shape[:-2], rns_params.shape[1], residues.shape[-1]))


def raised_digits(residues: Tensor, digit_bounds: Tensor, rns_params: Tensor) -> Tensor:
    """[*batch, L, N] -> [digit, *batch, L + K, N]."""
    batch, degree = residues.shape[:-2], residues.shape[-1]
    return residues.new_empty((digit_bounds.shape[0] - 1, *batch, rns_params.shape[1], degree))


def with_limbs_of(residues: Tensor, constants: Tensor) -> Tensor:
    """[*batch, any, N] -> [*batch, limb, N] with a limb for each constant."""
    return residues.new_empty((*residues.shape[:-2], constants.shape[0], residues.shape[-1]))


def reals_of_limbs(residues: Tensor) -> Tensor:
    """[*batch, limb, N] -> float64 [*batch, N]."""
    shape = (*residues.shape[:-2], residues.shape[-1])
    return residues.new_empty(shape, dtype=torch.float64)


def radix2_twiddles(roots: Tensor, degree: int) -> Tensor:
    """[limb] -> [2, limb, N]."""
    return roots.new_empty((2, roots.shape[0], degree))


def compact_twiddles(roots: Tensor, degree: int) -> Tensor:
    """[limb] -> [limb, 2 (N + 2)]: pairs of a factor and its quotient."""
    return roots.new_empty((roots.shape[0], 2 * (degree + 2)))


def opaque_words(roots: Tensor) -> Tensor:
    """[limb] -> [limb, words]: the kernels alone know how many words a table takes."""
    return roots.new_empty((roots.shape[0], torch.library.get_ctx().new_dynamic_size()))


def opaque_reals() -> Tensor:
    """Float64 [words] on the CPU: the kernels alone know how many words a table takes."""
    words = torch.library.get_ctx().new_dynamic_size()
    return torch.empty((words,), dtype=torch.float64, device="cpu")


def opaque_integers(rns_params: Tensor) -> Tensor:
    """Int64 [words]: the operators alone know how many words a table takes."""
    return rns_params.new_empty((torch.library.get_ctx().new_dynamic_size(),))


def two_components(ciphertext: Tensor) -> Tensor:
    """[3, *batch, limb, N] -> [2, *batch, limb, N]."""
    return ciphertext.new_empty((2, *ciphertext.shape[1:]))


def one_limb_less(ciphertext: Tensor) -> Tensor:
    """[*batch, limb, N] -> [*batch, limb - 1, N]."""
    *batch, limbs, degree = ciphertext.shape
    return ciphertext.new_empty((*batch, limbs - 1, degree))


def one_for_each(ciphertext: Tensor, keys: list[Tensor]) -> list[Tensor]:
    """Return the shape of the ciphertext for each key."""
    return [like(ciphertext) for _ in keys]


def switched_components(digits: Tensor) -> Tensor:
    """[digit, *batch, limb, N] -> [2, *batch, limb, N]."""
    return digits.new_empty((2, *digits.shape[1:]))


def product_components(ciphertext: Tensor) -> Tensor:
    """[2, *batch, limb, N] -> [3, *batch, limb, N]."""
    return ciphertext.new_empty((3, *ciphertext.shape[1:]))


def encrypted(polynomials: Tensor) -> Tensor:
    """[*batch, limb, N] -> [2, *batch, limb, N]."""
    return polynomials.new_empty((2, *polynomials.shape))


def one_component(ciphertext: Tensor) -> Tensor:
    """[component, *batch, limb, N] -> [*batch, limb, N]."""
    return ciphertext.new_empty(ciphertext.shape[1:])


def limbs_of_slots(slots: Tensor, rns_params: Tensor, dtype: torch.dtype) -> Tensor:
    """Float64 [*batch, slots, 2] -> [*batch, limb, N] with N = 2 slots."""
    shape = (*slots.shape[:-2], rns_params.shape[1], 2 * slots.shape[-2])
    return slots.new_empty(shape, dtype=dtype)


def slots_of_limbs(residues: Tensor) -> Tensor:
    """[*batch, limb, N] -> float64 [*batch, slots, 2] with slots = N / 2."""
    shape = (*residues.shape[:-2], residues.shape[-1] // 2, 2)
    return residues.new_empty(shape, dtype=torch.float64)


def coefficients_of_slots(slots: Tensor) -> Tensor:
    """Float64 [*batch, slots, 2] -> [*batch, N] with N = 2 slots."""
    return slots.new_empty((*slots.shape[:-2], 2 * slots.shape[-2]))


def slots_of_coefficients(coefficients: Tensor) -> Tensor:
    """Float64 [*batch, N] -> [*batch, slots, 2] with slots = N / 2."""
    return coefficients.new_empty((*coefficients.shape[:-1], coefficients.shape[-1] // 2, 2))


def stream_blocks(key: Tensor, blocks: int) -> Tensor:
    """Uint8 [64 blocks]: the bytes of that many ChaCha20 blocks."""
    return key.new_empty((64 * blocks,))


def uniform_residues(prime_ids: Tensor, count: int, degree: int, dtype: torch.dtype) -> Tensor:
    """[count, limb, N] residues."""
    return prime_ids.new_empty((count, prime_ids.shape[0], degree), dtype=dtype)


def small_integers(key: Tensor, count: int, degree: int) -> Tensor:
    """Int64 [count, N]."""
    return key.new_empty((count, degree), dtype=torch.int64)
