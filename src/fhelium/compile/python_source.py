"""Python text of a Program: what both emitters and the linked host function share."""

from __future__ import annotations

import builtins
import keyword
import re
from dataclasses import dataclass, field

import torch
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue

from fhelium.errors import PythonCodegenError
from fhelium.ir.dialects.core import CastOp, ConstantOp, MaterialOp, ResourceOp
from fhelium.ir.program import Program


@dataclass(frozen=True)
class GeneratedPythonSource:
    """Python text that computes what a Program said when it was emitted.

    Execute it only if you trust the Program and the registry that it came from.

    Args:
        source: The text; it runs with public imports alone.
        entry_point: Name of the function in it.
        input_names: Names of its positional inputs, in order.
        material_symbols: Symbols it reads from ``materials``.
        resource_symbols: Symbols it reads from ``resources``.
        operation_count: Operations that it calls.

    Example:
        >>> from fhelium import compile as fc
        >>> steps = (*fc.default_lower_and_fuse_pipeline().passes, fc.EmitEagerPythonPass())
        >>> found = fc.Pipeline(steps).run(captured)
        >>> source = found.workspace[fc.EagerPythonSource]
        >>> source.entry_point, source.input_names, source.material_symbols, source.operation_count
        ('generated_eager', ('x', 'y'), ('rotation-key:3',), 2)
        >>> namespace = {}
        >>> exec(source.source, namespace)
        >>> keys = {"rotation-key:3": engine.keys.rotation(3)}
        >>> result = namespace[source.entry_point](engine, x, y, materials=keys, resources={})
        >>> torch.equal(result.data, engine.add(engine.rotate_by_step(x, 3), y).data)
        True
    """

    source: str
    entry_point: str
    input_names: tuple[str, ...]
    material_symbols: tuple[str, ...]
    resource_symbols: tuple[str, ...]
    operation_count: int


class EagerPythonSource(GeneratedPythonSource):
    """Calls of the Engine's methods; values and keys go in, values come out.

    Example:
        >>> from fhelium import compile as fc
        >>> steps = (*fc.default_lower_and_fuse_pipeline().passes, fc.EmitEagerPythonPass())
        >>> source = fc.Pipeline(steps).run(captured).workspace[EagerPythonSource]
        >>> source.source.splitlines()[3]
        'def generated_eager(engine, x, y, *, materials, resources):'
    """


class BackendPythonSource(GeneratedPythonSource):
    """Calls of implementations; tensors go in, tensors come out.

    Example:
        >>> from fhelium import compile as fc
        >>> steps = (*fc.default_lower_and_fuse_pipeline().passes, fc.EmitBackendPythonPass())
        >>> source = fc.Pipeline(steps).run(captured).workspace[BackendPythonSource]
        >>> "def generated_backend(x, y, *, materials, resources):" in source.source
        True
    """


def refusal(index: int, operation: str, fact: str, remedy: str) -> PythonCodegenError:
    """Return the error of an operation that an emitter cannot write."""
    return PythonCodegenError(
        f"operation {index} ({operation})",
        fact,
        "An emitter writes what it has a call for, and nothing else",
        remedy,
        index=index,
        name=operation,
    )


def require_one_row(program: Program) -> None:
    """Refuse control flow: an emitter writes one row of calls."""
    for index, operation in enumerate(program.operations):
        if operation.regions:
            raise refusal(
                index,
                operation.name,
                "it is control flow",
                "Make its bounds and conditions constants, and run UnrollControlFlowPass first",
            )


def call_lines(head: str, arguments: list[str], width: int = 96) -> list[str]:
    """Write a call on one line, or one argument a line where that is too long."""
    line = f"{head}({', '.join(arguments)})"
    if len(line) <= width:
        return [line]
    inner = "\n".join(f"{argument}," for argument in arguments).split("\n")
    return [f"{head}(", *(f"    {part}" for part in inner), ")"]


def tuple_text(parts: list[str], width: int = 90) -> str:
    """Write a tuple on one line, or one part a line where that is too long."""
    line = f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    return line if len(line) <= width else "\n".join(["(", *(f"    {p}," for p in parts), ")"])


