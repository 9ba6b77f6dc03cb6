"""The core dialect: what enters a Program besides its inputs, and changes of type alone."""

from __future__ import annotations

import math
from operator import attrgetter
from typing import Self, cast

import torch
from xdsl.dialects.builtin import ArrayAttr, Float64Type, FloatAttr, StringAttr, f64
from xdsl.ir import Attribute, Dialect, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException


@irdl_attr_definition
class HandleType(ParametrizedAttribute, TypeAttribute):
    """A live handle that is no tensor, such as a process group."""

    name = "core.handle"


@irdl_op_definition
class MaterialOp(IRDLOperation):
    """Name a tensor that is bound before a run: a key's payload or a numerical table."""

    name = "core.material"
    symbol = prop_def(StringAttr)
    result = result_def()
    traits = traits_def(Pure())


@irdl_op_definition
class ResourceOp(IRDLOperation):
    """Name a handle that is bound before a run."""

    name = "core.resource"
    symbol = prop_def(StringAttr)
    result = result_def(HandleType)
    traits = traits_def(Pure())


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """Give a public vector of real numbers that is part of the Program."""

    name = "core.constant"
    # One attribute a number: in a dense one, xDSL does not read back every float64 that it writes.
    # Its entries are checked by verify_: a constraint on each takes fifty times as long.
    value = prop_def(cast("type[ArrayAttr[FloatAttr[Float64Type]]]", ArrayAttr))
    result = result_def()
    traits = traits_def(Pure())

    @classmethod
    def of(cls, numbers: torch.Tensor, kind: Attribute) -> Self:
        """Build the operation from a vector of finite real numbers on any device.

        Args:
            numbers: One axis; every bit of a float64 is kept.
            kind: Type of the result.
        """
        # Numbers of equal bits share an attribute: the diagonals of a matrix are mostly zeros.
        bits = numbers.detach().cpu().double().contiguous().view(torch.int64)
        distinct, places = bits.unique(return_inverse=True)
        made = [FloatAttr(x, f64) for x in distinct.view(torch.float64).tolist()]
        value = ArrayAttr([made[place] for place in places.tolist()])
        return cls.build(properties={"value": value}, result_types=[kind])

    def numbers(self) -> torch.Tensor:
        """Return the numbers as a float64 tensor."""
        found = map(attrgetter("value.data"), self.value.data)
        return torch.tensor(list(found), dtype=torch.float64)

    def verify_(self) -> None:
        # Each number once: after every pass this goes through all constants of a Program.
        for entry in {id(entry): entry for entry in self.value.data}.values():
            if not isinstance(entry, FloatAttr) or not isinstance(entry.type, Float64Type):
                raise VerifyException(f"a constant holds {entry}, needed are float64 numbers")
            if not math.isfinite(entry.value.data):
                raise VerifyException(
                    f"a constant holds {entry.value.data}, needed are finite numbers"
                )
        if not self.value.data:
            raise VerifyException("a constant holds 0 numbers, needed is at least one")


@irdl_op_definition
class CastOp(IRDLOperation):
    """Give a value another type: the border between two dialects. Nothing is computed."""

    name = "core.cast"
    input = operand_def()
    result = result_def()
    traits = traits_def(Pure())


CORE = Dialect("core", [MaterialOp, ResourceOp, ConstantOp, CastOp], [HandleType])
