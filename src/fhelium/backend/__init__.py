"""Implementations of the declared operations, found through one registry by Eager and Compile."""

from fhelium.backend.implementation import CompositeImplementation, OperationImplementation
from fhelium.backend.invocation import BoundResource, OperationInvocation, ResourceRequirement
from fhelium.backend.operation_backend import (
    ImplementationDiagnostic,
    OperationBackend,
    builtin_registry,
)
from fhelium.backend.registry import OperationImplementationRegistry
from fhelium.backend.workspace import BackendWorkspace

__all__ = [
    "BackendWorkspace",
    "BoundResource",
    "CompositeImplementation",
    "ImplementationDiagnostic",
    "OperationBackend",
    "OperationImplementation",
    "OperationImplementationRegistry",
    "OperationInvocation",
    "ResourceRequirement",
    "builtin_registry",
]
