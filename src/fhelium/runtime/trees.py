"""Trees of tensors and values: their structure, the leaves in order, and putting them together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeVar

import torch

from fhelium.errors import ExecutionError, ExecutionInputError, OperandTypeError
from fhelium.runtime.signatures import TensorSignature, ValueSignature
from fhelium.values import TensorResident

_ValueT = TypeVar("_ValueT")

TreeKind = Literal["tensor", "value", "list", "tuple", "dict"]

Leaf = torch.Tensor | TensorResident


@dataclass(frozen=True, slots=True)
class ValueTreeSignature:
    """Say what a whole payload must be: containers, and the signature of each leaf.

    Containers are lists, tuples and dictionaries themselves, not subclasses, for those could not
    be built again. Dictionaries match by their keys, in any order.

    Args:
        kind: "tensor", "value", "list", "tuple" or "dict".
        leaf: Signature of a leaf; None for a container.
        children: Signatures of a container's members, in order.
        keys: A dictionary's keys, in the order of the children.

    Example:
        >>> signature = ValueTreeSignature.from_value({"x": x, "weights": [torch.zeros(2)]})
        >>> signature.kind, signature.keys, signature.children[1].kind
        ('dict', ('x', 'weights'), 'list')
    """

    kind: TreeKind
    leaf: TensorSignature | ValueSignature | None = None
    children: tuple[ValueTreeSignature, ...] = ()
    keys: tuple[object, ...] = ()

    @classmethod
    def from_value(cls, value: object) -> ValueTreeSignature:
        """Describe a tree.

        Args:
            value: Tensors and registered values in nested lists, tuples and dictionaries.

        Raises:
            TypeError: A leaf is something else, which a closure or functools.partial can bind, or
                a container contains itself.

        Example:
            >>> ValueTreeSignature.from_value((torch.zeros(2), torch.zeros(3))).kind
            'tuple'
        """
        if isinstance(value, torch.Tensor):
            return cls("tensor", TensorSignature.from_tensor(value))
        kind = _CONTAINERS.get(type(value))
        if kind is None:
            return cls("value", ValueSignature.from_value(value))  # type: ignore[arg-type]
        keys = tuple(value) if isinstance(value, dict) else ()
        try:
            return cls(kind, None, tuple(map(cls.from_value, _members(value, keys))), keys)
        except RecursionError:
            raise OperandTypeError(
                "ValueTreeSignature.from_value",
                f"a {kind} contains itself, or containers nest too deeply",
                "A payload is a tree",
                "Pass each leaf once",
            ) from None

    def validate(self, value: object, *, path: str = "value") -> None:
        """Refuse a tree of another structure or state; devices may differ.

        Args:
            value: The tree to compare.
            path: What the error text calls its root.

        Raises:
            ExecutionInputError: The first difference, with its path and both sides.

        Example:
            >>> ValueTreeSignature.from_value([x]).validate([x.clone()])
        """
        difference = self.difference(value, path)
        if difference is not None:
            raise ExecutionInputError("validate", *difference)

    def difference(self, value: object, path: str) -> tuple[str, str, str] | None:
        """Return fact, rule and remedy of the first difference, or None where there is none.

        Example:
            >>> ValueTreeSignature.from_value([x]).difference([x, x], "payload")[0]
            "length of payload is 2, the prototype's is 1"
        """
        try:
            kind = _kind(value)
        except OperandTypeError:
            kind = type(value).__name__
        if kind != self.kind:
            return _differs(path, "kind", kind, self.kind)
        if kind == "dict" and set(value) != set(self.keys):  # type: ignore[call-overload]
            return _differs(path, "keys", [*value], [*self.keys])  # type: ignore[misc]
        if self.leaf is not None:
            return _leaf_difference(self.leaf, value, path)
        members = _members(value, self.keys)
        if len(members) != len(self.children):
            return _differs(path, "length", len(members), len(self.children))
        places = self.keys or range(len(members))
        for place, child, member in zip(places, self.children, members, strict=True):
            found = child.difference(member, f"{path}[{place!r}]")
            if found is not None:
                return found
        return None

    def leaves(self, value: object) -> Iterator[Leaf]:
        """Yield the leaves of a matching tree, in the signature's order.

        Example:
            >>> tree = {"x": x, "rest": [y]}
            >>> len(list(ValueTreeSignature.from_value(tree).leaves(tree)))
            2
        """
        if self.leaf is not None:
            yield value  # type: ignore[misc]
            return
        for child, member in zip(self.children, _members(value, self.keys), strict=True):
            yield from child.leaves(member)

    def build(self, leaves: Iterator[Any]) -> Any:
        """Put leaves that come in the signature's order into fresh containers.

        Example:
            >>> ValueTreeSignature.from_value((x, [x])).build(iter("ab"))
            ('a', ['b'])
        """
        if self.leaf is not None:
            return next(leaves)
        members = [child.build(leaves) for child in self.children]
        if self.kind == "dict":
            return dict(zip(self.keys, members, strict=True))
        return tuple(members) if self.kind == "tuple" else members

    @property
    def nbytes(self) -> int:
        """Return the bytes of all tensors.

        Example:
            >>> ValueTreeSignature.from_value([x, x]).nbytes == 2 * x.nbytes
            True
        """
        own = 0 if self.leaf is None else self.leaf.nbytes
        return own + sum(child.nbytes for child in self.children)


_CONTAINERS: dict[type, TreeKind] = {list: "list", tuple: "tuple", dict: "dict"}


def leaf_tensors(leaf: Leaf) -> tuple[torch.Tensor, ...]:
    """Return the tensors of one leaf, in the declared order."""
    return (leaf,) if isinstance(leaf, torch.Tensor) else tuple(leaf.tensors().values())


def tree_tensors(signature: ValueTreeSignature, value: object) -> tuple[torch.Tensor, ...]:
    """Return all tensors of a matching tree, in the signature's order."""
    return tuple(t for leaf in signature.leaves(value) for t in leaf_tensors(leaf))


