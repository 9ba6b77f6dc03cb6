"""Clear messages: every accepted form gives the same slots, every other one a useful error."""

import math
import re
from collections import UserList, deque
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch

from fhelium.eager.messages import prepare_message
from fhelium.errors import (
    DeviceMismatchError,
    FHEliumError,
    MessageTypeError,
    MessageValueError,
    ParameterError,
)

SLOTS = 8
SECRET = 0.4321098765


def prepare(message, **changes):
    options = {
        "num_slots": SLOTS,
        "message_bound": 1000.0,
        "scale": 2.0**40,
        "modulus_quarter": 2**100,
        "device": "cpu",
    }
    return prepare_message("encode", message, **(options | changes))


def as_complex(slots):
    assert slots.dtype == torch.float64
    assert slots.shape[-2:] == (SLOTS, 2)
    return torch.complex(slots[..., 0], slots[..., 1])


REAL_TORCH = [
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.uint8,
    torch.uint16,
    torch.uint32,
    torch.uint64,
]


@pytest.mark.parametrize("dtype", REAL_TORCH, ids=str)
def test_real_tensor_types(dtype):
    message = torch.arange(SLOTS).to(dtype)
    assert as_complex(prepare(message)).tolist() == [complex(k) for k in range(SLOTS)]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_short_floats_keep_their_value(dtype):
    message = torch.linspace(-1, 1, SLOTS).to(dtype)
    want = [complex(float(x)) for x in message]
    assert as_complex(prepare(message)).tolist() == want


