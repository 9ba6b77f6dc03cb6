"""Every operator on mutated arguments: a clean error, or the result that fresh copies give.

A call starts from the operator's row of samples. Mutations change types, shapes, layouts, values
and shared storage, of whatever the live schema lets through; `make sanitize` runs the same under
ASan and UBSan, so that a wild access is a failure even where the result is right.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rns_oracle import VIEWS, seen_as
from torch import Tensor

from tests.native.rings import PRIMES, TYPES, Ring
from tests.native.samples import CUDA_ONLY, SAMPLES


class Low(Ring):
    """A ring whose residues are such for every limb, so that an operand may take another's."""

    def residues(self, *batch: int, **options: Any) -> Tensor:
        return super().residues(*batch, **options) % min(PRIMES)


ROWS = {**SAMPLES, **CUDA_ONLY}
OPERATORS = sorted(name for name, row in ROWS.items() if row(Ring()))
ASKED = sorted(ROWS.keys() - OPERATORS)
"""Operators without arguments: they say something about the process."""
DTYPES = (
    torch.int64, torch.int32, torch.float64, torch.float32, torch.uint8, torch.int16, torch.bool,
    torch.complex128, torch.bfloat16,
)  # fmt: skip
# Sizes are small, or so large that no memory is there: nothing between is worth the wait.
INTEGERS = (-(2**63), -1, 0, 1, 2, 3, 7, 16, 64, 2**45, 2**62, 2**63 - 1)
REALS = (0.0, -0.0, -1.0, 5e-324, 1e-30, 2.0**52, 1e300, math.inf, -math.inf, math.nan)
Draw = Callable[[st.SearchStrategy[Any]], Any]


def flat_bytes(tensor: Tensor) -> Tensor:
    return tensor.flatten().clone(memory_format=torch.contiguous_format).view(torch.uint8)


def misaligned(tensor: Tensor) -> Tensor:
    """The same values at an odd address."""
    if tensor.numel() == 0:
        return tensor
    room = bytearray(tensor.numel() * tensor.element_size() + 1)
    torch.frombuffer(room, dtype=torch.uint8)[1:].copy_(flat_bytes(tensor))
    return torch.frombuffer(room, dtype=tensor.dtype, offset=1).view(tensor.shape)


def relaid(draw: Draw, tensor: Tensor) -> Tensor:
    return tensor if tensor.dim() == 0 else seen_as(tensor, draw(st.sampled_from(VIEWS)))


def reshaped(draw: Draw, tensor: Tensor) -> Tensor:
    if tensor.dim() == 0:
        return tensor[None]
    axis = draw(st.integers(0, tensor.dim() - 1))
    size, other = tensor.shape[axis], draw(st.integers(0, tensor.dim() - 1))
    ways: tuple[Callable[[], Tensor], ...] = (
        lambda: tensor.narrow(axis, 0, 0),
        lambda: tensor.narrow(axis, 0, size - 1 if size else 0),
        lambda: tensor.narrow(axis, 0, min(size, 1)),
        lambda: tensor[..., ::2],
        lambda: tensor.select(axis, 0) if size else tensor,
        lambda: tensor.unsqueeze(axis),
        lambda: tensor.expand(3, *tensor.shape),
        lambda: tensor.narrow(axis, 0, min(size, 1)).expand(tensor.shape) if size else tensor,
        lambda: torch.cat([tensor, tensor], axis),
        lambda: tensor.transpose(axis, other),
        lambda: tensor.flip(axis),
        lambda: tensor.flatten(),
        lambda: tensor.sum(),
    )
    return draw(st.sampled_from(ways))()


def retyped(draw: Draw, tensor: Tensor) -> Tensor:
    return tensor.to(draw(st.sampled_from(DTYPES)))


