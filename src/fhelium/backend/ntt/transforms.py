"""The NTT backends: each says which tables it reads and runs its two native operators."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from fhelium.backend.implementation import InPlaceOperatorImplementation, Operator
from fhelium.backend.invocation import OperationInvocation
from fhelium.errors import ImplementationError
from fhelium.ir.dialects import ckks, ntt
from fhelium.native.wrapper import ntt_ops

NTT_BACKENDS = ("packed", "radix2_indexed")
DEFAULT_NTT_BACKEND = "packed"

_OPERATORS = {
    ("packed", "forward"): (ntt_ops.ntt_packed, ntt_ops.ntt_packed_),
    ("packed", "inverse"): (ntt_ops.intt_packed, ntt_ops.intt_packed_),
    ("radix2_indexed", "forward"): (ntt_ops.ntt_radix2_indexed, ntt_ops.ntt_radix2_indexed_),
    ("radix2_indexed", "inverse"): (ntt_ops.intt_radix2_indexed, ntt_ops.intt_radix2_indexed_),
}
_FORWARD_TYPES = (ckks.CoefficientToNttOp, ntt.ForwardOp)


def require_ntt_backend(name: str | None) -> str:
    """Return the backend's name, the default for None, or refuse an unknown one."""
    if name is None:
        return DEFAULT_NTT_BACKEND
    if name not in NTT_BACKENDS:
        raise ImplementationError(
            "ntt_backend",
            f"asked for {name!r}, there are {list(NTT_BACKENDS)}",
            "An NTT backend is chosen by name",
            "Use one of these names",
        )
    return name


def ntt_backend_of(invocation: OperationInvocation) -> str:
    """Return the NTT backend that a call asks for."""
    return require_ntt_backend(invocation.attributes.get("ntt_backend"))


def transform_symbols(backend: str, basis: str, depth: int) -> tuple[str, ...]:
    """Name the tables of both directions of a transform on one basis."""
    directions = (direction_symbols(backend, way, basis, depth) for way in ("forward", "inverse"))
    return (f"rns_parameters/{basis}/{depth}", *dict.fromkeys(itertools.chain(*directions)))


def direction_symbols(backend: str, direction: str, basis: str, depth: int) -> tuple[str, ...]:
    """Name the tables that one direction reads, in the operator's order."""
    if backend == "packed":
        return (f"ntt_tables/packed/{basis}/{depth}",)
    return (
        f"ntt_indices/{direction}/even",
        f"ntt_indices/{direction}/odd",
        f"ntt_indices/{direction}/schedule",
        f"ntt_twiddles/{direction}/{basis}/{depth}",
    )


@dataclass(frozen=True)
class Transform:
    """Both NTT directions on one basis, ready to call inside a composite implementation."""

    backend: str
    tables: Mapping[str, tuple[torch.Tensor, ...]]
    rns_params: torch.Tensor

    @staticmethod
    def of(backend: str, basis: str, depth: int, tables: Mapping[str, torch.Tensor]) -> Transform:
        """Pick the tables of one basis and depth out of tables by symbol."""
        found = {
            way: tuple(tables[s] for s in direction_symbols(backend, way, basis, depth))
            for way in ("forward", "inverse")
        }
        return Transform(backend, found, tables[f"rns_parameters/{basis}/{depth}"])

    def forward(self, residues: torch.Tensor) -> torch.Tensor:
        """Transform coefficients to NTT values."""
        return self._run("forward", 0, residues)

    def forward_(self, residues: torch.Tensor) -> torch.Tensor:
        """Transform in place and return the same tensor."""
        self._run("forward", 1, residues)
        return residues

    def inverse(self, residues: torch.Tensor) -> torch.Tensor:
        """Transform NTT values to coefficients."""
        return self._run("inverse", 0, residues)

    def inverse_(self, residues: torch.Tensor) -> torch.Tensor:
        """Transform back in place and return the same tensor."""
        self._run("inverse", 1, residues)
        return residues

    def _run(self, direction: str, form: int, residues: torch.Tensor) -> Any:
        operator = _OPERATORS[self.backend, direction][form]
        return operator(residues, *self.tables[direction], self.rns_params)


class NativeNttImplementation(InPlaceOperatorImplementation):
    """Run one native NTT backend; the invocation's ``ntt_backend`` decides between them."""

    family = "native-ntt"
    operation_types = (
        ckks.CoefficientToNttOp,
        ckks.NttToCoefficientOp,
        ntt.ForwardOp,
        ntt.InverseOp,
    )
    ntt_backend: str

    def supports(self, invocation: OperationInvocation) -> bool:
        return ntt_backend_of(invocation) == self.ntt_backend

    def material_symbols(self, invocation: OperationInvocation) -> tuple[str, ...]:
        if invocation.operand_count > 1:
            return ()  # the tables are operands already
        depth, basis = invocation.depth, invocation.attributes.get("modulus_basis", "Q")
        tables = direction_symbols(self.ntt_backend, _direction(invocation), basis, depth)
        return (*tables, f"rns_parameters/{basis}/{depth}")

    def operator(self, invocation: OperationInvocation) -> Operator:
        return _OPERATORS[self.ntt_backend, _direction(invocation)][0]

    def mutating_operator(self, invocation: OperationInvocation) -> Callable[..., Any]:
        return _OPERATORS[self.ntt_backend, _direction(invocation)][1]


class PackedNttImplementation(NativeNttImplementation):
    """The production transform: lazy butterflies over one packed table a limb."""

    name = "native-ntt-packed"
    ntt_backend = "packed"


class IndexedNttImplementation(NativeNttImplementation):
    """The validation transform: plain radix-2 butterflies driven by index tensors."""

    name = "native-ntt-radix2-indexed"
    ntt_backend = "radix2_indexed"


def _direction(invocation: OperationInvocation) -> str:
    return "forward" if invocation.operation_type in _FORWARD_TYPES else "inverse"
