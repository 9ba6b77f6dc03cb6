"""What one leaf of an execution payload must be: a tensor's form, or a value's state."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from fhelium.errors import OperandTypeError, StateError
from fhelium.values import TensorResident, value_type_of


@dataclass(frozen=True, slots=True)
class TensorSignature:
    """Say which tensors may be copied into one another's storage, wherever they live.

    Args:
        shape: Exact dimensions.
        stride: Exact strides, in elements.
        dtype: Type of the elements.
        layout: torch.strided.
        requires_grad: The autograd flag.

    Example:
        >>> import torch
        >>> TensorSignature.from_tensor(torch.zeros(2, 3)).stride
        (3, 1)
    """

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: torch.dtype
    layout: torch.layout
    requires_grad: bool

    @classmethod
    def from_tensor(cls, tensor: torch.Tensor) -> TensorSignature:
        """Describe a tensor; its device is left out.

        Args:
            tensor: A strided tensor.

        Raises:
            TypeError: It is no tensor, or its layout has no strides; convert it with to_dense.

        Example:
            >>> TensorSignature.from_tensor(torch.zeros(2)).dtype
            torch.float32
        """
        if not isinstance(tensor, torch.Tensor) or tensor.layout != torch.strided:
            found = tensor.layout if isinstance(tensor, torch.Tensor) else type(tensor).__name__
            raise OperandTypeError(
                "TensorSignature.from_tensor",
                f"the leaf is {found}, needed is a torch.strided tensor",
                "Fixed storage has a stride for each dimension",
                "Pass a dense tensor",
            )
        return cls(
            tuple(tensor.shape),
            tuple(tensor.stride()),
            tensor.dtype,
            tensor.layout,
            tensor.requires_grad,
        )

    @property
    def nbytes(self) -> int:
        """Return the bytes of the elements.

        Example:
            >>> TensorSignature.from_tensor(torch.zeros(2, 3)).nbytes
            24
        """
        return torch.Size(self.shape).numel() * self.dtype.itemsize


@dataclass(frozen=True, slots=True)
class ValueSignature:
    """Say which values may take one another's place: exact state, and the form of each tensor.

    Bounds are no part of it: they say what is known of a payload, not what it means.

    Args:
        type_name: Name under which the value's class is registered.
        schema_version: Version of that registration.
        context_id: Identity of the parameters.
        metadata: Every further axis and detail by name, in an order that never changes.
        tensors: Form of each tensor by name, in the declared order.

    Example:
        >>> signature = ValueSignature.from_value(x)
        >>> signature.type_name, dict(signature.metadata)["depth"]
        ('Ciphertext', 0)
    """

    type_name: str
    schema_version: int
    context_id: str | None
    metadata: tuple[tuple[str, object], ...]
    tensors: tuple[tuple[str, TensorSignature], ...]

    @classmethod
    def from_value(cls, value: TensorResident) -> ValueSignature:
        """Describe a value or key of a registered class.

        Args:
            value: Any value or key.

        Raises:
            TypeError: It is no value, or of a class that is not registered; decorate the class
                with fhelium.values.register_value.

        Example:
            >>> ValueSignature.from_value(x) == ValueSignature.from_value(x.clone())
            True
        """
        if not isinstance(value, TensorResident):
            raise _unsupported(value)
        try:
            registered = value_type_of(value)
        except StateError as error:
            raise _unsupported(value) from error
        tensors = value.tensors().items()
        return cls(
            registered.type_name,
            registered.schema_version,
            value.context_id,
            value.metadata(),
            tuple((name, TensorSignature.from_tensor(tensor)) for name, tensor in tensors),
        )

    @property
    def nbytes(self) -> int:
        """Return the bytes of all tensors.

        Example:
            >>> ValueSignature.from_value(x).nbytes == x.nbytes
            True
        """
        return sum(tensor.nbytes for _, tensor in self.tensors)


def _unsupported(value: object) -> OperandTypeError:
    return OperandTypeError(
        "ValueSignature.from_value",
        f"the leaf is a {type(value).__name__}, needed is a tensor or a registered value",
        "Payloads are trees of tensors and values in lists, tuples and dictionaries",
        "Bind anything else in a closure or functools.partial",
    )
