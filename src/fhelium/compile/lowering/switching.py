"""Rules for key switches: relinearization, automorphisms and a change of the secret key."""

from __future__ import annotations

from xdsl.ir import SSAValue

from fhelium.compile.lowering.builder import Builder, lowers
from fhelium.ir.dialects import ckks, rns


@lowers(ckks.RelinearizeOp)
def relinearize(b: Builder, ciphertext: SSAValue, key: SSAValue) -> SSAValue:
    """Bring three components to two in the output domain."""
    kept = b.emit(rns.FirstComponentsOp, ciphertext, count=2)
    switched = _apply_key(b, _raised(b, b.emit(rns.ComponentOp, ciphertext, index=2)), key)
    domain = b.output_domain()
    parts = [b.to_domain(switched, domain), b.to_domain(kept, domain)]
    return b.emit(rns.AddStandardOp, *parts, b.params())


@lowers(ckks.RotateOp, ckks.ConjugateOp, ckks.SwitchKeyOp)
def _switch(b: Builder, ciphertext: SSAValue, key: SSAValue) -> SSAValue:
    permuted = ciphertext
    if "galois_element" in b.facts:
        permuted = _permuted(b, ciphertext, b.facts["galois_element"])
    digits = _raised(b, b.emit(rns.ComponentOp, permuted, index=1))
    return _finished(b, b.emit(rns.ComponentOp, permuted, index=0), _apply_key(b, digits, key))


@lowers(ckks.RotateManyOp)
def _rotate_many(b: Builder, ciphertext: SSAValue, keys: list[SSAValue]) -> list[SSAValue]:
    digits = _raised(b, b.emit(rns.ComponentOp, ciphertext, index=1))
    kept = b.emit(rns.ComponentOp, ciphertext, index=0)
    results = []
    for element, key in zip(b.facts["galois_elements"], keys, strict=True):
        switched = _apply_key(b, _permuted(b, digits, element, "QP"), key)
        results.append(_finished(b, _permuted(b, kept, element), switched))
    return results


def _permuted(b: Builder, residues: SSAValue, element: int, basis: str = "Q") -> SSAValue:
    return b.emit(rns.AutomorphismOp, residues, b.params(basis), galois_element=element)


def _raised(b: Builder, polynomial: SSAValue) -> SSAValue:
    """Cut a polynomial into digits on QP, NTT domain."""
    coefficients = b.to_domain(polynomial, "coefficient")
    tables = b.tables("mod_up", "digit_bounds", "digit_scale", "matrix", "correction")
    return b.to_domain(b.emit(rns.ModUpOp, coefficients, *tables, b.params("QP")), "ntt")


def _apply_key(b: Builder, digits: SSAValue, key: SSAValue) -> SSAValue:
    """Multiply digits with a key's, add up, and divide by P: two components, coefficients."""
    summed = b.emit(rns.KeySwitchInnerProductOp, digits, key, b.params("QP"))
    coefficients = b.to_domain(summed, "coefficient")
    tables = b.tables("mod_down", "special_scale", "matrix", "correction", "special_inverse")
    return b.emit(rns.ModDownOp, coefficients, *tables, b.params("QP"))


def _finished(b: Builder, kept: SSAValue, switched: SSAValue) -> SSAValue:
    """Bring both parts to the output domain and add the first component that was kept."""
    domain = b.output_domain()
    parts = [b.to_domain(switched, domain), b.to_domain(kept, domain)]
    return b.emit(rns.AddToFirstComponentOp, *parts, b.params())
