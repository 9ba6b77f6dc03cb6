"""Encryption methods of the Engine."""

from __future__ import annotations

from typing import Any

import torch

from fhelium.backend.ckks.encryption import encryption_on
from fhelium.eager.encoding import EncodingMethods, real_number
from fhelium.errors import DeviceMismatchError, OperandTypeError
from fhelium.ir import noise
from fhelium.ir.rules import chosen_domain, known_sum
from fhelium.rng import Domain, require_unrecorded
from fhelium.values import (
    Ciphertext,
    Plaintext,
    PolynomialDomain,
    PublicKey,
    SecretKey,
    device_of,
    require_same_context,
    require_same_device,
)

_NAMES = ("the plaintext", "the public key")


class EncryptionMethods(EncodingMethods):
    """Turn messages and plaintexts into ciphertexts."""

    def encrypt(
        self,
        plaintext: Plaintext,
        public_key: PublicKey,
        *,
        output_domain: PolynomialDomain = "coefficient",
    ) -> Ciphertext:
        """Encrypt a plaintext: ModDown(v pk + e) + m, with fresh randomness.

        The message is added after the division by P, so that fresh noise is rounding noise.

        Shapes:
            [*batch, limb, N] -> [2, *batch, limb, N].

        State:
            Depth, scale and bounds of the plaintext; the noise bound grows by one encryption.

        Cost:
            3 NTTs a limb of QP.

        Args:
            plaintext: As ``encode`` gives it.
            public_key: Key of the one who may decrypt.
            output_domain: "coefficient" or "ntt".

        Raises:
            StateError: The plaintext is prepared for a product.
            ContextMismatchError: Key and plaintext belong to different parameters.
            DeviceMismatchError: They live on different devices.

        Example:
            >>> engine.encrypt(engine.encode(0.5), public_key).components
            2

        Source:
            Cheon, Kim, Kim, Song (ASIACRYPT 2017), Enc; division by P as in Han, Ki (2020).
        """
        operation = "encrypt"
        require_unrecorded(operation)
        self._require_public_key(operation, public_key)
        self._require_encoded(operation, plaintext)
        require_same_device(operation, (plaintext, public_key), _NAMES)
        return self._encrypt(operation, plaintext, public_key, output_domain)

    def encrypt_message(
        self,
        message: Any,
        public_key: PublicKey,
        *,
        depth: int = 0,
        scale: float | None = None,
        message_bound: float = 1.0,
        device: torch.device | str | None = None,
        output_domain: PolynomialDomain = "coefficient",
    ) -> Ciphertext:
        """Encode and encrypt a message in one call.

        Shapes:
            [*batch, slot] -> data [2, *batch, limb, N]. A 0-d message fills every slot.

        State:
            At ``depth`` with ``scale``; two components; bounds of a fresh encryption.

        Args:
            message: Tensor, array or number, real or complex; the last axis has
                ``config.num_slots`` values.
            public_key: Key of the one who may decrypt.
            depth: How many primes are dropped already.
            scale: ``config.scale_at(depth)`` when omitted.
            message_bound: Largest magnitude the message may have, in message units. It is public
                and never computed from the message.
            device: Where the result lives: the public key's device.
            output_domain: "coefficient", or "ntt" as products and rotations like it.

        Raises:
            MessageValueError: Wrong length, NaN or infinity, or a value beyond the bound.
            MessageTypeError: The message is of no numeric type.
            DeviceMismatchError: The public key lives elsewhere.

        Example:
            >>> message = torch.linspace(-1, 1, engine.config.num_slots)
            >>> engine.encrypt_message(message, public_key).depth
            0

        Source:
            Cheon, Kim, Kim, Song (ASIACRYPT 2017), Ecd and Enc.
        """
        operation = "encrypt_message"
        require_unrecorded(operation)
        self._require_public_key(operation, public_key)
        target = public_key.device if device is None else device_of(operation, device)
        if target != public_key.device:
            raise DeviceMismatchError(
                operation,
                f"asked for {target}, the public key is on {public_key.device}",
                "Encryption runs where the key is; nothing is moved unasked",
                "Move the key with public_key.to(device)",
            )
        bound = real_number(operation, "message_bound", message_bound)
        plaintext = self._encode(operation, message, depth, scale, bound, target)
        return self._encrypt(operation, plaintext, public_key, output_domain)

    def encrypt_with_secret_key(
        self,
        message: Any,
        secret_key: SecretKey,
        *,
        depth: int = 0,
        scale: float | None = None,
        message_bound: float = 1.0,
        output_domain: PolynomialDomain = "coefficient",
    ) -> Ciphertext:
        """Encode and encrypt a message with the secret key: (m - a s + e, a).

        The uniform a is expanded from a public seed that the ciphertext keeps, so that a file or
        message of it is half the size; the noise is a single Gaussian, less than with a public key.

        Shapes:
            [*batch, slot] -> data [2, *batch, limb, N]. A 0-d message fills every slot.

        State:
            At ``depth`` with ``scale``; two components; bounds of a fresh encryption.

        Cost:
            2 NTTs a limb.

        Args:
            message: As in ``encrypt_message``; on the secret key's device.
            secret_key: The key that will decrypt.
            depth: How many primes are dropped already.
            scale: ``config.scale_at(depth)`` when omitted.
            message_bound: Largest magnitude the message may have, in message units.
            output_domain: "coefficient", or "ntt" as products and rotations like it.

        Raises:
            MessageValueError: Wrong length, NaN or infinity, or a value beyond the bound.
            MessageTypeError: The message is of no numeric type.
            ContextMismatchError: The secret key belongs to other parameters.

        Example:
            >>> hidden = engine.encrypt_with_secret_key(0.5, secret_key)
            >>> hidden.noise_bound < engine.encrypt_message(0.5, public_key).noise_bound
            True
            >>> len(hidden.public_seed)
            32

        Source:
            Lyubashevsky, Peikert, Regev (EUROCRYPT 2010); message added as in Cheon et al. (2017).
        """
        operation = "encrypt_with_secret_key"
        require_unrecorded(operation)
        self._require_secret_key(operation, secret_key)
        domain = chosen_domain(operation, output_domain, "coefficient")
        bound = real_number(operation, "message_bound", message_bound)
        plaintext = self._encode(operation, message, depth, scale, bound, secret_key.device)
        state = plaintext.state
        resources = self.dispatcher(plaintext.device).resources
        seed = self._random.root(Domain.PUBLIC_SEED, operation)
        root = self._random.root(Domain.ENCRYPTION_ERROR, operation)
        data = encryption_on(resources, self._ntt_backend).with_secret_key(
            plaintext.data,
            secret_key.data,
            seed,
            root,
            depth,
            to_ntt=domain == "ntt",
        )
        added = noise.secret_key_encryption(self.config, plaintext.scale).bound
        result = state.replace(
            components=2,
            polynomial_domain=domain,
            key_id=secret_key.key_id,
            noise_bound=known_sum(state.noise_bound, added),
            insecure=self.insecure or secret_key.insecure or state.insecure,
        ).check_bounds(operation)
        return Ciphertext(data, result, public_seed=seed)

    def _encrypt(
        self,
        operation: str,
        plaintext: Plaintext,
        public_key: PublicKey,
        output_domain: PolynomialDomain,
    ) -> Ciphertext:
        require_same_context(operation, plaintext.state, public_key.state, names=_NAMES)
        domain = chosen_domain(operation, output_domain, "coefficient")
        state = plaintext.state
        resources = self.dispatcher(plaintext.device).resources
        data = encryption_on(resources, self._ntt_backend).with_public_key(
            plaintext.data,
            public_key.data,
            self._random.root(Domain.ENCRYPTION_MASK, operation),
            plaintext.depth,
            to_ntt=domain == "ntt",
        )
        added = noise.public_key_encryption(self.config, plaintext.scale).bound
        result = state.replace(
            components=2,
            polynomial_domain=domain,
            key_id=public_key.key_id,
            noise_bound=known_sum(state.noise_bound, added),
            insecure=self.insecure or public_key.state.insecure or state.insecure,
        )
        return Ciphertext(data, result.check_bounds(operation))

    def _require_public_key(self, operation: str, public_key: object) -> None:
        if not isinstance(public_key, PublicKey):
            raise OperandTypeError(
                operation,
                f"public_key is a {type(public_key).__name__}, needed is a PublicKey",
                "Messages are encrypted with a public key",
                "Make one with engine.create_public_key(secret_key)",
            )
        self._require_context(operation, public_key.state)
