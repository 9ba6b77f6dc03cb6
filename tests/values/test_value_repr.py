"""A repr says what a value is and never what it holds."""

from __future__ import annotations

import pytest

from fhelium.text import bits_text, list_text, scale_text, size_text
from fhelium.values import EvaluationKeys

MARK = 123456789


def test_ciphertext(config, make):
    value = make.ciphertext(config, 2, 3, depth=1, polynomial_domain="ntt", noise_bound=2.0**-21)
    exponent = scale_text(config.scale_at(1))
    assert repr(value) == (
        f"Ciphertext(512 slots, depth 1/3, scale {exponent}, 3 limbs Q, ntt standard, "
        "2 components, batch [2, 3], 21.0 bits left, cpu, 288.0 KiB, insecure)"
    )


def test_single_ciphertext_of_a_secure_ring_on_another_device(make):
    config = make.config(depth=1, scale_bits=30, N=8192)
    value = make.ciphertext(config, depth=1).to("meta")
    assert repr(value) == (
        f"Ciphertext(4096 slots, depth 1/1, scale {scale_text(config.scale_at(1))}, 1 limb Q, "
        "coefficient standard, 2 components, bits left unknown, meta, 128.0 KiB)"
    )


def test_plaintext(config, make):
    value = make.plaintext(config, modulus_basis="QP", residue_representation="montgomery")
    assert repr(value) == (
        "Plaintext(512 slots, depth 0/3, scale 2^30, 6 limbs QP, coefficient montgomery, "
        "bits left unknown, cpu, 48.0 KiB, insecure)"
    )


def test_keys(config, make):
    texts = [repr(value) for value in make.all_values(config)[2:]]
    assert texts == [
        "SecretKey(key k1, N 1024, cpu, insecure)",
        "PublicKey(key k1, N 1024, 6 limbs QP, cpu, 96.0 KiB, insecure)",
        "SwitchingKey(key k1, from key k0, N 1024, 2 digits, 6 limbs QP, cpu, 192.0 KiB, insecure)",
        "RelinearizationKey(key k1, N 1024, 2 digits, 6 limbs QP, cpu, 192.0 KiB, insecure)",
        "ConjugationKey(key k1, N 1024, 2 digits, 6 limbs QP, cpu, 192.0 KiB, insecure)",
        "RotationKey(key k1, step 5, N 1024, 2 digits, 6 limbs QP, cpu, 192.0 KiB, insecure)",
    ]


def test_no_repr_shows_data_or_seeds(config, make):
    for value in make.all_values(config):
        value.data.fill_(MARK)
        text = f"{value!r} {value} {[value]}"
        assert str(MARK) not in text
        assert "seed" not in text
        assert "tensor" not in text


def test_evaluation_keys(config, make):
    keys = EvaluationKeys(*make.all_values(config)[4:], make.rotation_key(config, 1))
    assert repr(keys) == (
        "EvaluationKeys(relinearization, conjugation, 2 rotations [1, 5], 1 switching key, key k1, "
        "960.0 KiB, insecure)"
    )
    assert repr(EvaluationKeys()) == "EvaluationKeys(0 B)"


@pytest.mark.parametrize(
    ("scale", "text"),
    [
        (1.0, "2^0"),
        (2.0**40, "2^40"),
        (2.0**40 + 1, "2^40.0000"),
        (2.0**40 * 1.5, "2^40.5850"),
        (None, "unknown"),
        (float("nan"), "nan"),
        (-1.0, "-1.0"),
    ],
)
def test_scale_text_shows_whether_a_power_is_exact(scale, text):
    assert scale_text(scale) == text


def test_texts():
    assert [size_text(n) for n in (0, 1023, 1024, 1 << 20, 5 << 40, 5 << 50)] == [
        "0 B",
        "1023 B",
        "1.0 KiB",
        "1.0 MiB",
        "5.0 TiB",
        "5120.0 TiB",
    ]
    assert bits_text(-3.0) == "-3.0 bits left"
    assert bits_text(float("inf")) == "inf bits left"
    assert list_text(range(20), 3) == "[0, 1, 2, ...] (20 in all)"
    assert list_text([]) == "[]"
