"""Materials of a Program: which keys it needs, and the tensors that they are bound to."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fhelium.backend import OperationImplementationRegistry, builtin_registry
from fhelium.backend.ckks import CkksDeviceResources
from fhelium.compile.calls import call_of
from fhelium.compile.compilation import Compilation
from fhelium.compile.material_operands import materials_of
from fhelium.errors import (
    CompileError,
    ContextMismatchError,
    DeviceMismatchError,
    ImplementationError,
)
from fhelium.ir.dialects import ckks
from fhelium.ir.operation import DeclaredOperation
from fhelium.ir.program import Program
from fhelium.ir.types import TableType
from fhelium.values import (
    ConjugationKey,
    EvaluationKeys,
    RelinearizationKey,
    RotationKey,
    SwitchingKey,
    require_same_context,
)

if TYPE_CHECKING:
    from fhelium.config import CkksConfig

_KEY_SYMBOLS: dict[type, Any] = {
    RotationKey: lambda key: ckks.RotateOp.key_symbols(step=key.step),
    RelinearizationKey: lambda key: ckks.RelinearizeOp.key_symbols(),
    ConjugationKey: lambda key: ckks.ConjugateOp.key_symbols(),
    SwitchingKey: lambda key: ckks.SwitchKeyOp.key_symbols(source_key_id=key.source_key_id),
}


@dataclass(frozen=True)
class EvaluationKeyRequirements:
    """The evaluation keys that a Program needs, known before any of them exists.

    Args:
        steps: Rotation steps, canonical and ascending.
        needs_relinearization: Whether a product is relinearized.
        needs_conjugation: Whether slots are conjugated.
        source_key_ids: Secret keys that a ciphertext is switched from.

    Example:
        >>> text = '''
        ... func.func @f(%x : !ckks.ciphertext {core.name = "x"}) -> !ckks.ciphertext {
        ...   %0 = "ckks.rotate"(%x) <{step = 3, operandSegmentSizes = array<i32: 1, 0, 0>}> :
        ...     (!ckks.ciphertext) -> !ckks.ciphertext
        ...   func.return %0 : !ckks.ciphertext
        ... }'''
        >>> EvaluationKeyRequirements.of(Program.parse(text)).steps
        (3,)
    """

    steps: tuple[int, ...] = ()
    needs_relinearization: bool = False
    needs_conjugation: bool = False
    source_key_ids: tuple[str, ...] = ()

    @classmethod
    def of(cls, program: Program | Compilation) -> EvaluationKeyRequirements:
        """Read the requirements off a Program at any stage from ckks down."""
        found = program.program if isinstance(program, Compilation) else program
        symbols = set(_key_symbols(found))
        return cls(
            steps=tuple(sorted(int(step) for step in _parts(symbols, "rotation-key"))),
            needs_relinearization="relinearization-key" in symbols,
            needs_conjugation="conjugation-key" in symbols,
            source_key_ids=tuple(sorted(_parts(symbols, "switching-key"))),
        )


def _key_symbols(program: Program) -> Iterator[str]:
    for operation in materials_of(program):
        if not isinstance(operation.result.type, TableType):
            yield operation.symbol.data
    for operation in program.operations:
        if isinstance(operation, DeclaredOperation) and None in operation.operand_groups():
            yield from operation.key_symbols(**operation.python_attributes())


def _parts(symbols: set[str], family: str) -> Iterator[str]:
    for symbol in symbols:
        name, colon, part = symbol.partition(":")
        if colon and name == family:
            yield part


def prepare_material_bindings(
    compilation: Compilation,
    *,
    resources: CkksDeviceResources,
    keys: Iterable[Any] = (),
    registry: OperationImplementationRegistry | None = None,
) -> tuple[str, ...]:
    """Bind the materials of a Program that are missing and exactly determined.

    Numerical tables come from the resources, evaluation keys from those given. What is bound stays;
    no key is ever made here.

    Args:
        compilation: Its ``material_bindings`` are filled.
        resources: Makes the tables, on its device.
        keys: Evaluation keys, or whole EvaluationKeys.
        registry: Says which tables the operations read that do not name them; the built-in
            implementations when omitted. Link with the same.

    Returns:
        The symbols that stay unbound.

    Raises:
        ContextMismatchError: The resources or a key belong to other parameters.
        KeyMismatchError: Two keys belong to different secret keys, and none leads from one to the
            other.
        DeviceMismatchError: A key is on another device than the tables.

    Example:
        >>> from fhelium import compile as fc
        >>> found = fc.default_lower_and_fuse_pipeline().run(captured)
        >>> tables = CkksDeviceResources(config=engine.config)
        >>> fc.prepare_material_bindings(found, resources=tables)
        ('rotation-key:3',)
        >>> fc.prepare_material_bindings(found, resources=tables, keys=[engine.keys])
        ()
    """
    config = compilation.workspace.config
    _require_context(config, resources)
    available = _available_keys(config, resources, keys)
    unbound = []
    for symbol in needed_symbols(compilation, registry or builtin_registry()):
        if symbol in compilation.material_bindings:
            continue
        if symbol in available:
            compilation.bind(symbol, available[symbol])
            continue
        try:
            compilation.material_bindings[symbol] = resources.material(symbol)
        except (ImplementationError, KeyError, ValueError, TypeError):
            unbound.append(symbol)
    return tuple(unbound)


def needed_symbols(
    compilation: Compilation, registry: OperationImplementationRegistry
) -> tuple[str, ...]:
    """Return the symbols of all materials: those the Program names, and those its calls read."""
    program = compilation.program
    symbols = dict.fromkeys(operation.symbol.data for operation in materials_of(program))
    for operation in program.operations:
        if isinstance(operation, DeclaredOperation):
            try:
                call = call_of(program, operation, compilation.workspace.config, registry)
            except (CompileError, ImplementationError):
                continue  # linking says what is wrong with it
            symbols |= dict.fromkeys(call.symbols)
    return tuple(symbols)


def _require_context(config: CkksConfig, resources: CkksDeviceResources) -> None:
    if resources.config.context_id != config.context_id:
        raise ContextMismatchError(
            "prepare_material_bindings",
            f"the resources belong to context {resources.config.context_id}, the Program to "
            f"{config.context_id}",
            "Tables and Programs mix only within one parameter set",
            "Make the resources as CkksDeviceResources(config=config, device=...)",
            contexts=(resources.config.context_id, config.context_id),
        )


def _available_keys(
    config: CkksConfig, resources: CkksDeviceResources, keys: Iterable[Any]
) -> dict[str, Any]:
    """Return the given keys by symbol, checked against the Program and one another."""
    sets = (key if isinstance(key, EvaluationKeys) else (key,) for key in keys)
    found = list(itertools.chain.from_iterable(sets))
    operation = "prepare_material_bindings"
    for key in found:
        if key.state.context_id != config.context_id:
            raise ContextMismatchError(
                operation,
                f"a key belongs to context {key.state.context_id}, the Program to "
                f"{config.context_id}",
                "Keys and Programs mix only within one parameter set",
                "Make the key with an Engine of the Program's parameters",
                contexts=(key.state.context_id, config.context_id),
            )
        if key.data.device != resources.device:
            raise DeviceMismatchError(
                operation,
                f"a key is on {key.data.device}, the tables are on {resources.device}",
                "Nothing is moved between devices unasked",
                "Move the key, or make the resources on its device",
                devices=(key.data.device, resources.device),
            )
    if found and not any(type(key) is SwitchingKey for key in found):
        require_same_context(operation, *(key.state for key in found))
    return {key_symbol(key): key for key in found}


def key_symbol(key: SwitchingKey) -> str:
    """Return the symbol of the material that an evaluation key serves."""
    (symbol,) = _KEY_SYMBOLS[type(key)](key)
    return symbol
