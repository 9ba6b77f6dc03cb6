"""Decryption methods of the Engine, guarded by default."""

from __future__ import annotations

import hashlib
import math
import weakref

import torch

from fhelium.backend.ckks.encryption import decode_slots, decrypt_residues
from fhelium.eager.codec import CodecMethods
from fhelium.eager.policy import DecryptPolicy
from fhelium.errors import DecryptionError, DeviceMismatchError, OperandTypeError
from fhelium.ir import noise
from fhelium.ir.rules import known_sum, require
from fhelium.native.wrapper import random_ops, rns_ops
from fhelium.rng import Domain, derive, key_tensor
from fhelium.values import Ciphertext, Plaintext, SecretKey, require_same_context

# Smallest deviation of the covering noise: 3.19 sqrt(128), the error's own times sqrt(128).
_LEAST_SIGMA = 3.19 * math.sqrt(128)


class DecryptionMethods(CodecMethods):
    """Open ciphertexts. By default noise of the tracked size covers the exact result."""

    def decrypt(
        self, ciphertext: Ciphertext, secret_key: SecretKey, *, policy: DecryptPolicy | None = None
    ) -> Plaintext:
        """Decrypt to a plaintext: c0 + c1 s (+ c2 s^2), with covering noise unless private.

        Shapes:
            [component, *batch, limb, N] -> [*batch, limb, N].

        State:
            Depth and scale stay; coefficient domain; the noise bound grows by the covering noise.

        Args:
            ciphertext: Two or three components, in either domain.
            secret_key: The key whose ``key_id`` the ciphertext carries.
            policy: ``DecryptPolicy.private()`` for the raw value; guarded when omitted.

        Raises:
            KeyMismatchError: The ciphertext belongs to another secret key.
            ContextMismatchError: Key and ciphertext belong to different parameters.

        Example:
            >>> engine.decrypt(x, secret_key).polynomial_domain
            'coefficient'

        Source:
            Cheon, Kim, Kim, Song (ASIACRYPT 2017), Dec; Li, Micciancio (EUROCRYPT 2021).
        """
        return self._decrypt("decrypt", ciphertext, secret_key, policy)

    def decrypt_message(
        self,
        ciphertext: Ciphertext,
        secret_key: SecretKey,
        *,
        policy: DecryptPolicy | None = None,
        real: bool = False,
    ) -> torch.Tensor:
        """Decrypt and decode in one call.

        The default adds a rounded Gaussian to every coefficient, keyed by the secret over the
        decrypted polynomial itself: one ciphertext, one answer, and about 0.2 to 1 bit of
        precision. It guards against accidents; SECURITY.md says what it does not promise.

        Shapes:
            [component, *batch, limb, N] -> [*batch, slot].

        Args:
            ciphertext: Two or three components, in either domain.
            secret_key: The key whose ``key_id`` the ciphertext carries.
            policy: ``DecryptPolicy.private()`` for the raw value; guarded when omitted.
            real: Return the real parts only.

        Returns:
            complex128, or float64 with ``real=True``.

        Raises:
            KeyMismatchError: The ciphertext belongs to another secret key.
            ContextMismatchError: Key and ciphertext belong to different parameters.
            DecryptionError: The result is larger than the ciphertext's bounds allow.

        Example:
            >>> engine.decrypt_message(x, secret_key).dtype
            torch.complex128

        Source:
            Li, Micciancio (EUROCRYPT 2021), "On the security of homomorphic encryption on
            approximate numbers".
        """
        plaintext = self._decrypt("decrypt_message", ciphertext, secret_key, policy)
        state = plaintext.state
        assert state.scale is not None
        assert state.depth is not None
        resources = self.dispatcher(plaintext.device).resources
        slots = decode_slots(resources, plaintext.data, state.scale, state.depth)
        limit = known_sum(state.message_bound, state.noise_bound)
        # The small factor allows for float rounding of the largest slot only.
        if limit is not None and slots.numel() and float(slots.abs().max()) > limit * (1 + 1e-9):
            raise DecryptionError(
                "decrypt_message",
                f"a slot is larger than the ciphertext's bound {limit:.6g}",
                "The message and noise bounds cover every slot",
                "Check that key and ciphertext belong together and that any "
                "assumed message_bound was true",
                bound=limit,
            )
        return slots.real.clone() if real else slots

    def _decrypt(
        self,
        operation: str,
        ciphertext: Ciphertext,
        secret_key: SecretKey,
        policy: DecryptPolicy | None,
    ) -> Plaintext:
        self._require_ciphertext(operation, ciphertext)
        if not isinstance(secret_key, SecretKey):
            raise OperandTypeError(
                operation,
                f"secret_key is a {type(secret_key).__name__}, needed is a SecretKey",
                "Only a secret key opens a ciphertext",
                "Pass the key that made the public key",
            )
        state = ciphertext.state
        names = ("the ciphertext", "the secret key")
        require_same_context(operation, state, secret_key.state, names=names)
        require(
            operation,
            state,
            "residue_representation",
            "standard",
            "Convert it with a from-Montgomery transition",
            "ciphertext",
        )
        if ciphertext.device != secret_key.device:
            raise DeviceMismatchError(
                operation,
                f"the ciphertext is on {ciphertext.device}, the key on {secret_key.device}",
                "All operands live on one device; nothing is moved unasked",
                "Move one with .to(device)",
            )
        assert state.scale is not None
        assert state.depth is not None
        resources = self.dispatcher(ciphertext.device).resources
        residues = decrypt_residues(
            resources,
            self._ntt_backend,
            ciphertext.data,
            secret_key.data,
            state.depth,
            in_ntt=state.polynomial_domain == "ntt",
        )
        result = state.replace(components=1, polynomial_domain="coefficient")
        if policy is not None and policy.kind == "private":
            return Plaintext(residues, result)
        sigma = _LEAST_SIGMA
        if state.noise_bound is not None:
            typical = noise.typical_coefficient_noise(self.config, state.noise_bound, state.scale)
            sigma = max(sigma, typical)
        self._cover(residues, secret_key, sigma, state.depth)
        added = noise.TAIL * math.sqrt(self.config.N) * sigma / state.scale
        return Plaintext(residues, result.replace(noise_bound=known_sum(state.noise_bound, added)))

    def _cover(
        self, residues: torch.Tensor, secret_key: SecretKey, sigma: float, depth: int
    ) -> None:
        """Add the covering noise to every polynomial, in place."""
        root = _noise_root(secret_key)
        rns_params = self.dispatcher(residues.device).resources.material(
            f"rns_parameters/Q/{depth}"
        )
        # One polynomial, one answer: whatever batch it stands in, its own digest keys its noise.
        for polynomial in residues.flatten(0, -3) if residues.dim() > 2 else residues[None]:
            digest = hashlib.blake2b(polynomial.cpu().numpy().data, digest_size=32).digest()
            secret_key.count_query(digest)
            key = key_tensor(derive(root, Domain.DECRYPTION_NOISE, digest))
            drawn = random_ops.sample_rounded_gaussian(key, sigma, 1, self.config.N)[0]
            drawn = rns_ops.reduce_integers(drawn.to(residues.device), rns_params, residues.dtype)
            rns_ops.add_standard_(polynomial, drawn, rns_params)


_NOISE_ROOTS: weakref.WeakKeyDictionary[SecretKey, bytes] = weakref.WeakKeyDictionary()


def _noise_root(secret_key: SecretKey) -> bytes:
    """Return the sub-key of a secret that keys its covering noise, computed once a key object."""
    root = _NOISE_ROOTS.get(secret_key)
    if root is None:
        content = secret_key.data.contiguous().cpu().numpy()
        secret = hashlib.blake2b(content.data, digest_size=32).digest()
        root = derive(secret, Domain.DECRYPTION_NOISE)
        _NOISE_ROOTS[secret_key] = root
    return root
