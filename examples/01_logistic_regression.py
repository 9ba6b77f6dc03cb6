"""Score a test set that stays encrypted: a logistic regression between a client and a server.

The client has samples and the secret key. The server has the model and the evaluation keys: it
can compute on ciphertexts and can neither make nor open one. Needs scikit-learn.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from fhelium import CkksConfig, Engine

BLOCK = 32  # slots of one sample: 30 features and two zeros, so that sum_slots can add them up
config = CkksConfig.parse("slots8192_scale40_depth7_int64")


# ---- In the clear: train, and fit a cubic to the sigmoid -----------------------------------------


def train():
    """Return the model, and the test set scaled as the model expects it."""
    data, labels = load_breast_cancer(return_X_y=True)
    train_x, test_x, train_y, test_y = train_test_split(
        data, labels, test_size=0.4, stratify=labels, random_state=0
    )
    mean, deviation = train_x.mean(axis=0), train_x.std(axis=0)
    # Clipped to [-1, 1]: a message must stay within the bound that its encryption declares.
    train_x, test_x = (np.clip((x - mean) / (2 * deviation), -1, 1) for x in (train_x, test_x))
    fitted = LogisticRegression(C=0.03, max_iter=1000).fit(train_x, train_y)

    # sigmoid(z) is about 1/2 + slope t + cubic t^3 with t = z / interval in [-1, 1].
    interval = 1.25 * np.abs(fitted.decision_function(train_x)).max()
    t = np.linspace(-1, 1, 2001)
    sigmoid = 1 / (1 + np.exp(-interval * t))
    slope, cubic = np.linalg.lstsq(np.stack([t, t**3], axis=1), sigmoid - 0.5, rcond=None)[0]
    model = {
        "weights": fitted.coef_[0] / interval,
        "bias": float(fitted.intercept_[0] / interval),
        "slope": float(slope),
        "cubic": float(cubic),
    }
    return model, fitted, test_x, test_y


# ---- Client --------------------------------------------------------------------------------------


def client_keys(engine):
    """Return the secret key, the public key, and the evaluation keys for the server."""
    secret_key = engine.create_secret_key()
    public_key = engine.create_public_key(secret_key)
    # sum_slots over 32 slots rotates by -1, -2, -4, -8 and -16; products need relinearization.
    steps = [-1, -2, -4, -8, -16]
    evaluation_keys = engine.create_evaluation_keys(secret_key, steps=steps)
    return secret_key, public_key, evaluation_keys


def client_encrypt(engine, public_key, samples):
    """Return one ciphertext with a sample in each block of 32 slots; room for 256 samples."""
    slots = np.zeros((config.num_slots // BLOCK, BLOCK))
    slots[: samples.shape[0], : samples.shape[1]] = samples
    return engine.encrypt_message(slots.reshape(-1), public_key, output_domain="ntt")


def client_decrypt(engine, secret_key, scores, count):
    """Return the score in the first slot of each block."""
    return engine.decrypt_message(scores, secret_key, real=True)[::BLOCK][:count].numpy()


# ---- Server --------------------------------------------------------------------------------------


def server_score(evaluation_keys, model, samples):
    """Return the encrypted scores; no key in here encrypts or decrypts."""
    engine = Engine(config)
    engine.add_keys(evaluation_keys)

    # t = weights x + bias: one product for all samples at once, then a sum over each block.
    block = np.zeros(BLOCK)
    block[: len(model["weights"])] = model["weights"]
    weights = engine.prepare_plaintext(np.tile(block, config.num_slots // BLOCK), like=samples)
    products = engine.multiply_plaintext_and_rescale(samples, weights)
    t = engine.add_scalar(engine.sum_slots(products, size=BLOCK), model["bias"])

    # cube = (cubic t) t^2. Each product is one depth, so the factors meet at depth 2.
    square = engine.rescale_to_next_depth(engine.relinearize(engine.square(t)))
    scaled = engine.rescale_to_next_depth(engine.multiply_scalar(t, model["cubic"]))
    cube = engine.rescale_to_next_depth(engine.relinearize(engine.multiply(square, scaled)))

    # linear = slope t, brought down first so that it ends at the depth and scale of the cube.
    low = engine.align_to_depth(t, square.depth)
    linear = engine.rescale_to_next_depth(engine.multiply_scalar(low, model["slope"]))
    return engine.add_scalar(engine.add(linear, cube), 0.5)


def main():
    """Play both sides and compare with the model in the clear."""
    model, fitted, test_x, test_y = train()

    client = Engine(config)
    secret_key, public_key, evaluation_keys = client_keys(client)
    samples = client_encrypt(client, public_key, test_x)
    print("sent to the server: ", samples)

    scores = server_score(evaluation_keys, model, samples)
    print("sent to the client: ", scores)

    found = client_decrypt(client, secret_key, scores, len(test_x)) > 0.5
    clear = fitted.predict(test_x).astype(bool)
    print(f"accuracy in the clear:  {np.mean(clear == test_y):.4f}")
    print(f"accuracy encrypted:     {np.mean(found == test_y):.4f}")
    print(f"identical predictions:  {np.sum(found == clear)} of {len(clear)}")
    return 0 if np.array_equal(found, clear) else 1


if __name__ == "__main__":
    raise SystemExit(main())
