"""One row of arguments for each native operator, small and legal, made anew on every call.

The checks of wrappers, shapes and tracing run over these rows; a new operator needs one.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from fhelium.native.wrapper import rns_ops

DEGREE = 16
PRIMES = (97, 193, 257)  # each is 1 modulo 2 DEGREE


def moduli() -> Tensor:
    return torch.tensor(PRIMES)


def parameters() -> Tensor:
    return rns_ops.rns_parameters(moduli(), DEGREE)


def residues(*batch: int, seed: int = 0) -> Tensor:
    """Uniform standard residues [*batch, limb, N]."""
    generator = torch.Generator().manual_seed(seed)
    shape = (*batch, len(PRIMES), DEGREE)
    return torch.randint(0, min(PRIMES), shape, generator=generator)


def pair() -> tuple[Tensor, Tensor, Tensor]:
    """A batch, one without batch axes that repeats over it, and the parameters."""
    return residues(2, seed=1), residues(seed=2), parameters()


SAMPLES: dict[str, Callable[[], tuple[Any, ...]]] = {
    "fhelium_rns_ops::rns_parameters": lambda: (moduli(), DEGREE),
    "fhelium_rns_ops::parameter_row_names": lambda: (),
    "fhelium_rns_ops::cpu_isa": lambda: (),
    "fhelium_rns_ops::add_standard": pair,
    "fhelium_rns_ops::add_standard_": pair,
}
