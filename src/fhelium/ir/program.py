"""Program: one function of the IR, with its text and its drawing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any, Literal, Self

from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.dialects.scf import IfOp, Scf
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import DiagnosticException, ParseError, VerifyException

from fhelium.config import CkksConfig
from fhelium.errors import ProgramError
from fhelium.ir.dialects.ckks import CKKS
from fhelium.ir.dialects.codec import CODEC
from fhelium.ir.dialects.core import CORE
from fhelium.ir.dialects.logical import LOGICAL
from fhelium.ir.dialects.ntt import NTT
from fhelium.ir.dialects.rns import RNS
from fhelium.ir.dialects.semantic import SEMANTIC
from fhelium.ir.drawing import draw
from fhelium.ir.function import FunctionModule
from fhelium.ir.simulation import SimulatedValue, simulate

DIALECTS = (CORE, SEMANTIC, LOGICAL, CODEC, CKKS, RNS, NTT)


class Program(FunctionModule):
    """One function in MLIR's static single assignment form, over the project's dialects.

    A Program prints as text that parses back to the same text. Passes work on clones of it.

    Args:
        module: A module that holds exactly one function with one block.

    Raises:
        ProgramError: The module is of another form.

    Example:
        >>> text = '''
        ... func.func @double(%x : !ckks.ciphertext {core.name = "x"}) -> !ckks.ciphertext {
        ...   %0 = "ckks.add"(%x, %x) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
        ...   func.return %0 : !ckks.ciphertext
        ... }'''
        >>> program = Program.parse(text)
        >>> program.name, program.input_names, [op.name for op in program.operations]
        ('double', ('x',), ['ckks.add', 'func.return'])
        >>> Program.parse(program.to_text()).to_text() == program.to_text()
        True
    """

    @classmethod
    def parse(cls, text: str, name: str = "<text>") -> Self:
        """Read a Program from MLIR text, pretty or generic.

        Args:
            text: The text.
            name: What an error calls the place the text comes from.

        Raises:
            ProgramError: The text is malformed, names an unknown operation or type, uses a value
                before its definition, or breaks a rule of an operation.
        """
        _require_harmless(text, name)
        try:
            module = Parser(_context(), text, name).parse_module()
        except _UNREADABLE as error:
            raise ProgramError(
                "Program.parse",
                f"the text of {name} cannot be read: {_first_lines(error)}",
                "A Program is MLIR text over the dialects "
                f"{', '.join(dialect.name for dialect in DIALECTS)}",
                "Correct the text at that place",
            ) from error
        program = cls(module)
        program.verify()
        return program

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a Program from a file of MLIR text.

        Raises:
            ProgramError: As ``parse``, with the path; also where the file holds no UTF-8 text.
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise ProgramError(
                "Program.load",
                f"byte {error.start} of {path} is no text",
                "A Program is MLIR text in UTF-8",
                "Name a file that Program.save wrote",
            ) from error
        return cls.parse(text, str(path))

    def save(self, path: str | Path) -> None:
        """Write the Program's text to a file."""
        Path(path).write_text(self.to_text(), encoding="utf-8")

    def to_text(self, *, generic: bool = False) -> str:
        """Return the Program as MLIR text.

        Args:
            generic: Write every operation in MLIR's generic form, also those with one of their own.
        """
        stream = StringIO()
        Printer(stream=stream, print_generic_format=generic).print_op(self.module)
        return f"{stream.getvalue()}\n"

    def draw(self, form: Literal["dot", "mermaid"] = "mermaid") -> str:
        """Return a picture of the data flow as DOT or Mermaid text.

        Edges carry the depth and the scale of the value that flows along them.

        Raises:
            ProgramError: The form is neither of the two.
        """
        return draw(self, form)

    def simulate(
        self,
        inputs: Mapping[str, Any],
        *,
        config: CkksConfig | None = None,
        message_bound: float = 1.0,
    ) -> tuple[SimulatedValue, ...]:
        """Compute on clear vectors, with the errors that a run on ciphertexts would have.

        Each operation's clear meaning is computed twice: exactly, and with errors drawn at the size
        that its declaration gives, from inputs with the error of an encryption. So errors grow with
        the values at hand, while bounds hold for every message that obeys the declared bound. No
        key is needed. Two calls give the same.

        Args:
            inputs: Clear slots of every input by name, and of encoded materials by symbol; real or
                complex, [*batch, slot] or one number for all slots. Public numbers, which decide
                how often loops run and which branches are taken, are ints and bools.
            config: Parameters of the Program's ciphertexts. A Program above ckks has no errors, and
                needs none.
            message_bound: Largest magnitude that every input is declared to have.

        Returns:
            One SimulatedValue for each output.

        Raises:
            ProgramError: An operation computes on residues, or an input is missing.
            MessageValueError: An input has a slot beyond the bound, or is no vector of slots.
            FHEliumError: What the same calls of an Engine raise.

        Example:
            >>> import torch
            >>> config = CkksConfig.create(depth=2, scale_bits=40)
            >>> text = '''
            ... func.func @f(%x : !ckks.ciphertext {core.name = "x"}) -> !ckks.ciphertext {
            ...   %0 = "ckks.negate"(%x) : (!ckks.ciphertext) -> !ckks.ciphertext
            ...   func.return %0 : !ckks.ciphertext
            ... }'''
            >>> (found,) = Program.parse(text).simulate({"x": 0.25}, config=config)
            >>> float(found.value[0].real), found.bits > 25
            (-0.25, True)
        """
        return simulate(self, inputs, config, message_bound)

    def verify(self) -> None:
        """Check every operation and type.

        Raises:
            ProgramError: One breaks a rule; the text names the operation by index and name.
        """
        try:
            self.module.verify()
        except (VerifyException, DiagnosticException) as error:
            for index, operation in enumerate(self.operations):
                _verify_one(index, operation)
            raise ProgramError(
                "Program.verify",
                _first_lines(error),
                "A Program obeys the rules of its IR",
                "Correct that place",
            ) from error
        self._verify_order()
        self._verify_branches()
        declared = self.function.function_type.outputs.data
        returned = tuple(value.type for value in self.outputs)
        if declared != returned:
            raise ProgramError(
                "Program.verify",
                f"@{self.name} says it returns {_types(declared)}, it returns {_types(returned)}",
                "A function returns what its type says",
                "Correct one of them",
            )

    def _verify_order(self) -> None:
        """Refuse an operation that uses a value before its definition."""
        defined: set[SSAValue] = set(self.block.args)
        for operation in self.block.ops:
            for name, position in _undefined(operation, defined):
                index = self.operations.index(operation)
                raise _refusal(
                    index,
                    name,
                    f"operand {position} is used before it is defined",
                    "A value is defined by an operation above its uses",
                    "Move the definition up",
                )
            defined.update(operation.results)

    def _verify_branches(self) -> None:
        """Refuse a branch that does not give what its results are."""
        for index, operation in enumerate(self.operations):
            if isinstance(operation, IfOp):
                needed = [result.type for result in operation.results]
                regions = (operation.true_region, operation.false_region)
                ends = [block.last_op for region in regions for block in region.blocks]
                given = [[v.type for v in end.operands] for end in ends if end is not None]
                if any(types != needed for types in given) or (needed and len(given) != 2):
                    shown = " and ".join(map(_types, given))
                    raise _refusal(
                        index,
                        operation.name,
                        f"its branches give {shown}, its results are {_types(needed)}",
                        "Both branches give values of the types of the results",
                        "Correct one of them",
                    )

    def __repr__(self) -> str:
        return f"Program(@{self.name}, {len(self.operations)} operations)"


