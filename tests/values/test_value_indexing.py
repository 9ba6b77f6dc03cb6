"""Batch axes do what those of a tensor of the batch's shape do."""

from __future__ import annotations

import math

import numpy
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fhelium.errors import (
    ContextMismatchError,
    DeviceMismatchError,
    KeyMismatchError,
    OperandTypeError,
    StateError,
)
from fhelium.values import Ciphertext, Plaintext

batches = st.lists(st.integers(0, 4), max_size=3).map(tuple)
quick = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@st.composite
def slices(draw):
    edge = st.none() | st.integers(-6, 6)
    return slice(draw(edge), draw(edge), draw(st.none() | st.integers(1, 3)))


@st.composite
def indices(draw, batch):
    """Draw an index for a batch shape; now and then one that does not fit."""
    items, axis = [], 0
    broadcast = draw(st.lists(st.integers(1, 3), max_size=2))
    while axis < len(batch) and draw(st.booleans() | st.just(True)):
        size = batch[axis]
        kind = draw(st.sampled_from(["int", "slice", "tensor", "list", "mask", "none"]))
        low, high = (-size, size - 1) if size else (0, 0)
        entry = st.integers(low, high) | (
            st.integers(-9, 9) if draw(st.integers(0, 9)) == 0 else st.nothing()
        )
        if kind == "int":
            items.append(draw(entry))
        elif kind == "slice":
            items.append(draw(slices()))
        elif kind == "none":
            items.append(None)
            continue
        elif kind == "mask":
            span = draw(st.integers(1, min(2, len(batch) - axis)))
            shape = batch[axis : axis + span]
            bits = draw(
                st.lists(st.booleans(), min_size=math.prod(shape), max_size=math.prod(shape))
            )
            items.append(torch.tensor(bits, dtype=torch.bool).reshape(shape))
            axis += span - 1
        else:
            shape = [length if draw(st.booleans()) else 1 for length in broadcast]
            count = math.prod(shape)
            numbers = draw(st.lists(entry, min_size=count, max_size=count))
            tensor = torch.tensor(numbers, dtype=torch.int64).reshape(shape)
            items.append(tensor if kind == "tensor" else tensor.tolist())
        axis += 1
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), ...)
    if draw(st.integers(0, 9)) == 0:
        items.append(0)
    return items[0] if len(items) == 1 and draw(st.booleans()) else tuple(items)


def assert_is_selection(value, source, positions):
    """Compare with the source at positions of its flattened batch."""
    start = 1 if isinstance(source, Ciphertext) else 0
    lead, tail = source.data.shape[:start], source.data.shape[-2:]
    flat = source.data.reshape(*lead, math.prod(source.batch_shape), *tail)
    assert value.batch_shape == positions.shape
    assert value.data.shape == (*lead, *positions.shape, *tail)
    places = positions.reshape(-1).tolist()
    got = value.data.reshape(*lead, len(places), *tail)
    for j, place in enumerate(places):
        assert torch.equal(got.select(start, j), flat.select(start, place))
    assert value.state == source.state
    assert type(value) is type(source)


@quick
@given(data=st.data(), batch=batches, encrypted=st.booleans())
def test_indexing_is_that_of_a_tensor(tiny_config, make, data, batch, encrypted):
    source = (make.ciphertext if encrypted else make.plaintext)(tiny_config, *batch)
    index = data.draw(indices(batch))
    reference = torch.arange(math.prod(batch)).reshape(batch)
    items = index if isinstance(index, tuple) else (index,)
    try:
        # A list is what a tensor of its numbers is; torch's own reading of lists is changing.
        expected = reference[
            tuple(torch.tensor(i, dtype=torch.int64) if type(i) is list else i for i in items)
        ]
    except (IndexError, TypeError):
        with pytest.raises(IndexError, match="does not fit batch shape"):
            source[index]
        return
    assert_is_selection(source[index], source, expected)


@quick
@given(batch=batches.filter(len), data=st.data())
def test_unbind_and_iteration_are_those_of_a_tensor(tiny_config, make, batch, data):
    source = make.ciphertext(tiny_config, *batch)
    reference = torch.arange(math.prod(batch)).reshape(batch)
    dim = data.draw(st.integers(-len(batch), len(batch) - 1))
    parts = source.unbind(dim)
    assert len(parts) == batch[dim]
    for part, expected in zip(parts, reference.unbind(dim), strict=True):
        assert_is_selection(part, source, expected)
    assert len(source) == len(reference) == len(list(source))
    for part, expected in zip(source, reference, strict=True):
        assert_is_selection(part, source, expected)


@quick
@given(batch=batches, count=st.integers(1, 3), data=st.data())
def test_stack_is_that_of_a_tensor(tiny_config, make, batch, count, data):
    whole = make.ciphertext(tiny_config, count, *batch)
    dim = data.draw(st.integers(-len(batch) - 1, len(batch)))
    reference = torch.arange(math.prod(batch) * count).reshape(count, *batch)
    stacked = Ciphertext.stack(whole.unbind(), dim)
    assert_is_selection(stacked, whole, torch.stack(reference.unbind(), dim))
    if whole.nbytes:
        whole_storage = whole.data.untyped_storage()
        assert stacked.data.untyped_storage().data_ptr() != whole_storage.data_ptr()


