"""Rotate slots: blur an encrypted picture, sum its rows, and conjugate.

A step of +k moves slot i to slot i + k, as torch.roll does. Needs scikit-learn.
"""

import time

import torch
from sklearn.datasets import load_digits

from fhelium import Engine

WIDTH = 64  # 64 x 64 pixels are 4096 slots: the picture is 8 x 8 digits of 8 x 8 pixels
engine = Engine("slots4096_scale40_depth2_int64")
secret_key = engine.create_secret_key()
public_key = engine.create_public_key(secret_key)

digits = torch.from_numpy(load_digits().images[:64]) / 16
picture = digits.reshape(8, 8, 8, 8).transpose(1, 2).reshape(WIDTH * WIDTH)
x = engine.encrypt_message(picture, public_key, output_domain="ntt")


def error(ciphertext, expected):
    """Return the largest difference between a decryption and what it should be."""
    return float((engine.decrypt_message(ciphertext, secret_key) - expected).abs().max())


# Each step takes a key of its own: the eight neighbours of a pixel, and sums of 64 slots.
neighbours = [WIDTH * row + column for row in (-1, 0, 1) for column in (-1, 0, 1)]
row_steps = [-1, -2, -4, -8, -16, -32]
keys = engine.create_evaluation_keys(secret_key, steps=[*neighbours, *row_steps], conjugation=True)
engine.add_keys(keys)

# One rotation: the picture moves down by one row, and its last row comes in at the top.
down = engine.rotate_by_step(x, WIDTH)
print(
    f"one row down, as torch.roll(picture, {WIDTH}):  error {error(down, picture.roll(WIDTH)):.1e}"
)

# Many rotations of one ciphertext share most of their work (hoisting).
start = time.perf_counter()
singly = [engine.rotate_by_step(x, step) for step in neighbours]
middle = time.perf_counter()
together = engine.rotate_many_by_steps(x, neighbours)
end = time.perf_counter()
print(f"nine rotations: {middle - start:.3f} s one by one, {end - middle:.3f} s together")
assert all(torch.equal(a.data, b.data) for a, b in zip(singly, together, strict=True))

# The mean of a pixel and its neighbours. At nine times its scale, a ciphertext is a ninth of it.
total = engine.add_many(together)
blurred = engine.reinterpret_at_scale(total, 9 * total.scale)
clear = torch.stack([picture.roll(step) for step in neighbours]).mean(0)
print(f"blurred picture:  error {error(blurred, clear):.1e}")

# sum_slots adds windows: slot i becomes the sum of slots i to i + 63, so slot 0 of a row its sum.
rows = engine.decrypt_message(engine.sum_slots(x, size=WIDTH), secret_key, real=True)[::WIDTH]
worst = float((rows - picture.reshape(WIDTH, WIDTH).sum(1)).abs().max())
print(f"sums of the {len(rows)} rows:  error {worst:.1e}")

# Slots are complex. Two pictures fit into one ciphertext, and conjugation takes them apart.
other = picture.flip(0)
z = engine.encrypt_message(torch.complex(picture, other), public_key, message_bound=1.5)
twice = engine.add(z, engine.conjugate(z))  # z + its conjugate is twice the real part
first = engine.reinterpret_at_scale(twice, 2 * twice.scale)
print(f"real part of two pictures in one:  error {error(first, picture):.1e}")
