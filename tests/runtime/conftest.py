"""Devices that graphs are captured on: the fake one everywhere, CUDA where there is one."""

from __future__ import annotations

import pytest
import torch

from fhelium.native import has_device
from fhelium.runtime.device import STREAM_DEVICES
from tests.runtime.fake_device import FakeDevice

# A module that was built without CUDA kernels has nothing to capture there.
CUDA = torch.cuda.is_available() and has_device("cuda")
DEVICES = ["fake", *(["cuda"] if CUDA else [])]


@pytest.fixture
def fake(monkeypatch) -> FakeDevice:
    """Let CPU tensors live on a device with streams."""
    device = FakeDevice()
    monkeypatch.setitem(STREAM_DEVICES, "cpu", device)
    return device


@pytest.fixture(params=DEVICES)
def device(request) -> torch.device:
    """Where to capture."""
    if request.param == "fake":
        request.getfixturevalue("fake")
        return torch.device("cpu")
    return torch.device("cuda", 0)


@pytest.fixture
def encrypted(small):
    """Return a function that encrypts one message."""

    def encrypt(fill: float, **options):
        return small.engine.encrypt_message(
            torch.full((512,), fill, dtype=torch.float64),
            small.public_key,
            output_domain="ntt",
            **options,
        )

    return encrypt
