"""Hybrid key switching: relinearize, rotate, conjugate, and change the secret key.

A polynomial d under a secret s' becomes two polynomials under s:
mod_up cuts d into digits on QP, the inner product with the key sums digit times key, and mod_down
divides by P with rounding (Han, Ki, CT-RSA 2020).
"""

from __future__ import annotations

import torch

from fhelium.backend.ckks.products import output_domain
from fhelium.backend.implementation import CompositeImplementation, OperationImplementation
from fhelium.backend.invocation import BoundResource, OperationInvocation
from fhelium.backend.ntt import Transform, require_ntt_backend, transform_symbols
from fhelium.ir.dialects import ckks
from fhelium.native.wrapper import ckks_ops, rns_ops


def key_switch_symbols(backend: str, depth: int) -> dict[str, str]:
    """Map the material names of one key switch to symbols."""
    names = ("digit_bounds", "digit_scale", "matrix", "correction")
    symbols = {f"mod_up/{name}": f"mod_up/{depth}/{name}" for name in names}
    symbols |= mod_down_symbols(depth)
    symbols |= transform_symbols(backend, "Q", depth)
    symbols |= transform_symbols(backend, "QP", depth)
    return symbols


def mod_down_symbols(depth: int) -> dict[str, str]:
    """Map the material names of a division by P to symbols."""
    names = ("special_scale", "matrix", "correction", "special_inverse")
    symbols = {f"mod_down/{name}": f"mod_down/{depth}/{name}" for name in names}
    symbols["rns_parameters/QP"] = f"rns_parameters/QP/{depth}"
    return symbols


def mod_down(residues: torch.Tensor, tables: dict[str, torch.Tensor]) -> torch.Tensor:
    """Divide coefficients on QP by P with rounding."""
    return rns_ops.mod_down(
        residues,
        tables["mod_down/special_scale"],
        tables["mod_down/matrix"],
        tables["mod_down/correction"],
        tables["mod_down/special_inverse"],
        tables["rns_parameters/QP"],
    )


def raise_digits(
    coefficients: torch.Tensor, on_qp: Transform, tables: dict[str, torch.Tensor]
) -> torch.Tensor:
    """Cut a polynomial into digits on QP, NTT domain: the part that hoisted rotations share.

    Args:
        coefficients: [*batch, limb, N] on Q, coefficient domain.
        on_qp: NTT on QP at this depth.
        tables: Materials of ``key_switch_symbols``.

    Returns:
        [digit, *batch, limb + K, N] on QP, NTT domain.
    """
    digits = rns_ops.mod_up(
        coefficients,
        tables["mod_up/digit_bounds"],
        tables["mod_up/digit_scale"],
        tables["mod_up/matrix"],
        tables["mod_up/correction"],
        tables["rns_parameters/QP"],
    )
    return on_qp.forward_(digits)


def apply_key(
    digits: torch.Tensor,
    key: torch.Tensor,
    depth: int,
    on_qp: Transform,
    tables: dict[str, torch.Tensor],
) -> torch.Tensor:
    """Multiply digits with a key's, add up, and divide by P.

    Args:
        digits: As ``raise_digits`` gives them.
        key: Payload [digit, 2, limb + K, N] over the full chain.
        depth: Depth of the polynomial; it decides the rows and digits of the key in use.
        on_qp: NTT on QP at this depth.
        tables: Materials of ``key_switch_symbols``.

    Returns:
        [2, *batch, limb, N] on Q, coefficient domain.
    """
    # Dropped primes empty the first digits: the last ones of the key stay in use.
    active = key[key.shape[0] - digits.shape[0] :, :, depth:]
    summed = ckks_ops.key_switch_inner_product(digits, active, on_qp.rns_params)
    return mod_down(on_qp.inverse_(summed), tables)