def test_bool_tensor_and_array():
    flags = [True, False] * (SLOTS // 2)
    want = [complex(flag) for flag in flags]
    for message in (torch.tensor(flags), np.array(flags), flags):
        assert as_complex(prepare(message)).tolist() == want


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
def test_complex_tensors(dtype):
    message = torch.randn(3, SLOTS, dtype=dtype, generator=torch.Generator().manual_seed(1))
    assert torch.equal(as_complex(prepare(message)), message.to(torch.complex128))
    assert torch.equal(as_complex(prepare(message.conj())), message.conj().to(torch.complex128))
    assert torch.equal(as_complex(prepare(message.conj().imag)).real, -message.imag.double())


@pytest.mark.parametrize(
    "dtype",
    ["f2", "f4", "f8", ">f4", ">f8", "i1", "i2", "i4", "i8", ">i8", "u1", "u2", "u4", "u8"],
)
def test_real_array_types(dtype):
    message = np.arange(SLOTS).astype(dtype)
    assert as_complex(prepare(message)).tolist() == [complex(k) for k in range(SLOTS)]


@pytest.mark.parametrize("dtype", ["c8", "c16", ">c16"])
def test_complex_array_types(dtype):
    message = (np.arange(SLOTS) - 1j * np.arange(SLOTS)).astype(dtype)
    assert as_complex(prepare(message)).tolist() == [complex(k, -k) for k in range(SLOTS)]


@pytest.mark.parametrize(
    "number",
    [True, 3, -2, 0.25, 1 - 2j, Fraction(1, 4), np.float32(0.5), np.int8(-3), np.complex64(2j),
     np.bool_(True), np.array(0.5), torch.tensor(0.5), torch.tensor(2j), torch.tensor(3)],
    ids=repr,
)  # fmt: skip
def test_a_number_fills_all_slots(number):
    assert as_complex(prepare(number)).tolist() == [complex(number)] * SLOTS


@pytest.mark.parametrize(
    "message",
    [
        list(range(SLOTS)),
        tuple(range(SLOTS)),
        range(SLOTS),
        deque(range(SLOTS)),
        UserList(range(SLOTS)),
        [np.float64(k) for k in range(SLOTS)],
        [np.int16(k) for k in range(SLOTS)],
        [np.complex64(k) for k in range(SLOTS)],
        [Fraction(k) for k in range(SLOTS)],
        [torch.tensor(k) for k in range(SLOTS)],
        [np.array(k) for k in range(SLOTS)],
        [0, True, 2.0, np.float32(3), Fraction(4), torch.tensor(5), np.array(6), complex(7)],
    ],
    ids=lambda message: type(message).__name__ + ":" + type(message[0]).__name__,
)
def test_sequences(message):
    assert as_complex(prepare(message)).tolist() == [complex(k) for k in range(SLOTS)]


def test_nested_sequences_and_stacked_rows():
    rows = [[k + 10 * r for k in range(SLOTS)] for r in range(3)]
    want = torch.tensor(rows, dtype=torch.complex128)
    tensors = [torch.tensor(row) for row in rows]
    arrays = [np.array(row, dtype=np.float32) for row in rows]
    for message in (
        rows,
        tuple(map(tuple, rows)),
        tensors,
        arrays,
        [rows[0], tensors[1], arrays[2]],
    ):
        assert torch.equal(as_complex(prepare(message)), want)
    mixed = as_complex(prepare([tensors[0], tensors[1] * 1j]))
    assert torch.equal(mixed, torch.stack([want[0], want[1] * 1j]))


def test_batches_of_any_shape():
    message = torch.randn(2, 1, 3, SLOTS, generator=torch.Generator().manual_seed(2))
    slots = prepare(message)
    assert slots.shape == (2, 1, 3, SLOTS, 2)
    assert torch.equal(as_complex(slots).real, message.double())


@pytest.mark.parametrize("library", ["torch", "numpy"])
def test_views(library):
    base = torch.randn(
        SLOTS, 2 * SLOTS, dtype=torch.float64, generator=torch.Generator().manual_seed(3)
    )
    source = base if library == "torch" else base.numpy()
    views = {
        "transposed": source.T[:SLOTS],
        "strided": source[:, ::2],
        "offset": source[1:3, 3 : 3 + SLOTS],
    }
    if library == "torch":
        views["expanded"] = source[:1, :SLOTS].expand(5, SLOTS)
        views["expanded slots"] = source[:, :1].expand(SLOTS, SLOTS)
    else:
        views["reversed"] = source[::-1, SLOTS - 1 :: -1]
        views["broadcast"] = np.broadcast_to(source[:1, :SLOTS], (5, SLOTS))
        frozen = source[0, :SLOTS].copy()
        frozen.flags.writeable = False
        views["read-only"] = frozen
    for name, view in views.items():
        want = [complex(x) for x in np.asarray(view).reshape(-1).tolist()]
        assert as_complex(prepare(view)).reshape(-1).tolist() == want, name


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128], ids=str)
@pytest.mark.filterwarnings("error")
def test_inputs_are_neither_modified_nor_shared(dtype):
    message = torch.randn(SLOTS, dtype=dtype, generator=torch.Generator().manual_seed(4))
    for given in (message, message.numpy()):
        before = message.clone()
        slots = prepare(given)
        slots.zero_()
        assert torch.equal(message, before)


def test_integers_beyond_the_mantissa_round_to_nearest():
    big = 2**53 + 3
    for message in (
        [big] * SLOTS,
        torch.tensor([big] * SLOTS),
        np.array([big] * SLOTS),
        big,
        [2**70] * SLOTS,
    ):
        first = message if isinstance(message, int) else int(message[0])
        slots = prepare(message, message_bound=2.0**80, modulus_quarter=2**200)
        assert as_complex(slots)[0] == complex(float(first))


