"""Rules for moves along the modulus chain, and for changes of what a value is read as."""

from __future__ import annotations

from xdsl.ir import SSAValue

from fhelium.backend.ckks.constants import scalar_symbol
from fhelium.compile.lowering.builder import Builder, lowers
from fhelium.ir.dialects import ckks, rns


@lowers(ckks.RescaleOp)
def _rescale(b: Builder, ciphertext: SSAValue) -> SSAValue:
    rounding = b.anchor.python_attributes().get("rounding")
    return divide(b, ciphertext, b.depth, b.output_domain(), rounding)


@lowers(ckks.ModSwitchOp)
def _mod_switch(b: Builder, ciphertext: SSAValue) -> SSAValue:
    return b.emit(rns.DropLimbsOp, ciphertext, target_depth=b.facts["target_depth"])


@lowers(ckks.AlignOp)
def _align(b: Builder, ciphertext: SSAValue) -> SSAValue:
    facts = b.facts
    before = facts["target_depth"] - 1
    if before < b.depth:
        return ciphertext
    rows = b.emit(rns.DropLimbsOp, ciphertext, target_depth=before)
    one = b.table(scalar_symbol(1.0, facts["factor_scale"], before, "montgomery"))
    product = b.emit(rns.MultiplyConstantOp, rows, one, b.params(depth=before))
    return divide(b, product, before, b.domain)


@lowers(ckks.ReinterpretScaleOp, ckks.AssumeMessageBoundOp, ckks.BoundByOp)
def _same_residues(b: Builder, ciphertext: SSAValue, *others: SSAValue) -> SSAValue:
    return ciphertext


@lowers(ckks.CoefficientToNttOp)
def _coefficient_to_ntt(b: Builder, ciphertext: SSAValue) -> SSAValue:
    return b.to_domain(ciphertext, "ntt")


@lowers(ckks.NttToCoefficientOp)
def _ntt_to_coefficient(b: Builder, ciphertext: SSAValue) -> SSAValue:
    return b.to_domain(ciphertext, "coefficient")


@lowers(ckks.FromMontgomeryOp)
def _from_montgomery(b: Builder, ciphertext: SSAValue) -> SSAValue:
    return b.emit(rns.FromMontgomeryOp, ciphertext, b.params())


def divide(
    b: Builder, residues: SSAValue, depth: int, domain: str, rounding: str | None = None
) -> SSAValue:
    """Divide residues of a depth by its prime, and bring the result to a domain."""
    coefficients = b.to_domain(residues, "coefficient")
    (inverse,) = b.tables("rescale", "inverse", depth=depth)
    result = b.emit(rns.RescaleOp, coefficients, inverse, b.params(depth=depth), rounding=rounding)
    return b.to_domain(result, domain)
