"""Changes of domain and representation: the value stays, its residues are written differently."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition

from fhelium.ir.dialects.ckks.shapes import UnaryOperation
from fhelium.ir.operation import EngineMethod, OperationFacts
from fhelium.ir.rules import require, require_ciphertext
from fhelium.values import CkksState, PolynomialDomain


class DomainChange(UnaryOperation):
    """Base of the two changes: one operand, and the domains it goes from and to."""

    SOURCE: ClassVar[PolynomialDomain]
    TARGET: ClassVar[PolynomialDomain]
    FACTS: ClassVar = OperationFacts(limb_wise=True, in_place=True)

    @classmethod
    def transfer(cls, ciphertext: CkksState) -> CkksState:
        operation, remedy = cls.public_name(), "It needs no conversion"
        require_ciphertext(operation, ciphertext)
        require(operation, ciphertext, "polynomial_domain", cls.SOURCE, remedy, "ciphertext")
        return ciphertext.replace(polynomial_domain=cls.TARGET)


@irdl_op_definition
class CoefficientToNttOp(DomainChange):
    """Transform coefficients to NTT values: sum_j c_j psi^((2 bitrev(k) + 1) j) mod q_i.

    Shapes:
        [component, *batch, limb, N] -> the same shape.

    State:
        Polynomial domain coefficient -> ntt.

    Cost:
        One NTT a limb and component.

    Raises:
        StateError: The ciphertext is in the NTT domain already.

    Example:
        >>> fresh = engine.encrypt_message(0.5, public_key)
        >>> engine.coefficient_domain_to_ntt_domain(fresh).polynomial_domain
        'ntt'

    Source:
        Longa, Naehrig (CANS 2016), "Speeding up the number theoretic transform for faster ideal
        lattice-based cryptography".
    """

    name = "ckks.coefficient_to_ntt"
    SOURCE: ClassVar = "coefficient"
    TARGET: ClassVar = "ntt"
    ENGINE: ClassVar = EngineMethod("coefficient_domain_to_ntt_domain", "representation")


@irdl_op_definition
class NttToCoefficientOp(DomainChange):
    """Transform NTT values back to coefficients; the inverse of the forward transform.

    Shapes:
        [component, *batch, limb, N] -> the same shape.

    State:
        Polynomial domain ntt -> coefficient.

    Cost:
        One inverse NTT a limb and component.

    Raises:
        StateError: The ciphertext is in the coefficient domain already.

    Example:
        >>> engine.ntt_domain_to_coefficient_domain(x).polynomial_domain
        'coefficient'

    Source:
        Longa, Naehrig (CANS 2016).
    """

    name = "ckks.ntt_to_coefficient"
    SOURCE: ClassVar = "ntt"
    TARGET: ClassVar = "coefficient"
    ENGINE: ClassVar = EngineMethod("ntt_domain_to_coefficient_domain", "representation")


@irdl_op_definition
class FromMontgomeryOp(UnaryOperation):
    """Write Montgomery residues in standard form: c = a R^-1 (mod q_i), R the word's radix.

    Operations on ciphertexts take standard residues. An Engine's ciphertexts have no other form;
    an input of a Program may be declared in Montgomery form and is brought here before its use.

    Shapes:
        [component, *batch, limb, N] -> the same shape, either domain.

    State:
        Residue representation montgomery -> standard; all else stays.

    Cost:
        A Montgomery reduction a residue.

    Source:
        Montgomery (Mathematics of Computation 44, 1985).
    """

    name = "ckks.from_montgomery"
    FACTS: ClassVar = OperationFacts(limb_wise=True, in_place=True)

    @classmethod
    def transfer(cls, ciphertext: CkksState) -> CkksState:
        remedy = "It is in standard form already"
        require(cls.name, ciphertext, "residue_representation", "montgomery", remedy, "ciphertext")
        require(cls.name, ciphertext, "modulus_basis", "Q", "Bring it down with a mod_down")
        return ciphertext.replace(residue_representation="standard")