class NativeKeySwitchImplementation(CompositeImplementation):
    """Relinearize, rotate, conjugate and switch keys as compositions of residue operators."""

    name = "native-ckks-key-switch"
    operation_types = (ckks.RelinearizeOp, ckks.RotateOp, ckks.ConjugateOp, ckks.SwitchKeyOp)

    def materials(self, invocation: OperationInvocation) -> dict[str, str]:
        return _symbols(invocation)

    def compute(
        self,
        invocation: OperationInvocation,
        operands: tuple[torch.Tensor, ...],
        tables: dict[str, torch.Tensor],
    ) -> torch.Tensor:
        ciphertext, key = operands
        switch = KeySwitch(invocation, tables)
        if invocation.operation_type is ckks.RelinearizeOp:
            kept, moved = ciphertext[:2], ciphertext[2]
        else:
            element = invocation.attributes.get("galois_element", 1)
            permuted = switch.permute(ciphertext, element)
            kept, moved = permuted[:1], permuted[1]
        digits = raise_digits(switch.coefficients(moved), switch.on_qp, tables)
        return switch.finish(kept, apply_key(digits, key, switch.depth, switch.on_qp, tables))


class NativeHoistedRotationImplementation(OperationImplementation):
    """Rotate by several steps: one ModUp, then a permutation of its digits for each step."""

    name = "native-ckks-hoisted-rotation"
    operation_types = (ckks.RotateManyOp,)

    def material_symbols(self, invocation: OperationInvocation) -> tuple[str, ...]:
        return tuple(_symbols(invocation).values())

    def execute(
        self,
        invocation: OperationInvocation,
        inputs: tuple[torch.Tensor, ...],
        resources: tuple[BoundResource, ...],
        *,
        in_place: bool,
    ) -> tuple[torch.Tensor, ...]:
        count = invocation.operand_count
        tables = dict(zip(_symbols(invocation), inputs[count:], strict=True))
        ciphertext, keys = inputs[0], inputs[1:count]
        switch = KeySwitch(invocation, tables)
        digits = raise_digits(switch.coefficients(ciphertext[1]), switch.on_qp, tables)
        results = []
        for element, key in zip(invocation.attributes["galois_elements"], keys, strict=True):
            permuted = ckks_ops.automorphism_ntt(digits, element)
            switched = apply_key(permuted, key, switch.depth, switch.on_qp, tables)
            results.append(switch.finish(switch.permute(ciphertext[:1], element), switched))
        return tuple(results)


class KeySwitch:
    """What the key-switching calls of one invocation share."""

    def __init__(self, invocation: OperationInvocation, tables: dict[str, torch.Tensor]) -> None:
        attributes = invocation.attributes
        backend = require_ntt_backend(attributes.get("ntt_backend"))
        self.depth: int = attributes["depth"]
        self.in_ntt = attributes["polynomial_domain"] == "ntt"
        self.out_ntt = output_domain(invocation) == "ntt"
        self.on_q = Transform.of(backend, "Q", self.depth, tables)
        self.on_qp = Transform.of(backend, "QP", self.depth, tables)

    def coefficients(self, polynomial: torch.Tensor) -> torch.Tensor:
        return self.on_q.inverse(polynomial) if self.in_ntt else polynomial

    def permute(self, polynomials: torch.Tensor, galois_element: int) -> torch.Tensor:
        if galois_element == 1:
            return polynomials
        if self.in_ntt:
            return ckks_ops.automorphism_ntt(polynomials, galois_element)
        return ckks_ops.automorphism_coefficient(polynomials, galois_element, self.on_q.rns_params)

    def finish(self, kept: torch.Tensor, switched: torch.Tensor) -> torch.Tensor:
        """Bring both parts to the output domain and add the kept components on."""
        if self.out_ntt:
            self.on_q.forward_(switched)
            kept = kept if self.in_ntt else self.on_q.forward(kept)
        elif self.in_ntt:
            kept = self.on_q.inverse(kept)
        rns_ops.add_standard_(switched[: kept.shape[0]], kept, self.on_q.rns_params)
        return switched


def _symbols(invocation: OperationInvocation) -> dict[str, str]:
    backend = require_ntt_backend(invocation.attributes.get("ntt_backend"))
    return key_switch_symbols(backend, invocation.attributes["depth"])