class Names:
    """Give every value a Python name that is free and says what it is.

    Args:
        *taken: Names that are in use already.
    """

    def __init__(self, *taken: str) -> None:
        self._taken = {*taken, *dir(builtins), *keyword.kwlist, *keyword.softkwlist}
        self._names: dict[SSAValue, str] = {}

    def fresh(self, wish: str) -> str:
        """Return a free identifier that is like the wish, and take it."""
        base = re.sub(r"\W+", "_", wish, flags=re.ASCII).strip("_").lower() or "value"
        base = f"_{base}" if base[0].isdigit() else base
        name, count = base, 2
        while name in self._taken:
            name, count = f"{base}_{count}", count + 1
        self._taken.add(name)
        return name

    def exactly(self, name: str) -> str:
        """Take this name, or one with a number behind it where it is in use."""
        found, count = name, 2
        while found in self._taken:
            found, count = f"{name}{count}", count + 1
        self._taken.add(found)
        return found

    def define(self, value: SSAValue, wish: str) -> str:
        """Name a value."""
        self._names[value] = self.fresh(wish)
        return self._names[value]

    def alias(self, value: SSAValue, name: str) -> None:
        """Let a value go by a name that is defined already."""
        self._names[value] = name

    def __getitem__(self, value: SSAValue) -> str:
        return self._names[value]

    def listed(self, values: tuple[SSAValue, ...]) -> str:
        """Write values as a tuple."""
        names = [self._names[value] for value in values]
        return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


@dataclass
class Body:
    """Collect the lines of a function that computes a Program.

    Args:
        program: The Program.
        names: Names of its values; the inputs get theirs here.
    """

    program: Program
    names: Names
    lines: list[str] = field(default_factory=list)
    material_symbols: dict[str, str] = field(default_factory=dict)
    resource_symbols: dict[str, str] = field(default_factory=dict)
    constants: dict[str, torch.Tensor] = field(default_factory=dict)
    operation_count: int = 0

    def __post_init__(self) -> None:
        self.input_names = tuple(
            self.names.define(entry.value, entry.name) for entry in self.program.inputs
        )

    def material(self, symbol: str) -> str:
        """Return the name of a material, which is read at the function's top."""
        if symbol not in self.material_symbols:
            self.material_symbols[symbol] = self.names.fresh(symbol)
        return self.material_symbols[symbol]

    def resource(self, symbol: str) -> str:
        """Return the name of a resource, which is read at the function's top."""
        if symbol not in self.resource_symbols:
            self.resource_symbols[symbol] = self.names.fresh(symbol)
        return self.resource_symbols[symbol]

    def results(self, operation: Operation) -> str:
        """Name an operation's results and return the left side of an assignment."""
        self.operation_count += 1
        wish = operation.name.partition(".")[2]
        return ", ".join(self.names.define(result, wish) for result in operation.results)

    def write_core(self, operation: Operation) -> bool:
        """Write an operation that computes nothing; say whether it was one."""
        if isinstance(operation, MaterialOp):
            self.names.alias(operation.result, self.material(operation.symbol.data))
        elif isinstance(operation, ResourceOp):
            self.names.alias(operation.result, self.resource(operation.symbol.data))
        elif isinstance(operation, ConstantOp):
            self.constants[self.names.define(operation.result, "constant")] = operation.numbers()
        elif isinstance(operation, CastOp):
            self.names.alias(operation.result, self.names[operation.input])
        elif isinstance(operation, ReturnOp):
            returned = [self.names[value] for value in operation.operands]
            self.lines.append(f"return {', '.join(returned)}".rstrip())
        else:
            return False
        return True

    def constant_text(self) -> str:
        """Write the constants, for the place above the function."""
        lines = [
            f"{name} = torch.tensor({numbers.tolist()!r}, dtype=torch.float64)"
            for name, numbers in self.constants.items()
        ]
        return "\n".join([*(["import torch", "", *lines] if lines else []), "\n"])

    def function(self, name: str, *before: str) -> str:
        """Write the function, whose first parameters are given."""
        parameters = [*before, *self.input_names, "*", "materials", "resources"]
        reads = [
            f"{name} = {source}[{symbol!r}]"
            for source, symbols in (
                ("materials", self.material_symbols),
                ("resources", self.resource_symbols),
            )
            for symbol, name in symbols.items()
        ]
        lines = [f"def {name}({', '.join(parameters)}):", *(f"    {x}" for x in reads + self.lines)]
        return "\n".join([*lines, ""])
