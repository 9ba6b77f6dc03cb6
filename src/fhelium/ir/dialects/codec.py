"""The codec dialect: from public vectors to the plaintexts that operations on ciphertexts take."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, get_args

import torch
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Dialect
from xdsl.irdl import irdl_attr_definition, irdl_op_definition, operand_def, prop_def, result_def

from fhelium.ir import noise
from fhelium.ir.dialects.ckks.scalars import factor_scale
from fhelium.ir.dialects.ckks.types import CiphertextType, PlaintextType
from fhelium.ir.operation import DeclaredOperation, EngineMethod, OperationFacts
from fhelium.ir.rules import require_choice, require_ciphertext
from fhelium.ir.types import ValueType
from fhelium.values import CkksState

Use = Literal["multiply", "add"]


@irdl_attr_definition
class MessageType(ValueType):
    """A public vector of all slots, not encoded; of its state only a bound is known."""

    name = "codec.message"
    VALUE_CLASS: ClassVar[str] = "Tensor"


@irdl_op_definition
class PreparePlaintextOp(DeclaredOperation):
    """Encode a public vector in the form that an operation on ``like`` takes.

    For a product: NTT domain, Montgomery form, at the scale that makes product + rescale
    canonical. For a sum: the domain and scale of ``like``, standard form.

    Shapes:
        [*batch, slot] or [], and any ciphertext -> [*batch, limb, N].

    State:
        Depth is that of ``like``, and so are scale and domain for a sum.
    """

    name = "codec.prepare_plaintext"
    message = operand_def(MessageType)
    like = operand_def(CiphertextType)
    for_ = prop_def(StringAttr)
    result = result_def(PlaintextType)
    ENGINE: ClassVar = EngineMethod("prepare_plaintext", "encoding", generated=False)
    FACTS: ClassVar = OperationFacts(reads_scale=True)

    @classmethod
    def transfer(cls, message: CkksState, like: CkksState, *, for_: Use = "multiply") -> CkksState:
        operation = cls.public_name()
        rule = "A plaintext is prepared for one kind of operation"
        require_choice(operation, "for_", for_, get_args(Use), rule, "Pass one of the two")
        require_ciphertext(operation, like)
        product = for_ == "multiply"
        scale = factor_scale(like) if product else like.scale
        error = None
        if scale is not None and message.message_bound is not None:
            error = noise.encoding(like.config, scale, message.message_bound).bound
        return CkksState(
            config=like.config,
            depth=like.depth,
            scale=scale,
            polynomial_domain="ntt" if product else like.polynomial_domain,
            modulus_basis="Q",
            residue_representation="montgomery" if product else "standard",
            components=1,
            noise_bound=error,
            message_bound=message.message_bound,
            insecure=like.config.insecure,
        ).check_bounds(operation)

    @classmethod
    def call_facts(
        cls, message: CkksState, like: CkksState, *, for_: Use = "multiply"
    ) -> dict[str, Any]:
        state = cls.transfer(message, like, for_=for_)
        axes = ("depth", "scale", "polynomial_domain", "residue_representation")
        return {axis: getattr(state, axis) for axis in axes}

    @classmethod
    def added_error(
        cls, message: CkksState, like: CkksState, *, for_: Use = "multiply"
    ) -> noise.Error:
        scale = cls.transfer(message, like, for_=for_).scale
        assert scale is not None
        return noise.encoding(like.config, scale, message.message_bound or 0.0)

    @staticmethod
    def reference(message: torch.Tensor, like: object = None, *, for_: Use) -> torch.Tensor:
        return message


CODEC = Dialect("codec", [PreparePlaintextOp], [MessageType])
