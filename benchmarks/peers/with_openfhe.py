"""OpenFHE through its Python binding, with rescaling by hand as the others have it.

Of FHElium's chain the same sizes of primes; the number of key-switching digits is the smallest that
OpenFHE's own security table accepts, which is the fastest too. The binding takes Python lists, and
its decryption decodes as well.
"""

from __future__ import annotations

from importlib.metadata import version
from itertools import count

import numpy as np
import openfhe
from worker import DEPTHS, largest, messages

FEATURES = (
    openfhe.PKESchemeFeature.PKE,
    openfhe.PKESchemeFeature.KEYSWITCH,
    openfhe.PKESchemeFeature.LEVELEDSHE,
)
STEPS = range(1, 9)


def context_of(log_degree: int) -> openfhe.CryptoContext:
    """Return the context of one ring."""
    depth = DEPTHS[log_degree]
    refused = RuntimeError("no number of digits")
    for digits in range(1, depth + 2):
        parameters = openfhe.CCParamsCKKSRNS()
        parameters.SetRingDim(2**log_degree)
        parameters.SetBatchSize(2 ** (log_degree - 1))
        parameters.SetMultiplicativeDepth(depth)
        parameters.SetFirstModSize(50)
        parameters.SetScalingModSize(40)
        parameters.SetScalingTechnique(openfhe.ScalingTechnique.FIXEDMANUAL)
        parameters.SetSecurityLevel(openfhe.SecurityLevel.HEStd_128_classic)
        parameters.SetNumLargeDigits(digits)
        try:
            context = openfhe.GenCryptoContext(parameters)
        except RuntimeError as error:
            refused = error
            continue
        for feature in FEATURES:
            context.Enable(feature)
        return context
    raise refused


class OpenFhe:
    """Keys, inputs and calls at one ring."""

    def __init__(self, log_degree: int) -> None:
        self.name = f"OpenFHE {version('openfhe').removesuffix('.0.22.4')}"
        context = context_of(log_degree)
        keys = context.KeyGen()
        context.EvalMultKeyGen(keys.secretKey)
        context.EvalRotateKeyGen(keys.secretKey, list(STEPS))
        x, y = messages(2 ** (log_degree - 1))
        list_x, cyclotomic_order = x.tolist(), 2 ** (log_degree + 1)
        encode = context.MakeCKKSPackedPlaintext
        encoded, factor = encode(list_x), encode(y.tolist())
        a, b = (context.Encrypt(keys.publicKey, plaintext) for plaintext in (encoded, factor))

        # A key that the context has already is not made again.
        new_step = count(max(STEPS) + 1)

        def product() -> object:
            return context.Rescale(context.EvalMult(a, b))

        def hoisted() -> list[object]:
            digits = context.EvalFastRotationPrecompute(a)
            return [context.EvalFastRotation(a, k, cyclotomic_order, digits) for k in STEPS]

        self.operations = {
            "encode": lambda: encode(list_x),
            "encrypt": lambda: context.Encrypt(keys.publicKey, encoded),
            "decrypt + decode": lambda: context.Decrypt(a, keys.secretKey).GetRealPackedValue(),
            "add": lambda: context.EvalAdd(a, b),
            "multiply plaintext, rescale": lambda: context.Rescale(context.EvalMult(a, factor)),
            "multiply, relinearize, rescale": product,
            "rotate": lambda: context.EvalRotate(a, 1),
            "rotate by 8 steps": hoisted,
            "rotation key": lambda: context.EvalRotateKeyGen(keys.secretKey, [next(new_step)]),
        }

        def read(ciphertext: object) -> np.ndarray:
            decrypted = context.Decrypt(ciphertext, keys.secretKey)
            decrypted.SetLength(len(x))
            return np.array(decrypted.GetRealPackedValue())

        self.errors = {
            "encrypt": largest(read(a), x),
            "multiply, relinearize, rescale": largest(read(product()), x * y),
            "rotate": largest(read(context.EvalRotate(a, 1)), np.roll(x, -1)),
        }


def prepare(log_degree: int, threads: int) -> OpenFhe:
    """Return the calls; OpenMP takes the number of threads from its environment variable."""
    return OpenFhe(log_degree)
