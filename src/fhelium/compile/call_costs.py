"""What a call costs: transforms, key switches and bytes, counted in the calls it is composed of."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from fhelium.backend import OperationImplementationRegistry, builtin_registry
from fhelium.backend.ckks import CkksDeviceResources
from fhelium.compile.example_calls import ExampleCall
from fhelium.config import CkksConfig


@dataclass(frozen=True)
class CallCost:
    """What one call does, whatever computes it.

    Args:
        transforms: Number-theoretic transforms, each of one row of N residues.
        key_switches: Inner products with a switching key.
        nbytes: Bytes that the calls read and write, tables and keys included.
    """

    transforms: int = 0
    key_switches: int = 0
    nbytes: int = 0

    def __add__(self, other: CallCost) -> CallCost:
        return CallCost(
            self.transforms + other.transforms,
            self.key_switches + other.key_switches,
            self.nbytes + other.nbytes,
        )


class CallCosts:
    """Count what calls cost under one parameter set.

    The composition of an operation is the definition of its bits; it runs here on torch's meta
    device, where nothing is computed and no key is needed, and its native calls are counted. So no
    cost is declared anywhere. An implementation that does a whole operation in one call may need
    fewer transforms.

    Args:
        config: Parameters.

    Example:
        >>> from fhelium.ir.dialects.ckks import MultiplyOp
        >>> from fhelium.values import CkksState
        >>> config = CkksConfig.create(depth=2, scale_bits=40)
        >>> state = CkksState.fresh(config, polynomial_domain="ntt")
        >>> costs = CallCosts(config)
        >>> costs.of(ExampleCall(MultiplyOp, (state, state))).transforms
        0
        >>> slow = state.replace(polynomial_domain="coefficient")
        >>> costs.of(ExampleCall(MultiplyOp, (slow, slow))).transforms == 7 * slow.limb_count
        True
    """

    def __init__(self, config: CkksConfig) -> None:
        self._resources = CkksDeviceResources(config=config)
        self._registry = composing_registry()
        self._known: dict[ExampleCall, CallCost] = {}

    def of(self, call: ExampleCall) -> CallCost:
        """Return the cost of a call."""
        if call not in self._known:
            dtype = call.state.config.dtype
            operands = [torch.empty(shape, dtype=dtype, device="meta") for shape in call.shapes()]
            prepared = call.prepared(operands, self._registry, self._resources)
            with _Counter() as counter:
                prepared()
            self._known[call] = counter.cost
        return self._known[call]


def composing_registry() -> OperationImplementationRegistry:
    """Return the built-in implementations, compositions before whole operations in one call."""
    builtin = builtin_registry()
    return builtin.preferring(*(name for name in builtin.names if name not in builtin.preference))


class _Counter(TorchDispatchMode):
    """Add up the native calls inside the block."""

    def __init__(self) -> None:
        super().__init__()
        self.cost = CallCost()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if not func.is_view and "empty" not in func.__name__:
            name = func.name()
            inputs = list(_tensors(args))
            written = [
                tensor
                for argument, value in zip(func._schema.arguments, args, strict=False)
                if argument.alias_info is not None and argument.alias_info.is_write
                for tensor in _tensors(value)
            ]
            transformed = name.startswith("fhelium_ntt_ops::")
            self.cost += CallCost(
                transforms=math.prod(inputs[0].shape[:-1]) if transformed else 0,
                key_switches=int("key_switch_inner_product" in name),
                nbytes=sum(t.nbytes for t in (*inputs, *written, *_tensors(result))),
            )
        return result


def _tensors(values: Any) -> Iterator[torch.Tensor]:
    if isinstance(values, torch.Tensor):
        yield values
    elif isinstance(values, list | tuple):
        for value in values:
            yield from _tensors(value)