def edges(dtype: torch.dtype) -> tuple[Any, ...]:
    if dtype.is_floating_point:
        return tuple(value for value in REALS if not 1e38 < abs(value) < math.inf)
    if dtype.is_complex or dtype == torch.bool:
        return (0, 1)
    limits = torch.iinfo(dtype)
    values = (limits.min, limits.max, limits.max // 2 + 1, -1, 0, 1, 2, 63, 97, 2**50, 2**62 + 1)
    return tuple(value for value in values if limits.min <= value <= limits.max)


def revalued(draw: Draw, tensor: Tensor) -> Tensor:
    changed = tensor.clone(memory_format=torch.contiguous_format)
    flat = changed.view(-1)
    for _ in range(draw(st.integers(1, 3)) if flat.numel() else 0):
        flat[draw(st.integers(0, flat.numel() - 1))] = draw(st.sampled_from(edges(tensor.dtype)))
    return changed


@dataclass
class Call:
    """Arguments of one call, and whether they are still numbers that the operator is defined on."""

    name: str
    arguments: list[Any]
    other_type: tuple[Any, ...]
    lawful: bool = True
    only_relaid: bool = True
    misaligned: set[int] = field(default_factory=set)  # torch itself may not copy such a tensor

    def mutate(self, draw: Draw) -> None:
        index = draw(st.integers(0, len(self.arguments) - 1))
        value = self.arguments[index]
        if isinstance(value, list):
            self.only_relaid = self.lawful = False
            self.arguments[index] = changed_list(draw, value)
            return
        if not isinstance(value, Tensor):
            self.only_relaid = False
            self.arguments[index] = draw(st.sampled_from(scalars(value)))
            return
        way = draw(st.sampled_from(["relaid", *WAYS]))
        self.only_relaid &= way == "relaid"
        self.lawful &= way != "revalued"
        if way == "shared":
            self.share(draw, index)
        elif way == "of the other type":
            self.arguments[index] = self.other_type[index]
        elif way == "misaligned":
            self.misaligned.add(index)
        else:
            self.arguments[index] = MUTATIONS[way](draw, value)

    def share(self, draw: Draw, index: int) -> None:
        """Let two arguments of one type lie in one storage, apart, over each other or the same."""
        first = self.arguments[index]
        tensors = [a for a in self.arguments if isinstance(a, Tensor) and a.dtype == first.dtype]
        second = draw(st.sampled_from(tensors))
        room = first.new_zeros(first.numel() + second.numel() + 1)
        offset = draw(st.integers(0, first.numel() + 1))
        start = draw(st.integers(0, min(1, second.numel())))
        views = []
        for tensor, begin in ((first, start), (second, offset)):
            views.append(room[begin : begin + tensor.numel()].view(tensor.shape).copy_(tensor))
        self.lawful &= all(map(are_residues, (first, second)))  # one's numbers stand in the other
        places = [i for i, a in enumerate(self.arguments) if a is second and i != index]
        self.arguments[index] = views[0]
        for place in places[:1]:
            self.arguments[place] = views[1]


MUTATIONS: dict[str, Callable[[Draw, Tensor], Tensor]] = {
    "relaid": relaid,
    "reshaped": reshaped,
    "retyped": retyped,
    "revalued": revalued,
}


def changed_list(draw: Draw, elements: list[Any]) -> list[Any]:
    """Return a list of another length, or with one element changed."""
    index = draw(st.integers(0, len(elements) - 1)) if elements else 0
    ways: tuple[Callable[[], list[Any]], ...] = (
        list,
        lambda: elements[1:],
        lambda: elements + elements[:1],
        lambda: elements[::-1],
        lambda: [mutated(draw, e) if i == index else e for i, e in enumerate(elements)],
    )
    return draw(st.sampled_from(ways))()


def mutated(draw: Draw, element: Any) -> Any:
    """Change one element of a list."""
    if isinstance(element, Tensor):
        return MUTATIONS[draw(st.sampled_from(tuple(MUTATIONS)))](draw, element)
    return draw(st.sampled_from(scalars(element)))


WAYS = (*MUTATIONS, "of the other type", "shared", "misaligned")


def scalars(value: Any) -> tuple[Any, ...]:
    """Other values that the schema lets through in place of an argument that is no tensor."""
    if isinstance(value, torch.dtype):
        return DTYPES
    if isinstance(value, str):
        return (
            "",
            "sse",
            "scalar ",
            *torch.ops.fhelium_ntt_diagnostic_ops.variant_names().split(", "),
        )
    return INTEGERS if isinstance(value, int) else REALS


def are_residues(tensor: Tensor) -> bool:
    return tensor.dtype in TYPES and bool(((tensor >= 0) & (tensor < min(PRIMES))).all())


def memory(value: Any) -> Tensor | None:
    """All bytes of a tensor's storage, those outside the view included."""
    if not isinstance(value, Tensor):
        return None
    return torch.empty(0, dtype=torch.uint8).set_(value.untyped_storage()).clone()


def same_bits(one: Any, other: Any) -> bool:
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same_bits, one, other))
    if not isinstance(one, Tensor):
        return one == other
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return torch.equal(flat_bytes(one), flat_bytes(other))


def overload(name: str) -> torch._ops.OpOverload:
    namespace, _, base = name.partition("::")
    return getattr(getattr(torch.ops, namespace), base).default


def assert_clean(error: Exception, call: Call) -> None:
    base = call.name.partition("::")[2]
    text = str(error)
    if isinstance(error, MemoryError):
        assert text.startswith("native operator: there is no memory"), text
        return
    assert type(error) is RuntimeError
    assert text.startswith(f"{base}: "), text
    assert text.count(". ") >= 2, text  # fact, rule, remedy
    if call.only_relaid and call.name in SAMPLES:
        assert "A table's words are contiguous" in text, text


