"""How each ckks operation is composed of rns and ntt operations.

A rule is told a Builder and the operation's operands as residues; it returns the residues of the
results. It composes what the whole-operation implementations compose, so both give the same bits.
"""

from fhelium.compile.lowering import (  # noqa: F401, they fill RULES
    arithmetic,
    levels,
    products,
    switching,
)
from fhelium.compile.lowering.builder import RULES, Builder

__all__ = ["RULES", "Builder"]
