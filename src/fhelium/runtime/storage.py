"""The tensors behind a tree, and what the values around them are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import torch

from fhelium.errors import ExecutionInputError, StateError
from fhelium.runtime.trees import (
    Leaf,
    ValueTreeSignature,
    filled,
    page_locked,
    tree_tensors,
    value_around,
)
from fhelium.values import TensorResident


class TreeStorage:
    """Hold fixed tensors and a template of each leaf, from which trees are built anew.

    A template is the last payload's value without its residues: it keeps bounds and details.
    Values built here are noted as relatives of the template: in-place forms refuse them.
    """

    def __init__(
        self, signature: ValueTreeSignature, tensors: tuple[torch.Tensor, ...], value: object
    ) -> None:
        self._signature = signature
        self.tensors = tensors
        self.torn = False
        self._templates: tuple[TensorResident | None, ...] = ()
        self.adopt(value)

    @classmethod
    def around(cls, signature: ValueTreeSignature, value: object) -> Self:
        """Return storage that is the tensors of a value themselves."""
        return cls(signature, tree_tensors(signature, value), value)

    @classmethod
    def filled(
        cls, signature: ValueTreeSignature, value: object, device: torch.device, *, pinned: bool
    ) -> Self:
        """Return storage of a value's form with the value's payload in it."""
        tensors = tree_tensors(signature, value)
        copies = tuple(
            page_locked("like", tensor) if pinned else filled(tensor, device) for tensor in tensors
        )
        return cls(signature, copies, value)

    def adopt(self, value: object) -> None:
        """Let trees built from now on have the state and the details of another payload."""
        leaves = self._signature.leaves(value)
        new = tuple(None if isinstance(leaf, torch.Tensor) else leaf.to("meta") for leaf in leaves)
        for before, after in zip(self._templates, new, strict=False):
            if before is not None and after is not None:
                before._related(after)
        self._templates = new
        self.torn = False

    def value(self) -> Any:
        """Return a fresh tree around the tensors."""
        tensors = iter(self.tensors)
        return self._signature.build(_built(template, tensors) for template in self._templates)

    def write(self, sources: Sequence[torch.Tensor], *, non_blocking: bool) -> None:
        """Copy a payload over the tensors; one that fails half way leaves the storage torn."""
        self.torn = True
        with torch.no_grad():
            for target, source in zip(self.tensors, sources, strict=True):
                target.copy_(source, non_blocking=non_blocking)

    def require_foreign(self, sources: Sequence[torch.Tensor]) -> None:
        """Refuse a source that is this storage, but in other places: it would be overwritten."""
        own = {pointer_of(tensor): place for place, tensor in enumerate(self.tensors)}
        for place, source in enumerate(sources):
            target = own.get(pointer_of(source)) if pointer_of(source) else None
            if target is None:
                continue
            same = place == target and source.data_ptr() == self.tensors[place].data_ptr()
            if not same:
                raise ExecutionInputError(
                    "copy_from",
                    f"tensor {place} of the source is storage of tensor {target} of the buffer",
                    "A copy reads its source while it writes the buffer",
                    "Clone the source first",
                )


def require_separate(operation: str, tensors: Sequence[torch.Tensor]) -> None:
    """Refuse tensors that share storage, or one whose elements do: fixed ones could not."""
    seen: dict[tuple[torch.device, int], int] = {}
    for place, tensor in enumerate(tensors):
        pointer = pointer_of(tensor)
        first = seen.setdefault((tensor.device, pointer), place) if pointer else place
        overlaps = any(n > 1 and s == 0 for n, s in zip(tensor.shape, tensor.stride(), strict=True))
        if first != place or overlaps:
            raise StateError(
                operation,
                f"tensors {first} and {place} of the example share storage"
                if first != place
                else f"tensor {place} of the example is expanded: elements share storage",
                "Each tensor has fixed storage of its own",
                "Clone one of them, or an expanded one with .contiguous()",
            )


def pointer_of(tensor: torch.Tensor) -> int:
    """Return the address of a tensor's storage; 0 where there is none, as on meta."""
    return 0 if tensor.device.type == "meta" else tensor.untyped_storage().data_ptr()


def _built(template: TensorResident | None, tensors: Iterator[torch.Tensor]) -> Leaf:
    """Return the next leaf; None stands for a bare tensor."""
    if template is None:
        return next(tensors)
    return template._related(value_around(template, tensors))
