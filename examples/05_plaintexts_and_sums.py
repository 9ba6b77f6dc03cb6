"""A linear layer: classify encrypted wines, with a batch of ciphertexts and grouped sums.

One ciphertext holds one feature of all samples. A class score is the sum of thirteen products of
ciphertexts with encoded weights. Needs scikit-learn.
"""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from fhelium import Ciphertext, Engine

engine = Engine("slots4096_scale40_depth2_int64")
secret_key = engine.create_secret_key()
public_key = engine.create_public_key(secret_key)

wines, classes = load_wine(return_X_y=True)
features = StandardScaler().fit_transform(wines)
model = LogisticRegression().fit(features, classes)
samples, count = features.shape

# Leading axes of a message are a batch: [feature, slot] makes thirteen ciphertexts in one value.
message = np.zeros((count, engine.config.num_slots))
message[:, :samples] = features.T
batch = engine.encrypt_message(message, public_key, message_bound=8.0, output_domain="ntt")
print(batch)
columns = batch.unbind()  # thirteen ciphertexts, views of the batch; batch[3] is one of them

# A clear factor is encoded once, in the form a product takes; a number fills all slots.
weights = [
    [engine.prepare_plaintext(weight, like=batch) for weight in class_weights]
    for class_weights in model.coef_
]
print(weights[0][0])

# Three groups of thirteen products: three sums, and one rescale for each instead of thirteen.
sums = engine.sum_plaintext_products(columns, weights)
scores = Ciphertext.stack([engine.rescale_to_next_depth(total) for total in sums])

# A sum takes another form of plaintext: domain and scale of the ciphertext. The bias has one row a
# class and the message bound 2. In place, it needs no memory for a result.
bias = np.repeat(model.intercept_[:, None], engine.config.num_slots, axis=1)
encoded = engine.prepare_plaintext(bias, like=scores, for_="add", message_bound=2.0)
engine.add_plaintext_(scores, encoded)
print(scores)

found = engine.decrypt_message(scores, secret_key, real=True)[:, :samples].numpy()
clear = model.decision_function(features).T
same = int((found.argmax(0) == clear.argmax(0)).sum())
print(f"identical predictions: {same} of {samples}")
print(f"largest score error:   {np.abs(found - clear).max():.1e}")

# Numbers need no encoding. A number as a factor costs a rescale, as a summand nothing.
total = engine.add_many(scores.unbind())
mean = engine.rescale_to_next_depth(engine.multiply_scalar(total, 1 / 3))
shifted = engine.add_scalar(mean, 0.25)
error = engine.decrypt_message(shifted, secret_key, real=True)[:samples].numpy()
print(f"mean score + 1/4:      error {np.abs(error - clear.mean(0) - 0.25).max():.1e}")
