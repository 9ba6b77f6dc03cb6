"""Encoding, encryption, decryption and decoding on tensors; states are the caller's business."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from fhelium.backend.ckks.device_resources import CkksDeviceResources
from fhelium.backend.ckks.key_switching import mod_down_symbols
from fhelium.backend.ckks.whole_operations import WHOLE_OPERATION_BACKEND
from fhelium.native.wrapper import ckks_ops, random_ops, rns_ops
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
    embedding, rns_params = (
        resources.material("embedding"),
        resources.material(f"rns_parameters/Q/{depth}"),
    )
    return ckks_ops.encode_slots(slots, embedding, scale, rns_params, resources.config.dtype)


def decode_slots(
    resources: CkksDeviceResources, residues: torch.Tensor, scale: float, depth: int
) -> torch.Tensor:
    """Read the slots of a polynomial: exact centred CRT, one rounding, then the embedding.

    Returns:
        complex128 [*batch, slot].
    """
    embedding, rns_params = (
        resources.material("embedding"),
        resources.material(f"rns_parameters/Q/{depth}"),
    )
    return torch.view_as_complex(ckks_ops.decode_residues(residues, embedding, scale, rns_params))


def encryption_on(resources: CkksDeviceResources, ntt_backend: str) -> ComposedEncryption:
    """Return what encrypts and decrypts, in one call each where the NTT backend allows that."""
    whole = ntt_backend == WHOLE_OPERATION_BACKEND
    return (WholeEncryption if whole else ComposedEncryption)(resources, ntt_backend)


@dataclass(frozen=True)
class ComposedEncryption:
    """Encrypt and decrypt by residue operators: the definition of the bits, over any NTT backend.

    Shapes: plaintexts [*batch, limb, N] on Q, coefficient domain; ciphertexts
    [component, *batch, limb, N] on Q; keys as values hold them, on the full QP, NTT domain,
    Montgomery form.

    Args:
        resources: Tables of the parameters.
        ntt_backend: What transforms.
    """

    resources: CkksDeviceResources
    ntt_backend: str

    def with_public_key(
        self,
        plaintext: torch.Tensor,
        public_key: torch.Tensor,
        root: bytes,
        depth: int,
        *,
        to_ntt: bool,
    ) -> torch.Tensor:
        """Encrypt: ModDown(v pk + e) + m, so that what is added is rounding noise.

        The root is 32 fresh bytes for the whole batch.
        """
        config, batch_shape = self.resources.config, plaintext.shape[:-2]
        count = math.prod(batch_shape)
        mask_key = key_tensor(derive(root, Domain.ENCRYPTION_MASK))
        error_key = key_tensor(derive(root, Domain.ENCRYPTION_ERROR))
        on_qp = self.resources.transform(self.ntt_backend, "QP", depth)
        params = on_qp.rns_params
        mask = random_ops.sample_ternary(mask_key, 0, count, config.N)
        mask = on_qp.forward_(rns_ops.reduce_integers(mask, params, config.dtype))
        masked = rns_ops.multiply_montgomery(
            mask.expand(2, *mask.shape), public_key[:, None, depth:], params
        )
        on_qp.inverse_(masked)
        for component in range(2):
            error = random_ops.sample_gaussian(error_key, component, count, config.N)
            error = rns_ops.reduce_integers(error, params, config.dtype)
            rns_ops.add_standard_(masked[component], error, params)
        result = rns_ops.mod_down(masked, *self.resources.materials(mod_down_symbols(depth)))
        result = result.reshape(2, *batch_shape, *result.shape[-2:])
        on_q = self.resources.transform(self.ntt_backend, "Q", depth)
        ckks_ops.add_plaintext_(result, plaintext, on_q.rns_params)
        return on_q.forward_(result) if to_ntt else result

    def public_component(
        self, seed: bytes, batch_shape: tuple[int, ...], depth: int, *, to_ntt: bool
    ) -> torch.Tensor:
        """Expand the second component of a secret-key encryption: [*batch, limb, N] on Q.

        It is drawn as uniform NTT values in standard form and transformed where coefficients are
        asked for.
        """
        on_q = self.resources.transform(self.ntt_backend, "Q", depth)
        config = self.resources.config
        ids = torch.arange(depth, len(config.q_primes), dtype=torch.int64)
        key, count = key_tensor(derive(seed, Domain.PUBLIC_SEED)), math.prod(batch_shape)
        uniform = random_ops.sample_uniform(
            key, ids, 1, 0, count, config.N, on_q.rns_params, config.dtype
        )
        uniform = uniform if to_ntt else on_q.inverse_(uniform)
        return uniform.reshape(*batch_shape, *uniform.shape[-2:])

    def with_secret_key(
        self,
        plaintext: torch.Tensor,
        secret_key: torch.Tensor,
        seed: bytes,
        root: bytes,
        depth: int,
        *,
        to_ntt: bool,
    ) -> torch.Tensor:
        """Encrypt: (m - a s + e, a), a expanded from a public seed, e from a secret root."""
        on_q = self.resources.transform(self.ntt_backend, "Q", depth)
        params, limbs = on_q.rns_params, plaintext.shape[-2]
        batch_shape = plaintext.shape[:-2]
        uniform = self.public_component(seed, batch_shape, depth, to_ntt=True)
        key = key_tensor(derive(root, Domain.ENCRYPTION_ERROR))
        error = random_ops.sample_gaussian(key, 0, math.prod(batch_shape), self.resources.config.N)
        hidden = rns_ops.reduce_integers(error, params, uniform.dtype).reshape(uniform.shape)
        rns_ops.add_standard_(hidden, plaintext, params)
        on_q.forward_(hidden)
        product = rns_ops.multiply_montgomery(uniform, secret_key[depth : depth + limbs], params)
        rns_ops.subtract_standard_(hidden, product, params)
        both = torch.stack((hidden, uniform))
        return both if to_ntt else on_q.inverse_(both)

    def decrypted(
        self, ciphertext: torch.Tensor, secret_key: torch.Tensor, depth: int, *, from_ntt: bool
    ) -> torch.Tensor:
        """Evaluate a ciphertext at the secret: c0 + c1 s (+ c2 s^2), coefficient domain."""
        on_q = self.resources.transform(self.ntt_backend, "Q", depth)
        secret = secret_key[depth : depth + ciphertext.shape[-2]]
        values = ciphertext if from_ntt else on_q.forward(ciphertext)
        # Horner in s, so that three components need no power of the secret.
        total = values[-1]
        for component in range(values.shape[0] - 2, -1, -1):
            total = rns_ops.multiply_montgomery(total, secret, on_q.rns_params)
            total = rns_ops.add_standard(total, values[component], on_q.rns_params)
        return on_q.inverse_(total)


class WholeEncryption(ComposedEncryption):
    """Do the same in one native call each, over the NTT backend of the whole operations."""

    def with_public_key(
        self,
        plaintext: torch.Tensor,
        public_key: torch.Tensor,
        root: bytes,
        depth: int,
        *,
        to_ntt: bool,
    ) -> torch.Tensor:
        return ckks_ops.encrypt_with_public(
            plaintext,
            public_key[:, depth:],
            key_tensor(derive(root, Domain.ENCRYPTION_MASK)),
            key_tensor(derive(root, Domain.ENCRYPTION_ERROR)),
            self.resources.material(f"key_switch_tables/{depth}"),
            self.resources.material(f"ntt_tables/packed/QP/{depth}"),
            to_ntt,
        )

    def with_secret_key(
        self,
        plaintext: torch.Tensor,
        secret_key: torch.Tensor,
        seed: bytes,
        root: bytes,
        depth: int,
        *,
        to_ntt: bool,
    ) -> torch.Tensor:
        return ckks_ops.encrypt_with_secret(
            plaintext,
            secret_key[depth : depth + plaintext.shape[-2]],
            key_tensor(derive(seed, Domain.PUBLIC_SEED)),
            key_tensor(derive(root, Domain.ENCRYPTION_ERROR)),
            depth,
            self.resources.material(f"ntt_tables/packed/Q/{depth}"),
            self.resources.material(f"rns_parameters/Q/{depth}"),
            to_ntt,
        )

    def decrypted(
        self, ciphertext: torch.Tensor, secret_key: torch.Tensor, depth: int, *, from_ntt: bool
    ) -> torch.Tensor:
        return ckks_ops.decrypt_residues(
            ciphertext,
            secret_key[depth : depth + ciphertext.shape[-2]],
            self.resources.material(f"ntt_tables/packed/Q/{depth}"),
            self.resources.material(f"rns_parameters/Q/{depth}"),
            from_ntt,
        )
