"""The Engine: encrypted computation one call at a time."""

from __future__ import annotations

from typing import Any

from fhelium.config import CkksConfig
from fhelium.eager.keys import KeyMethods
from fhelium.eager.precision import PrecisionMethods
from fhelium.eager.release import ReleaseMethods
from fhelium.errors import RandomnessError, StateError
from fhelium.ir.methods.composites import CompositeMethods
from fhelium.ir.methods.declared import (
    ArithmeticMethods,
    LevelMethods,
    RepresentationMethods,
    RotationMethods,
)
from fhelium.values import EvaluationKeys


class Engine(
    ArithmeticMethods,
    RotationMethods,
    LevelMethods,
    RepresentationMethods,
    CompositeMethods,
    KeyMethods,
    ReleaseMethods,
    PrecisionMethods,
):
    """Compute on encrypted vectors at once, under one set of CKKS parameters.

    Every method checks the state of its operands before it computes and raises an error that
    names both values and the way out; nothing is aligned, moved or converted unasked. Methods
    return new values and leave their operands as they are.

    One engine may be used from several threads. A copied or pickled one is a fresh engine of the
    same parameters with the same evaluation keys: tables are made anew where it is used, and no
    state of randomness goes along, for there is none. An engine with ``rng_seed`` or with a backend
    of the caller's refuses both.

    Args:
        config_or_preset: A CkksConfig, a Preset or its name, or a mapping;
            ``slots8192_scale40_depth7_int64`` when omitted.
        rng_seed: For tests only: makes every key and ciphertext reproducible. It warns and marks
            what it makes insecure.
        ntt_backend: "packed" (the default) or "radix2_indexed" (slow, for validation).
        backend: Implementations to compute with, the caller's own among them; the built-in ones
            when omitted.

    Raises:
        ParameterError: The parameters break a rule.
        ImplementationError: There is no such NTT backend.

    Example:
        >>> engine = Engine("slots4096_scale40_depth2_int64")
        >>> secret_key = engine.create_secret_key()
        >>> public_key = engine.create_public_key(secret_key)
        >>> x = engine.encrypt_message(0.25, public_key)
        >>> total = engine.decrypt_message(engine.add(x, x), secret_key, real=True)
        >>> round(float(total[0]), 6)
        0.5

    Source:
        Cheon, Kim, Kim, Song (ASIACRYPT 2017); RNS form by Cheon, Han, Kim, Kim, Song (SAC 2018).
    """

    def __reduce__(self) -> tuple[Any, ...]:
        if self._random.insecure:
            raise RandomnessError(
                "Engine",
                "an engine with rng_seed was about to be copied or pickled",
                "A copy would draw the same keys and noise as the original",
                "Make Engine(config, rng_seed=...) where it is needed, with a seed of its own",
            )
        if self._own_backend:
            raise StateError(
                "Engine",
                "an engine with a backend of its own was about to be copied or pickled",
                "A backend's handles belong to the process that made them",
                "Make Engine(config, backend=...) where it is needed",
            )
        return _rebuild, (type(self), self.config, self._ntt_backend, self.keys)

    def __repr__(self) -> str:
        mark = ", insecure" if self.insecure else ""
        return (
            f"Engine({self.config.num_slots} slots, depth {self.config.max_depth}, "
            f"{len(tuple(self.keys))} evaluation keys{mark})"
        )


def _rebuild(
    kind: type[Engine], config: CkksConfig, ntt_backend: str, keys: EvaluationKeys
) -> Engine:
    engine = kind(config, ntt_backend=ntt_backend)
    engine.add_keys(keys)
    return engine
