"""Decryption methods of the Engine, guarded by default."""

from __future__ import annotations

import hashlib
import math
import struct
import weakref
from collections.abc import Iterator

import torch

from fhelium.backend.ckks.encryption import decode_slots, encryption_on
from fhelium.eager.encryption import EncryptionMethods
from fhelium.eager.host_reads import require_host
from fhelium.eager.policy import DecryptPolicy, require_policy
from fhelium.errors import BoundError, DecryptionError, StateError
from fhelium.ir import noise
from fhelium.ir.rules import known_sum, require_ciphertext
from fhelium.native.wrapper import random_ops, rns_ops
from fhelium.rng import Domain, derive, key_tensor
from fhelium.values import (
    Ciphertext,
    Plaintext,
    SecretKey,
    half_modulus,
    require_same_context,
    require_same_device,
)

# Smallest deviation of the covering noise: 3.19 sqrt(128), the error's own times sqrt(128).
LEAST_SIGMA = 3.19 * math.sqrt(128)
# Widest Gaussian the sampler draws, and where its tail ends: sqrt(128 ln 2) sigma.
_WIDEST_SIGMA = 2.0**57
_SAMPLER_TAIL = 9.42
_EXACT_DOUBLES = 2.0**53  # integers below it are doubles, and no other integer is rounded to them


