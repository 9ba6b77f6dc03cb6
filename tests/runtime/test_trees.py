"""Signatures: what is described, what matches, and how a difference is told."""

from __future__ import annotations

from collections import OrderedDict

import pytest
import torch

import fhelium.core
import fhelium.execution
from fhelium import runtime
from fhelium.errors import ExecutionError, ExecutionInputError, OperandTypeError
from fhelium.runtime import (
    TensorSignature,
    ValueSignature,
    ValueTreeSignature,
    pin_value_tree,
    value_tree_nbytes,
)
from fhelium.values import Ciphertext, TensorResident


def test_aliases_hold_the_same_objects():
    for name in runtime.__all__:
        assert getattr(fhelium.execution, name) is getattr(runtime, name)
        assert getattr(fhelium.core, name) is getattr(runtime, name)
    assert fhelium.core.TensorResident is TensorResident


def test_a_tensor_signature_leaves_the_device_out():
    tensor = torch.zeros(2, 3).t()
    found = TensorSignature.from_tensor(tensor)
    assert found == TensorSignature((3, 2), (1, 3), torch.float32, torch.strided, False)
    assert found == TensorSignature.from_tensor(tensor.to("meta"))
    with pytest.raises(TypeError, match="sparse"):
        TensorSignature.from_tensor(torch.zeros(2, 3).to_sparse())


def test_a_value_signature_has_the_exact_state(small, encrypted):
    x = encrypted(0.5)
    found = ValueSignature.from_value(x)
    assert (found.type_name, found.schema_version) == ("Ciphertext", 1)
    assert found.context_id == small.config.context_id
    assert dict(found.metadata)["key_id"] == small.secret_key.key_id
    assert [name for name, _ in found.tensors] == ["data"]
    assert hash(found) == hash(ValueSignature.from_value(x.to("meta")))
    assert found != ValueSignature.from_value(small.engine.mod_switch_to_depth(x, 1))
    tighter = small.engine.assume_message_bound(x, 0.75)
    assert found == ValueSignature.from_value(tighter)


def test_trees_nest(encrypted):
    tree = {"x": encrypted(0.1), "more": [torch.zeros(3), (torch.zeros(2), encrypted(0.2))]}
    signature = ValueTreeSignature.from_value(tree)
    signature.validate(tree)
    signature.validate(dict(reversed(tree.items())))
    assert value_tree_nbytes(tree) == 2 * tree["x"].nbytes + 20


@pytest.mark.parametrize("bad", [3, "x", None, OrderedDict(), {1, 2}, [3]])
def test_other_leaves_are_refused(bad):
    with pytest.raises(TypeError):
        ValueTreeSignature.from_value(bad)
    with pytest.raises(TypeError):
        value_tree_nbytes(bad)


def test_a_container_in_itself_is_refused():
    tree: list = [torch.zeros(2)]
    tree.append(tree)
    with pytest.raises(TypeError, match="contains itself"):
        ValueTreeSignature.from_value(tree)


def test_a_class_that_is_not_registered_is_refused(encrypted):
    class Mine(Ciphertext):
        pass

    x = encrypted(0.5)
    with pytest.raises(OperandTypeError, match="Mine"):
        ValueTreeSignature.from_value([Mine(x.data, x.state)])


PROTOTYPE = {"a": torch.zeros(2, 3), "b": [torch.zeros(4), torch.zeros(1)]}


@pytest.mark.parametrize(
    ("tree", "told"),
    [
        ([torch.zeros(2, 3)], "kind of value is 'list'"),
        (3, "kind of value is 'int'"),
        ({"a": torch.zeros(2, 3)}, "keys of value"),
        ({"a": torch.zeros(3, 2), "b": PROTOTYPE["b"]}, r"shape of value\['a'\] is \(3, 2\)"),
        ({"a": torch.zeros(3, 2).t(), "b": PROTOTYPE["b"]}, "stride of"),
        ({"a": torch.zeros(2, 3, dtype=torch.int64), "b": PROTOTYPE["b"]}, "dtype of"),
        ({"a": torch.zeros(2, 3, requires_grad=True), "b": PROTOTYPE["b"]}, "requires_grad of"),
        ({"a": PROTOTYPE["a"], "b": tuple(PROTOTYPE["b"])}, r"kind of value\['b'\] is 'tuple'"),
        ({"a": PROTOTYPE["a"], "b": PROTOTYPE["b"][:1]}, r"length of value\['b'\] is 1"),
        ({"a": PROTOTYPE["a"], "b": [torch.zeros(4), None]}, r"kind of value\['b'\]\[1\]"),
    ],
)
def test_a_difference_is_told_with_its_path(tree, told):
    with pytest.raises(ExecutionInputError, match=told):
        ValueTreeSignature.from_value(PROTOTYPE).validate(tree)


def test_a_difference_of_state_is_told(small, encrypted):
    x = encrypted(0.5)
    other = small.engine.ntt_domain_to_coefficient_domain(x)
    with pytest.raises(ExecutionInputError, match="polynomial_domain of inputs is 'coefficient'"):
        ValueTreeSignature.from_value(x).validate(other, path="inputs")


def test_pinning(encrypted):
    tree = [encrypted(0.5), torch.zeros(3, 2).t()]
    if not torch.cuda.is_available():
        with pytest.raises(ExecutionError, match="pin_value_tree: torch cannot pin memory"):
            pin_value_tree(tree)
        return
    pinned = pin_value_tree(tree)
    assert pinned[0].is_pinned()
    assert pinned[1].is_pinned()
    ValueTreeSignature.from_value(tree).validate(pinned)
