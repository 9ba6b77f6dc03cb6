"""EmitBackendPythonPass."""

from __future__ import annotations

from dataclasses import dataclass

from fhelium.backend import (
    BoundResource,
    OperationImplementation,
    OperationImplementationRegistry,
    builtin_registry,
)
from fhelium.compile.calls import OperationCall, call_of
from fhelium.compile.compilation import Compilation
from fhelium.compile.pipeline import CompilePass
from fhelium.compile.python_imports import Imports
from fhelium.compile.python_source import (
    BackendPythonSource,
    Body,
    Names,
    call_lines,
    refusal,
    require_one_row,
    tuple_text,
)
from fhelium.errors import CompileError, ImplementationError
from fhelium.ir.operation import DeclaredOperation

ENTRY_POINT = "generated_backend"


@dataclass(frozen=True)
class EmitBackendPythonPass(CompilePass):
    """Write the Program as calls of implementations and publish it as BackendPythonSource.

    The implementations are resolved here, among those of the registry; the Program stays as it is.

    Args:
        registry: Implementations; the built-in ones when omitted.

    Raises:
        PythonCodegenError: An operation has no implementation, several, or one that cannot be
            written as an import; the text names the operation.

    Example:
        >>> from fhelium import compile as fc
        >>> steps = (*fc.default_lower_and_fuse_pipeline().passes, fc.EmitBackendPythonPass())
        >>> source = fc.Pipeline(steps).run(captured).workspace[fc.BackendPythonSource]
        >>> source.material_symbols[0], source.resource_symbols
        ('rotation-key:3', ())
    """

    registry: OperationImplementationRegistry | None = None

    def run(self, compilation: Compilation) -> None:
        program, config = compilation.program, compilation.workspace.config
        registry = builtin_registry() if self.registry is None else self.registry
        names = Names("torch", "materials", "resources", ENTRY_POINT)
        writer = _Writer(Imports(names), Body(program, names))
        require_one_row(program)
        for index, operation in enumerate(program.operations):
            if writer.body.write_core(operation):
                continue
            if not isinstance(operation, DeclaredOperation):
                raise refusal(
                    index,
                    operation.name,
                    "implementations serve the dialects ckks, rns and ntt",
                    "Lower it first, with LowerSemanticToLogicalPass and LowerLogicalToCkksPass",
                )
            try:
                call = call_of(program, operation, config, registry)
            except (CompileError, ImplementationError) as error:
                raise refusal(
                    index, operation.name, f"{error.fact}. {error.rule}", error.remedy
                ) from error
            writer.write(index, operation, call)
        compilation.workspace[BackendPythonSource] = writer.source(program.name)


class _Writer:
    """Collect what stands above the function, and the function."""

    def __init__(self, imports: Imports, body: Body) -> None:
        self.imports = imports
        self.body = body
        self.preparation: list[str] = []
        self._implementations: dict[int, str] = {}

    def write(self, index: int, operation: DeclaredOperation, call: OperationCall) -> None:
        """Write one call."""
        position = self.body.operation_count
        implementation = self._implementation(index, operation, call.implementation)
        invocation = self.body.names.fresh(f"invocation_{position}")
        self._invocation(invocation, call)
        inputs = [self.body.names[value] for value in call.operands]
        inputs += [self.body.material(symbol) for symbol in call.symbols]
        required = call.implementation.resource_requirements(call.invocation)
        bound = [self._bound(requirement.name) for requirement in required]
        head = f"{self.body.results(operation)}, = {implementation}.execute"
        arguments = [invocation, tuple_text(inputs), tuple_text(bound), "in_place=False"]
        self.body.lines += call_lines(head, arguments)

    def source(self, name: str) -> BackendPythonSource:
        """Return the finished text."""
        header = f'"""The Program {name!r} as calls of implementations."""\n'
        parts = [header, self.imports.text(), *self.preparation, self.body.constant_text()]
        return BackendPythonSource(
            "\n".join(parts) + self.body.function(ENTRY_POINT),
            ENTRY_POINT,
            self.body.input_names,
            tuple(self.body.material_symbols),
            tuple(self.body.resource_symbols),
            self.body.operation_count,
        )

    def _implementation(
        self, index: int, operation: DeclaredOperation, found: OperationImplementation
    ) -> str:
        """Return the name of an implementation; equal ones are made once."""
        if id(found) not in self._implementations:
            name = self.body.names.fresh(f"implementation_{len(self._implementations)}")
            constructor = self.imports.constructor(index, operation, found)
            self.preparation.append(f"{name} = {constructor}")
            self._implementations[id(found)] = name
        return self._implementations[id(found)]

    def _invocation(self, name: str, call: OperationCall) -> None:
        facts = call.invocation
        kind = self.imports.of(facts.operation_type)
        attributes = "\n".join(
            ["attributes={", *(f"    {key!r}: {v!r}," for key, v in facts.attributes.items()), "}"]
        )
        arguments = [
            f"operation_type={kind}",
            f"operand_count={facts.operand_count}",
            f"result_count={facts.result_count}",
            attributes,
        ]
        self.preparation += call_lines(f"{name} = {self.imports.of(type(facts))}", arguments, 0)

    def _bound(self, name: str) -> str:
        return f"{self.imports.of(BoundResource)}({name!r}, {self.body.resource(name)})"
