"""Values that do not fit together, and how a table of misuses is checked against them.

Each row names a call, the error it must raise, and what the text must say. Around every row: the
operands keep their bits and states, the text has all its parts and holds no message value, and the
engine works afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch

from fhelium import Ciphertext
from fhelium.errors import FHEliumError
from tests.eager.support import KeyedEngine, insecure_config, largest_error, unchanged

SECRET = 0.4321098765  # the message of every operand; no error may show it
SLOTS = 512


class Misfits:
    """Values that do not fit together."""

    def __init__(self, keyed: KeyedEngine) -> None:
        self.keyed, self.e = keyed, keyed.engine
        self.sk, self.pk = keyed.secret_key, keyed.public_key
        self.x = keyed.encrypt(SECRET)
        self.y = keyed.encrypt(SECRET, output_domain="ntt")
        self.product = self.e.multiply(self.x, self.x)
        self.deep = self.e.align_to_depth(self.x, 2)
        self.last = self.e.align_to_depth(self.x, 3)
        self.rescaled = self.e.rescale_to_next_depth(self.e.square(self.x))
        self.small_scale = keyed.encrypt(SECRET, scale=2.0**20)
        self.factor = self.e.prepare_plaintext(SECRET, self.x)
        self.term = self.e.prepare_plaintext(SECRET, self.x, "add")
        self.batch3 = keyed.encrypt(torch.full((3, SLOTS), SECRET))
        self.batch2 = keyed.encrypt(torch.full((2, SLOTS), SECRET))
        self.away = self.x.to("meta")

        self.sk2 = self.e.create_secret_key()
        self.pk2 = self.e.create_public_key(self.sk2)
        self.x2 = self.e.encrypt_message(SECRET, self.pk2)
        self.rotation2 = self.e.create_rotation_key(1, self.sk2)
        self.forged = Ciphertext(self.x2.data, self.x2.state.replace(key_id=self.sk.key_id))

        other = KeyedEngine.make(insecure_config(depth=2, scale_bits=30, N=1024), steps=(1,))
        self.other, self.x3 = other, other.encrypt(SECRET)
        montgomery = self.y.state.replace(residue_representation="montgomery")
        self.montgomery = Ciphertext(self.y.data, montgomery)

    def values(self) -> list[Any]:
        found = [v for v in vars(self).values() if hasattr(v, "state") and v is not self.away]
        return [*found, *self.keyed.keys]


Row = tuple[str, Callable[[Misfits], object], type[Exception], tuple[str, ...]]


def refused(world: Misfits, row: Row) -> None:
    """Check one row."""
    _, call, kind, needles = row
    with unchanged(*world.values()), pytest.raises(kind) as caught:
        call(world)
    error = caught.value
    assert type(error) is kind
    text = str(error)
    for needle in needles:
        # Of two values both appear, in the order of the operands, whatever stands between.
        pattern = needle[1:] if needle.startswith("/") else re.escape(needle.format(w=world))
        assert re.search(pattern, text), f"{needle!r} is not in {text!r}"
    assert "0.4321" not in text
    if isinstance(error, FHEliumError):
        assert text.startswith(f"{error.operation}: ")
        assert error.fact
        assert error.remedy
    with unchanged(world.x):
        after = world.e.add(world.x, world.x)
    assert largest_error(world.keyed.decrypt(after), torch.tensor(2 * SECRET)) < after.noise_bound


def rows(*table: Row) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("row", table, ids=[row[0] for row in table])
