"""The base of everything that lives in tensors: values and keys."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, NoReturn, Self, cast
from weakref import WeakSet

import torch

from fhelium.errors import DeviceMismatchError, OperandTypeError, StateError
from fhelium.text import size_text
from fhelium.values.state import CkksState
from fhelium.values.stated import StateAxes
from fhelium.values.traps import TensorTraps

# Bounds are left out: they say what is known of a value, not what its tensors mean, and a
# prepared buffer or graph stays valid when they change.
_METADATA: Final = (
    "depth",
    "scale",
    "prime_ids",
    "polynomial_domain",
    "modulus_basis",
    "residue_representation",
    "components",
    "key_id",
    "insecure",
)


# Two threads may slice one value for the first time at once.
_RELATING: Final = threading.Lock()


class TensorResident(TensorTraps, StateAxes):
    """Carry named tensors of residues and the state that gives them a meaning.

    Values behave like tensors where that is harmless: they move between devices, are cloned and
    compared by identity. Nothing moves unasked, and no operation changes a value it was given.

    Shapes: whatever the class says; the last two axes are [limb, N].

    Args:
        data: Residues, of the dtype that the config names.
        state: A state whose axes are all known.

    Raises:
        TypeError: data is not a tensor or state is not a CkksState.
        StateError: Payload and state disagree; the text names both.

    Example:
        >>> from fhelium.config import CkksConfig
        >>> from fhelium.values import Plaintext
        >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
        >>> rows = torch.zeros(4, 1024, dtype=torch.int64)
        >>> value = Plaintext(rows, CkksState.fresh(config, components=1))
        >>> value.nbytes, value.device, list(value.tensors())
        (32768, device(type='cpu'), ['data'])
    """

    __slots__ = ("__weakref__", "_data", "_relatives")

    tensor_names: ClassVar[tuple[str, ...]] = ("data",)
    detail_names: ClassVar[tuple[str, ...]] = ()

    def __init__(self, data: torch.Tensor, state: CkksState) -> None:
        if not isinstance(data, torch.Tensor) or not isinstance(state, CkksState):
            _refuse_types(type(self).__name__, data, state)
        self._data = data
        self._state = state
        self._relatives: WeakSet[TensorResident] | None = None
        self._check_state(state)
        if data.dtype != state.config.dtype or data.layout != torch.strided:
            _refuse_storage(type(self).__name__, data, state)
        self._check_shape(data, state)

    def _check_state(self, state: CkksState) -> None:
        """Refuse a state that this class cannot have; the cheap part, run at each construction."""
        raise NotImplementedError

    def _check_shape(self, data: torch.Tensor, state: CkksState) -> None:
        """Refuse a payload whose shape is not what the state says."""
        raise NotImplementedError

    @property
    def data(self) -> torch.Tensor:
        """Return the residues."""
        return self._data

    @property
    def device(self) -> torch.device:
        """Return where the tensors live."""
        return self._data.device

    @property
    def dtype(self) -> torch.dtype:
        """Return the dtype of the residues."""
        return self._data.dtype

    @property
    def is_cuda(self) -> bool:
        """Return whether the tensors live on a CUDA device."""
        return self._data.is_cuda

    @property
    def nbytes(self) -> int:
        """Return the payload bytes, elements times element size over all tensors."""
        return sum(tensor.numel() * tensor.element_size() for tensor in self.tensors().values())

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return the tensors by name, in the declared order."""
        return {name: getattr(self, name) for name in type(self).tensor_names}

    def metadata(self) -> tuple[tuple[str, object], ...]:
        """Return what must agree before tensors of one value may stand in for another's.

        Returns:
            Name and hashable value of each axis but the bounds, then what the class adds to them,
            in an order that never changes. The context is `context_id`.
        """
        axes = [(name, getattr(self._state, name)) for name in _METADATA]
        return (*axes, *self._details().items())

    def to(self, device: torch.device | str | int, *, non_blocking: bool = False) -> Self:
        """Return this value on a device; the value itself where it is there already.

        Cost: one copy of the payload.

        Args:
            device: Target, as in torch.
            non_blocking: As in Tensor.to; overlap needs pinned memory.

        Raises:
            TypeError: device is not a device; residues keep their dtype, so none can be asked for.
        """
        target, old = device_of("to", device), self.tensors()
        new = {name: tensor.to(target, non_blocking=non_blocking) for name, tensor in old.items()}
        return self if all(new[name] is old[name] for name in old) else self._with_tensors(new)

    def cpu(self) -> Self:
        """Return this value in host memory; the value itself where it is there already."""
        return self.to("cpu")

    def cuda(
        self, device: torch.device | str | int | None = None, *, non_blocking: bool = False
    ) -> Self:
        """Return this value on a CUDA device, the current one by default."""
        return self.to("cuda" if device is None else device, non_blocking=non_blocking)

    def clone(self) -> Self:
        """Return a copy with storage of its own; the state is shared, for it is immutable."""
        return self._with_tensors({name: t.clone() for name, t in self.tensors().items()})

    def pin_memory(self) -> Self:
        """Return this value in page-locked host memory, from which copies to CUDA can overlap.

        Raises:
            RuntimeError: From torch, where the machine has no CUDA device to pin memory for.
        """
        return self._with_tensors({name: t.pin_memory() for name, t in self.tensors().items()})

    def is_pinned(self) -> bool:
        """Return whether all tensors are in page-locked host memory."""
        return all(tensor.is_pinned() for tensor in self.tensors().values())

    def _details(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in type(self).detail_names}

    def _with_tensors(
        self, tensors: Mapping[str, torch.Tensor], state: CkksState | None = None
    ) -> Self:
        """Return a value of this kind around other tensors, checked like any construction."""
        return type(self)(**tensors, state=state or self._state, **self._details())

    def _restate(self, state: CkksState) -> None:
        """Put a new state on this value; only for operations that also wrote its tensors."""
        self._check_state(state)
        self._check_shape(self._data, state)
        self._state = state

    def _spoil(self, operation: str) -> None:
        """Make every further use an error: an operation was cut off while it wrote here."""
        self._state = cast(CkksState, _Spoiled(operation))

    def _related(self, other: Self) -> Self:
        """Note that another value reads this one's storage, and return it."""
        with _RELATING:
            if self._relatives is None:
                self._relatives = WeakSet((self,))
            self._relatives.add(other)
            other._relatives = self._relatives
        return other

    def _shares_storage(self) -> bool:
        """Return whether another value that still exists reads this one's storage."""
        return self._relatives is not None and any(v is not self for v in self._relatives)

    def __copy__(self) -> Self:
        return self._related(self._with_tensors(self.tensors()))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied = memo[id(self)] = self.clone()
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        tensors = {name: _compact(tensor) for name, tensor in self.tensors().items()}
        return _rebuild, (type(self), tensors, self._state, self._details())

    def _repr_parts(self) -> list[str]:
        raise NotImplementedError

    def _place_parts(self) -> list[str]:
        return [str(self.device), size_text(self.nbytes)] + ["insecure"] * self.insecure

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._repr_parts())})"


