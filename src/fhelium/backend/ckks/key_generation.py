"""Key generation on tensors: the secret, the public key, and switching keys."""

from __future__ import annotations

import torch

from fhelium.backend.ckks.device_resources import CkksDeviceResources
from fhelium.backend.ckks.whole_operations import WHOLE_OPERATION_BACKEND
from fhelium.native.wrapper import ckks_ops, random_ops, rns_ops
from fhelium.rng import Domain, derive, key_tensor
from fhelium.values import switching_key_storage


def sample_secret(resources: CkksDeviceResources, backend: str, root: bytes) -> torch.Tensor:
    """Draw a uniform ternary secret: [limb + K, N] on QP, NTT domain, Montgomery form."""
    key = key_tensor(derive(root, Domain.SECRET_KEY))
    coefficients = random_ops.sample_ternary(key, 0, 1, resources.config.N)[0]
    return expand_secret(resources, backend, coefficients)


def expand_secret(
    resources: CkksDeviceResources, backend: str, coefficients: torch.Tensor
) -> torch.Tensor:
    """Write small integers [N] as a secret: [limb + K, N] on QP, NTT domain, Montgomery form."""
    on_qp = resources.transform(backend, "QP", 0)
    params = on_qp.rns_params
    residues = rns_ops.reduce_integers(coefficients, params, resources.config.dtype)
    return rns_ops.to_montgomery(on_qp.forward_(residues), params)


def secret_coefficients(
    resources: CkksDeviceResources, backend: str, secret: torch.Tensor
) -> torch.Tensor:
    """Return the small integers [N] that `expand_secret` makes this secret of, read at one prime.

    A tensor that is no secret gives numbers that expand to another one.
    """
    on_qp = resources.transform(backend, "QP", 0)
    residues = on_qp.inverse_(rns_ops.from_montgomery(secret, on_qp.rns_params))[0].long()
    prime = resources.config.primes[0]
    return torch.where(residues > prime // 2, residues - prime, residues)


def expand_public_half(resources: CkksDeviceResources, seed: bytes, count: int) -> torch.Tensor:
    """Expand a seed into public uniform polynomials: [count, limb + K, N], standard NTT values."""
    config, params = resources.config, resources.material("rns_parameters/QP/0")
    ids = torch.arange(params.shape[1], dtype=torch.int64)
    key = key_tensor(derive(seed, Domain.PUBLIC_SEED))
    return random_ops.sample_uniform(key, ids, 1, 0, count, config.N, params, config.dtype)


def encrypt_zero_with_secret(
    resources: CkksDeviceResources,
    backend: str,
    secret: torch.Tensor,
    uniform: torch.Tensor,
    root: bytes,
) -> torch.Tensor:
    """Return -a s + e for each uniform polynomial a: standard NTT values on the full QP."""
    on_qp = resources.transform(backend, "QP", 0)
    params = on_qp.rns_params
    key = key_tensor(derive(root, Domain.KEY_ERROR))
    errors = random_ops.sample_gaussian(key, 0, uniform.shape[0], resources.config.N)
    result = on_qp.forward_(rns_ops.reduce_integers(errors, params, resources.config.dtype))
    product = rns_ops.multiply_montgomery(uniform, secret, params)
    rns_ops.subtract_standard_(result, product, params)
    return result


def make_public_key(
    resources: CkksDeviceResources, backend: str, secret: torch.Tensor, seed: bytes, root: bytes
) -> torch.Tensor:
    """Make (-a s + e, a): [2, limb + K, N] on QP, NTT domain, Montgomery form."""
    if backend == WHOLE_OPERATION_BACKEND:
        on_qp = ("ntt_tables/packed/QP/0", "rns_parameters/QP/0")
        return ckks_ops.make_public_key(secret, *_keys(seed, root), *resources.materials(on_qp))
    uniform = expand_public_half(resources, seed, 1)
    hidden = encrypt_zero_with_secret(resources, backend, secret, uniform, root)
    params = resources.material("rns_parameters/QP/0")
    return rns_ops.to_montgomery(torch.cat((hidden, uniform)), params)


def make_switching_key(
    resources: CkksDeviceResources,
    backend: str,
    source: torch.Tensor,
    secret: torch.Tensor,
    seed: bytes,
    root: bytes,
) -> torch.Tensor:
    """Make the hybrid switching key that moves a polynomial from one secret to another.

    Digit j holds (-a_j s + e_j + P s' on the rows of digit j, a_j).

    Args:
        resources: Tables of the parameters.
        backend: NTT backend.
        source: The secret s' to move from, [limb + K, N], NTT domain, Montgomery form.
        secret: The secret s to move to, in the same form.
        seed: Public 32 bytes from which every a_j is expanded.
        root: Secret 32 bytes for the errors.

    Returns:
        [digit, 2, limb + K, N], a view of contiguous [limb][digit][2][N] storage.
    """
    config = resources.config
    params = resources.material("rns_parameters/QP/0")
    digits = config.digits(0)
    key = switching_key_storage(
        len(digits), len(config.primes), config.N, dtype=config.dtype, device=source.device
    )
    if backend == WHOLE_OPERATION_BACKEND:
        tables = resources.materials(("key_switch_tables/0", "ntt_tables/packed/QP/0"))
        ckks_ops.make_switching_key_(key, source, secret, *_keys(seed, root), *tables)
        return key
    uniform = expand_public_half(resources, seed, len(digits))
    hidden = encrypt_zero_with_secret(resources, backend, secret, uniform, root)
    factor = torch.tensor(
        [config.special_modulus % q for q in config.primes], dtype=config.dtype
    ).reshape(-1, 1)
    # Standard P times Montgomery s' is standard P s'.
    message = rns_ops.multiply_montgomery(
        factor.to(source.device).expand_as(source), source, params
    )
    for index, (start, end) in enumerate(digits):
        rns_ops.add_standard_(hidden[index, start:end], message[start:end], params[:, start:end])
    key[:, 0].copy_(rns_ops.to_montgomery(hidden, params))
    key[:, 1].copy_(rns_ops.to_montgomery(uniform, params))
    return key


def _keys(seed: bytes, root: bytes) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the stream keys of the uniform halves and of the errors."""
    return (
        key_tensor(derive(seed, Domain.PUBLIC_SEED)),
        key_tensor(derive(root, Domain.KEY_ERROR)),
    )


def square_secret(resources: CkksDeviceResources, secret: torch.Tensor) -> torch.Tensor:
    """Return s^2 in the form of s: the product of two Montgomery operands is Montgomery."""
    return rns_ops.multiply_montgomery(secret, secret, resources.material("rns_parameters/QP/0"))


def permute_secret(secret: torch.Tensor, galois_element: int) -> torch.Tensor:
    """Return s(X^g) in the form of s."""
    return ckks_ops.automorphism_ntt(secret, galois_element)
