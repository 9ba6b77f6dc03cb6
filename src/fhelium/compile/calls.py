"""The call of an implementation that an operation of a Program stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue

from fhelium.backend import (
    OperationImplementation,
    OperationImplementationRegistry,
    OperationInvocation,
)
from fhelium.compile.ntt_choice import ntt_backend_of
from fhelium.compile.states import operand_states, state_of
from fhelium.config import CkksConfig
from fhelium.errors import PassError
from fhelium.ir.operation import DeclaredOperation
from fhelium.ir.program import Program
from fhelium.ir.types import StatefulType

CHOICE = "core.implementation"
"""Attribute of an operation that holds the name of the implementation chosen for it."""


@dataclass(frozen=True)
class OperationCall:
    """An implementation, what it is told, and what it reads.

    Args:
        implementation: Serves the operation.
        invocation: The literal facts of the call.
        operands: The operation's values, its tables last.
        symbols: Materials that follow them: those that the Program does not name itself.
    """

    implementation: OperationImplementation
    invocation: OperationInvocation
    operands: tuple[SSAValue, ...]
    symbols: tuple[str, ...]


def chosen_implementation(operation: DeclaredOperation) -> str | None:
    """Return the name of the implementation that a pass chose for an operation."""
    found = operation.attributes.get(CHOICE)
    return found.data if isinstance(found, StringAttr) else None


def invocation_of(
    program: Program, operation: DeclaredOperation, config: CkksConfig
) -> OperationInvocation:
    """Return the literal facts of an operation's call.

    Raises:
        PassError: A fact is not known yet.
    """
    states = operand_states(operation, config)
    attributes = operation.python_attributes()
    stateful = (value for value in operation.operands if isinstance(value.type, StatefulType))
    first = state_of(next(stateful), config)
    # call_facts computes with these.
    needed = ["depth", "polynomial_domain"] + ["scale"] * operation.FACTS.reads_scale
    _require_known(operation, {name: getattr(first, name) for name in needed})
    facts = operation.call_facts(*states, **attributes)
    _require_known(operation, {k: v for k, v in facts.items() if k == "modulus_basis"})
    return OperationInvocation(
        operation_type=type(operation),
        operand_count=len(operation.operands) - len(operation.tables),
        result_count=len(operation.results),
        attributes={"ntt_backend": ntt_backend_of(program), **facts},
    )


def _require_known(operation: DeclaredOperation, facts: dict[str, Any]) -> None:
    for axis, value in facts.items():
        if value is None:
            raise PassError(
                operation.name,
                f"the {axis} of its operand is not known",
                "A call of an implementation has all its facts",
                "Name it in the input's spec, or run AssignCkksDepthsPass and "
                "AssignCkksScalesPass first",
            )


def call_of(
    program: Program,
    operation: DeclaredOperation,
    config: CkksConfig,
    registry: OperationImplementationRegistry,
) -> OperationCall:
    """Resolve an operation in a registry.

    Raises:
        ImplementationError: No implementation serves it, or several do.
        PassError: A fact of the call is not known yet.
    """
    if any(group is None for group in operation.operand_groups()):
        raise PassError(
            operation.name,
            "its key operand is open",
            "A key switch reads its key",
            "Run ResolveRotationKeyOperandsPass first",
        )
    invocation = invocation_of(program, operation, config)
    name = chosen_implementation(operation)
    implementation = registry.resolve(invocation, name=name)
    symbols = () if operation.tables else implementation.material_symbols(invocation)
    return OperationCall(implementation, invocation, tuple(operation.operands), symbols)
