"""The NTT backends: each says which tables it reads and runs its two native operators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from fhelium.backend.implementation import OperationImplementation
from fhelium.backend.invocation import BoundResource, OperationInvocation
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


def transform_symbols(backend: str, basis: str, depth: int) -> dict[str, str]:
    """Map material names to symbols for both directions of a transform on one basis.

    The names are private to ``Transform``; they carry the basis so that one call may use two.
    """
    names = {f"rns_parameters/{basis}": f"rns_parameters/{basis}/{depth}"}
    for direction in ("forward", "inverse"):
        for symbol in direction_symbols(backend, direction, basis, depth):
            names[f"{basis}/{symbol}"] = symbol
    return names


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
    def of(backend: str, basis: str, depth: int, tables: dict[str, torch.Tensor]) -> Transform:
        """Pick this basis's tables out of a composite's materials."""
        return Transform(
            backend,
            {
                direction: tuple(
                    tables[f"{basis}/{symbol}"]
                    for symbol in direction_symbols(backend, direction, basis, depth)
                )
                for direction in ("forward", "inverse")
            },
            tables[f"rns_parameters/{basis}"],
        )

    def forward(self, residues: torch.Tensor) -> torch.Tensor:
        """Transform coefficients to NTT values."""
        return self._run("forward", residues)

    def forward_(self, residues: torch.Tensor) -> torch.Tensor:
        """Transform in place and return the same tensor."""
        _OPERATORS[self.backend, "forward"][1](residues, *self.tables["forward"], self.rns_params)
        return residues

    def inverse(self, residues: torch.Tensor) -> torch.Tensor:
        """Transform NTT values to coefficients."""
        return self._run("inverse", residues)

    def inverse_(self, residues: torch.Tensor) -> torch.Tensor:
        """Transform back in place and return the same tensor."""
        _OPERATORS[self.backend, "inverse"][1](residues, *self.tables["inverse"], self.rns_params)
        return residues

    def _run(self, direction: str, residues: torch.Tensor) -> torch.Tensor:
        operator = _OPERATORS[self.backend, direction][0]
        return operator(residues, *self.tables[direction], self.rns_params)


class NativeNttImplementation(OperationImplementation):
    """Run one native NTT backend; the invocation's ``ntt_backend`` decides between them."""

    operation_types = (
        ckks.CoefficientToNttOp,
        ckks.NttToCoefficientOp,
        ntt.ForwardOp,
        ntt.InverseOp,
    )
    supports_in_place = True
    ntt_backend: str

    def supports(self, invocation: OperationInvocation) -> bool:
        return require_ntt_backend(invocation.attributes.get("ntt_backend")) == self.ntt_backend

    def material_symbols(self, invocation: OperationInvocation) -> tuple[str, ...]:
        if invocation.operand_count > 1:
            return ()  # the tables are operands already
        attributes = invocation.attributes
        depth, basis = attributes["depth"], attributes.get("modulus_basis", "Q")
        tables = direction_symbols(self.ntt_backend, self._direction(invocation), basis, depth)
        return (*tables, f"rns_parameters/{basis}/{depth}")

    def execute(
        self,
        invocation: OperationInvocation,
        inputs: tuple[torch.Tensor, ...],
        resources: tuple[BoundResource, ...],
        *,
        in_place: bool,
    ) -> tuple[torch.Tensor, ...]:
        functional, mutating = _OPERATORS[self.ntt_backend, self._direction(invocation)]
        if not in_place:
            return (functional(*inputs),)
        mutating(*inputs)
        return (inputs[0],)

    @staticmethod
    def _direction(invocation: OperationInvocation) -> str:
        return "forward" if invocation.operation_type in _FORWARD_TYPES else "inverse"


class PackedNttImplementation(NativeNttImplementation):
    """The production transform: lazy butterflies over one packed table a limb."""

    name = "native-ntt-packed"
    family = "native-ntt"
    ntt_backend = "packed"


class IndexedNttImplementation(NativeNttImplementation):
    """The validation transform: plain radix-2 butterflies driven by index tensors."""

    name = "native-ntt-radix2-indexed"
    family = "native-ntt"
    ntt_backend = "radix2_indexed"
