"""Encoding and encryption methods of the Engine."""

from __future__ import annotations

import math
from typing import Any, Literal

import torch

from fhelium.backend.ckks.encryption import (
    decode_slots,
    encode_slots,
    encrypt_zero_with_public_key,
    transform_on,
)
from fhelium.eager.core import EngineCore
from fhelium.eager.messages import prepare_message
from fhelium.errors import DepthExhaustedError, DeviceMismatchError, OperandTypeError, StateError
from fhelium.ir import noise
from fhelium.ir.dialects.ckks.plain import factor_scale
from fhelium.ir.rules import chosen_domain, known_sum, require
from fhelium.native.wrapper import ckks_ops, rns_ops
from fhelium.rng import Domain
from fhelium.values import (
    Ciphertext,
    CkksState,
    Plaintext,
    PolynomialDomain,
    PublicKey,
    half_modulus,
    require_same_context,
)

# A clear factor may have any size; its declared bound is a power of two that covers it.
_UNBOUNDED = math.inf


class CodecMethods(EngineCore):
    """Turn messages into plaintexts and ciphertexts."""

    def encode(
        self,
        message: Any,
        *,
        depth: int = 0,
        scale: float | None = None,
        message_bound: float = 1.0,
        device: torch.device | str | None = None,
    ) -> Plaintext:
        """Encode a message: m(X) with m(zeta^(5^j)) = slot_j, times the scale, rounded.

        Shapes:
            [*batch, slot] -> data [*batch, limb, N]. A 0-d message fills every slot.

        State:
            Coefficient domain, standard form, at ``depth`` with ``scale``.

        Args:
            message: Tensor, array or number, real or complex; the last axis has
                ``config.num_slots`` values.
            depth: How many primes are dropped already.
            scale: Factor between values and integer coefficients; ``config.scale_at(depth)``
                when omitted.
            message_bound: Largest magnitude the message may have, in message units.
            device: Where the result lives; CPU when omitted.

        Raises:
            MessageValueError: Wrong length, NaN or infinity, or a value beyond the bound.
            MessageTypeError: The message is of no numeric type.
            DepthExhaustedError: There is no such depth.

        Example:
            >>> engine.encode(0.5, depth=1).depth
            1

        Source:
            Cheon, Kim, Kim, Song (ASIACRYPT 2017), Ecd.
        """
        return self._encode("encode", message, depth, scale, message_bound, _device_of(device))

    def decode(self, plaintext: Plaintext, *, real: bool = False) -> torch.Tensor:
        """Read the slots of a plaintext: exact centred CRT, divided by the scale, evaluated.

        Shapes:
            data [*batch, limb, N] -> [*batch, slot].

        Args:
            plaintext: As ``encode`` gives it: coefficient domain, standard form.
            real: Return the real parts only.

        Returns:
            complex128, or float64 with ``real=True``.

        Raises:
            StateError: The plaintext is prepared for a product.

        Example:
            >>> engine.decode(engine.encode(0.5), real=True)[0].item()
            0.5

        Source:
            Cheon, Kim, Kim, Song (ASIACRYPT 2017), Dcd.
        """
        if not isinstance(plaintext, Plaintext):
            raise OperandTypeError(
                "decode",
                f"plaintext is a {type(plaintext).__name__}, needed is a Plaintext",
                "Only clear values can be decoded",
                "Decrypt a ciphertext first",
            )
        self._require_encoded("decode", plaintext)
        state = plaintext.state
        assert state.scale is not None
        assert state.depth is not None
        resources = self.dispatcher(plaintext.device).resources
        slots = decode_slots(resources, plaintext.data, state.scale, state.depth)
        return slots.real.clone() if real else slots

    def prepare_plaintext(
        self,
        message: Any,
        like: Ciphertext,
        for_: Literal["multiply", "add"] = "multiply",
        *,
        message_bound: float | None = None,
    ) -> Plaintext:
        """Encode a clear operand in the form an operation on ``like`` takes, once for many uses.

        For a product: NTT domain, Montgomery form, at the scale that makes product + rescale
        canonical. For a sum: the domain and scale of ``like``, standard form.

        Shapes:
            [*batch, slot] -> data [*batch, limb, N]. A 0-d message fills every slot.

        Args:
            message: The clear vector, real or complex.
            like: A ciphertext with the depth and scale of the later operand.
            for_: "multiply" or "add".
            message_bound: Largest magnitude, in message units. When omitted, the smallest power
                of two that covers the message; it is part of every result's state, so declare
                one where even that is private.

        Raises:
            MessageValueError: Wrong length, NaN or infinity, or a value beyond the bound.
            StateError: ``for_`` is neither of the two.

        Example:
            >>> weights = engine.prepare_plaintext(2.5, like=x)
            >>> engine.multiply_plaintext(x, weights).depth
            0

        Source:
            Cheon, Kim, Kim, Song (ASIACRYPT 2017), multiplication by a constant vector.
        """
        operation = "prepare_plaintext"
        if for_ not in ("multiply", "add"):
            raise StateError(
                operation,
                f"for_ is {for_!r}, needed is 'multiply' or 'add'",
                "A plaintext is prepared for one kind of operation",
                "Pass one of the two",
            )
        self._require_ciphertext(operation, like)
        depth, scale = like.state.depth, like.state.scale
        assert depth is not None
        if for_ == "multiply":
            scale = factor_scale(like.state)
        encoded = self._encode(operation, message, depth, scale, message_bound, like.device)
        if for_ == "add" and like.state.polynomial_domain == "coefficient":
            return encoded
        resources = self.dispatcher(like.device).resources
        transform = transform_on(resources, self._ntt_backend, "Q", depth)
        rows = transform.forward(encoded.data)
        state = encoded.state.replace(polynomial_domain="ntt")
        if for_ == "multiply":
            rns_ops.to_montgomery_(rows, transform.rns_params)
            state = state.replace(residue_representation="montgomery")
        return Plaintext(rows, state)

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
        self._require_public_key(operation, public_key)
        self._require_encoded(operation, plaintext)
        if plaintext.device != public_key.device:
            raise DeviceMismatchError(
                operation,
                f"the plaintext is on {plaintext.device}, the public key on {public_key.device}",
                "All operands live on one device; nothing is moved unasked",
                "Move one with .to(device)",
            )
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
        self._require_public_key(operation, public_key)
        target = public_key.device if device is None else _device_of(device)
        if target != public_key.device:
            raise DeviceMismatchError(
                operation,
                f"asked for {target}, the public key is on {public_key.device}",
                "Encryption runs where the key is; nothing is moved unasked",
                "Move the key with public_key.to(device)",
            )
        plaintext = self._encode(operation, message, depth, scale, message_bound, target)
        return self._encrypt(operation, plaintext, public_key, output_domain)

    def _encode(
        self,
        operation: str,
        message: Any,
        depth: int,
        scale: float | None,
        message_bound: float | None,
        device: torch.device,
    ) -> Plaintext:
        config = self.config
        if (
            isinstance(depth, bool)
            or not isinstance(depth, int)
            or not (0 <= depth <= config.max_depth)
        ):
            raise DepthExhaustedError(
                operation,
                f"asked for depth {depth}, depths are 0 to {config.max_depth}",
                "A depth counts dropped primes from 0",
                "Choose one of these depths",
            )
        actual = config.scale_at(depth) if scale is None else float(scale)
        slots = prepare_message(
            operation,
            message,
            num_slots=config.num_slots,
            message_bound=_UNBOUNDED if message_bound is None else message_bound,
            scale=actual,
            modulus_quarter=half_modulus(config, "Q", depth) / 2,
            device=device,
        )
        bound = _covering_power(slots) if message_bound is None else float(message_bound)
        state = CkksState(
            config=config,
            depth=depth,
            scale=actual,
            polynomial_domain="coefficient",
            modulus_basis="Q",
            residue_representation="standard",
            components=1,
            noise_bound=noise.encoding(config, actual, bound),
            message_bound=bound,
            insecure=config.insecure,
        )
        state.check_bounds(operation)
        resources = self.dispatcher(device).resources
        return Plaintext(encode_slots(resources, slots, actual, depth), state)

    def _encrypt(
        self,
        operation: str,
        plaintext: Plaintext,
        public_key: PublicKey,
        output_domain: PolynomialDomain,
    ) -> Ciphertext:
        names = ("the plaintext", "the public key")
        require_same_context(operation, plaintext.state, public_key.state, names=names)
        domain = chosen_domain(operation, output_domain, "coefficient")
        state = plaintext.state
        depth, scale = state.depth, state.scale
        assert depth is not None
        assert scale is not None
        resources = self.dispatcher(plaintext.device).resources
        data = encrypt_zero_with_public_key(
            resources,
            self._ntt_backend,
            public_key.data,
            self._random.root(Domain.ENCRYPTION_MASK),
            plaintext.batch_shape,
            depth,
        )
        rns_params = resources.material(f"rns_parameters/Q/{depth}")
        ckks_ops.add_plaintext_(data, plaintext.data, rns_params)
        if domain == "ntt":
            transform_on(resources, self._ntt_backend, "Q", depth).forward_(data)
        result = state.replace(
            components=2,
            polynomial_domain=domain,
            key_id=public_key.key_id,
            noise_bound=known_sum(
                state.noise_bound, noise.public_key_encryption(self.config, scale)
            ),
            insecure=self.insecure or public_key.state.insecure or state.insecure,
        )
        return Ciphertext(data, result.check_bounds(operation))

    def _require_encoded(self, operation: str, plaintext: Plaintext) -> None:
        self._require_context(operation, plaintext.state)
        remedy = "Use the plaintext that engine.encode gives"
        require(operation, plaintext.state, "polynomial_domain", "coefficient", remedy, "plaintext")
        require(
            operation, plaintext.state, "residue_representation", "standard", remedy, "plaintext"
        )

    def _require_public_key(self, operation: str, public_key: object) -> None:
        if not isinstance(public_key, PublicKey):
            raise OperandTypeError(
                operation,
                f"public_key is a {type(public_key).__name__}, needed is a PublicKey",
                "Messages are encrypted with a public key",
                "Make one with engine.create_public_key(secret_key)",
            )
        self._require_context(operation, public_key.state)


def _covering_power(slots: torch.Tensor) -> float:
    largest = float(torch.view_as_complex(slots.contiguous()).abs().max()) if slots.numel() else 0.0
    if largest == 0:
        return 0.0
    # Exactly: log2 of a number just above a large power of two is rounded down to that power.
    fraction, exponent = math.frexp(largest)
    return math.ldexp(1.0, exponent - 1 if fraction == 0.5 else exponent)


def _device_of(device: torch.device | str | None) -> torch.device:
    return torch.device("cpu" if device is None else device)