def device_of(operation: str, device: object) -> torch.device:
    """Return the device that an argument names, CUDA's with its index, so that == compares them.

    Args:
        operation: Name that an error text begins with.
        device: As in torch.

    Raises:
        OperandTypeError: It names no device; pass one, for example "cpu" or "cuda:0".
        StateError: It names one of CUDA, of which this machine has none.

    Example:
        >>> device_of("to", "cpu:0") == device_of("to", torch.device("cpu"))
        True
    """
    try:
        if type(device) not in (torch.device, str, int):
            raise TypeError
        found = torch.device(device)  # type: ignore[arg-type]
    except (RuntimeError, TypeError):
        raise OperandTypeError(
            operation,
            f"device is {device!r} of type {type(device).__name__}",
            "A device is the CPU or one that torch knows; residues keep their dtype",
            "Pass a device, for example 'cpu' or 'cuda:0'",
        ) from None
    if found.type == "cuda" and not torch.cuda.is_available():
        raise StateError(
            operation,
            f"device is {device!r} and torch finds no CUDA device",
            "A value lives on a device of this machine",
            "Use 'cpu', or run where torch.cuda.is_available()",
        )
    if found.type == "cuda" and found.index is None:
        return torch.device("cuda", torch.cuda.current_device())
    return torch.device("cpu") if found.type == "cpu" else found


def require_same_device(
    operation: str, values: Sequence[TensorResident], names: Sequence[str] = ()
) -> None:
    """Refuse values that live on different devices; nothing is moved unasked.

    Args:
        operation: Name that an error text begins with.
        values: At least one value.
        names: What the error text calls them; "value 0", "value 1", ... by default.

    Raises:
        DeviceMismatchError: Two devices were found; move one value with .to(device).

    Example:
        >>> from fhelium.config import CkksConfig
        >>> from fhelium.values import Plaintext
        >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
        >>> rows = torch.zeros(4, 1024, dtype=torch.int64)
        >>> value = Plaintext(rows, CkksState.fresh(config, components=1))
        >>> require_same_device("add", [value, value])
        >>> try:
        ...     require_same_device("add", [value, value.to("meta")])
        ... except DeviceMismatchError as error:
        ...     print(error.fact)
        device is cpu for value 0 and meta for value 1
    """
    first = values[0].device
    for position, value in enumerate(values[1:], start=1):
        if value.device != first:
            raise DeviceMismatchError(
                operation,
                f"device is {first} for {names[0]} and {value.device} for {names[position]}"
                if names
                else f"device is {first} for value 0 and {value.device} for value {position}",
                "Operands live on one device and nothing is moved unasked",
                f"Move one with .to({str(first)!r})",
                devices=(first, value.device),
            )


class _Spoiled:
    """Stand in for the state of residues that may be those of before or of after."""

    def __init__(self, operation: str) -> None:
        self._operation = operation

    def __getattr__(self, name: str) -> NoReturn:
        raise StateError(
            self.__dict__.get("_operation", "restore"),
            "it was cut off while it wrote over this value",
            "What the residues mean is unknown since",
            "Make the value anew",
        )

    def __reduce__(self) -> NoReturn:
        self.__getattr__("pickle")


def _rebuild(
    kind: type[TensorResident],
    tensors: dict[str, torch.Tensor],
    state: CkksState,
    details: dict[str, Any],
) -> TensorResident:
    return kind(**tensors, state=state, **details)


def _compact(tensor: torch.Tensor) -> torch.Tensor:
    # torch pickles whole storages, so one ciphertext of a batch would drag all others along.
    exact = tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size()
    return tensor if exact else tensor.clone()


def _refuse_types(kind: str, data: object, state: object) -> None:
    raise OperandTypeError(
        kind,
        f"data is a {type(data).__name__} and state is a {type(state).__name__}",
        f"A {kind} is made of a torch.Tensor and a CkksState",
        "Pass the residues as data and their state as state",
    )


def _refuse_storage(kind: str, data: torch.Tensor, state: CkksState) -> None:
    raise StateError(
        kind,
        f"data is {data.dtype}, {data.layout} and the config asks for {state.config.dtype}, "
        "torch.strided",
        "Residues have the dtype of their config",
        "Encode with an Engine of the same config, or load the value with its own config",
        dtype=data.dtype,
    )
