"""Values with slots: their state, and batch axes that index like a tensor's."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, NoReturn, Self

import numpy
import torch

from fhelium.errors import OperandTypeError, StateError
from fhelium.text import (
    bits_text,
    count_text,
    index_error,
    list_text,
    scale_text,
)
from fhelium.values.agreement import join_states
from fhelium.values.resident import TensorResident, require_same_device
from fhelium.values.state import CkksState
from fhelium.values.stated import SlotAxes
from fhelium.values.traps import ArithmeticTraps


class BatchedValue(ArithmeticTraps, SlotAxes, TensorResident):
    """Carry slots, and any number of batch axes in front of limb and coefficient.

    Indexing, iteration, `len`, `stack`, `unbind` and `reshape_batch` do to the batch axes what they
    do to a tensor of shape `batch_shape`. Integers and slices give views of the same storage;
    integer and boolean tensors or lists give copies. Components, limbs and coefficients are never
    reached: slots are encoded together, and a single one has no place of its own.
    """

    __slots__ = ()

    _batch_start: ClassVar[int]  # axes before the batch
    _component_counts: ClassVar[tuple[int, ...]]

    def _check_state(self, state: CkksState) -> None:
        unknown = [
            name
            for name, axis in (
                ("depth", state.depth),
                ("scale", state.scale),
                ("polynomial_domain", state.polynomial_domain),
                ("modulus_basis", state.modulus_basis),
                ("residue_representation", state.residue_representation),
            )
            if axis is None
        ]
        kind = type(self).__name__
        if unknown:
            raise StateError(
                kind,
                f"{', '.join(unknown)} of its state is unknown",
                f"A {kind} has a complete state; only Compile works with unknown axes",
                "Set them with state.replace(...)",
                unknown=tuple(unknown),
            )
        if state.config.insecure and not state.insecure:
            state.check(kind)
        if state.components not in self._component_counts:
            allowed = " or ".join(str(count) for count in self._component_counts)
            raise StateError(
                kind,
                f"its state has components {state.components}",
                f"A {kind} has {allowed}",
                "Use Plaintext for 1 component and Ciphertext for 2 or 3",
                components=state.components,
            )

    def _check_shape(self, data: torch.Tensor, state: CkksState) -> None:
        shape, start = data.shape, self._batch_start
        tail = (state.limb_count, state.config.N)
        fits = len(shape) >= start + 2 and shape[-2:] == tail
        if not fits or (start and shape[0] != state.components):
            lead = f"{state.components}, " if start else ""
            raise StateError(
                type(self).__name__,
                f"data has shape {tuple(shape)} and its state asks for "
                f"[{lead}*batch, {tail[0]}, {tail[1]}]",
                f"The axes are [{'component, ' if start else ''}*batch, limb, N]",
                "Pass the residues of that state, or correct its depth, basis or components",
                shape=tuple(shape),
            )

    @property
    def batch_shape(self) -> torch.Size:
        """Return the sizes of the batch axes; empty for a single value."""
        return self._data.shape[self._batch_start : -2]

    def __len__(self) -> int:
        if not self.batch_shape:
            raise self._no_batch_axes("len")
        return self.batch_shape[0]

    def __iter__(self) -> Iterator[Self]:
        if not self.batch_shape:
            raise self._no_batch_axes("iter")
        return iter(self.unbind())

    def __contains__(self, item: object) -> NoReturn:
        raise OperandTypeError(
            "in",
            f"{type(self).__name__} is searched for an object of type {type(item).__name__}",
            "Values compare by identity and indexing makes new ones, so nothing would be found",
            "Decrypt first, or keep the values in a list",
        )

    def __setitem__(self, index: object, item: object) -> NoReturn:
        raise OperandTypeError(
            "index",
            f"item {index!r} of a {type(self).__name__} was assigned",
            "A value and its state change together, so parts cannot be replaced",
            f"Build the batch anew with {type(self).__name__}.stack(values)",
        )

    def __getitem__(self, index: Any) -> Self:
        items = index if isinstance(index, tuple) else (index,)
        if all(_is_basic(item) for item in items):
            return self._rebatched(self._data[self._view_index(items)])
        return self._gather(items)

    @classmethod
    def stack(cls, values: Sequence[Self], dim: int = 0) -> Self:
        """Return one value that holds several along a new batch axis.

        State: equal in all but bounds and mark -> the same, with the largest bounds, insecure if
        any is.

        Cost: one copy of the payloads.

        Args:
            values: At least one value, all of one batch shape, device and state.
            dim: Place of the new axis among the batch axes; negative counts from their end.

        Raises:
            StateError: The values do not agree; the text names both and how to bring them together.
            TypeError: An entry is not a value of this class.
            IndexError: There is no such place.

        Example:
            >>> from fhelium.config import CkksConfig
            >>> from fhelium.values import Plaintext
            >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
            >>> rows = torch.zeros(4, 1024, dtype=torch.int64)
            >>> value = Plaintext(rows, CkksState.fresh(config, components=1))
            >>> Plaintext.stack([value, value, value]).batch_shape
            torch.Size([3])
        """
        values = _listed("stack", "values", values)
        _check_stackable(cls, values)
        require_same_device("stack", values)
        rank = len(values[0].batch_shape) + 1
        axis = _normal_axis("stack", dim, rank) + cls._batch_start
        state = join_states("stack", [value.state for value in values])
        data = torch.stack([value.data for value in values], axis)
        return cls(data, state)

    def unbind(self, dim: int = 0) -> tuple[Self, ...]:
        """Return the values along one batch axis, as views.

        Args:
            dim: Batch axis; negative counts from their end.

        Raises:
            TypeError: There are no batch axes.
            IndexError: There is no such axis.

        Example:
            >>> from fhelium.config import CkksConfig
            >>> from fhelium.values import Plaintext
            >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
            >>> rows = torch.zeros(3, 2, 4, 1024, dtype=torch.int64)
            >>> value = Plaintext(rows, CkksState.fresh(config, components=1))
            >>> [part.batch_shape for part in value.unbind(1)]
            [torch.Size([3]), torch.Size([3])]
        """
        if not self.batch_shape:
            raise self._no_batch_axes("unbind")
        axis = _normal_axis("unbind", dim, len(self.batch_shape)) + self._batch_start
        return tuple(self._rebatched(part) for part in self._data.unbind(axis))

    def reshape_batch(self, *shape: int | Sequence[int]) -> Self:
        """Return the same values in other batch axes, a view where strides allow it.

        Args:
            *shape: New sizes, one of which may be -1; nothing for a single value.

        Raises:
            StateError: The sizes do not hold as many values; the text names both.

        Example:
            >>> from fhelium.config import CkksConfig
            >>> from fhelium.values import Plaintext
            >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
            >>> rows = torch.zeros(6, 4, 1024, dtype=torch.int64)
            >>> value = Plaintext(rows, CkksState.fresh(config, components=1))
            >>> value.reshape_batch(2, -1).batch_shape
            torch.Size([2, 3])
        """
        several = len(shape) == 1 and not hasattr(shape[0], "__index__")
        listed = _listed("reshape_batch", "shape", shape[0] if several else shape)
        sizes = tuple(_whole("reshape_batch", "a size", size) for size in listed)
        old = self.batch_shape
        try:
            # torch resolves -1 on the batch alone; the real payload is never misread.
            new = torch.empty(old, device="meta").reshape(sizes).shape
        except RuntimeError as error:
            raise StateError(
                "reshape_batch",
                f"batch shape {tuple(old)} holds {math.prod(old)} values and {sizes} was asked for",
                "Reshaping keeps every value",
                "Use sizes with the same product; one of them may be -1",
                shapes=(tuple(old), sizes),
            ) from error
        lead, tail = self._data.shape[: self._batch_start], self._data.shape[-2:]
        return self._rebatched(self._data.reshape(*lead, *new, *tail))

    def _rebatched(self, data: torch.Tensor) -> Self:
        """Return the values that some residues of this one's hold, usually a view of them."""
        return self._related(self._of_rows(data))

    def _of_rows(self, data: torch.Tensor) -> Self:
        return self._with_tensors({"data": data})

    def _view_index(self, items: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the payload's index for integers, slices, None and at most one ellipsis."""
        shape = self.batch_shape
        used = sum(item is not None and item is not Ellipsis for item in items)
        if used > len(shape) or items.count(Ellipsis) > 1:
            raise self._bad_index(items)
        if Ellipsis in items:
            place = items.index(Ellipsis)
            filler = (slice(None),) * (len(shape) - used)
            items = items[:place] + filler + items[place + 1 :]
        axis = 0
        checked: list[Any] = [slice(None)] * self._batch_start
        for item in items:
            if item is not None and not isinstance(item, slice):
                item = operator.index(item)
                size = shape[axis]
                if not -size <= item < size:
                    raise self._bad_index(items, f"{item} is outside axis {axis} of size {size}")
            elif isinstance(item, slice):
                for name in ("start", "stop", "step"):
                    if getattr(item, name) is not None:
                        _whole("index", f"slice {name}", getattr(item, name))
                if item.step is not None and item.step < 1:
                    raise self._bad_step(item.step)
            axis += item is not None
            checked.append(item)
        return tuple(checked)

    def _gather(self, items: tuple[Any, ...]) -> Self:
        """Return a copy of the values that an index with tensors, lists or bools picks."""
        shape, start = self.batch_shape, self._batch_start
        count = math.prod(shape)
        # Index a tensor of positions in the batch's own shape: torch's rules for mixed indices,
        # masks and where the new axes go then hold to the letter, and nothing behind the batch
        # can be reached.
        try:
            index = tuple(_as_index(item) for item in items)
            picked = torch.arange(count, device=self.device).reshape(shape)[index]
        except (IndexError, TypeError, ValueError, RuntimeError) as error:
            raise self._bad_index(items, str(error).splitlines()[0]) from error
        lead, tail = self._data.shape[:start], self._data.shape[-2:]
        flat = self._data.reshape(*lead, count, *tail)
        rows = flat.index_select(start, picked.reshape(-1))
        return self._of_rows(rows.reshape(*lead, *picked.shape, *tail))

    def _bad_index(self, items: tuple[Any, ...], detail: str = "") -> IndexError:
        shape = tuple(self.batch_shape)
        shown = ", ".join(_index_text(item) for item in items)
        return index_error(
            "index",
            f"[{shown}] does not fit batch shape {shape}{': ' if detail else ''}{detail}",
            "Only batch axes are indexed; slots, components, limbs and coefficients are not",
            "Index within the batch shape; to reach a slot, rotate it or decrypt",
        )

    def _bad_step(self, step: int) -> StateError:
        return StateError(
            "index",
            f"slice step is {step}",
            "Slices step forward, as those of a tensor do",
            "Use a step of at least 1, or a list of indices to reverse",
            step=step,
        )

    def _no_batch_axes(self, operation: str) -> TypeError:
        return OperandTypeError(
            operation,
            f"this {type(self).__name__} has batch shape () and {self.num_slots} slots",
            "Only batch axes have a length; slots are encoded together",
            "Use num_slots, or make a batch with stack",
        )

    def _repr_parts(self) -> list[str]:
        return [
            count_text(self.num_slots, "slot"),
            f"depth {self.depth}/{self.max_depth}",
            f"scale {scale_text(self.scale)}",
            f"{count_text(self._data.shape[-2], 'limb')} {self.modulus_basis}",
            f"{self.polynomial_domain} {self.residue_representation}",
            *([count_text(self.components, "component")] if self._batch_start else []),
            *([f"batch {list_text(self.batch_shape)}"] if self.batch_shape else []),
            bits_text(self.bits_left()),
            *self._place_parts(),
        ]


def _is_basic(item: object) -> bool:
    if item is None or item is Ellipsis or isinstance(item, slice):
        return True
    advanced = isinstance(item, (bool, torch.Tensor, numpy.ndarray))
    return hasattr(item, "__index__") and not advanced


def _as_index(item: Any) -> Any:
    """Return one item of an index as torch takes it; a list is a tensor of indices or a mask."""
    if _is_basic(item) or isinstance(item, torch.Tensor):
        return item
    if not isinstance(item, (bool, list, tuple, range, numpy.ndarray, numpy.bool_)):
        raise TypeError(f"a {type(item).__name__} is no index")
    tensor = torch.as_tensor(list(item) if isinstance(item, range) else item)
    return tensor if tensor.numel() else tensor.long()


def _index_text(item: object) -> str:
    if isinstance(item, (torch.Tensor, numpy.ndarray)):
        return f"{type(item).__name__} {item.dtype} {tuple(item.shape)}"
    return "..." if item is Ellipsis else repr(item)


def _whole(operation: str, name: str, value: Any) -> int:
    """Return a whole number, or refuse what is none."""
    if not hasattr(value, "__index__"):
        raise OperandTypeError(
            operation,
            f"{name} is {value!r} of type {type(value).__name__}",
            "Batch axes are counted in whole numbers",
            "Pass an int",
        )
    return operator.index(value)


def _listed(operation: str, name: str, items: Any) -> list[Any]:
    """Return items in a list, or refuse what holds none."""
    if not isinstance(items, Iterable):
        raise OperandTypeError(
            operation,
            f"{name} is a {type(items).__name__}",
            f"{name} is a sequence",
            "Pass a list or a tuple",
        )
    return list(items)


def _normal_axis(operation: str, dim: int, rank: int) -> int:
    dim = _whole(operation, "dim", dim)
    if not -rank <= dim < rank:
        raise index_error(
            operation,
            f"dim is {dim} and there are {rank} batch axes to choose from",
            f"dim is from {-rank} to {rank - 1}",
            "Components, limbs and coefficients are not batch axes",
        )
    return dim % rank


def _check_stackable(cls: type[BatchedValue], values: Sequence[Any]) -> None:
    if not values:
        rule = "A stack takes its state from its values"
        raise StateError("stack", "there are 0 values", rule, "Pass at least one value")
    for position, value in enumerate(values):
        if not isinstance(value, cls):
            raise OperandTypeError(
                "stack",
                f"value {position} is a {type(value).__name__}",
                f"{cls.__name__}.stack takes values of its own class",
                f"Pass {cls.__name__}s only",
            )
        if value.batch_shape != values[0].batch_shape:
            raise StateError(
                "stack",
                f"batch shape is {tuple(values[0].batch_shape)} for value 0 and "
                f"{tuple(value.batch_shape)} for value {position}",
                "Stacked values have one batch shape",
                "Bring them to one shape with reshape_batch or index them",
                shapes=(tuple(values[0].batch_shape), tuple(value.batch_shape)),
            )
