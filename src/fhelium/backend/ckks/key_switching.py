"""Hybrid key switching: relinearize, rotate, conjugate.

A polynomial d under a secret s' becomes two polynomials under s:
mod_up cuts d into digits on QP, the inner product with the key sums digit times key, and mod_down
divides by P with rounding (Han, Ki, CT-RSA 2020).
"""

from __future__ import annotations

import torch

from fhelium.backend.ckks.products import output_domain
from fhelium.backend.implementation import CompositeImplementation
from fhelium.backend.invocation import OperationInvocation
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


def switch_polynomial(
    coefficients: torch.Tensor,
    key: torch.Tensor,
    depth: int,
    transform: Transform,
    tables: dict[str, torch.Tensor],
) -> torch.Tensor:
    """Switch one polynomial to the key's target secret.

    Args:
        coefficients: [*batch, limb, N] on Q, coefficient domain.
        key: Payload [digit, 2, limb + K, N] over the full chain.
        depth: Depth of the polynomial; it decides the rows and digits of the key in use.
        transform: NTT on QP at this depth.
        tables: Materials of ``key_switch_symbols``.

    Returns:
        [2, *batch, limb, N] on Q, coefficient domain.
    """
    digits = rns_ops.mod_up(
        coefficients,
        tables["mod_up/digit_bounds"],
        tables["mod_up/digit_scale"],
        tables["mod_up/matrix"],
        tables["mod_up/correction"],
        tables["rns_parameters/QP"],
    )
    transform.forward_(digits)
    # Dropped primes empty the first digits: the last ones of the key stay in use.
    active = key[key.shape[0] - digits.shape[0] :, :, depth:]
    summed = ckks_ops.key_switch_inner_product(digits, active, tables["rns_parameters/QP"])
    transform.inverse_(summed)
    return mod_down(summed, tables)


class NativeKeySwitchImplementation(CompositeImplementation):
    """Relinearize, rotate and conjugate as compositions of residue operators."""

    name = "native-ckks-key-switch"
    operation_types = (ckks.RelinearizeOp, ckks.RotateOp, ckks.ConjugateOp)

    def materials(self, invocation: OperationInvocation) -> dict[str, str]:
        backend = require_ntt_backend(invocation.attributes.get("ntt_backend"))
        return key_switch_symbols(backend, invocation.attributes["depth"])

    def compute(
        self,
        invocation: OperationInvocation,
        operands: tuple[torch.Tensor, ...],
        tables: dict[str, torch.Tensor],
    ) -> torch.Tensor:
        ciphertext, key = operands
        attributes = invocation.attributes
        backend, depth = require_ntt_backend(attributes.get("ntt_backend")), attributes["depth"]
        on_q = Transform.of(backend, "Q", depth, tables)
        on_qp = Transform.of(backend, "QP", depth, tables)
        in_ntt = attributes["polynomial_domain"] == "ntt"
        if invocation.operation_type is ckks.RelinearizeOp:
            kept, moved = ciphertext[:2], ciphertext[2]
        else:
            permuted = self._permute(invocation, ciphertext, on_q.rns_params)
            kept, moved = permuted[:1], permuted[1]
        coefficients = on_q.inverse(moved) if in_ntt else moved
        switched = switch_polynomial(coefficients, key, depth, on_qp, tables)
        if output_domain(invocation) == "ntt":
            on_q.forward_(switched)
            kept = kept if in_ntt else on_q.forward(kept)
        elif in_ntt:
            kept = on_q.inverse(kept)
        rns_ops.add_standard_(switched[: kept.shape[0]], kept, on_q.rns_params)
        return switched

    @staticmethod
    def _permute(
        invocation: OperationInvocation, ciphertext: torch.Tensor, rns_params: torch.Tensor
    ) -> torch.Tensor:
        galois_element = invocation.attributes["galois_element"]
        if invocation.attributes["polynomial_domain"] == "ntt":
            return ckks_ops.automorphism_ntt(ciphertext, galois_element)
        return ckks_ops.automorphism_coefficient(ciphertext, galois_element, rns_params)
