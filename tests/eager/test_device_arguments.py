"""Wherever a device is named: what is none is refused before any work, and spellings agree."""

from __future__ import annotations

import pytest
import torch

from fhelium import load_value, save_value
from fhelium.backend.ckks import CkksDeviceResources
from fhelium.errors import OperandTypeError, StateError

CALLS = {
    "create_secret_key": lambda k, d: k.engine.create_secret_key(device=d),
    "create_public_key": lambda k, d: k.engine.create_public_key(k.secret_key, device=d),
    "create_relinearization_key": lambda k, d: k.engine.create_relinearization_key(
        k.secret_key, device=d
    ),
    "create_rotation_key": lambda k, d: k.engine.create_rotation_key(1, k.secret_key, device=d),
    "create_conjugation_key": lambda k, d: k.engine.create_conjugation_key(k.secret_key, device=d),
    "create_switching_key": lambda k, d: k.engine.create_switching_key(
        k.secret_key, k.secret_key, device=d
    ),
    "create_evaluation_keys": lambda k, d: k.engine.create_evaluation_keys(k.secret_key, device=d),
    "encode": lambda k, d: k.engine.encode(0.5, device=d),
    "encrypt_message": lambda k, d: k.encrypt(0.5, device=d),
    "to": lambda k, d: k.public_key.to(d),
    "CkksDeviceResources": lambda k, d: CkksDeviceResources(config=k.config, device=d),
}


@pytest.mark.parametrize("device", ["gpu", "cpu:x", "", 3.5, True, torch.int64], ids=str)
@pytest.mark.parametrize("operation", CALLS)
def test_what_is_no_device_is_refused(small, operation, device):
    with pytest.raises(OperandTypeError) as caught:
        CALLS[operation](small, device)
    error = caught.value
    assert error.operation == operation
    assert f"device is {device!r}" in error.fact
    assert error.rule
    assert error.remedy


@pytest.mark.parametrize("device", ["cpu", "cpu:0", torch.device("cpu"), torch.device("cpu", 0)])
@pytest.mark.parametrize("operation", CALLS)
def test_every_spelling_names_the_device(small, operation, device):
    assert CALLS[operation](small, device) is not None


def test_a_file_is_not_read_for_no_device(small, tmp_path):
    save_value(small.public_key, tmp_path / "key")
    with pytest.raises(OperandTypeError, match="load_value: device is 'gpu'"):
        load_value(tmp_path / "key", device="gpu")


@pytest.mark.parametrize("device", ["cuda", "cuda:1"])
@pytest.mark.parametrize("operation", CALLS)
def test_cuda_where_there_is_none_is_said_so(small, monkeypatch, operation, device):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(StateError, match="torch finds no CUDA device") as caught:
        CALLS[operation](small, device)
    assert caught.value.operation == operation
