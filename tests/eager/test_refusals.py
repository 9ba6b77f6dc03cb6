"""Arguments that an Engine method cannot take are refused in words, before any work."""

from __future__ import annotations

import pytest
import torch

from fhelium import Ciphertext, Plaintext
from fhelium.errors import OperandTypeError, StateError
from fhelium.values import CkksState


@pytest.fixture(scope="module")
def x(small):
    return small.engine.encrypt_message(0.5, small.public_key, output_domain="ntt")


CALLS = {
    "encrypt_message": lambda engine, x, ring: engine.encrypt_message(
        0.5, ring.public_key, output_domain="NTT"
    ),
    "encrypt": lambda engine, x, ring: engine.encrypt(
        engine.encode(0.5), ring.public_key, output_domain="NTT"
    ),
    "multiply": lambda engine, x, ring: engine.multiply(x, x, output_domain="NTT"),
    "square": lambda engine, x, ring: engine.square(x, output_domain="NTT"),
    "relinearize": lambda engine, x, ring: engine.relinearize(
        engine.square(x), output_domain="NTT"
    ),
    "multiply_plaintext": lambda engine, x, ring: engine.multiply_plaintext(
        x, engine.prepare_plaintext(0.5, like=x), output_domain="NTT"
    ),
    "rotate_with_key": lambda engine, x, ring: engine.rotate_with_key(
        x, ring.keys.rotation(1), output_domain="NTT"
    ),
    "conjugate": lambda engine, x, ring: engine.conjugate(x, output_domain="NTT"),
    "rescale_to_next_depth": lambda engine, x, ring: engine.rescale_to_next_depth(
        engine.square(x), output_domain="NTT"
    ),
}


@pytest.mark.parametrize("operation", CALLS)
def test_a_domain_that_does_not_exist(small, x, operation):
    with pytest.raises(StateError) as caught:
        CALLS[operation](small.engine, x, small)
    assert str(caught.value) == (
        f"{operation}: output_domain is 'NTT', needed is 'coefficient' or 'ntt'. "
        "A polynomial is kept as coefficients or as NTT values. "
        "Pass one of the two, or omit output_domain."
    )


@pytest.mark.parametrize("size", [0, 3, -4, 1024, True, 4.0, "4"])
def test_a_window_that_cannot_be_summed(small, x, size):
    with pytest.raises(StateError, match=r"sum_slots: size is .*, the number of slots is 512\. "):
        small.engine.sum_slots(x, size=size)


def test_a_key_of_another_kind(small, x):
    key = small.keys.relinearization()
    with pytest.raises(OperandTypeError, match=r"key is a RelinearizationKey, needed is a Rot"):
        small.engine.rotate_with_key(x, key)


def test_values_over_the_special_primes_are_refused(small):
    """QP is for keys: what lies over it is neither encoded nor encrypted as the codec reads it."""
    engine, config, key = small.engine, small.config, small.secret_key
    rows = torch.zeros(len(config.primes), config.N, dtype=config.dtype)
    state = CkksState.fresh(config, modulus_basis="QP", components=1)
    plain = Plaintext(rows, state)
    hidden = Ciphertext(torch.stack([rows, rows]), state.replace(components=2, key_id=key.key_id))
    for call in (
        lambda: engine.decode(plain),
        lambda: engine.encrypt(plain, small.public_key),
        lambda: engine.decrypt(hidden, key),
        lambda: engine.decrypt_message(hidden, key),
        lambda: engine.decrypt_for_release(hidden, key, circuit="none", queries=1),
        lambda: engine.precision(0.0, hidden, key),
        lambda: engine.negate(hidden),
    ):
        with pytest.raises(StateError, match=r"modulus basis is QP, needed is Q\. "):
            call()
