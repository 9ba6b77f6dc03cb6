"""What a CUDA tensor meets where the compiled module has no CUDA kernel: an error with a remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import torch

from fhelium.errors import NativeError

_libraries: list[torch.library.Library] = []
"""Registrations last as long as their library object."""


def register(names: list[str], require_device: Callable[[torch.device], None]) -> None:
    """Refuse CUDA tensors in every operator that would not find a kernel.

    Args:
        names: Qualified names of the operators.
        require_device: Refuses a device that the module was not compiled for.
    """
    for name in names:
        keys = ("CUDA", "CompositeExplicitAutograd")  # the latter asks for no tensor
        if any(torch._C._dispatch_has_kernel_for_dispatch_key(name, key) for key in keys):
            continue
        namespace, _, operator = name.partition("::")
        library = torch.library.Library(namespace, "IMPL")
        library.impl(operator, _refusal(operator, require_device), "CUDA")
        _libraries.append(library)


def _refusal(
    operator: str, require_device: Callable[[torch.device], None]
) -> Callable[..., NoReturn]:
    def refuse(*arguments: Any, **named: Any) -> NoReturn:
        require_device(torch.device("cuda"))
        raise NativeError(
            operator,
            "an operand is a CUDA tensor, this operator has a CPU kernel only",
            "Messages are encoded and decoded, and keys are made and used to open, on the host",
            "Move the operands with .cpu(), and the result with .cuda()",
        )

    return refuse
