"""Depth and scale: raise the contrast of encrypted pictures with 3 x^2 - 2 x^3.

Each product is followed by a rescale that drops one prime, and operands of a sum have equal depth
and equal scale. Needs scikit-learn.
"""

from sklearn.datasets import load_digits

from fhelium import Engine
from fhelium.errors import DepthExhaustedError, StateError

engine = Engine("slots4096_scale40_depth2_int64")
config = engine.config
secret_key = engine.create_secret_key()
public_key = engine.create_public_key(secret_key)
engine.add_keys(engine.create_relinearization_key(secret_key))


def show(name, ciphertext):
    limbs = ciphertext.state.limb_count
    print(f"{name:14} depth {ciphertext.depth}, {limbs} primes, scale {ciphertext.scale:.1f}")


# 64 pictures of 8 x 8 pixels fill the 4096 slots.
pixels = load_digits().data[:64].reshape(-1) / 16
x = engine.encrypt_message(pixels, public_key, output_domain="ntt")
show("x", x)

# A product has the product of the scales; the rescale divides by one prime, near 2^40.
product = engine.relinearize(engine.square(x))
show("x^2", product)
square = engine.rescale_to_next_depth(product)
show("x^2, rescaled", square)

# A sum needs equal depths. To drop primes alone does not do: the prime that the rescale divided by
# is not exactly 2^40, so the scales differ, and adding would be wrong by their ratio.
for lower in (x, engine.mod_switch_to_depth(x, 1)):
    try:
        engine.add(square, lower)
    except StateError as error:
        print("refused:", error)

# align_to_depth ends at exactly the scale of that depth, the one a rescaled product has, too.
aligned = engine.align_to_depth(x, 1)
show("x, aligned", aligned)
assert aligned.scale == square.scale == config.scale_at(1)

# 3 - 2 x: an integer factor at scale 1 costs no depth.
factor = engine.add_scalar(engine.multiply_scalar(aligned, -2, scale=1.0), 3)
curve = engine.rescale_to_next_depth(engine.relinearize(engine.multiply(square, factor)))
show("x^2 (3 - 2 x)", curve)

# The same residues read at twice the scale are half the values: exact, and free.
half = engine.reinterpret_at_scale(curve, 2 * curve.scale)
show("half of that", half)

# No prime is left to drop.
try:
    engine.rescale_to_next_depth(curve)
except DepthExhaustedError as error:
    print("refused:", error)

expected = 3 * pixels**2 - 2 * pixels**3
print("right bits in the worst slot, and what the state promises:")
for name, clear, ciphertext in (
    ("x", pixels, x),
    ("x^2", pixels**2, square),
    ("contrast", expected, curve),
    ("half", expected / 2, half),
):
    worst = engine.precision(clear, ciphertext, secret_key).real.min
    print(f"  {name:9} {worst:5.1f}  error at most {ciphertext.noise_bound:.1e}")
