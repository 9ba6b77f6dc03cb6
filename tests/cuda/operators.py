"""The operators with CUDA kernels, their calls, and what the CPU says that they give."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from tests.native.rings import Ring
from tests.native.samples import CUDA_ONLY, SAMPLES
from tools.check_cuda import is_host_only

ROWS = {**SAMPLES, **CUDA_ONLY}
OPERATORS = sorted(name for name in ROWS if not is_host_only(name))
MAKERS = re.compile(r".*_(parameters|tables|twiddles)")
"""Operators that are called once for each basis, so they may wait for the device."""

Operator = Callable[..., Any]


def packet(name: str, prefix: str = "") -> Operator:
    """Return the operator of a qualified name, in a namespace of that prefix."""
    namespace, _, operator = name.partition("::")
    return getattr(getattr(torch.ops, prefix + namespace), operator)


def cpu_twin(name: str) -> str:
    """Return the CPU operator that gives the same: of one name, unless only CUDA has the format."""
    if name == "fhelium_ntt_ops::ntt_tables":
        return "fhelium_ntt_ops::compact_twiddles"
    return re.sub(r"_(compact|fixed_radix)(?=_?$)", "_packed", name)


def outcome(operator: Operator, arguments: tuple[Any, ...]) -> list[Tensor]:
    """Return what a call returns, and the operands that it writes."""
    result = operator(*arguments)
    schema = operator.default._schema.arguments  # type: ignore[attr-defined]
    written = [
        argument
        for argument, declared in zip(arguments, schema, strict=False)
        if declared.alias_info is not None and declared.alias_info.is_write
    ]
    return [leaf for leaf in pytree.tree_leaves([result, written]) if isinstance(leaf, Tensor)]


def wanted(name: str, ring: Ring) -> list[Tensor]:
    """Return what the CPU gives for an operator's row, whose tables have the CPU's format."""
    twin = cpu_twin(name)
    return outcome(packet(twin), ROWS[twin](ring))
