"""Encoding, encryption, decryption and decoding on tensors; states are the caller's business.

Each is one native call. An NTT backend that the whole operations do not speak, such as the one that
validates the others, takes the composed route.
"""

from __future__ import annotations

import torch

from fhelium.backend.ckks import composed_encryption
from fhelium.backend.ckks.device_resources import CkksDeviceResources
from fhelium.backend.ckks.whole_operations import WHOLE_OPERATION_BACKEND
from fhelium.native.wrapper import ckks_ops
from fhelium.rng import Domain, derive, key_tensor


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
    embedding, rns_params = resources.material("embedding"), _rns_parameters(resources, depth)
    return ckks_ops.encode_slots(slots, embedding, scale, rns_params, resources.config.dtype)


def decode_slots(
    resources: CkksDeviceResources, residues: torch.Tensor, scale: float, depth: int
) -> torch.Tensor:
    """Read the slots of a polynomial: exact centred CRT, one rounding, then the embedding.

    Returns:
        complex128 [*batch, slot].
    """
    embedding, rns_params = resources.material("embedding"), _rns_parameters(resources, depth)
    return torch.view_as_complex(ckks_ops.decode_residues(residues, embedding, scale, rns_params))


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
    """Encrypt as `composed_encryption.encrypt_with_public_key` says, in one call where it can."""
    if backend != WHOLE_OPERATION_BACKEND:
        return composed_encryption.encrypt_with_public_key(
            resources, backend, plaintext, public_key, root, depth, to_ntt=to_ntt
        )
    return ckks_ops.encrypt_with_public(
        plaintext,
        public_key[:, depth:],
        key_tensor(derive(root, Domain.ENCRYPTION_MASK)),
        key_tensor(derive(root, Domain.ENCRYPTION_ERROR)),
        resources.material(f"key_switch_tables/{depth}"),
        resources.material(f"ntt_tables/packed/QP/{depth}"),
        to_ntt,
    )


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
    """Encrypt as `composed_encryption.encrypt_with_secret_key` says, in one call where it can."""
    if backend != WHOLE_OPERATION_BACKEND:
        return composed_encryption.encrypt_with_secret_key(
            resources, backend, plaintext, secret_key, seed, root, depth, to_ntt=to_ntt
        )
    return ckks_ops.encrypt_with_secret(
        plaintext,
        secret_key[depth : depth + plaintext.shape[-2]],
        key_tensor(derive(seed, Domain.PUBLIC_SEED)),
        key_tensor(derive(root, Domain.ENCRYPTION_ERROR)),
        depth,
        resources.material(f"ntt_tables/packed/Q/{depth}"),
        _rns_parameters(resources, depth),
        to_ntt,
    )


def decrypt_residues(
    resources: CkksDeviceResources,
    backend: str,
    ciphertext: torch.Tensor,
    secret_key: torch.Tensor,
    depth: int,
    *,
    from_ntt: bool,
) -> torch.Tensor:
    """Decrypt as `composed_encryption.decrypt_residues` says, in one call where it can."""
    if backend != WHOLE_OPERATION_BACKEND:
        return composed_encryption.decrypt_residues(
            resources, backend, ciphertext, secret_key, depth, from_ntt=from_ntt
        )
    return ckks_ops.decrypt_residues(
        ciphertext,
        secret_key[depth : depth + ciphertext.shape[-2]],
        resources.material(f"ntt_tables/packed/Q/{depth}"),
        _rns_parameters(resources, depth),
        from_ntt,
    )


def _rns_parameters(resources: CkksDeviceResources, depth: int) -> torch.Tensor:
    return resources.material(f"rns_parameters/Q/{depth}")
