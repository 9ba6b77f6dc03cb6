"""What a result is compared with: anything that is a finite message of its shape, nothing else."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from fhelium.errors import MessageTypeError, MessageValueError

MESSAGE = torch.full((512,), 0.25)


@pytest.mark.parametrize(
    "expected",
    [0.25, 0.25 + 0j, [0.25] * 512, MESSAGE, MESSAGE.bfloat16(), MESSAGE.half(), MESSAGE.numpy(),
     MESSAGE.to(torch.complex64), MESSAGE.clone().requires_grad_(), np.float32(0.25)],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_every_kind_of_message_is_compared(small, expected):
    found = small.engine.precision(expected, small.encrypt(0.25), small.secret_key)
    assert 15 < found.real.min <= found.real.rms < math.inf


@pytest.mark.parametrize("value", [math.nan, math.inf, complex(0, math.nan)], ids=str)
def test_a_slot_that_is_no_number_has_no_precision(small, value):
    message = torch.zeros(512, dtype=torch.complex128)
    message[7] = value
    for expected in (message, message.numpy(), message.tolist()):
        with pytest.raises(MessageValueError, match=r"^precision: expected\[7\] is not finite"):
            small.engine.precision(expected, small.encrypt(0.25), small.secret_key)


@pytest.mark.parametrize("expected", ["0.25", None, {}, [None], object()])
def test_what_is_no_message_is_refused(small, expected):
    with pytest.raises(MessageTypeError, match=r"^precision: expected is a "):
        small.engine.precision(expected, small.encrypt(0.25), small.secret_key)


@pytest.mark.parametrize("expected", [torch.zeros(511), torch.zeros(2, 512), [[0.0], [0.0, 1.0]]])
def test_another_shape_is_refused(small, expected):
    with pytest.raises(MessageValueError, match=r"^precision: expected has (no )?shape"):
        small.engine.precision(expected, small.encrypt(0.25), small.secret_key)
