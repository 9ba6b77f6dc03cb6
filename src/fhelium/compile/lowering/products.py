"""Rules for operations that are several in one call: each composes the rules of its parts."""

from __future__ import annotations

from xdsl.ir import SSAValue

from fhelium.compile.lowering.arithmetic import multiply, plaintext_product
from fhelium.compile.lowering.builder import Builder, lowers
from fhelium.compile.lowering.levels import divide
from fhelium.compile.lowering.switching import relinearize
from fhelium.ir.dialects import ckks


@lowers(ckks.MultiplyRescaleOp)
def _multiply_rescale(b: Builder, lhs: SSAValue, rhs: SSAValue, key: SSAValue) -> SSAValue:
    product = relinearize(b, multiply(b, lhs, rhs), key)
    return divide(b, product, b.depth, b.output_domain())


@lowers(ckks.MultiplyPlaintextRescaleOp)
def _multiply_plaintext_rescale(b: Builder, ciphertext: SSAValue, plaintext: SSAValue) -> SSAValue:
    product = plaintext_product(b, ciphertext, plaintext)
    return divide(b, product, b.depth, b.output_domain())
