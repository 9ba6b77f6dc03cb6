"""Components, products, conversions and automorphisms of ciphertexts as residue tensors."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import torch

from fhelium.backend.implementation import Operator, OperatorImplementation
from fhelium.backend.invocation import OperationInvocation
from fhelium.ir.dialects import rns
from fhelium.native.wrapper import ckks_ops, rns_ops


def drop_limbs(invocation: OperationInvocation, residues: torch.Tensor) -> torch.Tensor:
    """Take the rows of the target depth, all of them where it is the depth already."""
    dropped = invocation.attributes["target_depth"] - invocation.depth
    # A copy, so that the result neither shares storage nor keeps the dropped rows alive.
    return residues[..., dropped:, :].clone(memory_format=torch.contiguous_format)


def add_constant(
    invocation: OperationInvocation,
    residues: torch.Tensor,
    constant: torch.Tensor,
    rns_params: torch.Tensor,
) -> torch.Tensor:
    """Add a constant polynomial: it is its coefficient 0, and the same value at every root."""
    result = residues.clone(memory_format=torch.contiguous_format)
    columns = slice(0, 1) if invocation.domain == "coefficient" else slice(None)
    rns_ops.add_standard_(result[0][..., columns], constant, rns_params)
    return result


def automorphism(
    residues: torch.Tensor, galois_element: int, rns_params: torch.Tensor, domain: str
) -> torch.Tensor:
    """Replace X by X^galois_element."""
    if domain == "ntt":
        return ckks_ops.automorphism_ntt(residues, galois_element)
    return ckks_ops.automorphism_coefficient(residues, galois_element, rns_params)


def inner_product(
    invocation: OperationInvocation,
    digits: torch.Tensor,
    key: torch.Tensor,
    rns_params: torch.Tensor,
) -> torch.Tensor:
    """Sum digit times key, over the rows and digits of the key that are active at the depth."""
    # Dropped primes empty the first digits: the last ones of the key stay in use.
    active = key[key.shape[0] - digits.shape[0] :, :, invocation.depth :]
    return ckks_ops.key_switch_inner_product(digits, active, rns_params)


def rescale(
    invocation: OperationInvocation,
    residues: torch.Tensor,
    inverse: torch.Tensor,
    rns_params: torch.Tensor,
) -> torch.Tensor:
    """Divide coefficients by the prime of the first row, rounded as the call asks."""
    truncate = invocation.attributes.get("rounding") == "truncate"
    divide = ckks_ops.rescale_truncating if truncate else ckks_ops.rescale_nearest
    return divide(residues, inverse, rns_params)


class NativeRnsComponentImplementation(OperatorImplementation):
    """Take components and limbs of ciphertexts, and add to one component."""

    name = "native-rns-components"
    COMPUTE: ClassVar[dict[type, Operator]] = {
        rns.ComponentOp: lambda call, residues: residues[call.attributes["index"]],
        rns.FirstComponentsOp: lambda call, residues: residues[: call.attributes["count"]],
        rns.DropLimbsOp: drop_limbs,
        rns.AddToFirstComponentOp: lambda call, *inputs: ckks_ops.add_plaintext(*inputs),
        rns.AddConstantOp: add_constant,
    }
    operation_types = tuple(COMPUTE)

    def operator(self, invocation: OperationInvocation) -> Operator:
        return partial(self.COMPUTE[invocation.operation_type], invocation)


class NativeRnsProductImplementation(NativeRnsComponentImplementation):
    """Multiply ciphertexts, digits and constants, rescale, and permute by automorphisms."""

    name = "native-rns-products"
    COMPUTE: ClassVar[dict[type, Operator]] = {
        rns.CiphertextProductOp: lambda call, *inputs: ckks_ops.ciphertext_product(*inputs),
        rns.CiphertextSquareOp: lambda call, *inputs: ckks_ops.ciphertext_square(*inputs),
        rns.MultiplyConstantOp: lambda call, *inputs: rns_ops.multiply_montgomery(*inputs),
        rns.KeySwitchInnerProductOp: inner_product,
        rns.RescaleOp: rescale,
        rns.AutomorphismOp: lambda call, residues, rns_params: automorphism(
            residues, call.attributes["galois_element"], rns_params, call.domain
        ),
    }
    operation_types = tuple(COMPUTE)


class NativeBasisConversionImplementation(OperatorImplementation):
    """ModUp and ModDown with exact centred representatives."""

    name = "native-basis-conversion"
    operation_types = (rns.ModUpOp, rns.ModDownOp)

    def operator(self, invocation: OperationInvocation) -> Operator:
        return rns_ops.mod_up if invocation.operation_type is rns.ModUpOp else rns_ops.mod_down
