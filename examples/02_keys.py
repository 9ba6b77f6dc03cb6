"""Which key does what: the variance of a measurement that stays encrypted.

The secret key opens ciphertexts, the public key makes them, evaluation keys let anyone compute on
them. Needs scikit-learn.
"""

import numpy as np
from sklearn.datasets import load_diabetes

from fhelium import Engine

engine = Engine("slots4096_scale40_depth2_int64")
slots = engine.config.num_slots

# Body mass index of 442 patients, scaled into [-1, 1]; the other slots stay 0.
index = load_diabetes(scaled=False).data[:, 2]
count = len(index)
message = np.zeros(slots)
message[:count] = (index - 30) / 15


def variance(engine, x):
    """Return mean(x^2) - mean(x)^2 in every slot, at depth 2."""
    mean = engine.rescale_to_next_depth(engine.multiply_scalar(engine.sum_slots(x), 1 / count))
    mean_squared = engine.rescale_to_next_depth(engine.relinearize(engine.square(mean)))
    square = engine.rescale_to_next_depth(engine.relinearize(engine.square(x)))
    total = engine.sum_slots(square)
    mean_of_squares = engine.rescale_to_next_depth(engine.multiply_scalar(total, 1 / count))
    return engine.subtract(mean_of_squares, mean_squared)


# ---- The owner of the data -----------------------------------------------------------------------

secret_key = engine.create_secret_key()
public_key = engine.create_public_key(secret_key)
x = engine.encrypt_message(message, public_key, output_domain="ntt")
print(secret_key)
print(public_key)

# Which evaluation keys are needed? Recording runs the computation without computing anything.
with engine.record_keys() as needed:
    variance(engine, x)
print("needed:  ", needed)
evaluation_keys = engine.create_evaluation_keys(secret_key, steps=needed.steps)
print("created: ", evaluation_keys)

# ---- Whoever computes: evaluation keys only ------------------------------------------------------

engine.add_keys(evaluation_keys)
result = variance(engine, x)

# ---- The owner again -----------------------------------------------------------------------------

found = 15**2 * float(engine.decrypt_message(result, secret_key, real=True)[0])
print(f"variance {found:.4f} encrypted, {index.var():.4f} in the clear")

# The holder of the secret key encrypts with less noise, and with a seed in place of one half.
own = engine.encrypt_with_secret_key(message, secret_key, output_domain="ntt")
print(f"noise bound {own.noise_bound:.1e} with the secret key, {x.noise_bound:.1e} with the public")

# ---- Another secret key --------------------------------------------------------------------------

# A switching key hands the result to a colleague, who never sees the owner's secret key.
colleague_key = engine.create_secret_key()
switching_key = engine.create_switching_key(secret_key, colleague_key)
handed_over = engine.switch_key(result, switching_key)
found = 15**2 * float(engine.decrypt_message(handed_over, colleague_key, real=True)[0])
print(f"variance {found:.4f} read by the colleague")
