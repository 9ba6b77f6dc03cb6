"""SEAL, as TenSEAL's wheel brings it, through its `sealapi`.

Of FHElium's chain the same base and scale primes; SEAL has one special prime, here of 50 bits.
Beyond the largest ring of SEAL's own security table its check is off: the modulus is the smaller
one of the two libraries. The binding takes and returns Python lists.
"""

from __future__ import annotations

import numpy as np
import tenseal
import tenseal.sealapi as seal
from worker import DEPTHS, largest, messages

SCALE = 2.0**40
ROTATION_BY_ONE = 3  # as a Galois element


def context_of(log_degree: int) -> seal.SEALContext:
    """Return parameters of one ring."""
    degree = 2**log_degree
    parameters = seal.EncryptionParameters(seal.SCHEME_TYPE.CKKS)
    parameters.set_poly_modulus_degree(degree)
    bits = [50] + [40] * DEPTHS[log_degree] + [50]
    parameters.set_coeff_modulus(seal.CoeffModulus.Create(degree, bits))
    levels = seal.SEC_LEVEL_TYPE
    return seal.SEALContext(parameters, True, levels.TC128 if log_degree < 16 else levels.NONE)


class Seal:
    """Keys, inputs and calls at one ring. SEAL writes results into objects it is given."""

    def __init__(self, log_degree: int) -> None:
        self.name = f"SEAL of TenSEAL {tenseal.__version__}"
        context = context_of(log_degree)
        self.generator = generator = seal.KeyGenerator(context)
        public_key = seal.PublicKey()
        self.relinearization_key, self.rotation_key = seal.RelinKeys(), seal.GaloisKeys()
        generator.create_public_key(public_key)
        generator.create_relin_keys(self.relinearization_key)
        generator.create_galois_keys([ROTATION_BY_ONE], self.rotation_key)
        self.encoder, self.evaluator = seal.CKKSEncoder(context), seal.Evaluator(context)
        self.encryptor = seal.Encryptor(context, public_key)
        self.decryptor = seal.Decryptor(context, generator.secret_key())
        x, y = messages(2 ** (log_degree - 1))
        list_x = x.tolist()
        encoded, self.factor = self.encode(list_x), self.encode(y.tolist())
        self.a, self.b = self.encrypt(encoded), self.encrypt(self.factor)
        decrypted = self.decrypt(self.a)
        self.operations = {
            "encode": lambda: self.encode(list_x),
            "encrypt": lambda: self.encrypt(encoded),
            "decrypt": lambda: self.decrypt(self.a),
            "decode": lambda: self.encoder.decode_double(decrypted),
            "add": self.add,
            "multiply plaintext, rescale": self.multiply_plain,
            "multiply, relinearize, rescale": self.product,
            "rotate": self.rotate,
            "rotation key": self.make_key,
        }
        self.errors = {
            "encrypt": largest(self.read(self.a), x),
            "multiply, relinearize, rescale": largest(self.read(self.product()), x * y),
            "rotate": largest(self.read(self.rotate()), np.roll(x, -1)),
        }

    def encode(self, message: list[float]) -> seal.Plaintext:
        plaintext = seal.Plaintext()
        self.encoder.encode(message, SCALE, plaintext)
        return plaintext

    def encrypt(self, plaintext: seal.Plaintext) -> seal.Ciphertext:
        ciphertext = seal.Ciphertext()
        self.encryptor.encrypt(plaintext, ciphertext)
        return ciphertext

    def decrypt(self, ciphertext: seal.Ciphertext) -> seal.Plaintext:
        plaintext = seal.Plaintext()
        self.decryptor.decrypt(ciphertext, plaintext)
        return plaintext

    def read(self, ciphertext: seal.Ciphertext) -> np.ndarray:
        return np.array(self.encoder.decode_double(self.decrypt(ciphertext)))

    def add(self) -> seal.Ciphertext:
        result = seal.Ciphertext()
        self.evaluator.add(self.a, self.b, result)
        return result

    def multiply_plain(self) -> seal.Ciphertext:
        product, result = seal.Ciphertext(), seal.Ciphertext()
        self.evaluator.multiply_plain(self.a, self.factor, product)
        self.evaluator.rescale_to_next(product, result)
        return result

    def product(self) -> seal.Ciphertext:
        product, result = seal.Ciphertext(), seal.Ciphertext()
        self.evaluator.multiply(self.a, self.b, product)
        self.evaluator.relinearize_inplace(product, self.relinearization_key)
        self.evaluator.rescale_to_next(product, result)
        return result

    def rotate(self) -> seal.Ciphertext:
        result = seal.Ciphertext()
        self.evaluator.rotate_vector(self.a, 1, self.rotation_key, result)
        return result

    def make_key(self) -> None:
        self.generator.create_galois_keys([ROTATION_BY_ONE], seal.GaloisKeys())


def prepare(log_degree: int, threads: int) -> Seal:
    """Return the calls; SEAL uses one thread."""
    return Seal(log_degree)
