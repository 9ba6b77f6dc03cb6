"""Follow the bounds of a computation, help them where they overestimate, and release a result."""

import math

import torch

from fhelium import DecryptPolicy, Engine
from fhelium.errors import BoundError, ReleaseError

engine = Engine("slots8192_scale40_depth7_int64")
secret_key = engine.create_secret_key()
public_key = engine.create_public_key(secret_key)
engine.add_keys(engine.create_evaluation_keys(secret_key, steps=[-1, -2, -4]))


def show(name, ciphertext, clear):
    """Print what the state promises next to what a raw decryption finds."""
    found = engine.decrypt_message(ciphertext, secret_key, policy=DecryptPolicy.private())
    seen = -math.log2((found - clear).abs().max())
    print(
        f"{name:22} message <= {ciphertext.message_bound:<6.3g} largest {clear.abs().max():.3f}   "
        f"bits left {ciphertext.bits_left():5.1f}, seen {seen:5.1f}"
    )


# ---- Bounds follow the computation ---------------------------------------------------------------

x = torch.rand(engine.config.num_slots, dtype=torch.float64)
a = engine.encrypt_message(x, public_key, message_bound=1.0, output_domain="ntt")
show("fresh", a, x)

for turn in range(3):  # the logistic map 4 (x - x^2), which stays within [0, 1]
    square = engine.rescale_to_next_depth(engine.relinearize(engine.square(a)))
    difference = engine.subtract(engine.align_to_depth(a, square.depth), square)
    a, x = engine.multiply_scalar(difference, 4, scale=1.0), 4 * (x - x * x)
    show(f"turn {turn + 1}, tracked", a, x)
    # The bounds of x and of x^2 add up to 8. We know better.
    a = engine.assume_message_bound(a, 1.0)
show("assumed", a, x)

# ---- An overflow raises before it can happen -----------------------------------------------------

power = a
try:
    while True:
        power = engine.add(power, power)
except BoundError as error:
    print(f"\nafter {math.log2(power.message_bound):.0f} doublings: {error}")

# ---- A result for others to see ------------------------------------------------------------------

# The noise costs about 27 bits, so a result needs a large scale: there is room for one at depth 0.
data = torch.rand(engine.config.num_slots, dtype=torch.float64)
secret = engine.encrypt_message(data, public_key, scale=2.0**64, output_domain="ntt")
total = engine.sum_slots(secret, size=8)
terms = {"circuit": "sums of eight, survey 12", "queries": 2}
shown = engine.decrypt_for_release(total, secret_key, real=True, **terms)
error = (shown - sum(torch.roll(data, -k) for k in range(8))).abs().max()
print(f"\nreleased with an error of {error:.1e}; before it was below {total.noise_bound:.1e}")

engine.decrypt_for_release(engine.negate(total), secret_key, **terms)
try:
    engine.decrypt_for_release(engine.add(total, total), secret_key, **terms)
except ReleaseError as error:
    print(error)
