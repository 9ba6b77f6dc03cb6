"""What follows from the fields of a config: identity, moduli, digits, scales, sizes, security."""

from __future__ import annotations

import hashlib
import json
import math
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

from fhelium.config.chain import canonical_scales
from fhelium.config.primes import primitive_root
from fhelium.config.rules import as_int, refuse
from fhelium.config.security import is_within_security_row, max_log2_qp
from fhelium.config.words import WORDS

if TYPE_CHECKING:
    import torch

_SAME_SCALE: Final = 2.0**-44
Basis = Literal["Q", "QP"]


class ModulusChain:
    """Facts that follow from the fields of a config; the base class of CkksConfig, with its fields.

    A *prime id* is an index into `primes`. Q primes come in the order in which rescaling drops
    them, the base (one prime, or two for int32 residues) last, then the special primes P. So basis
    Q at depth d is the ids [d, L) and basis QP the ids [d, L + K), where L is the number of Q
    primes and K that of special primes.

    Raises:
        ParameterError: From each method that is given a depth, basis or prime id which the chain
            does not have; the text says which it has.
    """

    N: int
    q_primes: tuple[int, ...]
    p_primes: tuple[int, ...]
    alpha: int
    default_scale: float
    num_base_primes: int
    security: str
    allow_insecure: bool
    dtype_name: str
    sigma: float
    secret: str

    @property
    def num_slots(self) -> int:
        """Return how many complex numbers one message holds, N/2."""
        return self.N // 2

    @property
    def max_depth(self) -> int:
        """Return the last depth, at which a value of magnitude 1 still decrypts."""
        return len(self.q_primes) - self.num_base_primes

    @cached_property
    def primes(self) -> tuple[int, ...]:
        """Return all primes in the order of their ids: Q in drop order, then P."""
        return self.q_primes + self.p_primes

    @property
    def dnum(self) -> int:
        """Return the number of key-switching digits at depth 0, ceil(L / alpha)."""
        return -(-len(self.q_primes) // self.alpha)

    @cached_property
    def special_modulus(self) -> int:
        """Return P, the product of the special primes."""
        return math.prod(self.p_primes)

    @property
    def dtype(self) -> torch.dtype:
        """Return the torch dtype of residues."""
        import torch  # only here: a config must be usable without paying for torch's import

        return getattr(torch, self.dtype_name)

    def modulus(self, depth: int = 0) -> int:
        """Return Q at a depth, the exact product of the primes still active there.

        Example:
            >>> from fhelium.config import CkksConfig
            >>> config = CkksConfig.parse("slots8192_scale40_depth7_int64")
            >>> config.modulus(config.max_depth) == config.q_primes[-1]
            True
        """
        return math.prod(self.q_primes[self._check_depth(depth, "modulus") :])

    def prime_ids(self, basis: Basis, depth: int) -> tuple[int, ...]:
        """Return the prime ids of a basis at a depth; limb j of a value belongs to the j-th.

        Args:
            basis: "Q", or "QP" with the special primes.
            depth: 0 to max_depth.

        Example:
            >>> from fhelium.config import CkksConfig
            >>> CkksConfig.parse("slots8192_scale40_depth7_int64").prime_ids("QP", 6)
            (6, 7, 8, 9)
        """
        first = self._check_depth(depth, "prime_ids")
        if basis not in ("Q", "QP"):
            refuse(
                f"basis is {basis!r}",
                "A basis is 'Q' or 'QP'",
                "Use 'Q' for ciphertexts, 'QP' for keys",
                "prime_ids",
                basis=basis,
            )
        return tuple(range(first, len(self.primes if basis == "QP" else self.q_primes)))

    def scale_at(self, depth: int) -> float:
        """Return the canonical scale of a depth.

        Formula: D_0 = default_scale, D_{d+1} = D_d^2 / q_d, exact, rounded once to float64.

        Example:
            >>> from fhelium.config import CkksConfig
            >>> config = CkksConfig.parse("slots8192_scale40_depth7_int64")
            >>> config.scale_at(0) == 2.0**40
            True
        """
        return self._scales[self._check_depth(depth, "scale_at")]

    def canonical_scale(self, scale: float, depth: int) -> float:
        """Return scale_at(depth) for a scale within 2^-44 of it, else the scale unchanged.

        Scales are products and quotients of float64 numbers; this takes their rounding away, so
        that == is a fair comparison between the scales of two values.

        Example:
            >>> from fhelium.config import CkksConfig
            >>> config = CkksConfig.parse("slots8192_scale40_depth7_int64")
            >>> product = config.scale_at(0) * config.scale_at(0) / config.q_primes[0]
            >>> config.canonical_scale(product, 1) == config.scale_at(1)
            True
        """
        canonical = self._scales[self._check_depth(depth, "canonical_scale")]
        return canonical if abs(scale - canonical) <= canonical * _SAME_SCALE else scale

    def digits(self, depth: int = 0) -> tuple[tuple[int, int], ...]:
        """Return the key-switching digits that still have rows, as (start, end) prime-id ranges.

        Formula: digit j is [j alpha, min((j+1) alpha, L)) without the rows below depth.

        Example:
            >>> from fhelium.config import CkksConfig
            >>> CkksConfig.parse("slots8192_scale40_depth7_int64").digits(3)
            ((3, 4), (4, 6), (6, 8))
        """
        depth, rows = self._check_depth(depth, "digits"), len(self.q_primes)
        starts = range(depth // self.alpha * self.alpha, rows, self.alpha)
        return tuple((max(depth, start), min(start + self.alpha, rows)) for start in starts)

    def digit_offset(self, depth: int) -> int:
        """Return the index of the first digit that still has rows; keys are sliced from there.

        Example:
            >>> from fhelium.config import CkksConfig
            >>> CkksConfig.parse("slots8192_scale40_depth7_int64").digit_offset(3)
            1
        """
        return self._check_depth(depth, "digit_offset") // self.alpha

    def root(self, prime_id: int) -> int:
        """Return the primitive 2N-th root of unity of a prime, on which NTT tables are built.

        Formula: psi = g^((q-1)/2N) for the smallest g = 2, 3, ... with psi^N = -1 (mod q).

        Example:
            >>> from fhelium.config import CkksConfig
            >>> config = CkksConfig.parse("slots8192_scale40_depth7_int64")
            >>> pow(config.root(0), config.N, config.primes[0]) == config.primes[0] - 1
            True
        """
        prime_id = as_int("prime_id", prime_id, "root")
        if not 0 <= prime_id < len(self.primes):
            refuse(
                f"prime_id is {prime_id} and there are {len(self.primes)} primes",
                "A prime id is an index into config.primes",
                f"Use 0 to {len(self.primes) - 1}",
                "root",
                prime_id=prime_id,
            )
        return primitive_root(self.primes[prime_id], self.N)

    @cached_property
    def context_id(self) -> str:
        """Return the identity that every key and value made under these parameters carries.

        Formula: hex of BLAKE2b-128 over canonical JSON (sorted names, no blanks) of N, the primes
        in order, the number of special primes, alpha, the distributions of secret and error, the
        residue dtype and allow_insecure. Seeds and devices never change it.
        """
        identity = {
            "N": self.N,
            "primes": self.primes,
            "special_primes": len(self.p_primes),
            "alpha": self.alpha,
            "secret": self.secret,
            "noise": {"distribution": "gaussian", "sigma": self.sigma},
            "dtype": self.dtype_name,
            "allow_insecure": self.allow_insecure,
        }
        text = json.dumps(identity, sort_keys=True, separators=(",", ":"))
        return hashlib.blake2b(text.encode("ascii"), digest_size=16).hexdigest()

    @cached_property
    def log2_qp(self) -> float:
        """Return log2 of the whole modulus QP, special primes included."""
        return math.log2(math.prod(self.primes))

    @property
    def log2_qp_limit(self) -> int | None:
        """Return the largest secure log2(QP), or None where the table has no row for N."""
        return max_log2_qp(self.N, self.security)

    @cached_property
    def insecure(self) -> bool:
        """Return whether QP exceeds the security row, or there is none."""
        return not is_within_security_row(math.prod(self.primes), self.N, self.security)

    def ciphertext_nbytes(self, depth: int = 0, components: int = 2) -> int:
        """Return the payload bytes of one ciphertext, components x limbs x N words.

        Args:
            depth: 0 to max_depth.
            components: 2, or 3 for a product before relinearization.

        Example:
            >>> from fhelium.config import CkksConfig
            >>> CkksConfig.parse("slots8192_scale40_depth7_int64").ciphertext_nbytes()
            2097152
        """
        limbs = len(self.q_primes) - self._check_depth(depth, "ciphertext_nbytes")
        return components * limbs * self.N * WORDS[self.dtype_name].nbytes

    def switching_key_nbytes(self) -> int:
        """Return the payload bytes of one relinearization, rotation or conjugation key.

        Formula: dnum x 2 x (L + K) x N words.

        Example:
            >>> from fhelium.config import CkksConfig
            >>> CkksConfig.parse("slots8192_scale40_depth7_int64").switching_key_nbytes()
            10485760
        """
        return self.dnum * 2 * len(self.primes) * self.N * WORDS[self.dtype_name].nbytes

    @cached_property
    def _scales(self) -> tuple[float, ...]:
        return canonical_scales(self.default_scale, self.q_primes[: self.max_depth])

    def _check_depth(self, depth: int, operation: str) -> int:
        if type(depth) is not int:
            depth = as_int("depth", depth, operation)
        if not 0 <= depth <= self.max_depth:
            refuse(
                f"depth is {depth} and max_depth is {self.max_depth}",
                "Depth counts up from 0 at encryption to max_depth",
                f"Use a depth from 0 to {self.max_depth}",
                operation,
                depth=depth,
                max_depth=self.max_depth,
            )
        return depth