def value_around(like: TensorResident, tensors: Iterator[torch.Tensor]) -> TensorResident:
    """Return a value like another one around the next tensors."""
    return like._with_tensors({name: next(tensors) for name in type(like).tensor_names})


def map_tensors(value: Any, function: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """Return a tree whose tensors are a function's of another tree's."""
    signature = ValueTreeSignature.from_value(value)
    tensors = map(function, tree_tensors(signature, value))
    return signature.build(
        next(tensors) if isinstance(leaf, torch.Tensor) else value_around(leaf, tensors)
        for leaf in signature.leaves(value)
    )


def pin_value_tree(value: _ValueT) -> _ValueT:
    """Clone a tree into page-locked host memory, from which copies to CUDA can overlap.

    Cost: one copy of the payload.

    Args:
        value: A tree of tensors and values, on any device.

    Returns:
        A tree of the same signature.

    Raises:
        TypeError: A leaf is neither a tensor nor a registered value.
        ExecutionError: Memory cannot be pinned here: there is no accelerator.

    Example:
        >>> if torch.cuda.is_available():
        ...     assert pin_value_tree(x).is_pinned()
    """
    return map_tensors(value, lambda tensor: page_locked("pin_value_tree", tensor))


def value_tree_nbytes(value: object) -> int:
    """Return the bytes of all tensors of a tree, elements times element size.

    Args:
        value: A tree of tensors and values.

    Raises:
        TypeError: A leaf is neither a tensor nor a registered value.

    Example:
        >>> value_tree_nbytes([torch.zeros(3), {"x": torch.zeros(2, dtype=torch.int64)}])
        28
    """
    return ValueTreeSignature.from_value(value).nbytes


def filled(tensor: torch.Tensor, device: torch.device, *, pinned: bool = False) -> torch.Tensor:
    """Return a copy in storage of its own that keeps the strides and the autograd flag."""
    with torch.no_grad():
        copy = torch.empty_strided(
            tuple(tensor.shape),
            tensor.stride(),
            dtype=tensor.dtype,
            device=device,
            pin_memory=pinned,
        ).copy_(tensor)
    return copy.requires_grad_(tensor.requires_grad)


def page_locked(operation: str, tensor: torch.Tensor) -> torch.Tensor:
    """Return such a copy in page-locked host memory, or refuse where there is none."""
    try:
        return filled(tensor, torch.device("cpu"), pinned=True)
    except RuntimeError as error:
        raise ExecutionError(
            operation,
            f"torch cannot pin memory ({str(error).splitlines()[0].rstrip('.')})",
            "Page-locked memory is made by an accelerator's driver",
            "Use ordinary memory on a machine without one",
        ) from error


def _kind(value: object) -> TreeKind:
    if isinstance(value, torch.Tensor):
        return "tensor"
    kind = _CONTAINERS.get(type(value))
    if kind is None:
        ValueSignature.from_value(value)  # type: ignore[arg-type]
        return "value"
    return kind


def _members(value: Any, keys: tuple[object, ...]) -> list[Any]:
    return [value[key] for key in keys] if isinstance(value, dict) else list(value)


def _leaf_difference(
    wanted: TensorSignature | ValueSignature, value: Any, path: str
) -> tuple[str, str, str] | None:
    found: TensorSignature | ValueSignature
    try:
        if isinstance(wanted, TensorSignature):
            found = TensorSignature.from_tensor(value)
        else:
            found = ValueSignature.from_value(value)
    except OperandTypeError as error:
        return error.fact, error.rule, error.remedy
    if found == wanted:
        return None
    for field in fields(wanted):
        here, there = getattr(found, field.name), getattr(wanted, field.name)
        if here == there:
            continue
        if field.name in ("metadata", "tensors"):
            return _item_difference(path, dict(here), dict(there))
        return _differs(path, field.name, here, there)
    return None


def _item_difference(
    path: str, here: dict[str, Any], there: dict[str, Any]
) -> tuple[str, str, str] | None:
    for name in {**there, **here}:
        if here.get(name) != there.get(name):
            return _differs(path, name, here.get(name), there.get(name))
    return None


def _differs(path: str, what: str, found: object, wanted: object) -> tuple[str, str, str]:
    return (
        f"{what} of {path} is {_short(found)}, the prototype's is {_short(wanted)}",
        "A payload has the structure and exact state of its prototype; only devices may differ",
        "Bring the value to that state, or prepare another buffer or program from it",
    )


def _short(value: object) -> str:
    return f"{len(value)} bytes" if isinstance(value, bytes) else repr(value)