# --- types ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        "0.5",
        b"12345678",
        bytearray(8),
        None,
        {"a": 1},
        {1.0, 2.0},
        (x for x in [1.0]),
        object(),
        Decimal("0.5"),
        np.array(["1"] * SLOTS),
        np.array([None] * SLOTS),
        np.zeros(SLOTS, dtype=np.longdouble),
        np.zeros(SLOTS, dtype=np.clongdouble),
        np.longdouble(1),
        np.zeros(SLOTS, dtype="m8[s]"),
        np.ma.masked_array(np.zeros(SLOTS), mask=[1] + [0] * (SLOTS - 1)),
        torch.zeros(SLOTS, dtype=torch.float8_e4m3fn),
        torch.zeros(SLOTS).to_sparse(),
    ],
    ids=lambda message: type(message).__name__ + str(getattr(message, "dtype", "")),
)
def test_other_types_are_refused_by_name(message):
    with pytest.raises(
        MessageTypeError, match=r"encode: payload (is a|holds) .*(Convert|Decide)"
    ) as info:
        prepare(message, argument="payload")
    assert isinstance(info.value, TypeError)
    assert "payload" in str(info.value)


@pytest.mark.filterwarnings("ignore:ComplexHalf")
def test_complex32_is_refused_without_losing_its_imaginary_part():
    with pytest.raises(MessageTypeError, match=r"holds torch\.complex32.*torch\.complex128\)"):
        prepare(torch.zeros(SLOTS, dtype=torch.complex32))


@pytest.mark.parametrize(
    ("bad", "place"),
    [("1", "message[3]"), (None, "message[3]"), (np.longdouble(1), "message[3]")],
)
def test_a_wrong_element_is_named(bad, place):
    message = [0.0] * SLOTS
    message[3] = bad
    with pytest.raises(MessageTypeError, match=re.escape(place)):
        prepare(message)
    with pytest.raises(MessageTypeError, match=re.escape("message[1, 3]")):
        prepare([[0.0] * SLOTS, message])


def test_a_mask_inside_a_sequence_is_not_lost():
    row = np.ma.masked_array(np.zeros(SLOTS), mask=[1] + [0] * (SLOTS - 1))
    with pytest.raises(MessageTypeError, match=r"message\[1\] is a masked array"):
        prepare([np.zeros(SLOTS), row])


def test_gradients_are_refused():
    message = torch.zeros(SLOTS, requires_grad=True)
    for given in (message, message * 2, torch.nn.Parameter(torch.zeros(SLOTS))):
        with pytest.raises(
            MessageValueError, match=r"message requires a gradient.*message\.detach\(\)"
        ):
            prepare(given)
    with pytest.raises(MessageValueError, match=r"message\[1\] requires a gradient"):
        prepare([torch.zeros(SLOTS), message])
    assert prepare(message.detach()).abs().sum() == 0
    with torch.no_grad():
        assert prepare(message * 2).abs().sum() == 0


def test_another_device_is_refused():
    with pytest.raises(
        DeviceMismatchError, match=r"message is on meta, the operation is on cpu.*\.to"
    ):
        prepare(torch.zeros(SLOTS, device="meta"))
    with pytest.raises(DeviceMismatchError, match=r"message is on cpu, the operation is on cuda:1"):
        prepare(torch.zeros(SLOTS), device="cuda:1")


# --- shapes --------------------------------------------------------------------------------------


def remedy_calls(error):
    """The calls printed in a remedy."""
    text = error.remedy
    calls = re.findall(r"(?:Repeat it|zeros): ((?:[^\s.]|\.(?! ))+\((?:[^()]|\([^()]*\))*\))", text)
    calls += re.findall(r"Take the first values with (.*)$", text)
    return [call.removesuffix(".") for call in calls]


@pytest.mark.parametrize("make", [torch.zeros, np.zeros, lambda *s: np.zeros(s).tolist()])
@pytest.mark.parametrize(
    "shape", [(1,), (2,), (3,), (SLOTS + 1,), (4, 2), (2, 3, 5), (2, SLOTS + 3)]
)
def test_wrong_slot_count_shows_a_call_that_works(make, shape):
    message = make(*shape) if make is not np.zeros else np.zeros(shape)
    with pytest.raises(
        MessageValueError, match=f"message has {shape[-1]} values.*{SLOTS} slots"
    ) as info:
        prepare(message)
    calls = remedy_calls(info.value)
    size = shape[-1]
    assert len(calls) == (2 if size < SLOTS and SLOTS % size == 0 else 1)
    for call in calls:
        fixed = eval(call, {"torch": torch, "numpy": np, "message": message})
        assert prepare(fixed).shape == (*shape[:-1], SLOTS, 2)


