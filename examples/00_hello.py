"""Multiply, rotate and add two encrypted vectors, then decrypt the result."""

import torch

from fhelium import Engine

engine = Engine("slots8192_scale40_depth7_int64")
secret_key = engine.create_secret_key()
public_key = engine.create_public_key(secret_key)
engine.add_keys(engine.create_evaluation_keys(secret_key, steps=[1]))

x, y = 2 * torch.rand(2, engine.config.num_slots, dtype=torch.float64) - 1
a = engine.encrypt_message(x, public_key, output_domain="ntt")
b = engine.encrypt_message(y, public_key, output_domain="ntt")

product = engine.rescale_to_next_depth(engine.relinearize(engine.multiply(a, b)))
rotated = engine.rotate_by_step(engine.align_to_depth(a, product.depth), 1)
result = engine.add(product, rotated)

print(result)
print("decrypted", engine.decrypt_message(result, secret_key, real=True)[:4])
print("expected ", (x * y + torch.roll(x, 1))[:4])
print(engine.precision(x * y + torch.roll(x, 1), result, secret_key))
