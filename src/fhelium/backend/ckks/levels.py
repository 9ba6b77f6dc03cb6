"""Moves along the modulus chain."""

from __future__ import annotations

import torch

from fhelium.backend.ckks.constants import scalar_symbol
from fhelium.backend.ckks.products import output_domain
from fhelium.backend.implementation import CompositeImplementation
from fhelium.backend.invocation import OperationInvocation
from fhelium.backend.ntt import Transform, require_ntt_backend, transform_symbols
from fhelium.ir.dialects import ckks
from fhelium.native.wrapper import ckks_ops, rns_ops


def rescale_symbols(backend: str, depth: int, domains: tuple[str, str]) -> dict[str, str]:
    symbols = {
        "rescale/inverse": f"rescale/{depth}/inverse",
        "rns_parameters/dropped": f"rns_parameters/Q/{depth}",
    }
    if domains[0] == "ntt":
        symbols |= {f"before/{k}": v for k, v in transform_symbols(backend, "Q", depth).items()}
    if domains[1] == "ntt":
        symbols |= {f"after/{k}": v for k, v in transform_symbols(backend, "Q", depth + 1).items()}
    return symbols


def _transform(backend: str, side: str, depth: int, tables: dict[str, torch.Tensor]) -> Transform:
    prefix = f"{side}/"
    own = {k.removeprefix(prefix): v for k, v in tables.items() if k.startswith(prefix)}
    return Transform.of(backend, "Q", depth, own)


def rescale(
    backend: str,
    residues: torch.Tensor,
    depth: int,
    domains: tuple[str, str],
    tables: dict[str, torch.Tensor],
    rounding: str = "nearest",
) -> torch.Tensor:
    if domains[0] == "ntt":
        residues = _transform(backend, "before", depth, tables).inverse(residues)
    divide = ckks_ops.rescale_nearest if rounding == "nearest" else ckks_ops.rescale_truncating
    result = divide(residues, tables["rescale/inverse"], tables["rns_parameters/dropped"])
    if domains[1] == "ntt":
        _transform(backend, "after", depth + 1, tables).forward_(result)
    return result


class NativeRescaleImplementation(CompositeImplementation):
    """Divide by the next prime of the chain with rounding to nearest."""

    name = "native-ckks-rescale"
    operation_types = (ckks.RescaleOp,)

    def materials(self, invocation: OperationInvocation) -> dict[str, str]:
        backend = require_ntt_backend(invocation.attributes.get("ntt_backend"))
        domains = (invocation.attributes["polynomial_domain"], output_domain(invocation))
        return rescale_symbols(backend, invocation.attributes["depth"], domains)

    def compute(
        self,
        invocation: OperationInvocation,
        operands: tuple[torch.Tensor, ...],
        tables: dict[str, torch.Tensor],
    ) -> torch.Tensor:
        backend = require_ntt_backend(invocation.attributes.get("ntt_backend"))
        domains = (invocation.attributes["polynomial_domain"], output_domain(invocation))
        depth = invocation.attributes["depth"]
        rounding = invocation.attributes.get("rounding") or "nearest"
        return rescale(backend, operands[0], depth, domains, tables, rounding)


class NativeModSwitchImplementation(CompositeImplementation):
    """Drop limbs, or none: the remaining residues are the value already."""

    name = "native-ckks-mod-switch"
    operation_types = (ckks.ModSwitchOp, ckks.ReinterpretScaleOp, ckks.AssumeMessageBoundOp)

    def materials(self, invocation: OperationInvocation) -> dict[str, str]:
        return {}

    def compute(
        self,
        invocation: OperationInvocation,
        operands: tuple[torch.Tensor, ...],
        tables: dict[str, torch.Tensor],
    ) -> torch.Tensor:
        dropped = invocation.attributes["target_depth"] - invocation.attributes["depth"]
        # A copy, so that the result neither shares storage nor keeps the dropped rows alive.
        return operands[0][..., dropped:, :].clone(memory_format=torch.contiguous_format)


class NativeAlignImplementation(CompositeImplementation):
    """Multiply by the constant 1 at the scale that makes the rescaled result canonical."""

    name = "native-ckks-align"
    operation_types = (ckks.AlignOp,)

    def materials(self, invocation: OperationInvocation) -> dict[str, str]:
        attributes = invocation.attributes
        before = attributes["target_depth"] - 1
        if before < attributes["depth"]:
            return {}
        backend = require_ntt_backend(attributes.get("ntt_backend"))
        domain = attributes["polynomial_domain"]
        return {
            "one": scalar_symbol(1.0, attributes["factor_scale"], before, "montgomery"),
            **rescale_symbols(backend, before, (domain, domain)),
        }

    def compute(
        self,
        invocation: OperationInvocation,
        operands: tuple[torch.Tensor, ...],
        tables: dict[str, torch.Tensor],
    ) -> torch.Tensor:
        attributes = invocation.attributes
        before = attributes["target_depth"] - 1
        if before < attributes["depth"]:
            return operands[0].clone(memory_format=torch.contiguous_format)
        rows = operands[0][..., before - attributes["depth"] :, :]
        product = rns_ops.multiply_montgomery(rows, tables["one"], tables["rns_parameters/dropped"])
        backend = require_ntt_backend(attributes.get("ntt_backend"))
        domain = attributes["polynomial_domain"]
        return rescale(backend, product, before, (domain, domain), tables)
