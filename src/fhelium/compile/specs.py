"""What a caller says of a function's inputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Attribute

from fhelium.errors import CompileInputError
from fhelium.ir.dialects.semantic import TensorType
from fhelium.values import PolynomialDomain, ResidueRepresentation

_NUMBERS: dict[str, Attribute] = {"count": IndexType(), "condition": IntegerType(1)}


@dataclass(frozen=True)
class InputSpec:
    """Describe an input that comes at run time.

    Args:
        role: "encrypted", "plaintext", "message", or "count" or "condition" for a public number.
        axes: What is known of it.
    """

    role: str
    axes: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        slots = self.axes.get("slots")
        if slots is not None and (slots < 1 or slots & (slots - 1)):
            raise CompileInputError(
                f"{self.role}(slots={slots})",
                f"{slots} is no power of two",
                "The number of slots is one, and a vector repeats until all are full",
                f"Fill it up with zeros and say slots={1 << max(slots - 1, 0).bit_length()}",
            )

    @property
    def is_number(self) -> bool:
        """Say whether the input is a public number."""
        return self.role in _NUMBERS

    def type(self) -> Attribute:
        """Return the input's type in a captured Program."""
        if self.role in _NUMBERS:
            return _NUMBERS[self.role]
        return TensorType.of(role=self.role, **self.axes)


@dataclass(frozen=True)
class StaticSpec:
    """Hold an argument that is known now; the captured Program is specialised to it."""

    value: Any


@dataclass(frozen=True)
class EngineSpec:
    """Stand for the Engine in the parameters of a function that is written against it."""


def engine() -> EngineSpec:
    """Say that a parameter is the Engine whose calls are to be written down.

    Example:
        >>> import torch
        >>> from fhelium import CkksConfig
        >>> from fhelium.compile import CompileWorkspace, capture, encrypted, engine
        >>> def doubled(engine, x):
        ...     return engine.add(x, x)
        >>> workspace = CompileWorkspace({CkksConfig: CkksConfig.create(depth=2, scale_bits=40)})
        >>> inputs = {"engine": engine(), "x": encrypted(depth=0)}
        >>> found = capture(doubled, inputs=inputs, workspace=workspace)
        >>> [op.name for op in found.program.operations]
        ['ckks.add', 'func.return']
    """
    return EngineSpec()


def encrypted(
    *,
    slots: int | None = None,
    polynomial_domain: PolynomialDomain | None = None,
    residue_representation: ResidueRepresentation | None = None,
    depth: int | None = None,
    scale: float | None = None,
) -> InputSpec:
    """Say that an input is a ciphertext; what is left out is not known yet.

    Args:
        slots: Period of the vector: a shorter one repeats until all slots are full.
        polynomial_domain: "coefficient" or "ntt".
        residue_representation: "standard" or "montgomery".
        depth: Depth of the ciphertext, counted up from 0.
        scale: Scale of the ciphertext.

    Example:
        >>> encrypted(slots=16, depth=0).role
        'encrypted'
    """
    return InputSpec(
        "encrypted",
        {
            "slots": slots,
            "depth": depth,
            "scale": scale,
            "polynomial_domain": polynomial_domain,
            "modulus_basis": "Q",
            "residue_representation": residue_representation,
            "components": 2,
        },
    )


def plaintext(
    *,
    slots: int | None = None,
    polynomial_domain: PolynomialDomain | None = None,
    residue_representation: ResidueRepresentation | None = None,
    depth: int | None = None,
    scale: float | None = None,
) -> InputSpec:
    """Say that an input is an encoded vector, as ``engine.prepare_plaintext`` makes it.

    Args:
        slots: Period of the vector.
        polynomial_domain: "ntt" for a factor, the ciphertext's domain for a summand.
        residue_representation: "montgomery" for a factor, "standard" for a summand.
        depth: Depth of the ciphertexts that it meets.
        scale: Its scale.

    Example:
        >>> plaintext(polynomial_domain="ntt", residue_representation="montgomery").role
        'plaintext'
    """
    axes = {"slots": slots, "depth": depth, "scale": scale, "modulus_basis": "Q"}
    axes |= {
        "polynomial_domain": polynomial_domain,
        "residue_representation": residue_representation,
    }
    return InputSpec("plaintext", axes)


def message(*, slots: int | None = None) -> InputSpec:
    """Say that an input is a public vector that is not encoded.

    Example:
        >>> message(slots=16).role
        'message'
    """
    return InputSpec("message", {"slots": slots})


def count() -> InputSpec:
    """Say that an input is a public int, known at each run: how often a loop runs.

    Example:
        >>> from fhelium.compile import CompileWorkspace, capture, encrypted, repeat
        >>> def sharpened(x, rounds):
        ...     return repeat(rounds, lambda y: y + x, x)
        >>> found = capture(sharpened, inputs={"x": encrypted(), "rounds": count()},
        ...                 workspace=CompileWorkspace())
        >>> found.program.inputs[1].type
        IndexType()
    """
    return InputSpec("count")


def condition() -> InputSpec:
    """Say that an input is a public bool, known at each run: which branch is taken.

    Example:
        >>> import torch
        >>> from fhelium.compile import CompileWorkspace, capture, encrypted
        >>> def mirrored(x, flip):
        ...     return torch.cond(flip, lambda y: -y, lambda y: y, (x,))
        >>> found = capture(mirrored, inputs={"x": encrypted(), "flip": condition()},
        ...                 workspace=CompileWorkspace())
        >>> [op.name for op in found.program.operations]
        ['scf.if', 'semantic.negate', 'scf.yield', 'core.cast', 'scf.yield', 'func.return']
    """
    return InputSpec("condition")


def static(value: Any) -> StaticSpec:
    """Fix an argument; the captured Program no longer has it.

    Example:
        >>> static(3).value
        3
    """
    return StaticSpec(value)
