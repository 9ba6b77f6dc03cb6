"""Results that no cache holds are written past the caches, with the bits of small ones."""

from __future__ import annotations

import pytest
import torch
from rns_oracle import INT32, INT64, Word, ckks, each_word, parameters, primes, rns

BINARY = ("add_standard", "subtract_standard", "multiply_montgomery")
LARGE = 16 << 20


def operands(word: Word, degree: int, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Residues of as many limbs as make a large result, and the parameters; sizes take turns."""
    moduli = [primes(word.sizes[i % 7], 1)[0] for i in range(count)]
    generator = torch.Generator().manual_seed(degree)
    draw = torch.randint(0, 2**62, (2, count, degree), generator=generator)
    x = (draw % torch.tensor(moduli)[:, None]).to(word.dtype)
    assert x.numel() * x.element_size() >= LARGE
    return x, parameters(moduli, word=word)


@each_word
@pytest.mark.parametrize("odd", [0, 1])
def test_a_large_result_is_that_of_its_limbs(word: Word, odd: int) -> None:
    """An odd length puts rows off the borders of cache lines."""
    x, params = operands(word, 2**17 + odd, 8 if word is INT64 else 16)
    y = x.flip(-1).contiguous()

    def limb_by_limb(operator, *inputs):
        found = [
            operator(*(x[:, i : i + 1] for x in inputs), params[:, i : i + 1])
            for i in range(x.shape[1])
        ]
        return torch.cat(found, dim=1)

    for name in BINARY:
        operator = getattr(rns, name)
        assert torch.equal(operator(x, y, params), limb_by_limb(operator, x, y))
        constants = y[..., :1].contiguous()
        assert torch.equal(operator(x, constants, params), limb_by_limb(operator, x, constants))
    negate = rns.negate_standard
    assert torch.equal(negate(x, params), limb_by_limb(negate, x))
    for name, by_hand in (
        ("add_plaintext", torch.stack([rns.add_standard(x[0], y[0], params), x[1]])),
        ("multiply_plaintext", rns.multiply_montgomery(x, y[0].expand_as(x), params)),
    ):
        assert torch.equal(getattr(ckks, name)(x, y[0], params), by_hand)
        in_place = x.clone()
        getattr(ckks, name + "_")(in_place, y[0], params)
        assert torch.equal(in_place, by_hand)


def test_a_large_result_is_whole_for_whoever_reads_it_next() -> None:
    """Threads write past the caches, another thread reads."""
    x, params = operands(INT32, 2**17, 32)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        zero = rns.add_standard(x, rns.negate_standard(x, params), params)
    finally:
        torch.set_num_threads(threads)
    assert not zero.any()
