"""Components, products and automorphisms of ciphertexts as residue tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import torch

from fhelium.backend.implementation import OperationImplementation
from fhelium.backend.invocation import BoundResource, OperationInvocation
from fhelium.ir.dialects import rns
from fhelium.native.wrapper import ckks_ops, rns_ops

Compute = Callable[..., torch.Tensor]


def _drop_limbs(invocation: OperationInvocation, residues: torch.Tensor) -> torch.Tensor:
    dropped = invocation.attributes["target_depth"] - invocation.attributes["depth"]
    # A copy, so that the result does not keep the dropped rows alive.
    return residues[..., dropped:, :].clone(memory_format=torch.contiguous_format)


def _add_constant(
    invocation: OperationInvocation,
    residues: torch.Tensor,
    constant: torch.Tensor,
    rns_params: torch.Tensor,
) -> torch.Tensor:
    result = residues.clone(memory_format=torch.contiguous_format)
    in_coefficients = invocation.attributes["polynomial_domain"] == "coefficient"
    columns = slice(0, 1) if in_coefficients else slice(None)
    rns_ops.add_standard_(result[0][..., columns], constant, rns_params)
    return result


def _automorphism(
    invocation: OperationInvocation, residues: torch.Tensor, rns_params: torch.Tensor
) -> torch.Tensor:
    element = invocation.attributes["galois_element"]
    if invocation.attributes["polynomial_domain"] == "ntt":
        return ckks_ops.automorphism_ntt(residues, element)
    return ckks_ops.automorphism_coefficient(residues, element, rns_params)


def _inner_product(
    invocation: OperationInvocation,
    digits: torch.Tensor,
    key: torch.Tensor,
    rns_params: torch.Tensor,
) -> torch.Tensor:
    # Dropped primes empty the first digits: the last ones of the key stay in use.
    active = key[key.shape[0] - digits.shape[0] :, :, invocation.attributes["depth"] :]
    return ckks_ops.key_switch_inner_product(digits, active, rns_params)


def _rescale(
    invocation: OperationInvocation,
    residues: torch.Tensor,
    inverse: torch.Tensor,
    rns_params: torch.Tensor,
) -> torch.Tensor:
    truncate = invocation.attributes.get("rounding") == "truncate"
    divide = ckks_ops.rescale_truncating if truncate else ckks_ops.rescale_nearest
    return divide(residues, inverse, rns_params)


class NativeRnsComponentImplementation(OperationImplementation):
    """Take components and limbs of ciphertexts, and add to one component."""

    name = "native-rns-components"
    COMPUTE: ClassVar[dict[type, Compute]] = {
        rns.ComponentOp: lambda call, residues: residues[call.attributes["index"]],
        rns.FirstComponentsOp: lambda call, residues: residues[: call.attributes["count"]],
        rns.DropLimbsOp: _drop_limbs,
        rns.AddToFirstComponentOp: lambda call, *inputs: ckks_ops.add_plaintext(*inputs),
        rns.AddConstantOp: _add_constant,
    }
    operation_types = tuple(COMPUTE)

    def execute(
        self,
        invocation: OperationInvocation,
        inputs: tuple[torch.Tensor, ...],
        resources: tuple[BoundResource, ...],
        *,
        in_place: bool,
    ) -> tuple[torch.Tensor, ...]:
        return (self.COMPUTE[invocation.operation_type](invocation, *inputs),)


class NativeRnsProductImplementation(NativeRnsComponentImplementation):
    """Multiply ciphertexts, digits and constants, rescale, and permute by automorphisms."""

    name = "native-rns-products"
    COMPUTE: ClassVar[dict[type, Compute]] = {
        rns.CiphertextProductOp: lambda call, *inputs: ckks_ops.ciphertext_product(*inputs),
        rns.CiphertextSquareOp: lambda call, *inputs: ckks_ops.ciphertext_square(*inputs),
        rns.MultiplyConstantOp: lambda call, *inputs: rns_ops.multiply_montgomery(*inputs),
        rns.KeySwitchInnerProductOp: _inner_product,
        rns.RescaleOp: _rescale,
        rns.AutomorphismOp: _automorphism,
    }
    operation_types = tuple(COMPUTE)