def check(call: Call) -> None:
    operator = overload(call.name)
    written = {
        i
        for i, argument in enumerate(operator._schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    }
    fresh = [a.clone(memory_format=torch.contiguous_format) if isinstance(a, Tensor) else a
             for a in call.arguments]  # fmt: skip
    for index in call.misaligned:
        if isinstance(call.arguments[index], Tensor):
            call.arguments[index] = misaligned(call.arguments[index])
    before = [memory(a) for a in call.arguments]
    try:
        result = operator(*call.arguments)
    except (RuntimeError, MemoryError) as error:
        assert_clean(error, call)
        for argument, bytes_before in zip(call.arguments, before, strict=True):
            assert bytes_before is None or torch.equal(memory(argument), bytes_before)
        return
    if not call.lawful:
        return
    expected = operator(*fresh)  # must be defined where the views were
    assert same_bits(result, expected)
    for index in written:  # put the result where the view lies: nothing else may have changed
        view = call.arguments[index]
        after = before[index]
        outside = torch.empty(0, dtype=view.dtype)
        assert same_bits(view, fresh[index])
        outside.set_(after.untyped_storage(), view.storage_offset(), view.size(), view.stride())
        outside.copy_(fresh[index])
        assert torch.equal(memory(view), after)
    storages = {call.arguments[i].untyped_storage().data_ptr() for i in written}
    for argument, bytes_before in zip(call.arguments, before, strict=True):
        if isinstance(argument, Tensor) and argument.untyped_storage().data_ptr() not in storages:
            assert torch.equal(memory(argument), bytes_before)


def fuzz(name: str, data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(TYPES))
    other = TYPES[1 - TYPES.index(dtype)]
    call = Call(name, list(ROWS[name](Low(dtype))), ROWS[name](Low(other)))
    for _ in range(data.draw(st.integers(1, 3))):
        call.mutate(data.draw)
    check(call)


relaxed = settings(deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("name", OPERATORS)
@settings(relaxed, max_examples=40)
@given(data=st.data())
def test_a_clean_error_or_the_right_result(name, data):
    fuzz(name, data)


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATORS)
@settings(relaxed, max_examples=600)
@given(data=st.data())
def test_a_clean_error_or_the_right_result_at_length(name, data):
    fuzz(name, data)


@settings(relaxed, max_examples=40)
@given(data=st.data())
def test_what_the_process_is_asked_stays_true_between_other_calls(data):
    facts = {name: overload(name)() for name in ASKED}
    for _ in range(data.draw(st.integers(1, 6))):
        name = data.draw(st.sampled_from(sorted(SAMPLES)))
        overload(name)(*SAMPLES[name](Ring(data.draw(st.sampled_from(TYPES)))))
        for asked in data.draw(st.permutations(ASKED)):
            answer = overload(asked)()
            assert type(answer) is type(facts[asked])
            assert answer == facts[asked] if isinstance(answer, str) else answer >= 0
    overload("fhelium_rns_ops::release_workspace")()
    assert overload("fhelium_rns_ops::workspace_bytes")() == 0


def test_every_operator_is_called_by_one_of_these_tests():
    names = (schema.name for schema in torch._C._jit_get_all_schemas())
    assert sorted([*OPERATORS, *ASKED]) == sorted(name for name in names if name[:8] == "fhelium_")


def test_elements_at_an_odd_address_are_refused():
    lhs, rhs, parameters = SAMPLES["fhelium_rns_ops::add_standard"](Ring())
    with pytest.raises(RuntimeError, match="add_standard: rhs begins at an address that is no mul"):
        overload("fhelium_rns_ops::add_standard")(lhs, misaligned(rhs), parameters)


@pytest.mark.parametrize("row", ["reciprocal", "inverse", "montgomery_one", "montgomery_square"])
def test_rows_of_parameters_that_do_not_belong_together_are_refused(row):
    name = "fhelium_random_ops::sample_uniform"  # with a reciprocal of 0 it would draw for ever
    *head, parameters, dtype = SAMPLES[name](Ring())
    names = torch.ops.fhelium_rns_ops.parameter_row_names().split(",")
    parameters[names.index(row), 1] = 2**62 + 1
    with pytest.raises(RuntimeError, match="sample_uniform: column 1 of rns_params is not a param"):
        overload(name)(*head, parameters, dtype)


def test_components_that_are_one_are_no_destination():
    name = "fhelium_ckks_ops::add_plaintext_"
    ciphertext, plaintext, parameters = SAMPLES[name](Ring())
    with pytest.raises(RuntimeError, match=r"add_plaintext_: .* two indices share an element"):
        overload(name)(ciphertext[:1].expand_as(ciphertext), plaintext, parameters)