class DecryptionMethods(EncryptionMethods):
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
            DecryptionError: A slot is larger than the ciphertext's bounds allow.

        Example:
            >>> engine.decrypt(x, secret_key).polynomial_domain
            'coefficient'

        Source:
            Cheon, Kim, Kim, Song (ASIACRYPT 2017), Dec; Li, Micciancio (EUROCRYPT 2021).
        """
        require_policy("decrypt", policy)
        plaintext = self._decrypt("decrypt", ciphertext, secret_key, policy)
        self._read_slots("decrypt", plaintext)  # refuses what cannot be the message
        return plaintext

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
        precision. It guards against accidents; SECURITY.md says what it does not promise, and
        ``decrypt_for_release`` is for results that others will see.

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
        require_policy("decrypt_message", policy)
        plaintext = self._decrypt("decrypt_message", ciphertext, secret_key, policy)
        slots = self._read_slots("decrypt_message", plaintext)
        return slots.real.clone() if real else slots

    def _read_slots(self, operation: str, plaintext: Plaintext) -> torch.Tensor:
        """Decode a decrypted polynomial, or refuse one that its bounds do not allow."""
        resources = self.dispatcher(plaintext.device).resources
        slots = decode_slots(resources, plaintext.data, plaintext.scale, plaintext.depth)
        limit = known_sum(plaintext.message_bound, plaintext.noise_bound)
        # The small factor allows for float rounding of the largest slot only.
        # What no double holds comes out as NaN, which is no size either.
        if limit is not None and slots.numel() and not _largest(slots) <= limit * (1 + 1e-9):
            raise DecryptionError(
                operation,
                f"a slot is larger than the ciphertext's bound {limit:.6g}",
                "The message and noise bounds cover every slot",
                "Check that key and ciphertext belong together and that any "
                "assumed message_bound was true",
                bound=limit,
            )
        return slots

    def _decrypt(
        self,
        operation: str,
        ciphertext: Ciphertext,
        secret_key: SecretKey,
        policy: DecryptPolicy | None,
    ) -> Plaintext:
        exact = self._open(operation, ciphertext, secret_key)
        if policy is not None and policy.kind == "private":
            return exact
        sigma, bound = LEAST_SIGMA, exact.noise_bound
        if bound is not None:
            sigma = max(sigma, noise.typical_coefficient_noise(self.config, bound, exact.scale))
        self._require_coverable(operation, exact, sigma)
        digests = list(query_digests(exact.data, self._rns_parameters(exact), sigma))
        for digest in digests:
            secret_key.count_query(digest)
        root = noise_root(secret_key, Domain.DECRYPTION_NOISE)
        keys = [derive(root, Domain.DECRYPTION_NOISE, digest) for digest in digests]
        return self._cover(exact, sigma, keys)

    def _open(self, operation: str, ciphertext: Ciphertext, secret_key: SecretKey) -> Plaintext:
        """Check key and ciphertext, and return the exact decryption."""
        require_host(operation, "the result")
        self._require_ciphertext(operation, ciphertext)
        self._require_secret_key(operation, secret_key)
        state = ciphertext.state
        names = ("the ciphertext", "the secret key")
        require_same_context(operation, state, secret_key.state, names=names)
        require_ciphertext(operation, state)
        require_same_device(operation, (ciphertext, secret_key), names)
        resources = self.dispatcher(ciphertext.device).resources
        residues = encryption_on(resources, self._ntt_backend).decrypted(
            ciphertext.data,
            secret_key.data,
            ciphertext.depth,
            from_ntt=state.polynomial_domain == "ntt",
        )
        result = state.replace(components=1, polynomial_domain="coefficient")
        # Contiguous whatever the ciphertext's strides: covering noise is added to views of it.
        return Plaintext(residues.contiguous(), result)

    def _require_coverable(self, operation: str, exact: Plaintext, sigma: float) -> None:
        """Refuse covering noise that the sampler cannot draw, or that might wrap around."""
        if sigma > _WIDEST_SIGMA:
            raise StateError(
                operation,
                f"the covering noise would be 2^{math.log2(sigma):.1f} wide, 2^57 is the widest",
                "It is as wide as the value's error, which a product's scale makes large",
                "Rescale first with engine.rescale_to_next_depth",
            )
        bound = known_sum(exact.message_bound, exact.noise_bound)
        if bound is None:
            return
        size = bound * exact.scale
        room = half_modulus(self.config, "Q", exact.depth)
        if not size + _SAMPLER_TAIL * sigma + 1 < room:
            raise BoundError(
                operation,
                f"the value needs 2^{math.log2(size):.2f} and covering noise up to "
                f"2^{math.log2(_SAMPLER_TAIL * sigma):.2f}, half the modulus at depth "
                f"{exact.depth} is 2^{math.log2(room):.2f}",
                "A value beyond half the modulus decrypts to garbage",
                "Tighten the bound with engine.assume_message_bound where that is true, or "
                "decrypt with policy=DecryptPolicy.private() for yourself alone",
            )

    def _cover(self, exact: Plaintext, sigma: float, keys: list[bytes]) -> Plaintext:
        """Add to each polynomial, in place, the noise of its key; return it with its new bound."""
        residues, rns_params = exact.data, self._rns_parameters(exact)
        for polynomial, key in zip(_polynomials(residues), keys, strict=True):
            stream = key_tensor(key)
            drawn = random_ops.sample_rounded_gaussian(stream, sigma, 1, self.config.N)[0]
            drawn = rns_ops.reduce_integers(drawn.to(residues.device), rns_params, residues.dtype)
            rns_ops.add_standard_(polynomial, drawn, rns_params)
        added = noise.covering(self.config, sigma, exact.scale)
        bound = known_sum(exact.noise_bound, added)
        return Plaintext(residues, exact.state.replace(noise_bound=bound))

    def _rns_parameters(self, plaintext: Plaintext) -> torch.Tensor:
        resources = self.dispatcher(plaintext.device).resources
        return resources.material(f"rns_parameters/Q/{plaintext.depth}")


def _largest(slots: torch.Tensor) -> float:
    """Return the largest magnitude of complex slots."""
    re, im = torch.view_as_real(slots).unbind(-1)
    square = float((re * re + im * im).max())
    # Where a square passes the doubles the magnitude itself may not.
    return math.sqrt(square) if math.isfinite(square) else float(slots.abs().max())


def _polynomials(residues: torch.Tensor) -> torch.Tensor:
    """Return views [polynomial, limb, N] of decrypted residues [*batch, limb, N]."""
    return residues.view(-1, *residues.shape[-2:])


def query_digests(
    residues: torch.Tensor, rns_params: torch.Tensor, sigma: float
) -> Iterator[bytes]:
    """Yield what names each query: the polynomial and the width of the noise that covers it.

    A polynomial has its own digest in whatever batch it stands. The width belongs to it: with one
    stream at two widths, two answers x + g s1 and x + g s2 would show x. Coefficients that doubles
    hold exactly are the polynomial in a fraction of the bytes of its residues.
    """
    width = struct.pack("<d", sigma)
    polynomials = _polynomials(residues)
    coefficients = rns_ops.residues_to_real(polynomials, rns_params)
    for polynomial, reals in zip(polynomials, coefficients, strict=True):
        is_exact = float(reals.abs().max()) < _EXACT_DOUBLES
        content = reals if is_exact else polynomial
        digest = hashlib.blake2b(content.cpu().numpy().data, digest_size=32)
        digest.update(width + (b"coefficients" if is_exact else b"residues"))
        yield digest.digest()


_NOISE_ROOTS: weakref.WeakKeyDictionary[SecretKey, dict[Domain, bytes]] = (
    weakref.WeakKeyDictionary()
)


def noise_root(secret_key: SecretKey, domain: Domain) -> bytes:
    """Return the sub-key of a secret that keys its covering noise, computed once a key object."""
    roots = _NOISE_ROOTS.setdefault(secret_key, {})
    if domain not in roots:
        content = secret_key.data.contiguous().cpu().numpy()
        roots[domain] = derive(hashlib.blake2b(content.data, digest_size=32).digest(), domain)
    return roots[domain]
