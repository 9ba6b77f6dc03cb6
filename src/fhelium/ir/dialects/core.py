"""The core dialect: what enters a Program besides its inputs, and changes of type alone."""

from __future__ import annotations

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, StringAttr
from xdsl.ir import Dialect, ParametrizedAttribute, TypeAttribute
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


@irdl_attr_definition
class HandleType(ParametrizedAttribute, TypeAttribute):
    """A live handle that is no tensor, such as a process group."""

    name = "core.handle"


@irdl_attr_definition
class NumberType(ParametrizedAttribute, TypeAttribute):
    """A public real number."""

    name = "core.number"


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
    """Give a public number."""

    name = "core.constant"
    value = prop_def(FloatAttr | IntegerAttr)
    result = result_def(NumberType)
    traits = traits_def(Pure())


@irdl_op_definition
class CastOp(IRDLOperation):
    """Give a value another type: the border between two dialects. Nothing is computed."""

    name = "core.cast"
    input = operand_def()
    result = result_def()
    traits = traits_def(Pure())


CORE = Dialect("core", [MaterialOp, ResourceOp, ConstantOp, CastOp], [HandleType, NumberType])