def test_stack_puts_the_new_axis_where_asked(config, make):
    parts = [make.ciphertext(config, 3) for _ in range(2)]
    assert Ciphertext.stack(parts).data.shape == (2, 2, 3, 4, 1024)
    assert Ciphertext.stack(parts, dim=-1).data.shape == (2, 3, 2, 4, 1024)
    rows = Plaintext.stack([make.plaintext(config)] * 5)
    assert rows.data.shape == (5, 4, 1024)


def test_integers_slices_and_none_are_views(config, make):
    batch = make.ciphertext(config, 5, 3)
    storage = batch.data.untyped_storage().data_ptr()
    for index in (0, -1, slice(1, 3), (0, 1), None, ..., (..., 0), numpy.int64(2)):
        assert batch[index].data.untyped_storage().data_ptr() == storage, index
    batch[2].data.fill_(7)
    assert bool((batch.data[:, 2] == 7).all())


def test_tensors_lists_arrays_and_masks_are_contiguous_copies(config, make):
    batch = make.ciphertext(config, 5, 3)
    storage = batch.data.untyped_storage().data_ptr()
    mask = torch.tensor([True, False, True, False, False])
    for index in (
        torch.tensor([0, 2]),
        [0, 2],
        numpy.array([0, 2]),
        mask,
        mask.tolist(),
        range(0, 3, 2),
    ):
        picked = batch[index]
        assert picked.batch_shape == (2, 3)
        assert picked.data.is_contiguous()
        assert picked.data.untyped_storage().data_ptr() != storage
        assert torch.equal(picked.data, batch.data[:, [0, 2]])
    assert batch[torch.tensor(4)].batch_shape == (3,)
    assert batch[True].batch_shape == (1, 5, 3)
    assert batch[numpy.bool_(False)].batch_shape == (0, 5, 3)
    assert batch[[]].batch_shape == (0, 3)
    assert batch[[[0, 1], [4, 3]]].batch_shape == (2, 2, 3)
    assert torch.equal(batch[(4, 0), 1].data, batch.data[:, [4, 0], 1])


@pytest.mark.parametrize(
    ("batch", "index", "text"),
    [
        ((), 0, r"\[0\] does not fit batch shape \(\)"),
        ((5,), 5, r"5 is outside axis 0 of size 5"),
        ((5,), -6, r"-6 is outside axis 0 of size 5"),
        ((5,), (0, 0), r"\[0, 0\] does not fit batch shape \(5,\)"),
        ((5,), (slice(None), slice(None)), r"does not fit batch shape \(5,\)"),
        ((5,), (..., 0, 0), r"\[\.\.\., 0, 0\] does not fit"),
        ((5, 3), (..., ...), r"\[\.\.\., \.\.\.\] does not fit"),
        ((5,), torch.tensor([5]), r"\[Tensor torch\.int64 \(1,\)\] does not fit"),
        ((5,), torch.ones(5, 4, dtype=torch.bool), "too many indices"),
        ((5,), torch.ones(4, dtype=torch.bool), "does not fit batch shape"),
        ((5,), torch.tensor([0.5]), "does not fit batch shape"),
        ((5,), [0.5], "does not fit batch shape"),
        ((5,), ["0"], "does not fit batch shape"),
        ((5,), [slice(1)], "does not fit batch shape"),
        ((5,), [[0], [1, 2]], "does not fit batch shape"),
        ((5,), "first", "'first'.* a str is no index"),
        ((5,), 1.0, "1.0.* a float is no index"),
        ((5,), {0}, "a set is no index"),
    ],
)
def test_an_index_never_leaves_the_batch(config, make, batch, index, text):
    with pytest.raises(IndexError, match=text) as caught:
        make.ciphertext(config, *batch)[index]
    assert "Only batch axes are indexed" in str(caught.value)


def test_slices_step_forward(config, make):
    with pytest.raises(ValueError, match="slice step is -1"):
        make.ciphertext(config, 5)[::-1]


def test_a_single_value_has_no_length(config, make):
    for action in (len, list, lambda value: value.unbind()):
        with pytest.raises(TypeError, match=r"batch shape \(\) and 512 slots.*num_slots"):
            action(make.ciphertext(config))


def test_items_are_not_assigned_or_searched(config, make):
    batch = make.ciphertext(config, 2)
    with pytest.raises(TypeError, match=r"Build the batch anew with Ciphertext\.stack"):
        batch[0] = batch[1]
    with pytest.raises(TypeError, match="nothing would be found"):
        batch[0] in batch  # noqa: B015


@pytest.mark.parametrize(
    ("new", "shape"),
    [((6,), (6,)), ((-1,), (6,)), ((3, -1), (3, 2)), (((2, 3, 1),), (2, 3, 1)), (([6],), (6,))],
)
def test_reshape_batch_keeps_order(config, make, new, shape):
    for source in (make.ciphertext(config, 2, 3), make.plaintext(config, 2, 3)):
        reference = torch.arange(6).reshape(shape)
        assert_is_selection(source.reshape_batch(*new), source, reference)


