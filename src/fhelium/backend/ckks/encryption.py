"""Encoding, encryption, decryption and decoding on tensors; states are the caller's business."""

from __future__ import annotations

import math

import torch

from fhelium.backend.ckks.device_resources import CkksDeviceResources
from fhelium.backend.ckks.key_switching import mod_down, mod_down_symbols
from fhelium.backend.ntt import Transform, transform_symbols
from fhelium.native.wrapper import ckks_ops, random_ops, rns_ops
from fhelium.rng import Domain, derive, key_tensor


def transform_on(resources: CkksDeviceResources, backend: str, basis: str, depth: int) -> Transform:
    """Return both NTT directions on one basis and depth."""
    symbols = transform_symbols(backend, basis, depth)
    tables = {name: resources.material(symbol) for name, symbol in symbols.items()}
    return Transform.of(backend, basis, depth, tables)


def encode_slots(
    resources: CkksDeviceResources, slots: torch.Tensor, scale: float, depth: int
) -> torch.Tensor:
    """Round the coefficients of m(X), m(zeta^(5^j)) = slot_j, at a scale.

    Args:
        resources: Tables of the parameters.
        slots: float64 [*batch, slot, 2], real and imaginary parts.
        scale: Factor between values and integer coefficients.
        depth: Depth of the rows to make.

    Returns:
        Standard residues [*batch, limb, N], coefficient domain.
    """
    coefficients = ckks_ops.slots_to_coefficients(slots, resources.material("embedding"))
    rns_params = resources.material(f"rns_parameters/Q/{depth}")
    return rns_ops.round_to_residues(coefficients, scale, rns_params, resources.config.dtype)


def decode_slots(
    resources: CkksDeviceResources, residues: torch.Tensor, scale: float, depth: int
) -> torch.Tensor:
    """Read the slots of a polynomial: exact centred CRT, one rounding, then the embedding.

    Returns:
        complex128 [*batch, slot].
    """
    rns_params = resources.material(f"rns_parameters/Q/{depth}")
    coefficients = rns_ops.residues_to_real(residues, rns_params) / scale
    slots = ckks_ops.coefficients_to_slots(coefficients, resources.material("embedding"))
    return torch.view_as_complex(slots)


def encrypt_zero_with_public_key(
    resources: CkksDeviceResources,
    backend: str,
    public_key: torch.Tensor,
    root: bytes,
    batch_shape: tuple[int, ...],
    depth: int,
) -> torch.Tensor:
    """Encrypt zero: ModDown(v pk + e), so that what remains is rounding noise.

    Args:
        resources: Tables of the parameters.
        backend: NTT backend.
        public_key: [2, limb + K, N] on the full QP, NTT domain, Montgomery form.
        root: Fresh 32 bytes for this batch.
        batch_shape: Batch axes of the result.
        depth: Depth of the result.

    Returns:
        [2, *batch, limb, N] on Q, coefficient domain.
    """
    degree, dtype, count = resources.config.N, resources.config.dtype, math.prod(batch_shape)
    mask_key = key_tensor(derive(root, Domain.ENCRYPTION_MASK))
    error_key = key_tensor(derive(root, Domain.ENCRYPTION_ERROR))
    on_qp = transform_on(resources, backend, "QP", depth)
    params = on_qp.rns_params
    mask = random_ops.sample_ternary(mask_key, 0, count, degree)
    mask = on_qp.forward_(rns_ops.reduce_integers(mask, params, dtype))
    masked = rns_ops.multiply_montgomery(
        mask.expand(2, *mask.shape), public_key[:, None, depth:], params
    )
    on_qp.inverse_(masked)
    for component in range(2):
        error = random_ops.sample_gaussian(error_key, component, count, degree)
        error = rns_ops.reduce_integers(error, params, dtype)
        rns_ops.add_standard_(masked[component], error, params)
    tables = {name: resources.material(symbol) for name, symbol in mod_down_symbols(depth).items()}
    result = mod_down(masked, tables)
    return result.reshape(2, *batch_shape, *result.shape[-2:])


def expand_public_component(
    resources: CkksDeviceResources,
    backend: str,
    seed: bytes,
    batch_shape: tuple[int, ...],
    depth: int,
    *,
    in_ntt: bool,
) -> torch.Tensor:
    """Expand the second component of a secret-key encryption: [*batch, limb, N] on Q.

    It is drawn as uniform NTT values in standard form and transformed where coefficients are
    asked for.
    """
    on_q = transform_on(resources, backend, "Q", depth)
    config = resources.config
    ids = torch.arange(depth, len(config.q_primes), dtype=torch.int64)
    uniform = random_ops.sample_uniform(
        key_tensor(derive(seed, Domain.PUBLIC_SEED)),
        ids,
        1,
        0,
        math.prod(batch_shape),
        config.N,
        on_q.rns_params,
        config.dtype,
    )
    uniform = uniform if in_ntt else on_q.inverse_(uniform)
    return uniform.reshape(*batch_shape, *uniform.shape[-2:])


def encrypt_zero_with_secret_key(
    resources: CkksDeviceResources,
    backend: str,
    secret_key: torch.Tensor,
    seed: bytes,
    root: bytes,
    batch_shape: tuple[int, ...],
    depth: int,
    *,
    in_ntt: bool,
) -> torch.Tensor:
    """Encrypt zero: (-a s + e, a), a expanded from a public seed.

    Args:
        resources: Tables of the parameters.
        backend: NTT backend.
        secret_key: [limb + K, N] on the full QP, NTT domain, Montgomery form.
        seed: Fresh public 32 bytes.
        root: Fresh secret 32 bytes.
        batch_shape: Batch axes of the result.
        depth: Depth of the result.
        in_ntt: Give NTT values instead of coefficients.

    Returns:
        [2, *batch, limb, N] on Q.
    """
    on_q = transform_on(resources, backend, "Q", depth)
    params, limbs = on_q.rns_params, len(resources.config.q_primes) - depth
    uniform = expand_public_component(resources, backend, seed, batch_shape, depth, in_ntt=True)
    key = key_tensor(derive(root, Domain.ENCRYPTION_ERROR))
    error = random_ops.sample_gaussian(key, 0, math.prod(batch_shape), resources.config.N)
    error = rns_ops.reduce_integers(error, params, uniform.dtype)
    hidden = on_q.forward_(error).reshape(uniform.shape)
    product = rns_ops.multiply_montgomery(uniform, secret_key[depth : depth + limbs], params)
    rns_ops.subtract_standard_(hidden, product, params)
    both = torch.stack((hidden, uniform))
    return both if in_ntt else on_q.inverse_(both)


def decrypt_residues(
    resources: CkksDeviceResources,
    backend: str,
    ciphertext: torch.Tensor,
    secret_key: torch.Tensor,
    depth: int,
    *,
    in_ntt: bool,
) -> torch.Tensor:
    """Evaluate the ciphertext at the secret: c0 + c1 s (+ c2 s^2), coefficient domain."""
    on_q = transform_on(resources, backend, "Q", depth)
    params = on_q.rns_params
    limbs = len(resources.config.q_primes) - depth
    secret = secret_key[depth : depth + limbs]
    values = ciphertext if in_ntt else on_q.forward(ciphertext)
    # Horner in s, so that three components need no power of the secret.
    total = values[-1]
    for component in range(values.shape[0] - 2, -1, -1):
        total = rns_ops.multiply_montgomery(total, secret, params)
        total = rns_ops.add_standard(total, values[component], params)
    return on_q.inverse_(total)
