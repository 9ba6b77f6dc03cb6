"""Hybrid key switching: relinearize, rotate, conjugate, and change the secret key.

A polynomial d under a secret s' becomes two polynomials under s:
mod_up cuts d into digits on QP, the inner product with the key sums digit times key, and mod_down
divides by P with rounding (Han, Ki, CT-RSA 2020).
"""

from __future__ import annotations

import torch

from fhelium.backend.implementation import CompositeImplementation, Tables, Tensors
from fhelium.backend.invocation import OperationInvocation
from fhelium.backend.ntt import Transform, ntt_backend_of, transform_symbols
from fhelium.backend.rns.ciphertexts import automorphism, inner_product
from fhelium.ir.dialects import ckks
from fhelium.native.wrapper import ckks_ops, rns_ops


def key_switch_symbols(invocation: OperationInvocation) -> tuple[str, ...]:
    """Name the materials of one key switch."""
    backend, depth = ntt_backend_of(invocation), invocation.depth
    symbols = (
        *mod_up_symbols(depth),
        *mod_down_symbols(depth),
        *transform_symbols(backend, "Q", depth),
        *transform_symbols(backend, "QP", depth),
    )
    return tuple(dict.fromkeys(symbols))


def mod_up_symbols(depth: int) -> tuple[str, ...]:
    """Name the tables of a ModUp, in the operator's order."""
    names = ("digit_bounds", "digit_scale", "matrix", "correction")
    return (*(f"mod_up/{depth}/{name}" for name in names), f"rns_parameters/QP/{depth}")


def mod_down_symbols(depth: int) -> tuple[str, ...]:
    """Name the tables of a division by P, in the operator's order."""
    names = ("special_scale", "matrix", "correction", "special_inverse")
    return (*(f"mod_down/{depth}/{name}" for name in names), f"rns_parameters/QP/{depth}")


class KeySwitch:
    """What the key-switching steps of one call share."""

    def __init__(self, invocation: OperationInvocation, tables: Tables) -> None:
        backend, depth = ntt_backend_of(invocation), invocation.depth
        self.invocation = invocation
        self.in_ntt = invocation.domain == "ntt"
        self.on_q = Transform.of(backend, "Q", depth, tables)
        self.on_qp = Transform.of(backend, "QP", depth, tables)
        self._mod_up = [tables[symbol] for symbol in mod_up_symbols(depth)]
        self._mod_down = [tables[symbol] for symbol in mod_down_symbols(depth)]

    def digits(self, polynomial: torch.Tensor) -> torch.Tensor:
        """Cut a polynomial into digits on QP: the part that hoisted rotations share.

        Shapes: [*batch, limb, N] on Q -> [digit, *batch, limb + K, N] on QP, NTT domain.
        """
        coefficients = self.on_q.inverse(polynomial) if self.in_ntt else polynomial
        return self.on_qp.forward_(rns_ops.mod_up(coefficients, *self._mod_up))

    def apply(self, digits: torch.Tensor, key: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
        """Multiply digits with a key's, add up, divide by P, and add the components that stay.

        Shapes: [digit, *batch, limb + K, N], [digit, 2, limb + K, N] over the full chain,
        [1 or 2, *batch, limb, N] in the operand's domain -> [2, *batch, limb, N] in the result's.
        """
        summed = inner_product(self.invocation, digits, key, self.on_qp.rns_params)
        switched = rns_ops.mod_down(self.on_qp.inverse_(summed), *self._mod_down)
        if self.invocation.output_domain == "ntt":
            self.on_q.forward_(switched)
            kept = kept if self.in_ntt else self.on_q.forward(kept)
        elif self.in_ntt:
            kept = self.on_q.inverse(kept)
        rns_ops.add_standard_(switched[: kept.shape[0]], kept, self.on_q.rns_params)
        return switched

    def permute(self, polynomials: torch.Tensor, galois_element: int) -> torch.Tensor:
        """Replace X by X^galois_element in polynomials of the operand's domain."""
        if galois_element == 1:
            return polynomials
        params = self.on_q.rns_params
        return automorphism(polynomials, galois_element, params, self.invocation.domain)


class NativeKeySwitchImplementation(CompositeImplementation):
    """Relinearize, rotate, conjugate and switch keys as compositions of residue operators."""

    name = "native-ckks-key-switch"
    operation_types = (ckks.RelinearizeOp, ckks.RotateOp, ckks.ConjugateOp, ckks.SwitchKeyOp)

    def material_symbols(self, invocation: OperationInvocation) -> tuple[str, ...]:
        return key_switch_symbols(invocation)

    def compute(
        self, invocation: OperationInvocation, operands: Tensors, tables: Tables
    ) -> torch.Tensor:
        ciphertext, key = operands
        switch = KeySwitch(invocation, tables)
        if invocation.operation_type is ckks.RelinearizeOp:
            kept, moved = ciphertext[:2], ciphertext[2]
        else:
            element = invocation.attributes.get("galois_element", 1)
            permuted = switch.permute(ciphertext, element)
            kept, moved = permuted[:1], permuted[1]
        return switch.apply(switch.digits(moved), key, kept)


class NativeHoistedRotationImplementation(CompositeImplementation):
    """Rotate by several steps: one ModUp, then a permutation of its digits for each step."""

    name = "native-ckks-hoisted-rotation"
    operation_types = (ckks.RotateManyOp,)

    def material_symbols(self, invocation: OperationInvocation) -> tuple[str, ...]:
        return key_switch_symbols(invocation)

    def compute(
        self, invocation: OperationInvocation, operands: Tensors, tables: Tables
    ) -> Tensors:
        ciphertext, *keys = operands
        switch = KeySwitch(invocation, tables)
        digits = switch.digits(ciphertext[1])
        return tuple(
            switch.apply(
                ckks_ops.automorphism_ntt(digits, element),
                key,
                switch.permute(ciphertext[:1], element),
            )
            for element, key in zip(invocation.attributes["galois_elements"], keys, strict=True)
        )
