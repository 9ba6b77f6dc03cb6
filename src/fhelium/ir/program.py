"""Program: one function of the IR, with its text and its drawing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import ArrayAttr, Builtin, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import Func, FuncOp, ReturnOp
from xdsl.dialects.scf import IfOp, Scf
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.rewriter import Rewriter
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
from fhelium.ir.simulation import SimulatedValue, simulate

DIALECTS = (CORE, SEMANTIC, LOGICAL, CODEC, CKKS, RNS, NTT)
NAME = "core.name"
"""Attribute of an input that holds its name: names of values are hints only in MLIR text."""


class Input(NamedTuple):
    """One input of a Program."""

    name: str
    value: SSAValue

    @property
    def type(self) -> Attribute:
        """Return the input's type."""
        return self.value.type


class Program:
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

    def __init__(self, module: ModuleOp) -> None:
        functions = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
        found = len(list(module.body.block.ops))
        if len(functions) != 1 or found != 1:
            raise ProgramError(
                "Program",
                f"the module holds {found} operations, {len(functions)} of them functions",
                "A Program is one function",
                "Keep one func.func in the module",
            )
        if len(functions[0].body.blocks) != 1:
            raise ProgramError(
                "Program",
                f"@{functions[0].sym_name.data} has {len(functions[0].body.blocks)} blocks",
                "The function of a Program has one block",
                "Give the function a body without branches",
            )
        self.module = module

    @classmethod
    def create(cls, name: str, inputs: Sequence[tuple[str, Attribute]]) -> Self:
        """Start a Program with named inputs and no operations; ``finish`` ends it.

        Args:
            name: Name of the function.
            inputs: Name and type of each input.
        """
        types = [kind for _, kind in inputs]
        block = Block(arg_types=types)
        for (hint, _), argument in zip(inputs, block.args, strict=True):
            argument.name_hint = hint
        names = [DictionaryAttr({NAME: StringAttr(hint)}) for hint, _ in inputs]
        function = FuncOp(name, (types, []), Region(block), arg_attrs=ArrayAttr(names))
        return cls(ModuleOp([function]))

    def finish(self, results: Sequence[SSAValue]) -> None:
        """End the function: it returns these values."""
        self.block.add_op(ReturnOp(*results))
        self.update_signature()

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
        return draw(self.name, self.inputs, self.operations, form)

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

    def clone(self) -> Self:
        """Return an independent copy."""
        return type(self)(self.module.clone())

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
                raise ProgramError(
                    "Program.verify",
                    f"operation {index} ({name}): operand {position} is used before it is defined",
                    "A value is defined by an operation above its uses",
                    "Move the definition up",
                    index=index,
                    name=name,
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
                    raise ProgramError(
                        "Program.verify",
                        f"operation {index} ({operation.name}): its branches give {shown}, its "
                        f"results are {_types(needed)}",
                        "Both branches give values of the types of the results",
                        "Correct one of them",
                        index=index,
                        name=operation.name,
                    )

    @property
    def function(self) -> FuncOp:
        """Return the one function."""
        function = self.module.body.block.first_op
        assert isinstance(function, FuncOp)
        return function

    @property
    def block(self) -> Block:
        """Return the function's block."""
        return self.function.body.block

    @property
    def name(self) -> str:
        """Return the function's name."""
        return self.function.sym_name.data

    @property
    def operations(self) -> tuple[Operation, ...]:
        """Return the operations in order, those of a region behind the one that has the region.

        The return is the last.
        """
        return tuple(inner for operation in self.block.ops for inner in operation.walk())

    @property
    def inputs(self) -> tuple[Input, ...]:
        """Return the inputs by name."""
        given = self.function.arg_attrs
        found = []
        for index, argument in enumerate(self.block.args):
            named = given.data[index].data.get(NAME) if given is not None else None
            name = named.data if isinstance(named, StringAttr) else f"input{index}"
            found.append(Input(name, argument))
        return tuple(found)

    @property
    def input_names(self) -> tuple[str, ...]:
        """Return the names of the inputs in order."""
        return tuple(entry.name for entry in self.inputs)

    @property
    def outputs(self) -> tuple[SSAValue, ...]:
        """Return the values that the function returns."""
        last = self.block.last_op
        if not isinstance(last, ReturnOp):
            raise ProgramError(
                "Program",
                f"the last operation of @{self.name} is {last.name if last else 'missing'}",
                "A function ends with func.return",
                "Add a func.return",
            )
        return tuple(last.operands)

    def attributes(self) -> dict[str, str]:
        """Return the texts that passes noted on the module, such as ``ntt.backend``."""
        found = self.module.attributes.items()
        return {name: value.data for name, value in found if isinstance(value, StringAttr)}

    def set_attribute(self, name: str, value: str) -> None:
        """Note a text on the module."""
        self.module.attributes[name] = StringAttr(value)

    def update_signature(self) -> None:
        """Write the types of inputs and returned values into the function's type."""
        self.function.update_function_type()

    def retype(self, value: SSAValue, kind: Attribute) -> SSAValue:
        """Give a value another type and return the value that took its place."""
        return value if value.type == kind else Rewriter.replace_value_with_new_type(value, kind)

    def __iter__(self) -> Iterator[Operation]:
        return iter(self.operations)

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
        raise ProgramError(
            "Program.verify",
            f"operation {index} ({operation.name}): {_first_lines(error)}",
            "Every operation obeys its declaration",
            "Correct it",
            index=index,
            name=operation.name,
        ) from error


def _first_lines(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" ^-")]
    return " ".join(" ".join(lines).split())[:600]


def _types(types: Iterable[Attribute]) -> str:
    return f"({', '.join(map(str, types))})"