def test_the_repeat_remedy_repeats_and_the_padding_pads():
    message = torch.tensor([1.0, 2.0])
    with pytest.raises(MessageValueError) as info:
        prepare(message)
    repeated, padded = (
        eval(c, {"torch": torch, "message": message}) for c in remedy_calls(info.value)
    )
    assert repeated.tolist() == [1.0, 2.0] * 4
    assert padded.tolist() == [1.0, 2.0] + [0.0] * 6


@pytest.mark.parametrize(
    "message",
    [[], [[]], (), torch.zeros(0), torch.zeros(0, SLOTS), torch.zeros(3, 0), np.zeros((0, SLOTS))],
    ids=lambda message: type(message).__name__ + str(list(np.shape(message))),
)
def test_empty(message):
    with pytest.raises(MessageValueError, match=r"message is empty, its shape is \["):
        prepare(message)


def test_ragged_and_bottomless():
    with pytest.raises(
        MessageValueError, match=r"message\[0\] has shape \[8\] and message\[1\] has shape \[7\]"
    ):
        prepare([[0.0] * 8, [0.0] * 7])
    endless = []
    endless.append(endless)
    with pytest.raises(MessageValueError, match="nested deeper than 32"):
        prepare(endless)


# --- values --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bad", [math.nan, math.inf, -math.inf, complex(0, math.nan), complex(1, math.inf)]
)
@pytest.mark.parametrize("index", [(0, 0), (0, SLOTS - 1), (1, 3)])
def test_the_first_value_that_is_not_finite_is_named(bad, index):
    message = torch.full((2, SLOTS), SECRET, dtype=torch.complex128)
    message[index] = bad
    message[1, SLOTS - 1] = math.nan
    for given in (message, message.numpy(), message.tolist()):
        with pytest.raises(
            MessageValueError, match=re.escape(f"message[{index[0]}, {index[1]}] is not finite")
        ) as info:
            prepare(given)
        assert info.value.index == index
        assert "43210" not in str(info.value)
        call = info.value.remedy.removeprefix("Replace them with ")
        fixed = eval(call, {"torch": torch, "numpy": np, "message": given})
        assert torch.isfinite(prepare(fixed)).all()


def test_a_number_that_is_not_finite():
    with pytest.raises(MessageValueError, match="message is not finite"):
        prepare(math.nan)
    with pytest.raises(MessageValueError, match=r"message\[1\] is an integer or fraction beyond"):
        prepare([1, 10**400, 1])
    with pytest.raises(MessageValueError, match="message is an integer or fraction beyond"):
        prepare(10**400)


def test_the_bound():
    message = torch.zeros(3, SLOTS, dtype=torch.float64)
    message[2, 5] = -SECRET
    message[1, 4] = SECRET
    assert as_complex(prepare(message, message_bound=SECRET))[2, 5] == -SECRET
    below = math.nextafter(SECRET, 0)
    with pytest.raises(MessageValueError, match=r"magnitude of message\[1, 4\] is above") as info:
        prepare(message, message_bound=below)
    assert info.value.index == (1, 4)
    assert info.value.message_bound == below
    assert "-" not in info.value.fact
    assert str(below) in str(info.value)
    assert str(SECRET) not in str(info.value)
    with pytest.raises(MessageValueError, match="magnitude of message is above"):
        prepare(SECRET, message_bound=below)


def test_the_bound_is_on_the_magnitude_of_complex_values():
    message = torch.full((SLOTS,), 0.6 + 0.8j, dtype=torch.complex128)
    assert prepare(message, message_bound=1.0).shape == (SLOTS, 2)
    with pytest.raises(MessageValueError, match=r"message\[0\]"):
        prepare(message, message_bound=0.99)
    huge = torch.full((SLOTS,), 1.5e308 + 1.5e308j, dtype=torch.complex128)
    with pytest.raises(MessageValueError, match=r"magnitude of message\[0\] is above"):
        prepare(huge, message_bound=1.7e308, modulus_quarter=2**2000)


