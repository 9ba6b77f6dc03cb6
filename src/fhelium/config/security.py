"""The security table: the largest log2(QP) of each ring degree and level, and nothing between rows.

It holds for a uniform ternary secret and an error of standard deviation 3.19 or more. QP is the
whole modulus under which a switching key is published, special primes included.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, Literal, get_args

from fhelium.errors import ParameterError

SecurityLevel = Literal["128", "192", "256", "pq128"]
SECURITY_LEVELS: Final[tuple[str, ...]] = get_args(SecurityLevel)

_CLASSICAL = "classical attacks, MATZOV cost model"
# Bossuat et al., "Security Guidelines for Implementing Homomorphic Encryption", IACR CiC 2025,
# doi 10.62056/anxra69p1. The rows "pq128" use the ChaLoy21 cost model.
SECURITY_MODELS: Final = MappingProxyType(
    {
        "128": _CLASSICAL,
        "192": _CLASSICAL,
        "256": _CLASSICAL,
        "pq128": "quantum attacks, ChaLoy21 cost model",
    }
)
MAX_LOG2_QP: Final = MappingProxyType({
    "128": MappingProxyType({
        1 << 10: 26, 1 << 11: 53, 1 << 12: 106, 1 << 13: 214,
        1 << 14: 430, 1 << 15: 868, 1 << 16: 1747, 1 << 17: 3523,
    }),
    "192": MappingProxyType({
        1 << 11: 36, 1 << 12: 73, 1 << 13: 147,
        1 << 14: 297, 1 << 15: 597, 1 << 16: 1199, 1 << 17: 2411,
    }),
    "256": MappingProxyType({
        1 << 11: 27, 1 << 12: 56, 1 << 13: 114,
        1 << 14: 230, 1 << 15: 462, 1 << 16: 929, 1 << 17: 1866,
    }),
    "pq128": MappingProxyType({
        1 << 10: 20, 1 << 11: 40, 1 << 12: 80, 1 << 13: 161,
        1 << 14: 322, 1 << 15: 644, 1 << 16: 1289, 1 << 17: 2578,
    }),
})  # fmt: skip


def check_security_level(security: object, operation: str = "CkksConfig") -> str:
    """Return the level when it is one of the table's names."""
    if isinstance(security, str) and security in MAX_LOG2_QP:
        return security
    levels = ", ".join(repr(level) for level in SECURITY_LEVELS)
    raise ParameterError(
        operation,
        f"security is {security!r} and the levels are {levels}",
        "A level is one of these strings",
        f"Use security={str(security)!r}" if str(security) in MAX_LOG2_QP else "Choose one of them",
        security=security,
        levels=SECURITY_LEVELS,
    )


def max_log2_qp(N: int, security: str = "128") -> int | None:
    """Return the largest secure log2(QP) of a ring degree, or None where the table has no row.

    Args:
        N: Ring degree.
        security: "128", "192" or "256" (classical, MATZOV) or "pq128" (quantum, ChaLoy21).

    Returns:
        The limit in bits, special primes included. Nothing is interpolated.

    Raises:
        ParameterError: The table has no such level; the text lists those it has.

    Example:
        >>> max_log2_qp(16384), max_log2_qp(16384, "pq128"), max_log2_qp(1024, "256")
        (430, 322, None)

    Source: Bossuat et al., "Security Guidelines for Implementing Homomorphic Encryption",
        IACR Communications in Cryptology 2025, doi 10.62056/anxra69p1.
    """
    return MAX_LOG2_QP[check_security_level(security, "max_log2_qp")].get(N)


def is_within_security_row(modulus: int, N: int, security: str = "128") -> bool:
    """Tell whether a modulus QP stays within its row; an exact comparison of integers."""
    limit = max_log2_qp(N, security)
    return limit is not None and modulus <= 1 << limit
