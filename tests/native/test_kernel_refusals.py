"""A CUDA tensor that finds no kernel is refused with the way out."""

from __future__ import annotations

import pytest
import torch

from fhelium.errors import NativeError
from fhelium.native import has_device, refusals, require_native
from tests.native.rings import Ring
from tests.native.samples import CUDA_ONLY, SAMPLES
from tools.check_cuda import is_host_only

require_native()
ROWS = {**SAMPLES, **CUDA_ONLY}
CUDA = torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA)
REFUSED = sorted(
    name
    for name, row in ROWS.items()
    if any(isinstance(argument, torch.Tensor | list) for argument in row(Ring()))
    and (is_host_only(name) or not has_device("cuda"))
)


def on_cuda(name: str, arguments: tuple) -> None:
    """Call what an operator has for CUDA tensors."""
    namespace, _, operator = name.partition("::")
    getattr(getattr(torch.ops, namespace), operator).default.redispatch(CUDA, *arguments)


@pytest.mark.parametrize("name", REFUSED)
def test_an_operator_without_kernel_is_refused(name: str) -> None:
    fact = rf"^{name.partition('::')[2]}: an operand is a CUDA tensor.* Move the operands"
    if not has_device("cuda"):
        fact = "^native: the compiled module has kernels for CPU, tensors on cuda need CUDA"
    with pytest.raises(NativeError, match=fact):
        on_cuda(name, ROWS[name](Ring()))


def test_an_operator_of_the_host_names_itself_and_the_way_out() -> None:
    with torch.library._scoped_library("refused_ops", "DEF") as library:
        library.define("halve(Tensor x) -> Tensor")
        refusals.register(["refused_ops::halve"], lambda device: None)
        with pytest.raises(NativeError, match=r"^halve: .* CPU kernel only\. .* Move .*\.cpu\(\)"):
            on_cuda("refused_ops::halve", (torch.zeros(1),))
        refusals._libraries.pop()._destroy()


def test_what_asks_for_no_tensor_is_left_alone() -> None:
    assert torch.ops.fhelium_rns_ops.cpu_isa.default.redispatch(CUDA)