_STRING = re.compile(r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"')

# Numbers and nesting without end are Python's to refuse; the text is at fault all the same.
_UNREADABLE = (
    ParseError,
    DiagnosticException,
    VerifyException,
    ValueError,
    OverflowError,
    RecursionError,
)


def _require_harmless(text: str, name: str) -> None:
    """Refuse what costs xDSL's parser time or memory that the text is not worth.

    Its lexer takes exponential time for a string without an end, and a dense attribute of a few
    characters fills as much memory as its type says.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        code = _STRING.sub("", line).partition("//")[0]
        if '"' in code:
            raise ProgramError(
                "Program.parse",
                f"line {number} of {name} holds a string without an end",
                "A string ends on the line it begins on",
                "Close it",
            )
        if "dense<" in code:
            raise ProgramError(
                "Program.parse",
                f"line {number} of {name} holds a dense attribute",
                "Numbers of a Program are written one by one, as [0.5 : f64, ...]",
                "Write them so in a core.constant",
            )


def _undefined(operation: Operation, defined: set[SSAValue]) -> Iterator[tuple[str, int]]:
    """Give each use of a value that is not defined, with those in an operation's regions."""
    for position, value in enumerate(operation.operands):
        if value not in defined:
            yield operation.name, position
    for region in operation.regions:
        for block in region.blocks:
            inside = defined | set(block.args)
            for inner in block.ops:
                yield from _undefined(inner, inside)
                inside.update(inner.results)


def _context() -> Context:
    context = Context()
    for dialect in (Builtin, Func, Arith, Scf, *DIALECTS):
        context.load_dialect(dialect)
    return context


def _verify_one(index: int, operation: Operation) -> None:
    try:
        operation.verify()
    except (VerifyException, DiagnosticException) as error:
        fact, rule = _first_lines(error), "Every operation obeys its declaration"
        raise _refusal(index, operation.name, fact, rule, "Correct it") from error


def _refusal(index: int, name: str, fact: str, rule: str, remedy: str) -> ProgramError:
    where = f"operation {index} ({name})"
    return ProgramError("Program.verify", f"{where}: {fact}", rule, remedy, index=index, name=name)


def _first_lines(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" ^-")]
    return " ".join(" ".join(lines).split())[:600]


def _types(types: Iterable[Attribute]) -> str:
    return f"({', '.join(map(str, types))})"
