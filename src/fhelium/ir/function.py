"""A module of the IR that holds one function, and access to its parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from fhelium.errors import ProgramError

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


class FunctionModule:
    """The structure of a Program, for what Programs are made of and for what reads them."""

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

    def clone(self) -> Self:
        """Return an independent copy."""
        return type(self)(self.module.clone())

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