def test_reshape_batch_to_a_single_value_and_back(config, make):
    single = make.ciphertext(config, 1, 1).reshape_batch()
    assert single.batch_shape == ()
    assert single.reshape_batch(1).batch_shape == (1,)
    assert make.ciphertext(config, 0, 3).reshape_batch(3, 0).batch_shape == (3, 0)
    assert single.reshape_batch(-1).batch_shape == (1,)


@pytest.mark.parametrize("new", [(4,), (4, -1), (-1, -1), (-2, 3), ()])
def test_reshape_batch_names_both_shapes(config, make, new):
    with pytest.raises(StateError, match=r"batch shape \(2, 3\) holds 6 values and \(") as caught:
        make.ciphertext(config, 2, 3).reshape_batch(*new)
    assert caught.value.shapes == ((2, 3), new)


def test_stack_takes_largest_bounds_and_any_mark(make):
    secure = make.config(depth=1, scale_bits=30, N=8192)
    parts = [
        make.ciphertext(secure, noise_bound=0.25, message_bound=1.0),
        make.ciphertext(secure, noise_bound=0.5, message_bound=0.5, insecure=True),
    ]
    stacked = Ciphertext.stack(parts)
    assert (stacked.noise_bound, stacked.message_bound, stacked.insecure) == (0.5, 1.0, True)
    assert (parts[0].noise_bound, parts[0].insecure) == (0.25, False)
    unknown = make.ciphertext(secure, noise_bound=None, message_bound=1.0)
    assert Ciphertext.stack([parts[0], unknown]).noise_bound is None


def test_stack_refuses_values_that_differ(config, other_config, make):
    value = make.ciphertext(config)
    with pytest.raises(StateError, match="depth is 0 for value 0 and 1 for value 2"):
        Ciphertext.stack([value, value, make.ciphertext(config, depth=1)])
    with pytest.raises(ContextMismatchError, match=config.context_id):
        Ciphertext.stack([value, make.ciphertext(other_config)])
    with pytest.raises(KeyMismatchError, match="key_id is k1 for value 0 and k2 for value 1"):
        Ciphertext.stack([value, make.ciphertext(config, key_id="k2")])
    with pytest.raises(StateError, match=r"shape is \(\) for value 0 and \(3,\) for value 1"):
        Ciphertext.stack([value, make.ciphertext(config, 3)])
    with pytest.raises(DeviceMismatchError, match="device is cpu for value 0 and meta for"):
        Ciphertext.stack([value, value.to("meta")])


def test_stack_refuses_what_is_no_value_of_its_class(config, make):
    value = make.ciphertext(config)
    with pytest.raises(TypeError, match="value 1 is a Plaintext"):
        Ciphertext.stack([value, make.plaintext(config)])
    with pytest.raises(TypeError, match="value 0 is a Tensor"):
        Ciphertext.stack([value.data])
    with pytest.raises(StateError, match="there are 0 values"):
        Ciphertext.stack([])
    for dim in (2, -3):
        with pytest.raises(IndexError, match=f"dim is {dim}"):
            Ciphertext.stack([make.ciphertext(config, 2)], dim=dim)
    for dim in (1, -2):
        with pytest.raises(IndexError, match=f"dim is {dim}"):
            make.ciphertext(config, 2).unbind(dim)


@pytest.mark.parametrize(
    ("operation", "call"),
    [
        ("stack", lambda batch: Ciphertext.stack([batch, batch], dim="first")),
        ("stack", lambda batch: Ciphertext.stack([batch], dim=0.5)),
        ("stack", lambda batch: Ciphertext.stack(None)),
        ("unbind", lambda batch: batch.unbind("first")),
        ("unbind", lambda batch: batch.unbind(None)),
        ("reshape_batch", lambda batch: batch.reshape_batch("1")),
        ("reshape_batch", lambda batch: batch.reshape_batch(1.5)),
        ("reshape_batch", lambda batch: batch.reshape_batch([3, None])),
        ("reshape_batch", lambda batch: batch.reshape_batch(None)),
        ("index", lambda batch: batch["a":]),
        ("index", lambda batch: batch[:1.5]),
        ("index", lambda batch: batch[::"a"]),
    ],
)
def test_axes_sizes_and_slices_are_whole_numbers(make, config, operation, call):
    with pytest.raises(OperandTypeError) as caught:
        call(make.ciphertext(config, 3))
    assert caught.value.operation == operation
    assert caught.value.rule
    assert caught.value.remedy


def test_whole_numbers_of_every_kind_are_sizes(make, config):
    batch = make.ciphertext(config, 6)
    for shape in ((numpy.int64(2), 3), (torch.tensor(2), 3), ([2, 3],), (torch.Size([2, 3]),)):
        assert batch.reshape_batch(*shape).batch_shape == (2, 3)
