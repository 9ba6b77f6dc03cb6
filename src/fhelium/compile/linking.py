"""Linking: from a Compilation to a prepared function over tensors."""

from __future__ import annotations

from xdsl.ir import Operation

from fhelium.backend import OperationBackend
from fhelium.compile.calls import OperationCall, call_of
from fhelium.compile.compilation import Compilation
from fhelium.compile.executable import ProgramExecutable
from fhelium.compile.host_function import HostFunction
from fhelium.compile.material_operands import materials_of
from fhelium.compile.passes.eliminate_dead_values import EliminateDeadValuesPass
from fhelium.compile.passes.fuse_regions import FuseRegionsPass
from fhelium.compile.passes.prepare_operation_operands import PrepareOperationOperandsPass
from fhelium.compile.passes.validate_for_linking import ValidateForLinkingPass
from fhelium.compile.pipeline import Pipeline
from fhelium.compile.prepared_constants import prepared_constants
from fhelium.compile.workspace import CompileWorkspace
from fhelium.errors import LinkError
from fhelium.ir.operation import DeclaredOperation


class ProgramDispatchTable(dict[Operation, OperationCall]):
    """Map each operation of a linked Program to the call that computes it.

    Linking publishes it in the executable's workspace; nothing else writes or reads it.

    Example:
        >>> from fhelium import compile as fc
        >>> from fhelium.backend import OperationBackend
        >>> from fhelium.backend.ckks import CkksDeviceResources
        >>> found = fc.default_lower_and_fuse_pipeline().run(captured)
        >>> tables = CkksDeviceResources(config=engine.config)
        >>> _ = fc.prepare_material_bindings(found, resources=tables, keys=[engine.keys])
        >>> table = OperationBackend().link(found).workspace[ProgramDispatchTable]
        >>> [(operation.name, call.implementation.name) for operation, call in table.items()]
        [('ckks.rotate', 'native-ckks-whole-key-switch'), ('ckks.add', 'native-rns-linear')]
    """


def link(compilation: Compilation, backend: OperationBackend) -> ProgramExecutable:
    """Resolve, bind and prepare a compilation; ``Compilation.link`` says how.

    The workspace and the bindings are fresh: nothing that is linked later changes this executable.
    """
    own = compilation.copy()
    own.workspace = CompileWorkspace(compilation.workspace)
    passes = (
        ValidateForLinkingPass(),
        EliminateDeadValuesPass(),
        PrepareOperationOperandsPass(backend.registry),
    )
    on_cpu = all(tensor.device.type == "cpu" for tensor in own.material_bindings.values())
    # Elsewhere each step of a region is a launch of its own.
    regions = (FuseRegionsPass(backend.registry),) if on_cpu else ()
    linked = Pipeline((*passes, *regions)).run(own)
    linked.workspace[ProgramDispatchTable] = _resolved(linked, backend)
    _require_bound(linked)
    calls, materials = linked.workspace[ProgramDispatchTable], linked.material_bindings
    constants = prepared_constants(linked.program, calls, materials, linked.workspace.config)
    host = HostFunction.of(linked.program, calls, materials, constants, backend.workspace)
    return ProgramExecutable(linked, host)


def _resolved(compilation: Compilation, backend: OperationBackend) -> ProgramDispatchTable:
    program, config = compilation.program, compilation.workspace.config
    table = ProgramDispatchTable()
    for operation in program.operations:
        if isinstance(operation, DeclaredOperation):
            table[operation] = call_of(program, operation, config, backend.registry)
    return table


def _require_bound(compilation: Compilation) -> None:
    symbols = [operation.symbol.data for operation in materials_of(compilation.program)]
    missing = [symbol for symbol in symbols if symbol not in compilation.material_bindings]
    if missing:
        raise LinkError(
            "link",
            f"{len(missing)} of {len(symbols)} materials are not bound: {missing}",
            "A Program computes with the keys and tables it names",
            "Make a missing key with the Engine; give it to a compiled function by keys= or its "
            "add_keys, and to a compilation by prepare_material_bindings",
            missing=tuple(missing),
        )
