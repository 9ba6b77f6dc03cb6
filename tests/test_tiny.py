"""The whole story in seconds: keys, encrypt, compute, decrypt, on a small insecure ring."""

from __future__ import annotations

import pytest
import torch

from fhelium import CkksConfig, DecryptPolicy, Engine
from fhelium.errors import InsecureWarning


@pytest.fixture(scope="module")
def engine() -> Engine:
    with pytest.warns(InsecureWarning):
        config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
    return Engine(config)


def test_tiny(engine: Engine) -> None:
    secret_key = engine.create_secret_key()
    public_key = engine.create_public_key(secret_key)
    engine.add_keys(engine.create_evaluation_keys(secret_key, steps=(1, -1, -2), conjugation=True))
    generator = torch.Generator().manual_seed(1)
    a, b = torch.rand(2, 512, dtype=torch.float64, generator=generator) * 2 - 1

    x = engine.encrypt_message(a, public_key, output_domain="ntt")
    y = engine.encrypt_message(b, public_key, output_domain="ntt")
    product = engine.rescale_to_next_depth(engine.relinearize(engine.multiply(x, y)))
    rotated = engine.align_to_depth(engine.rotate_by_step(x, 1), product.depth)
    total = engine.add(product, rotated)
    weights = engine.prepare_plaintext(b, like=total)
    weighted = engine.rescale_to_next_depth(engine.multiply_plaintext(total, weights))
    shifted = engine.add_scalar(engine.negate(weighted), 0.25)

    expected = 0.25 - (a * b + torch.roll(a, 1)) * b
    for policy in (None, DecryptPolicy.private()):
        found = engine.decrypt_message(shifted, secret_key, policy=policy)
        assert found.dtype == torch.complex128
        assert (found - expected).abs().max() < 2.0**-14
    assert shifted.depth == 2
    assert shifted.scale == engine.config.scale_at(2)
    assert shifted.insecure
    assert "insecure" in repr(shifted)

    window = engine.decrypt_message(engine.sum_slots(x, size=4), secret_key, real=True)
    assert abs(float(window[0] - a[:4].sum())) < 2.0**-14
    turned = engine.conjugate(engine.encrypt_message(1j * a, public_key))
    assert (engine.decrypt_message(turned, secret_key) + 1j * a).abs().max() < 2.0**-14
