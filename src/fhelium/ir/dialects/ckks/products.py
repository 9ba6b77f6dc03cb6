"""Products with everything that follows them, as one operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def

from fhelium.ir import noise
from fhelium.ir.dialects.ckks.arithmetic import MultiplyOp, SquareOp
from fhelium.ir.dialects.ckks.key_switching import RelinearizeOp
from fhelium.ir.dialects.ckks.levels import RescaleOp
from fhelium.ir.dialects.ckks.plaintexts import MultiplyPlaintextOp
from fhelium.ir.dialects.ckks.shapes import PlaintextOperation
from fhelium.ir.dialects.ckks.states import (
    key_switch_error,
    rescale_error,
    transfer_key_switch,
    transfer_plaintext_product,
    transfer_product,
    transfer_rescale,
)
from fhelium.ir.dialects.ckks.types import (
    CiphertextType,
    RelinearizationKeyType,
)
from fhelium.ir.operation import DeclaredOperation, EngineMethod, OperationFacts
from fhelium.ir.rules import require_depth_left
from fhelium.values import CkksState


@irdl_op_definition
class MultiplyRescaleOp(DeclaredOperation):
    """Multiply two ciphertexts, relinearize the product and rescale it, in one call.

    The result is what ``multiply``, ``relinearize`` and ``rescale_to_next_depth`` give one by
    one, bit for bit, in less time: the division by P and the one by q_d become one, and
    no three-component product is written to memory. The same ciphertext twice is squared.

    Shapes:
        [2, *batch, limb, N] x the same shape -> [2, *batch, limb - 1, N].

    State:
        Depth d -> d + 1; scales multiply and are divided by q_d; the domain stays. Bounds are
        those of the three operations.

    Cost:
        One key switch; in the NTT domain no further NTT but 2 for the prime that is dropped.

    Args:
        lhs: First factor, two components.
        rhs: Second factor, two components.
        key: Relinearization key; the one in ``engine.keys`` when omitted.

    Raises:
        StateError: Depths, domains or components do not fit; the text names the way out.
        DepthExhaustedError: Only the base prime is left.
        MissingKeyError: No key was given and ``engine.keys`` holds none.
        BoundError: The product may not fit the modulus.

    Example:
        >>> product = engine.multiply_and_rescale(x, y)
        >>> product.depth, product.components
        (1, 2)

    Source:
        Han, Ki (CT-RSA 2020), hybrid key switching; Cheon, Han, Kim, Kim, Song (SAC 2018),
        rescaling.
    """

    name = "ckks.multiply_rescale"
    lhs = operand_def(CiphertextType)
    rhs = operand_def(CiphertextType)
    key = operand_def(RelinearizationKeyType)
    result = result_def(CiphertextType)
    ENGINE: ClassVar = EngineMethod(
        "multiply_and_rescale", "arithmetic", key_lookup="self._key_source.relinearization()"
    )
    FACTS: ClassVar = OperationFacts(needs_key=True, consumes_depth=True, in_ntt=True)
    FUSES: ClassVar = (
        (MultiplyOp, RelinearizeOp, RescaleOp),
        (SquareOp, RelinearizeOp, RescaleOp),
    )

    @classmethod
    def transfer(cls, lhs: CkksState, rhs: CkksState, key: CkksState) -> CkksState:
        operation = cls.public_name()
        require_depth_left(operation, lhs)
        product = transfer_product(operation, lhs, rhs, None)
        switched = transfer_key_switch(operation, product, [key], components=3)
        return transfer_rescale(operation, switched)

    @classmethod
    def added_error(cls, lhs: CkksState, rhs: CkksState, key: CkksState) -> noise.Error:
        product = transfer_product(cls.public_name(), lhs, rhs, None)
        return key_switch_error(product) + rescale_error(product.replace(components=2))

    @classmethod
    def fused_operands(cls, chain: Sequence[DeclaredOperation]) -> list[SSAValue]:
        operands = super().fused_operands(chain)
        return [operands[0], *operands] if isinstance(chain[0], SquareOp) else operands

    @classmethod
    def key_symbols(cls) -> tuple[str, ...]:
        return RelinearizeOp.key_symbols()

    @staticmethod
    def reference(lhs: torch.Tensor, rhs: torch.Tensor) -> torch.Tensor:
        return lhs * rhs


@irdl_op_definition
class MultiplyPlaintextRescaleOp(PlaintextOperation):
    """Multiply a ciphertext by an encoded vector and rescale the product, in one call.

    The result is what ``multiply_plaintext`` and ``rescale_to_next_depth`` give one by one, bit
    for bit, and the product is never written to memory.

    Shapes:
        [component, *batch, limb, N] x [*batch, limb, N] -> [component, *batch, limb - 1, N].
        The plaintext's batch repeats over missing and size-1 axes.

    State:
        Depth d -> d + 1; scales multiply and are divided by q_d; the domain stays. The
        plaintext is in NTT and Montgomery form, as ``prepare_plaintext(for_="multiply")`` gives
        it.

    Cost:
        In the NTT domain one inverse NTT a component, of the limb that is dropped, and one
        forward NTT for each limb and component that remains. A coefficient ciphertext costs one
        more a limb and component in, and as many back.

    Raises:
        StateError: Depths differ, or the plaintext is not prepared for a product.
        DepthExhaustedError: Only the base prime is left.
        BoundError: The product may not fit the modulus.

    Example:
        >>> half = engine.prepare_plaintext(0.5, like=x, for_="multiply")
        >>> engine.multiply_plaintext_and_rescale(x, half).depth
        1

    Source:
        Cheon, Han, Kim, Kim, Song (SAC 2018), "A full RNS variant of approximate homomorphic
        encryption", rescaling.
    """

    name = "ckks.multiply_plaintext_rescale"
    ENGINE: ClassVar = EngineMethod("multiply_plaintext_and_rescale", "arithmetic")
    FACTS: ClassVar = OperationFacts(consumes_depth=True, in_ntt=True)
    FUSES: ClassVar = ((MultiplyPlaintextOp, RescaleOp),)

    @classmethod
    def transfer(cls, ciphertext: CkksState, plaintext: CkksState) -> CkksState:
        operation = cls.public_name()
        require_depth_left(operation, ciphertext)
        product = transfer_plaintext_product(operation, ciphertext, plaintext)
        return transfer_rescale(operation, product)

    @classmethod
    def added_error(cls, ciphertext: CkksState, plaintext: CkksState) -> noise.Error:
        return rescale_error(transfer_plaintext_product(cls.public_name(), ciphertext, plaintext))

    @staticmethod
    def reference(ciphertext: torch.Tensor, plaintext: torch.Tensor) -> torch.Tensor:
        return ciphertext * plaintext
