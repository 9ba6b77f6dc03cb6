"""The Engine's methods over a Program: each call is checked as always and written down."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import torch
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.irdl import VarResultDef

from fhelium.compile.compilation import Compilation
from fhelium.compile.material_operands import ProgramMaterials
from fhelium.compile.messages import checked_message, message_state
from fhelium.compile.places import place, user_frame
from fhelium.compile.symbolic_values import (
    Symbolic,
    SymbolicCiphertext,
    SymbolicMessage,
    SymbolicPlaintext,
)
from fhelium.config import CkksConfig
from fhelium.errors import CaptureError, MessageValueError
from fhelium.ir.dialects.ckks import CiphertextType, PlaintextType
from fhelium.ir.dialects.codec import MessageType, PreparePlaintextOp, Use
from fhelium.ir.dialects.core import ConstantOp
from fhelium.ir.methods.composites import CompositeMethods
from fhelium.ir.methods.core import flattened
from fhelium.ir.methods.declared import (
    ArithmeticMethods,
    LevelMethods,
    RepresentationMethods,
    RotationMethods,
)
from fhelium.ir.methods.key_record import KeyRecord
from fhelium.ir.operation import DeclaredOperation
from fhelium.values import Ciphertext, Plaintext


class SymbolicEngine(
    ArithmeticMethods, RotationMethods, LevelMethods, RepresentationMethods, CompositeMethods
):
    """Write calls of an Engine's methods into a Program.

    The methods are the Engine's own, and so are the checks and the states of results. A key that is
    not given becomes a material to bind later; one that is given, and an encoded vector that is no
    input, is bound at once.

    Args:
        compilation: Its Program and bindings are filled.
    """

    def __init__(self, compilation: Compilation) -> None:
        self.config = compilation.workspace.config
        self._compilation = compilation
        self._blocks = [compilation.program.block]
        self._materials = ProgramMaterials(compilation.program)
        self._record = KeyRecord(self.config)
        self._bound: dict[str, Any] = {}
        self._plaintexts: dict[int, int] = {}

    @property
    def block(self) -> Block:
        """Return the block that calls are written into."""
        return self._blocks[-1]

    @contextmanager
    def inside(self, block: Block) -> Iterator[None]:
        """Write calls into the block of a loop or a branch."""
        self._blocks.append(block)
        try:
            yield
        finally:
            self._blocks.pop()

    @property
    def _key_source(self) -> KeyRecord:
        return self._record

    def _apply_many(
        self, operation: type[DeclaredOperation], *operands: Any, **attributes: Any
    ) -> list[Ciphertext]:
        values = flattened(operation, operands)
        self._require_context(operation.public_name(), values[0].state)
        states = [_each(operand, KeyRecord.state_of) for operand in operands]
        state = operation.transfer(*states, **attributes)
        symbols = iter(operation.key_symbols(**attributes))
        groups = [
            _each(operand, lambda value, kind=kind.type: self._written(value, kind, symbols))
            for operand, kind in zip(operands, operation.operand_kinds(), strict=True)
        ]
        types: list[Any] = [CiphertextType.of().of_state(state)]
        if isinstance(operation.get_irdl_definition().results[0][1], VarResultDef):
            types = [types * operation.result_count(*operands)]
        made = operation.make(*groups, result_types=types, **attributes)
        self.block.add_op(made)
        return [SymbolicCiphertext.of(result, state) for result in made.results]

    def _apply_in_place(
        self, operation: type[DeclaredOperation], *operands: Any, **attributes: Any
    ) -> Ciphertext:
        result: Any = self._apply(operation, *operands, **attributes)
        target: Any = operands[0]
        target.become(result.value, result.state)
        return target

    def prepare_plaintext(
        self, message: Any, like: Ciphertext, for_: Use = "multiply", **options: Any
    ) -> Plaintext:
        """Encode a public vector when the Program is linked, or one that is an input at each run.

        Args:
            message: Real numbers for all slots, one number, or an input with the spec message().
            like: A ciphertext with the depth and scale of the later operand.
            for_: "multiply" or "add".
            **options: None; a bound follows from the message.
        """
        self._require_ciphertext("prepare_plaintext", like)
        if options:
            raise CaptureError(
                place(user_frame()),
                f"engine.prepare_plaintext gets {', '.join(options)}",
                "A captured message is bound by the smallest power of two that covers it",
                "Leave it out, or prepare the plaintext before and pass it with static()",
            )
        config, block = self.config, self.block
        if isinstance(message, SymbolicMessage):
            value, state = self.value_of(message), message.state
        else:
            constant = ConstantOp.of(_numbers(message, config), MessageType())
            block.add_op(constant)
            value, state = constant.result, message_state(constant.numbers(), config)
        encoded = PreparePlaintextOp.transfer(state, like.state, for_=for_)
        operands = value, self._ciphertext(like)
        types = [PlaintextType.of().of_state(encoded)]
        made = PreparePlaintextOp.make(*operands, result_types=types, for_=for_)
        block.add_op(made)
        return SymbolicPlaintext.of(made.result, encoded)

    def _written(
        self, value: Any, kind: Callable[[], Attribute], symbols: Iterator[str]
    ) -> SSAValue:
        """Return the Program's value for an operand, and bind what exists already."""
        if isinstance(value, Symbolic):
            return self.value_of(value)
        if isinstance(value, Ciphertext):
            return self._ciphertext(value)
        if isinstance(value, Plaintext):
            number = self._plaintexts.setdefault(id(value), len(self._plaintexts))
            kept = PlaintextType.of().of_state(value.state)
            return self._material(f"plaintext:{number}", kept, value)
        return self._material(next(symbols), kind(), value)

    def _material(self, symbol: str, kind: Attribute, value: Any) -> SSAValue:
        """Return the value of a material; what is no stand-in is bound to it."""
        if value.device.type != "meta":
            if self._bound.setdefault(symbol, value) is not value:
                raise CaptureError(
                    place(user_frame()),
                    f"two different values are given for {symbol}",
                    "A material of a Program is bound to one value",
                    "Use one of them throughout",
                )
            self._compilation.bind(symbol, value)
        return self._materials.value(symbol, kind)

    def _ciphertext(self, value: Ciphertext) -> SSAValue:
        """Return the Program's value for a ciphertext."""
        if isinstance(value, Symbolic):
            return self.value_of(value)
        raise CaptureError(
            place(user_frame()),
            "a ciphertext that is no input is an operand",
            "A Program computes on its inputs and on public materials",
            "Make it a parameter of the function, with the spec encrypted()",
        )

    def value_of(self, value: Symbolic) -> SSAValue:
        """Return the Program's value that a stand-in stands for."""
        owner = value.value.owner
        block = owner if isinstance(owner, Block) else owner.parent
        if block not in self._blocks:
            raise CaptureError(
                place(user_frame()),
                "a value of another capture, or of a loop or branch that ended, is used",
                "A Program computes on its own values, and on what a loop or branch returns",
                "Pass it as an input, or return it",
            )
        return value.value

    def __getattr__(self, name: str) -> NoReturn:
        raise CaptureError(
            place(user_frame()),
            f"engine.{name} is used",
            "A captured function calls methods that compute ciphertexts from ciphertexts; keys, "
            "messages and decryption stay outside",
            "Do it before or after the run, and pass what it gives as an input or with static()",
        )


def _numbers(message: Any, config: CkksConfig) -> torch.Tensor:
    """Return a public vector as the Program holds it: all slots, or one number for all."""
    found = torch.as_tensor(message)
    if found.is_complex() or found.dtype == torch.bool or found.shape[1:]:
        raise CaptureError(
            place(user_frame()),
            f"a message of {found.dtype} and shape {tuple(found.shape)} is encoded",
            "A Program holds vectors of real numbers",
            "Encode it with engine.prepare_plaintext before, and pass the plaintext with static()",
        )
    if found.dim() and found.shape[0] != config.num_slots:
        raise MessageValueError(
            "prepare_plaintext",
            f"the message has {found.shape[0]} values, the number of slots is {config.num_slots}",
            "A message fills all slots",
            "Repeat or pad it",
        )
    return checked_message("prepare_plaintext", "message", found, config)


def _each(operand: Any, function: Callable[[Any], Any]) -> Any:
    """Apply a function to a value, or to each of a list."""
    if isinstance(operand, list | tuple):
        return [function(value) for value in operand]
    return function(operand)
