"""Encryption and decryption composed of residue operators, over any NTT backend.

The whole operations in ``encryption`` give the same residues; these say step by step what they are.
"""

from __future__ import annotations

import math

import torch

from fhelium.backend.ckks.device_resources import CkksDeviceResources
from fhelium.backend.ckks.key_switching import mod_down_symbols
from fhelium.backend.ntt import Transform, transform_symbols
from fhelium.native.wrapper import ckks_ops, random_ops, rns_ops
from fhelium.rng import Domain, derive, key_tensor


def transform_on(resources: CkksDeviceResources, backend: str, basis: str, depth: int) -> Transform:
    """Return both NTT directions on one basis and depth."""
    symbols = transform_symbols(backend, basis, depth)
    tables = {symbol: resources.material(symbol) for symbol in symbols}
    return Transform.of(backend, basis, depth, tables)


def encrypt_with_public_key(
    resources: CkksDeviceResources,
    backend: str,
    plaintext: torch.Tensor,
    public_key: torch.Tensor,
    root: bytes,
    depth: int,
    *,
    to_ntt: bool,
) -> torch.Tensor:
    """Encrypt a plaintext: ModDown(v pk + e) + m, so that what is added is rounding noise.

    Args:
        resources: Tables of the parameters.
        backend: NTT backend.
        plaintext: [*batch, limb, N] on Q, coefficient domain.
        public_key: [2, limb + K, N] on the full QP, NTT domain, Montgomery form.
        root: Fresh 32 bytes for this batch.
        depth: Depth of the plaintext.
        to_ntt: Give NTT values instead of coefficients.

    Returns:
        [2, *batch, limb, N] on Q.
    """
    degree, dtype, batch_shape = resources.config.N, resources.config.dtype, plaintext.shape[:-2]
    count = math.prod(batch_shape)
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
    result = rns_ops.mod_down(masked, *resources.materials(mod_down_symbols(depth)))
    result = result.reshape(2, *batch_shape, *result.shape[-2:])
    on_q = transform_on(resources, backend, "Q", depth)
    ckks_ops.add_plaintext_(result, plaintext, on_q.rns_params)
    return on_q.forward_(result) if to_ntt else result


def expand_public_component(
    resources: CkksDeviceResources,
    backend: str,
    seed: bytes,
    batch_shape: tuple[int, ...],
    depth: int,
    *,
    to_ntt: bool,
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
    uniform = uniform if to_ntt else on_q.inverse_(uniform)
    return uniform.reshape(*batch_shape, *uniform.shape[-2:])


def encrypt_with_secret_key(
    resources: CkksDeviceResources,
    backend: str,
    plaintext: torch.Tensor,
    secret_key: torch.Tensor,
    seed: bytes,
    root: bytes,
    depth: int,
    *,
    to_ntt: bool,
) -> torch.Tensor:
    """Encrypt a plaintext: (m - a s + e, a), a expanded from a public seed.

    Args:
        resources: Tables of the parameters.
        backend: NTT backend.
        plaintext: [*batch, limb, N] on Q, coefficient domain.
        secret_key: [limb + K, N] on the full QP, NTT domain, Montgomery form.
        seed: Fresh public 32 bytes.
        root: Fresh secret 32 bytes.
        depth: Depth of the plaintext.
        to_ntt: Give NTT values instead of coefficients.

    Returns:
        [2, *batch, limb, N] on Q.
    """
    on_q = transform_on(resources, backend, "Q", depth)
    params, limbs = on_q.rns_params, plaintext.shape[-2]
    batch_shape = plaintext.shape[:-2]
    uniform = expand_public_component(resources, backend, seed, batch_shape, depth, to_ntt=True)
    key = key_tensor(derive(root, Domain.ENCRYPTION_ERROR))
    error = random_ops.sample_gaussian(key, 0, math.prod(batch_shape), resources.config.N)
    error = rns_ops.reduce_integers(error, params, uniform.dtype)
    hidden = error.reshape(uniform.shape)
    rns_ops.add_standard_(hidden, plaintext, params)
    on_q.forward_(hidden)
    product = rns_ops.multiply_montgomery(uniform, secret_key[depth : depth + limbs], params)
    rns_ops.subtract_standard_(hidden, product, params)
    both = torch.stack((hidden, uniform))
    return both if to_ntt else on_q.inverse_(both)


def decrypt_residues(
    resources: CkksDeviceResources,
    backend: str,
    ciphertext: torch.Tensor,
    secret_key: torch.Tensor,
    depth: int,
    *,
    from_ntt: bool,
) -> torch.Tensor:
    """Evaluate the ciphertext at the secret: c0 + c1 s (+ c2 s^2), coefficient domain."""
    on_q = transform_on(resources, backend, "Q", depth)
    params = on_q.rns_params
    limbs = len(resources.config.q_primes) - depth
    secret = secret_key[depth : depth + limbs]
    values = ciphertext if from_ntt else on_q.forward(ciphertext)
    # Horner in s, so that three components need no power of the secret.
    total = values[-1]
    for component in range(values.shape[0] - 2, -1, -1):
        total = rns_ops.multiply_montgomery(total, secret, params)
        total = rns_ops.add_standard(total, values[component], params)
    return on_q.inverse_(total)
