"""Encoding methods of the Engine."""

from __future__ import annotations

import math
import numbers
from typing import Any, Literal

import torch

from fhelium.backend.ckks.encryption import decode_slots, encode_slots
from fhelium.eager.core import EngineCore
from fhelium.eager.host_reads import require_host
from fhelium.eager.messages import prepare_message
from fhelium.errors import DepthExhaustedError, OperandTypeError, ParameterError, StateError
from fhelium.ir import noise
from fhelium.ir.dialects.ckks.scalars import factor_scale
from fhelium.ir.rules import covering_power, require
from fhelium.native.wrapper import rns_ops
from fhelium.values import Ciphertext, CkksState, Plaintext, device_of, half_modulus

# A clear factor may have any size; its declared bound is a power of two that covers it.
_UNBOUNDED = math.inf


class EncodingMethods(EngineCore):
    """Turn messages into plaintexts and back."""

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
        require_host("encode", "the message")
        bound = real_number("encode", "message_bound", message_bound)
        place = device_of("encode", "cpu" if device is None else device)
        return self._encode("encode", message, depth, scale, bound, place)

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
        self._require_encoded("decode", plaintext)
        resources = self.dispatcher(plaintext.device).resources
        slots = decode_slots(resources, plaintext.data, plaintext.scale, plaintext.depth)
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
        require_host(operation, "the message")
        if for_ not in ("multiply", "add"):
            raise StateError(
                operation,
                f"for_ is {for_!r}, needed is 'multiply' or 'add'",
                "A plaintext is prepared for one kind of operation",
                "Pass one of the two",
            )
        self._require_ciphertext(operation, like)
        depth, scale = like.depth, factor_scale(like.state) if for_ == "multiply" else like.scale
        place = like.device
        if place.type == "meta":  # a recorded result: the message is read where it is all the same
            place = message.device if isinstance(message, torch.Tensor) else torch.device("cpu")
        encoded = self._encode(operation, message, depth, scale, message_bound, place)
        if for_ == "add" and like.state.polynomial_domain == "coefficient":
            return encoded
        resources = self.dispatcher(place).resources
        transform = resources.transform(self._ntt_backend, "Q", depth)
        rows = transform.forward(encoded.data)
        state = encoded.state.replace(polynomial_domain="ntt")
        if for_ == "multiply":
            rns_ops.to_montgomery_(rows, transform.rns_params)
            state = state.replace(residue_representation="montgomery")
        return Plaintext(rows, state)

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
        actual = config.scale_at(depth) if scale is None else real_number(operation, "scale", scale)
        if actual < 1:
            raise ParameterError(
                operation,
                f"scale is {actual}",
                "A scale is finite and at least 1",
                "Pass such a scale, for example 2.0**40",
            )
        if message_bound is not None:
            message_bound = real_number(operation, "message_bound", message_bound)
        resources = self.dispatcher(device).resources  # before any tensor, as dispatcher() says
        slots = prepare_message(
            operation,
            message,
            num_slots=config.num_slots,
            message_bound=_UNBOUNDED if message_bound is None else message_bound,
            scale=actual,
            modulus_quarter=half_modulus(config, "Q", depth) / 2,
            device=device,
        )
        bound = covering_power(_largest(slots)) if message_bound is None else message_bound
        fresh = CkksState.fresh(
            config, depth=depth, scale=actual, components=1, operation=operation
        )
        error = noise.encoding(config, actual, bound).bound
        state = fresh.replace(noise_bound=error, message_bound=bound).check_bounds(operation)
        return Plaintext(encode_slots(resources, slots, actual, depth), state)

    def _require_encoded(self, operation: str, plaintext: object) -> None:
        if not isinstance(plaintext, Plaintext):
            raise OperandTypeError(
                operation,
                f"plaintext is a {type(plaintext).__name__}, needed is a Plaintext",
                "Encoded values are decoded and encrypted",
                "Use what engine.encode or engine.decrypt gives, or engine.encrypt_message",
            )
        self._require_context(operation, plaintext.state)
        remedy = "Use the plaintext that engine.encode gives"
        needed = {
            "modulus_basis": "Q",
            "polynomial_domain": "coefficient",
            "residue_representation": "standard",
        }
        for axis, value in needed.items():
            require(operation, plaintext.state, axis, value, remedy, "plaintext")


def real_number(operation: str, name: str, value: object) -> float:
    """Return a real number as a float, or refuse what is none."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ParameterError(
            operation,
            f"{name} is a {type(value).__name__}, needed is a number",
            f"{name} is one real number for all slots",
            "Pass an int or a float",
        )
    try:
        return float(value)
    except OverflowError:
        return math.inf  # an int that no float64 holds


def _largest(slots: torch.Tensor) -> float:
    return float(torch.view_as_complex(slots.contiguous()).abs().max()) if slots.numel() else 0.0