def test_normalised_complex_values_fit_the_bound_one():
    generator = torch.Generator().manual_seed(5)
    circle = torch.randn(1000, SLOTS, dtype=torch.complex128, generator=generator)
    circle /= circle.abs()
    assert (circle.abs() > 1).any()  # by rounding alone
    assert torch.equal(as_complex(prepare(circle, message_bound=1.0)), circle)
    with pytest.raises(MessageValueError, match="is above message_bound, which is 1"):
        prepare(circle * (1 + 2**-48), message_bound=1.0)
    with pytest.raises(MessageValueError, match="is above message_bound, which is 1"):
        prepare([1 + 2**-52] * SLOTS, message_bound=1.0)  # real values are exact


def test_no_declared_bound_lets_nothing_else_through():
    options = {"message_bound": math.inf, "modulus_quarter": math.inf}
    assert as_complex(prepare([1e300] * SLOTS, **options))[0] == 1e300
    for bad in (math.nan, math.inf, complex(0, -math.inf)):
        with pytest.raises(MessageValueError, match=r"message\[2\] is not finite"):
            prepare([0.0, 0.0, bad, *[0.0] * (SLOTS - 3)], **options)
    with pytest.raises(MessageValueError, match=r"message\[7\] times the scale"):
        prepare([0.0] * (SLOTS - 1) + [2.0**61], message_bound=math.inf)
    with pytest.raises(MessageValueError, match=r"message\[0\] times the scale"):
        prepare([complex(1.5e308, 1.5e308)] * SLOTS, **options)


def test_a_bound_of_zero_admits_zeros():
    assert prepare([0.0] * SLOTS, message_bound=0.0).abs().sum() == 0
    with pytest.raises(MessageValueError, match=r"message\[0\] is above message_bound, which is 0"):
        prepare([5e-324] * SLOTS, message_bound=0.0)


def test_a_quarter_of_the_modulus_is_exact():
    message = torch.zeros(SLOTS, dtype=torch.float64)
    message[6] = -3.0
    scale = 2.0**40
    for quarter in (3 * 2**40, float(3 * 2**40), math.inf):
        assert prepare(message, scale=scale, modulus_quarter=quarter).shape == (SLOTS, 2)
    for quarter in (3 * 2**40 - 1, math.nextafter(3 * 2.0**40, 0)):
        with pytest.raises(
            MessageValueError, match=r"message\[6\] times the scale 2\^40\.00 .* 2\^41\.58"
        ) as info:
            prepare(message, scale=scale, modulus_quarter=quarter)
        assert info.value.index == (6,)
    # Beyond the doubles on both sides: 3 * 2^1020 * 2^1000 against integers.
    huge = message * 2.0**1020
    wide = {"message_bound": 2.0**1023, "scale": 2.0**1000}
    assert prepare(huge, modulus_quarter=3 * 2**2020, **wide).shape == (SLOTS, 2)
    with pytest.raises(MessageValueError, match=r"2\^2021\.58"):
        prepare(huge, modulus_quarter=3 * 2**2020 - 1, **wide)


@pytest.mark.parametrize(
    "change",
    [
        {"message_bound": math.nan},
        {"message_bound": -1.0},
        {"scale": math.nan},
        {"scale": -1.0},
        {"scale": math.inf},
        {"modulus_quarter": 0},
        {"modulus_quarter": math.nan},
    ],
    ids=str,
)
def test_parameters_that_would_disarm_a_check(change):
    with pytest.raises(ParameterError, match=f"encode: {next(iter(change))} is"):
        prepare([0.0] * SLOTS, **change)


def test_every_error_is_of_the_family():
    for message in ("text", [], [math.nan] * SLOTS, [1.0] * 3):
        with pytest.raises(FHEliumError):
            prepare(message)
