"""Sums of ciphertexts, and products with their relinearization."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, result_def

from fhelium.ir import noise
from fhelium.ir.dialects.ckks.types import CiphertextType, RelinearizationKeyType
from fhelium.ir.operation import DeclaredOperation, EngineMethod, OperationFacts
from fhelium.ir.rules import (
    chosen_domain,
    known_product,
    known_sum,
    require_ciphertext,
)
from fhelium.values import (
    CkksState,
    PolynomialDomain,
    require_agreement,
    require_same_context,
)


def _transfer_sum(operation: str, lhs: CkksState, rhs: CkksState) -> CkksState:
    require_ciphertext(operation, lhs, rhs)
    axes = ("depth", "scale", "polynomial_domain", "components")
    require_agreement(operation, (lhs, rhs), *axes, names=("lhs", "rhs"))
    return lhs.replace(
        key_id=lhs.key_id or rhs.key_id,
        depth=rhs.depth if lhs.depth is None else lhs.depth,
        scale=rhs.scale if lhs.scale is None else lhs.scale,
        noise_bound=known_sum(lhs.noise_bound, rhs.noise_bound),
        message_bound=known_sum(lhs.message_bound, rhs.message_bound),
        insecure=lhs.insecure or rhs.insecure,
    ).check_bounds(operation)


@irdl_op_definition
class AddOp(DeclaredOperation):
    """Add two ciphertexts slot by slot: c_j = a_j + b_j (mod q_i) in every component and limb.

    Shapes:
        [component, *batch, limb, N] + the same shape -> the same shape.

    State:
        Depth, scale, polynomial domain and components must agree and stay; bounds add.

    Cost:
        No NTT, no key switch.

    Raises:
        StateError: The operands' states differ; the text names both and the way to align them.
        ContextMismatchError: They were made under different parameters.
        KeyMismatchError: They belong to different secret keys.
        BoundError: The sum may not fit the modulus any more.

    Example:
        >>> total = engine.add(x, y)
        >>> engine.decrypt_message(total, secret_key).shape
        torch.Size([512])

    Source:
        Cheon, Kim, Kim, Song (ASIACRYPT 2017), "Homomorphic encryption for arithmetic of
        approximate numbers", Add.
    """

    name = "ckks.add"
    lhs = operand_def(CiphertextType)
    rhs = operand_def(CiphertextType)
    result = result_def(CiphertextType)
    ENGINE: ClassVar = EngineMethod("add", "arithmetic")
    FACTS: ClassVar = OperationFacts(limb_wise=True, in_place=True)

    @classmethod
    def transfer(cls, lhs: CkksState, rhs: CkksState) -> CkksState:
        return _transfer_sum(cls.public_name(), lhs, rhs)

    @staticmethod
    def reference(lhs: torch.Tensor, rhs: torch.Tensor) -> torch.Tensor:
        return lhs + rhs


@irdl_op_definition
class SubtractOp(DeclaredOperation):
    """Subtract two ciphertexts slot by slot: c_j = a_j - b_j (mod q_i) in every component.

    Shapes:
        [component, *batch, limb, N] - the same shape -> the same shape.

    State:
        Depth, scale, polynomial domain and components must agree and stay; bounds add.

    Cost:
        No NTT, no key switch.

    Raises:
        StateError: The operands' states differ; the text names both and the way to align them.
        BoundError: The difference may not fit the modulus any more.

    Example:
        >>> zero = engine.subtract(x, x)
        >>> bool(engine.decrypt_message(zero, secret_key).abs().max() < 1e-3)
        True

    Source:
        Cheon, Kim, Kim, Song (ASIACRYPT 2017).
    """

    name = "ckks.subtract"
    lhs = operand_def(CiphertextType)
    rhs = operand_def(CiphertextType)
    result = result_def(CiphertextType)
    ENGINE: ClassVar = EngineMethod("subtract", "arithmetic")
    FACTS: ClassVar = OperationFacts(limb_wise=True, in_place=True)

    @classmethod
    def transfer(cls, lhs: CkksState, rhs: CkksState) -> CkksState:
        return _transfer_sum(cls.public_name(), lhs, rhs)

    @staticmethod
    def reference(lhs: torch.Tensor, rhs: torch.Tensor) -> torch.Tensor:
        return lhs - rhs


@irdl_op_definition
class NegateOp(DeclaredOperation):
    """Negate a ciphertext: c_j = -a_j (mod q_i) in every component and limb.

    Shapes:
        [component, *batch, limb, N] -> the same shape.

    State:
        Unchanged.

    Cost:
        No NTT, no key switch.

    Raises:
        StateError: The ciphertext is not in standard form over Q.

    Example:
        >>> minus_x = engine.negate(x)
        >>> minus_x.state == x.state
        True

    Source:
        Cheon, Kim, Kim, Song (ASIACRYPT 2017).
    """

    name = "ckks.negate"
    ciphertext = operand_def(CiphertextType)
    result = result_def(CiphertextType)
    ENGINE: ClassVar = EngineMethod("negate", "arithmetic")
    FACTS: ClassVar = OperationFacts(limb_wise=True, in_place=True)

    @classmethod
    def transfer(cls, ciphertext: CkksState) -> CkksState:
        require_ciphertext(cls.public_name(), ciphertext)
        return ciphertext

    @staticmethod
    def reference(ciphertext: torch.Tensor) -> torch.Tensor:
        return -ciphertext


def transfer_product(
    operation: str, lhs: CkksState, rhs: CkksState, output_domain: PolynomialDomain | None
) -> CkksState:
    require_ciphertext(operation, lhs, rhs, components=2)
    require_agreement(operation, (lhs, rhs), "depth", "polynomial_domain", names=("lhs", "rhs"))
    # |xy - x'y'| <= |x| e_y + |y| e_x + e_x e_y
    noise_bound = known_sum(
        known_product(lhs.message_bound, rhs.noise_bound),
        known_product(rhs.message_bound, lhs.noise_bound),
        known_product(lhs.noise_bound, rhs.noise_bound),
    )
    return lhs.replace(
        key_id=lhs.key_id or rhs.key_id,
        depth=rhs.depth if lhs.depth is None else lhs.depth,
        scale=known_product(lhs.scale, rhs.scale),
        components=3,
        polynomial_domain=chosen_domain(operation, output_domain, lhs.polynomial_domain),
        noise_bound=noise_bound,
        message_bound=known_product(lhs.message_bound, rhs.message_bound),
        insecure=lhs.insecure or rhs.insecure,
    ).check_bounds(operation)


@irdl_op_definition
class MultiplyOp(DeclaredOperation):
    """Multiply two ciphertexts slot by slot: (a0 b0, a0 b1 + a1 b0, a1 b1), three components.

    The product decrypts with (1, s, s^2); ``relinearize`` brings it back to two components and
    ``rescale_to_next_depth`` brings its scale back.

    Shapes:
        [2, *batch, limb, N] x the same shape -> [3, *batch, limb, N].

    State:
        Depth and domain must agree and stay; scales multiply; components 2 -> 3.

    Cost:
        In the NTT domain no NTT. Coefficient inputs cost 4 NTTs a limb in and, unless
        ``output_domain="ntt"`` is asked for, 3 a limb back: keep factors in the NTT domain.

    Args:
        lhs: First factor, two components.
        rhs: Second factor, two components.
        output_domain: "coefficient" or "ntt"; the inputs' domain when omitted.

    Raises:
        StateError: Depths, domains or components do not fit; the text names the way out.
        BoundError: The product may not fit the modulus at this depth.

    Example:
        >>> product = engine.relinearize(engine.multiply(x, y))
        >>> engine.rescale_to_next_depth(product).depth
        1

    Source:
        Cheon, Kim, Kim, Song (ASIACRYPT 2017), Mult.
    """

    name = "ckks.multiply"
    lhs = operand_def(CiphertextType)
    rhs = operand_def(CiphertextType)
    output_domain = opt_prop_def(StringAttr)
    result = result_def(CiphertextType)
    ENGINE: ClassVar = EngineMethod("multiply", "arithmetic")
    FACTS: ClassVar = OperationFacts(in_ntt=True)

    @classmethod
    def transfer(
        cls, lhs: CkksState, rhs: CkksState, *, output_domain: PolynomialDomain | None = None
    ) -> CkksState:
        return transfer_product(cls.public_name(), lhs, rhs, output_domain)

    @staticmethod
    def reference(
        lhs: torch.Tensor, rhs: torch.Tensor, *, output_domain: PolynomialDomain | None = None
    ) -> torch.Tensor:
        return lhs * rhs


@irdl_op_definition
class SquareOp(DeclaredOperation):
    """Square a ciphertext slot by slot: (a0^2, 2 a0 a1, a1^2) over three components.

    Shapes:
        [2, *batch, limb, N] -> [3, *batch, limb, N].

    State:
        Scale squares; components 2 -> 3; depth and domain stay.

    Cost:
        In the NTT domain no NTT, and fewer products than ``multiply(x, x)``.

    Args:
        ciphertext: The factor, two components.
        output_domain: "coefficient" or "ntt"; the input's domain when omitted.

    Raises:
        StateError: The ciphertext has three components or is not standard over Q.
        BoundError: The square may not fit the modulus at this depth.

    Example:
        >>> engine.square(x).components
        3

    Source:
        Cheon, Kim, Kim, Song (ASIACRYPT 2017), Mult.
    """

    name = "ckks.square"
    ciphertext = operand_def(CiphertextType)
    output_domain = opt_prop_def(StringAttr)
    result = result_def(CiphertextType)
    ENGINE: ClassVar = EngineMethod("square", "arithmetic")
    FACTS: ClassVar = OperationFacts(in_ntt=True)

    @classmethod
    def transfer(
        cls, ciphertext: CkksState, *, output_domain: PolynomialDomain | None = None
    ) -> CkksState:
        return transfer_product(cls.public_name(), ciphertext, ciphertext, output_domain)

    @staticmethod
    def reference(
        ciphertext: torch.Tensor, *, output_domain: PolynomialDomain | None = None
    ) -> torch.Tensor:
        return ciphertext * ciphertext


class KeySwitchOperation(DeclaredOperation):
    """Base of the operations that end in one key switch of their first operand."""

    FACTS: ClassVar = OperationFacts(needs_key=True)

    @classmethod
    def added_error(cls, ciphertext: CkksState, *keys: Any, **attributes: Any) -> noise.Error:
        return key_switch_error(ciphertext)


@irdl_op_definition
class RelinearizeOp(KeySwitchOperation):
    """Bring a three-component product back to two: (c0, c1) + KeySwitch(c2, s^2 -> s).

    Hybrid key switching: c2 is cut into digits, each is raised to QP as its exact centred
    representative, multiplied with the key, summed, and divided by P with rounding.

    Shapes:
        [3, *batch, limb, N] -> [2, *batch, limb, N].

    State:
        Components 3 -> 2; the noise bound grows by one key switch.

    Cost:
        One key switch.

    Args:
        ciphertext: Product of two ciphertexts.
        key: Relinearization key; the one in ``engine.keys`` when omitted.
        output_domain: "coefficient" or "ntt"; the input's domain when omitted.

    Raises:
        StateError: The ciphertext does not have three components.
        MissingKeyError: No key was given and ``engine.keys`` holds none.
        KeyMismatchError: The key belongs to another secret key.

    Example:
        >>> engine.relinearize(engine.multiply(x, y)).components
        2

    Source:
        Han, Ki (CT-RSA 2020), "Better bootstrapping for approximate homomorphic encryption",
        section 3 (hybrid key switching).
    """

    name = "ckks.relinearize"
    ciphertext = operand_def(CiphertextType)
    key = operand_def(RelinearizationKeyType)
    output_domain = opt_prop_def(StringAttr)
    result = result_def(CiphertextType)
    ENGINE: ClassVar = EngineMethod(
        "relinearize", "arithmetic", key_lookup="self._key_source.relinearization()"
    )

    @classmethod
    def transfer(
        cls,
        ciphertext: CkksState,
        key: CkksState,
        *,
        output_domain: PolynomialDomain | None = None,
    ) -> CkksState:
        operation = cls.public_name()
        require_ciphertext(operation, ciphertext, components=3)
        return transfer_key_switch(operation, ciphertext, key, output_domain)

    @classmethod
    def key_symbols(cls, **attributes: Any) -> tuple[str, ...]:
        return ("relinearization-key",)

    @staticmethod
    def reference(
        ciphertext: torch.Tensor,
        key: object = None,
        *,
        output_domain: PolynomialDomain | None = None,
    ) -> torch.Tensor:
        return ciphertext


def key_switch_error(ciphertext: CkksState) -> noise.Error:
    """Return the error of one key switch of a ciphertext whose depth and scale are known."""
    assert ciphertext.depth is not None
    assert ciphertext.scale is not None
    return noise.key_switch(ciphertext.config, ciphertext.depth, ciphertext.scale)


def transfer_key_switch(
    operation: str,
    ciphertext: CkksState,
    key: CkksState,
    output_domain: PolynomialDomain | None,
) -> CkksState:
    """Give the state after one key switch: two components and its noise added."""
    require_same_context(operation, ciphertext, key, names=("the ciphertext", "the key"))
    known = ciphertext.scale is not None and ciphertext.depth is not None
    added = key_switch_error(ciphertext).bound if known else None
    return ciphertext.replace(
        components=2,
        key_id=key.key_id or ciphertext.key_id,
        polynomial_domain=chosen_domain(operation, output_domain, ciphertext.polynomial_domain),
        noise_bound=known_sum(ciphertext.noise_bound, added),
        insecure=ciphertext.insecure or key.insecure,
    ).check_bounds(operation)
