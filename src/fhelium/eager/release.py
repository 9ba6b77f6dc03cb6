"""Decryption whose result may be published: noise that hides the ciphertext's own."""

from __future__ import annotations

import math
import numbers
from typing import cast

import torch

from fhelium.eager.decryption import LEAST_SIGMA, DecryptionMethods, noise_root, query_digests
from fhelium.errors import ParameterError, ReleaseError, StateError
from fhelium.ir import noise
from fhelium.rng import Domain, derive
from fhelium.values import Ciphertext, Plaintext, SecretKey

# A result with less of its message left says nothing to its reader.
_LEAST_BITS = 4.0
_MOST_QUERIES = 1 << 40
_MOST_STATISTICAL_BITS = 128


class ReleaseMethods(DecryptionMethods):
    """Open ciphertexts for others to see."""

    def decrypt_for_release(
        self,
        ciphertext: Ciphertext,
        secret_key: SecretKey,
        *,
        circuit: str,
        queries: int,
        statistical_bits: float = 30,
        real: bool = False,
    ) -> torch.Tensor:
        """Decrypt with so much noise that the result may be shown to anyone.

        Every coefficient gets a rounded Gaussian of width

            sigma = sqrt(12 queries) 2^(statistical_bits / 2) t,    t = scale noise_bound.

        t bounds the Euclidean norm of the N coefficients of the ciphertext's error (Parseval), so
        one result differs from a function of the message alone by a Kullback-Leibler divergence of
        at most t^2 / (2 sigma^2) = 2^-statistical_bits / (24 queries), and ``queries`` of them by
        2^-statistical_bits / 24. In a slot the noise is sqrt(N) sigma / scale: it costs
        (log2(12 queries N) + statistical_bits) / 2 + 2.7 bits.

        Fix circuit, queries and statistical_bits before the first result is known, and give each
        computation a name of its own: what several circuits reveal adds up. The noise is drawn
        from the secret key, the circuit, the numbers and the polynomial: one call repeated gives
        one answer, which counts once. The count lives with the key object in this process.

        Shapes:
            [component, *batch, limb, N] -> [*batch, slot]. Each polynomial of a batch is a query.

        Args:
            ciphertext: Two or three components, in either domain, with known bounds.
            secret_key: The key whose ``key_id`` the ciphertext carries.
            circuit: Name of the computation that was fixed in advance.
            queries: How many different results of it will be released at most.
            statistical_bits: s: what all of them together reveal is below 2^-s / 24.
            real: Return the real parts only.

        Returns:
            complex128, or float64 with ``real=True``.

        Raises:
            ReleaseError: The queries of the circuit are used up, its numbers differ from those of
                its first release, or fewer than 4 bits of the message would stay.
            StateError: A bound of the ciphertext is not known, or its scale is that of a product.
            ParameterError: A number or the circuit's name is out of range.
            KeyMismatchError: The ciphertext belongs to another secret key.
            DecryptionError: The result is larger than the ciphertext's bounds allow.

        Example:
            >>> precise = engine.encrypt_message(0.25, public_key, scale=2.0**60)
            >>> shown = engine.decrypt_for_release(
            ...     precise, secret_key, circuit="example 1", queries=100, real=True)
            >>> round(float(shown[0]), 4)
            0.25

        Source:
            Li, Micciancio, Schultz, Sorrell (CRYPTO 2022), "Securing approximate homomorphic
            encryption using differential privacy".
        """
        operation = "decrypt_for_release"
        bits = _checked_terms(operation, circuit, queries, statistical_bits)
        exact = self._open(operation, ciphertext, secret_key)
        message_bound, noise_bound = _known_bounds(operation, exact)
        norm = noise.coefficient_norm(noise_bound, exact.scale)
        sigma = max(LEAST_SIGMA, math.sqrt(12 * queries) * 2 ** (bits / 2) * norm)
        self._require_coverable(operation, exact, sigma)
        total = noise_bound + noise.covering(self.config, sigma, exact.scale)
        _require_bits(operation, message_bound, noise_bound, total)
        digests = list(query_digests(exact.data, self._rns_parameters(exact), sigma))
        secret_key.spend_releases(circuit, digests, queries=queries, statistical_bits=bits)
        root = noise_root(secret_key, Domain.RELEASE_NOISE)
        terms = (circuit, queries, bits.hex())
        keys = [derive(root, Domain.RELEASE_NOISE, *terms, digest) for digest in digests]
        slots = self._read_slots(operation, self._cover(exact, sigma, keys))
        return slots.real.clone() if real else slots


def _known_bounds(operation: str, exact: Plaintext) -> tuple[float, float]:
    """Return message bound and noise bound, by which the noise of a release is measured."""
    for name in ("noise_bound", "message_bound"):
        if getattr(exact, name) is None:
            raise StateError(
                operation,
                f"{name} is unknown",
                "The noise of a release is measured by the ciphertext's bounds",
                "Release a result that was computed from bounded messages",
            )
    return cast(float, exact.message_bound), cast(float, exact.noise_bound)


def _require_bits(operation: str, message_bound: float, before: float, after: float) -> None:
    left = math.log2(message_bound / after) if message_bound > 0 else -math.inf
    if left < _LEAST_BITS:
        raise ReleaseError(
            operation,
            f"{left:.1f} bits of the message would stay: message_bound is {message_bound:.4g}, the "
            f"error after the release {after:.4g}, before it {before:.4g}",
            f"A release keeps at least {_LEAST_BITS:g} bits",
            "Use parameters with more scale bits, encrypt at a larger scale, compute with fewer "
            "operations, or lower queries or statistical_bits",
            bits_left=left,
        )


def _checked_terms(
    operation: str, circuit: object, queries: object, statistical_bits: object
) -> float:
    """Return the statistical bits as a float, or refuse terms that mean nothing."""
    if not isinstance(circuit, str) or not circuit:
        raise ParameterError(
            operation,
            f"circuit is {'empty' if circuit == '' else f'a {type(circuit).__name__}'}",
            "A circuit is named by a text that was fixed in advance",
            "Pass a non-empty str that no other computation uses",
        )
    is_count = isinstance(queries, int) and not isinstance(queries, bool)
    if not is_count or not 1 <= queries <= _MOST_QUERIES:  # type: ignore[operator]
        raise ParameterError(
            operation,
            f"queries is {queries!r}",
            "Queries are counted from 1 to 2^40",
            "Pass how many different results will be released at most",
        )
    is_number = isinstance(statistical_bits, numbers.Real) and not isinstance(
        statistical_bits, bool
    )
    if not is_number or not 1 <= statistical_bits <= _MOST_STATISTICAL_BITS:  # type: ignore
        raise ParameterError(
            operation,
            f"statistical_bits is {statistical_bits!r}",
            f"It is a number from 1 to {_MOST_STATISTICAL_BITS}",
            "Pass 30, or what your policy asks for",
        )
    return float(statistical_bits)  # type: ignore[arg-type]
