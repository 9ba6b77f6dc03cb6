"""Coefficient-wise RNS operators against Python integers."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from rns_oracle import (
    BATCHES,
    INT32,
    INT64,
    VIEWS,
    WORDS,
    Word,
    assert_unchanged_and_equal_for_threads,
    at,
    each_word,
    filled,
    parameters,
    primes,
    radix,
    residues,
    rns,
    seen_as,
)

MIXED = INT64.mixed
PATTERNS = ["random", "zero", "one", "largest", "alternating"]

BINARY = {
    "add_standard": lambda a, b, q, r: (a + b) % q,
    "subtract_standard": lambda a, b, q, r: (a - b) % q,
    "multiply_montgomery": lambda a, b, q, r: a * b * pow(r, -1, q) % q,
}
UNARY = {
    "negate_standard": lambda a, q, r: -a % q,
    "to_montgomery": lambda a, q, r: a * r % q,
    "from_montgomery": lambda a, q, r: a * pow(r, -1, q) % q,
}
cases = {
    "word": st.sampled_from(WORDS),
    "batch": st.sampled_from(BATCHES),
    "limbs": st.integers(1, len(MIXED)),
    "n": st.sampled_from([1, 2, 3, 16, 17]),
    "view": st.sampled_from(VIEWS),
    "pattern": st.sampled_from(PATTERNS),
    "seed": st.integers(0, 2**20),
}


@pytest.mark.parametrize("name", BINARY)
@settings(max_examples=60, deadline=None)
@given(
    **cases,
    other_view=st.sampled_from(VIEWS),
    other=st.sampled_from(PATTERNS),
    keep=st.integers(0, 2),
    ones=st.sets(st.integers(0, 1)),
    constant=st.booleans(),
)
def test_binary_operators_and_their_broadcasting(
    name, word, batch, limbs, n, view, pattern, seed, other_view, other, keep, ones, constant
):
    moduli = word.mixed[-limbs:]
    params = parameters(moduli, word=word)
    other_batch = tuple(
        1 if i in ones else size for i, size in enumerate(batch[max(0, len(batch) - keep) :])
    )
    lhs = seen_as(residues((*batch, limbs, n), moduli, pattern, seed, word), view)
    rhs = residues((*other_batch, limbs, 1 if constant else n), moduli, other, seed + 1, word)
    rhs = seen_as(rhs, other_view)
    nested, repeated = lhs.tolist(), rhs.expand(lhs.shape).tolist()

    def element(i):
        q = moduli[i[-2]]
        return BINARY[name](at(nested, i), at(repeated, i), q, radix(q, word))

    expected = filled(lhs.shape, element, word)
    before = lhs.clone(), rhs.clone(), params.clone()
    result = getattr(rns, name)(lhs, rhs, params)
    assert result.is_contiguous()
    assert torch.equal(result, expected)
    assert all(torch.equal(x, y) for x, y in zip((lhs, rhs, params), before, strict=True))
    assert getattr(rns, name + "_")(lhs, rhs, params) is None
    assert torch.equal(lhs, expected)
    assert torch.equal(rhs, before[1])


@pytest.mark.parametrize("name", UNARY)
@settings(max_examples=40, deadline=None)
@given(**cases)
def test_unary_operators(name, word, batch, limbs, n, view, pattern, seed):
    moduli = word.mixed[-limbs:]
    params = parameters(moduli, word=word)
    values = seen_as(residues((*batch, limbs, n), moduli, pattern, seed, word), view)
    nested = values.tolist()

    def element(i):
        q = moduli[i[-2]]
        return UNARY[name](at(nested, i), q, radix(q, word))

    expected = filled(values.shape, element, word)
    before = values.clone()
    result = getattr(rns, name)(values, params)
    assert result.is_contiguous()
    assert torch.equal(result, expected)
    assert torch.equal(values, before)
    getattr(rns, name + "_")(values, params)
    assert torch.equal(values, expected)


@settings(max_examples=60, deadline=None)
@given(
    word=st.sampled_from(WORDS),
    batch=st.sampled_from(BATCHES),
    n=st.integers(1, 9),
    seed=st.integers(0, 2**20),
    strided=st.booleans(),
    extreme=st.sampled_from([0, 1, -1, 2**63 - 1, -(2**63), 2**62, -(2**62)]),
)
def test_reduce_integers(word, batch, n, seed, strided, extreme):
    moduli = word.mixed
    params = parameters(moduli, word=word)
    generator = torch.Generator().manual_seed(seed)
    integers = torch.randint(-(2**63), 2**63 - 1, (*batch, n), generator=generator)
    integers[..., 0] = extreme
    integers = seen_as(integers, "every second" if strided else "offset")
    nested = integers.tolist()
    expected = filled(
        (*batch, len(moduli), n), lambda i: at(nested, (*i[:-2], i[-1])) % moduli[i[-2]], word
    )
    before = integers.clone()
    found = rns.reduce_integers(integers, params, word.dtype)
    assert found.dtype == word.dtype
    assert torch.equal(found, expected)
    assert torch.equal(integers, before)


@each_word
@settings(max_examples=40, deadline=None)
@given(value=st.integers(-(2**63), 2**63 - 1))
def test_reduce_integers_takes_every_word(word: Word, value):
    params = parameters(word.mixed, word=word)
    result = rns.reduce_integers(torch.tensor([value]), params, word.dtype)
    assert result.flatten().tolist() == [value % q for q in word.mixed]


@each_word
def test_montgomery_form_round_trip_and_meaning(word: Word):
    moduli = word.mixed
    params = parameters(moduli, word=word)
    a, b = (residues((2, len(moduli), 33), moduli, seed=s, word=word) for s in (1, 2))
    assert torch.equal(rns.from_montgomery(rns.to_montgomery(a, params), params), a)
    product = rns.multiply_montgomery(a, rns.to_montgomery(b, params), params)
    x, y = a.tolist(), b.tolist()
    expected = filled(a.shape, lambda i: at(x, i) * at(y, i) % moduli[i[-2]], word)
    assert torch.equal(product, expected)


@each_word
def test_parameters_hold_what_their_names_say(word: Word):
    degree, moduli = 64, word.mixed
    names = rns.parameter_row_names().split(",")
    params = parameters(moduli, degree, word)
    assert params.dtype == torch.int64
    rows = {n: [v % 2**64 for v in row.tolist()] for n, row in zip(names, params, strict=True)}
    assert len(names) == 7
    for j, q in enumerate(moduli):
        r = radix(q, word)
        assert rows["modulus"][j] == q
        assert rows["inverse"][j] * q % 2**64 == 1
        assert 2 ** rows["montgomery_bits"][j] == r
        assert rows["montgomery_one"][j] == r % q
        assert rows["montgomery_square"][j] == r * r % q
        assert rows["reciprocal"][j] == 2**64 // q
        assert rows["degree_inverse"][j] * degree % q == r % q


@pytest.mark.parametrize("modulus", [0, 1, -3, 2**40, 2**62 + 1, 2**63 - 1])
def test_parameters_refuse_moduli(modulus):
    with pytest.raises(RuntimeError, match=r"modulus 1 is \d+.*odd with 1 < q < 2\^62"):
        rns.rns_parameters(torch.tensor([97, modulus]), 8)


@pytest.mark.parametrize("modulus", [0, 1, -3, 2**30, -(2**31), -1])
def test_parameters_refuse_moduli_beyond_31_bits(modulus):
    with pytest.raises(RuntimeError, match=r"modulus 1 is \d+.*odd with 1 < q < 2\^31"):
        rns.rns_parameters(torch.tensor([97, modulus], dtype=torch.int32), 8)


@pytest.mark.parametrize("degree", [0, -4, 3, 48])
def test_parameters_refuse_degrees(degree):
    with pytest.raises(RuntimeError, match=f"degree is {degree}. It is a power of two"):
        rns.rns_parameters(torch.tensor([97]), degree)


def test_schemas_are_the_published_ones():
    assert str(rns.add_standard.default._schema) == (
        "fhelium_rns_ops::add_standard(Tensor lhs, Tensor rhs, Tensor rns_params) -> Tensor"
    )
    assert str(rns.add_standard_.default._schema) == (
        "fhelium_rns_ops::add_standard_(Tensor(a!) lhs, Tensor rhs, Tensor rns_params) -> ()"
    )


@each_word
@pytest.mark.parametrize("view", VIEWS)
def test_in_place_writes_the_destination_alone(view, word: Word):
    moduli = word.mixed
    params = parameters(moduli, word=word)
    shape = (2, len(moduli), 5)
    lhs = seen_as(residues(shape, moduli, word=word), view)
    room = torch.empty(0, dtype=word.dtype).set_(lhs.untyped_storage())
    outside = torch.ones(room.shape, dtype=torch.bool)
    outside.as_strided(shape, lhs.stride(), lhs.storage_offset()).fill_(False)
    before = room.clone()
    rns.add_standard_(lhs, residues(shape, moduli, "one", word=word), params)
    rns.to_montgomery_(lhs, params)
    assert torch.equal(room[outside], before[outside])
    assert not torch.equal(room[~outside], before[~outside])


def test_in_place_on_a_lazy_copy_leaves_the_original():
    params = parameters(MIXED)
    original = residues((len(MIXED), 8), MIXED)
    before = original.clone()
    copy = torch._lazy_clone(original)
    rns.negate_standard_(copy, params)
    assert torch.equal(original, before)
    assert torch.equal(copy, rns.negate_standard(before, params))


@pytest.mark.parametrize("name", BINARY)
def test_same_view_on_both_sides(name):
    params = parameters(MIXED)
    x = residues((2, len(MIXED), 8), MIXED)
    expected = getattr(rns, name)(x, x, params)
    getattr(rns, name + "_")(x, x.view_as(x), params)
    assert torch.equal(x, expected)


def test_interleaved_views_do_not_overlap():
    params = parameters(MIXED)
    pair = residues((3, 2, len(MIXED), 8), MIXED)
    expected = rns.add_standard(pair[:, 0], pair[:, 1], params)
    rns.add_standard_(pair[:, 0], pair[:, 1], params)
    assert torch.equal(pair[:, 0], expected)
    wide = residues((len(MIXED), 16), MIXED)
    expected = rns.subtract_standard(wide[:, ::2], wide[:, 1::2], params)
    rns.subtract_standard_(wide[:, ::2], wide[:, 1::2], params)
    assert torch.equal(wide[:, ::2], expected)
    rns.add_standard_(pair[1], pair[2], params)  # neighbours


def overlapping_views():
    """Name pairs (destination, source) that share elements at different places."""
    limbs, n = len(MIXED), 8
    block = residues((3, limbs, n + 1), MIXED)
    flat = residues((1, 4 * limbs * n), (MIXED[0],)).flatten()
    yield "shifted by one", block[..., :n], block[..., 1:]
    yield "batch shifted", block[:2], block[1:]
    yield "batch repeated from inside", block, block[1]
    yield "a constant from inside", block, block[..., :1]
    yield (
        "step 2 against step 1",
        flat[: 2 * limbs * n : 2].view(limbs, n),
        flat[: limbs * n].view(limbs, n),
    )
    yield (
        "step 2 against step 3",
        flat[: 2 * limbs * n : 2].view(limbs, n),
        flat[2 : 2 + 3 * limbs * n : 3].view(limbs, n),
    )


@pytest.mark.parametrize("case", list(overlapping_views()), ids=lambda case: case[0])
def test_overlap_is_refused_and_nothing_written(case):
    _, destination, source = case
    before = destination.clone(), source.clone()
    with pytest.raises(
        RuntimeError, match="add_standard_: source and destination share part of their storage"
    ):
        rns.add_standard_(destination, source, parameters(MIXED))
    assert torch.equal(destination, before[0])
    assert torch.equal(source, before[1])


@settings(max_examples=300, deadline=None)
@given(
    word=st.sampled_from(WORDS),
    shape=st.tuples(st.integers(1, 3), st.integers(1, 4)),
    inner=st.integers(1, 4),
    gap=st.integers(1, 9),
    source_strides=st.tuples(st.integers(0, 14), st.integers(0, 5)),
    offsets=st.tuples(st.integers(0, 20), st.integers(0, 20)),
    constant=st.booleans(),
    alike=st.booleans(),
)
def test_overlap_is_decided_exactly(
    word, shape, inner, gap, source_strides, offsets, constant, alike
):
    """Two strided views are refused exactly where the sets of their elements meet."""
    strides = ((shape[1] - 1) * inner + gap, inner)
    source_shape = (shape[0], 1 if constant else shape[1])
    layouts = [
        (shape, strides, offsets[0]),
        (source_shape, strides if alike else source_strides, offsets[1]),
    ]
    room = torch.zeros(256, dtype=word.dtype)
    views = [room.as_strided(*layout) for layout in layouts]
    written, read = (
        [o + i * s[0] + j * s[1] for i in range(h) for j in range(w)] for (h, w), s, o in layouts
    )
    params = parameters(primes(30, shape[0]), word=word)
    if set(written) & set(read) and written != read:
        with pytest.raises(RuntimeError, match="share part of their storage"):
            rns.add_standard_(*views, params)
    else:
        rns.add_standard_(*views, params)


@pytest.mark.parametrize("first", [0, 1, 7, 8, 21, 34, 35, 36, 50])
def test_residues_and_parameters_in_one_storage(first):
    """An int32 view and an int64 view are refused exactly where their bytes meet."""
    room = torch.zeros(32, dtype=torch.int64)
    params = room[4:18].view(7, 2).copy_(parameters(INT32.mixed[:2], word=INT32))
    before = room.clone()
    values = room.view(torch.int32)[first : first + 8].view(2, 4)
    if 0 < first < 36:  # the parameters are the 32-bit words 8 to 35
        with pytest.raises(RuntimeError, match="share part of their storage"):
            rns.negate_standard_(values, params)
    else:
        rns.negate_standard_(values, params)
    assert torch.equal(room, before)


def test_destination_must_not_repeat_elements():
    params = parameters(MIXED)
    expanded = residues((1, len(MIXED), 4), MIXED).expand(3, -1, -1)
    with pytest.raises(RuntimeError, match=r"strides \[0, 4, 1\] and two indices share an element"):
        rns.negate_standard_(expanded, params)
    rns.negate_standard(expanded, params)
    rns.add_standard_(residues((3, len(MIXED), 4), MIXED), expanded, params)


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((3, 7, 4), r"\[3, 7, 4\] against \[2, 7, 4\]"),
        ((2, 2, 7, 4), r"\[2, 2, 7, 4\] against \[2, 7, 4\]"),
        ((2, 6, 4), r"\[2, 6, 4\] against \[2, 7, 4\]"),
        ((2, 7, 3), r"\[2, 7, 3\] against \[2, 7, 4\]"),
        ((2, 1, 4), r"\[2, 1, 4\] against \[2, 7, 4\]"),
        ((4,), r"rhs has shape \[4\]"),
    ],
)
@pytest.mark.parametrize("name", BINARY)
def test_shapes_are_refused(name, shape, words):
    lhs, rhs = torch.zeros(2, 7, 4, dtype=torch.int64), torch.zeros(shape, dtype=torch.int64)
    for operator in (name, name + "_"):
        with pytest.raises(RuntimeError, match=f"^{operator}: .*{words}"):
            getattr(rns, operator)(lhs, rhs, parameters(MIXED))


@pytest.mark.parametrize("name", [*UNARY, *(n + "_" for n in UNARY)])
def test_other_types_and_parameters_are_refused(name):
    operator, params = getattr(rns, name), parameters(MIXED)
    values = torch.zeros(7, 4, dtype=torch.int64)
    for wrong, found in ((values.byte(), "uint8"), (values.double(), "float64")):
        with pytest.raises(
            RuntimeError, match=f"{name}: input holds {found}, needed is int32 or int64"
        ):
            operator(wrong, params)
    with pytest.raises(RuntimeError, match=f"{name}: .* for int64 residues, this call is on int32"):
        operator(values.int(), params)
    with pytest.raises(RuntimeError, match=f"{name}: .* for int32 residues, this call is on int64"):
        operator(values, parameters(INT32.mixed, word=INT32))
    with pytest.raises(RuntimeError, match=r"rns_params has shape \[7, 6\].* need \[7, 7\]"):
        operator(values, params[:, :6])
    with pytest.raises(RuntimeError, match=r"rns_params has shape \[6, 7\].* need \[7, 7\]"):
        operator(values, params[:6])
    with pytest.raises(RuntimeError, match="rns_params holds int32"):
        operator(values, params.int())


@pytest.mark.parametrize("name", BINARY)
def test_operands_of_two_types_are_refused(name):
    values = torch.zeros(7, 4, dtype=torch.int64)
    for operator in (name, name + "_"):
        for lhs, rhs, word in ((values, values.int(), INT64), (values.int(), values, INT32)):
            with pytest.raises(
                RuntimeError,
                match=f"^{operator}: rhs holds {rhs.dtype}, needed is {lhs.dtype}".replace(
                    "torch.", ""
                ),
            ):
                getattr(rns, operator)(lhs, rhs, parameters(word.mixed, word=word))


def test_dtype_is_one_of_the_residue_types_and_that_of_the_parameters():
    integers = torch.arange(4)
    with pytest.raises(RuntimeError, match="reduce_integers: dtype is float32, needed is int32 or"):
        rns.reduce_integers(integers, parameters(MIXED), torch.float32)
    for word, other in (WORDS, WORDS[::-1]):
        with pytest.raises(
            RuntimeError, match=f"reduce_integers: column 0 .* for {word} .* on {other}"
        ):
            rns.reduce_integers(integers, parameters(word.mixed, word=word), other.dtype)


@each_word
@pytest.mark.parametrize(
    ("row", "value"), [(0, 4), (0, 2**62 + 1), (0, 1), (1, 3), (2, 53), (2, 0)]
)
def test_columns_that_are_no_parameters_are_refused(row, value, word: Word):
    params = parameters(word.mixed, word=word)
    params[row, 3] = value
    values = torch.zeros(7, 4, dtype=word.dtype)
    with pytest.raises(RuntimeError, match="column 3 of rns_params is not a parameter column"):
        rns.negate_standard(values, params)


def test_parameters_may_be_a_strided_slice():
    wide = parameters(MIXED)
    values = residues((3, 8), MIXED[4:])
    expected = rns.to_montgomery(values, parameters(MIXED[4:]))
    assert torch.equal(rns.to_montgomery(values, wide[:, 4:]), expected)


@each_word
@pytest.mark.parametrize("name", [*BINARY, *UNARY, "reduce_integers"])
def test_thread_count_does_not_matter(name, word: Word):
    moduli = primes(word.sizes[-2], 3, 4096) + primes(word.sizes[2], 2, 4096)
    params = parameters(moduli, 4096, word)
    generator = torch.Generator().manual_seed(5)
    bound = min(moduli)
    if name == "reduce_integers":
        integers = torch.randint(0, 2**48, (3, 4096), generator=generator)
        assert_unchanged_and_equal_for_threads(
            lambda x, p: rns.reduce_integers(x, p, word.dtype), integers, params
        )
        return
    inputs = [
        torch.randint(0, bound, (3, 5, 4096), generator=generator).to(word.dtype)
        for _ in range(2 if name in BINARY else 1)
    ]
    assert_unchanged_and_equal_for_threads(getattr(rns, name), *inputs, params)
