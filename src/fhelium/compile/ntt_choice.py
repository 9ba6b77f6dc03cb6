"""Where a Program says what computes its transforms."""

from __future__ import annotations

from fhelium.backend.ntt import require_ntt_backend
from fhelium.ir.program import Program

BACKEND = "ntt.backend"
IMPLEMENTATION = "ntt.implementation"


def ntt_backend_of(program: Program) -> str:
    """Return the NTT backend that a Program asks for, the fast one where it does not."""
    return require_ntt_backend(program.attributes().get(BACKEND))


def ntt_implementation_of(program: Program) -> str | None:
    """Return the name of the implementation that a Program asks for."""
    return program.attributes().get(IMPLEMENTATION)
