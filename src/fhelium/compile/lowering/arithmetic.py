"""Rules for sums and products."""

from __future__ import annotations

from xdsl.ir import SSAValue

from fhelium.backend.ckks.constants import scalar_symbol
from fhelium.compile.lowering.builder import Builder, lowers
from fhelium.ir.dialects import ckks, rns


@lowers(ckks.AddOp)
def _add(b: Builder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    return b.emit(rns.AddStandardOp, lhs, rhs, b.params())


@lowers(ckks.SubtractOp)
def _subtract(b: Builder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    return b.emit(rns.SubtractStandardOp, lhs, rhs, b.params())


@lowers(ckks.NegateOp)
def _negate(b: Builder, ciphertext: SSAValue) -> SSAValue:
    return b.emit(rns.NegateStandardOp, ciphertext, b.params())


@lowers(ckks.AddManyOp)
def _add_many(b: Builder, ciphertexts: list[SSAValue]) -> SSAValue:
    return _total(b, ciphertexts)


@lowers(ckks.MultiplyOp)
def multiply(b: Builder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Multiply two ciphertexts: three components in the output domain."""
    factors = [b.to_domain(lhs, "ntt"), b.to_domain(rhs, "ntt")]
    product = b.emit(rns.CiphertextProductOp, *factors, b.params())
    return b.to_domain(product, b.output_domain())


@lowers(ckks.SquareOp)
def _square(b: Builder, ciphertext: SSAValue) -> SSAValue:
    product = b.emit(rns.CiphertextSquareOp, b.to_domain(ciphertext, "ntt"), b.params())
    return b.to_domain(product, b.output_domain())


@lowers(ckks.AddPlaintextOp)
def _add_plaintext(b: Builder, ciphertext: SSAValue, plaintext: SSAValue) -> SSAValue:
    return b.emit(rns.AddToFirstComponentOp, ciphertext, plaintext, b.params())


@lowers(ckks.MultiplyPlaintextOp)
def _multiply_plaintext(b: Builder, ciphertext: SSAValue, plaintext: SSAValue) -> SSAValue:
    return b.to_domain(plaintext_product(b, ciphertext, plaintext), b.output_domain())


@lowers(ckks.SumPlaintextProductsOp)
def _sum_plaintext_products(
    b: Builder, ciphertexts: list[SSAValue], plaintexts: list[SSAValue]
) -> SSAValue:
    pairs = zip(ciphertexts, plaintexts, strict=True)
    total = _total(b, [plaintext_product(b, *pair) for pair in pairs])
    return b.to_domain(total, b.output_domain())


@lowers(ckks.AddScalarOp)
def _add_scalar(b: Builder, ciphertext: SSAValue) -> SSAValue:
    facts = b.facts
    constant = b.table(scalar_symbol(facts["value"], facts["scale"], b.depth, "standard"))
    return b.emit(rns.AddConstantOp, ciphertext, constant, b.params())


@lowers(ckks.MultiplyScalarOp)
def _multiply_scalar(b: Builder, ciphertext: SSAValue) -> SSAValue:
    facts = b.facts
    symbol = scalar_symbol(facts["value"], facts["factor_scale"], b.depth, "montgomery")
    return b.emit(rns.MultiplyConstantOp, ciphertext, b.table(symbol), b.params())


def plaintext_product(b: Builder, ciphertext: SSAValue, plaintext: SSAValue) -> SSAValue:
    """Multiply by a plaintext: a product in the NTT domain."""
    factor = b.to_domain(ciphertext, "ntt")
    return b.emit(rns.MultiplyMontgomeryOp, factor, plaintext, b.params())


def _total(b: Builder, terms: list[SSAValue]) -> SSAValue:
    total = terms[0]
    for term in terms[1:]:
        total = b.emit(rns.AddStandardOp, total, term, b.params())
    return total
