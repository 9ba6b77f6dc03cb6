"""The search for the smallest secure parameters of a job: ring degree, primes and digit size."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from fhelium.config.chain import (
    HEADROOM_BITS,
    SPECIAL_MARGIN_BITS,
    canonical_scales,
    search_q_chain,
    search_special_primes,
    special_prime_shape,
)
from fhelium.config.rules import (
    MAX_DEGREE,
    MAX_DIGIT_PRIMES,
    MAX_LIMBS,
    MIN_HEADROOM_BITS,
    SIGMA,
    as_int,
    check_degree,
    check_names,
    refuse,
)
from fhelium.config.security import (
    MAX_LOG2_QP,
    check_security_level,
    is_within_security_row,
    max_log2_qp,
)
from fhelium.config.words import WORDS, Word
from fhelium.errors import InsecureParametersError

_OPERATION = "CkksConfig.create"
# Base primes leave the scale primes' neighbourhood, which those need themselves.
_BASE_GAP_BITS = 2
# At scale 50 the scale starts this far below 2^50: room for every scale prime of every ring to lie
# under 2^50, where transforms are fast, and a part in 2^16 only, so it may still be called 50.
_SCALE_50_GAP = 1 << 34
# A ring without a security row imitates the default preset: digits of two rows, two special primes.
_UNLIMITED_ALPHA = 2


@dataclass(frozen=True, kw_only=True)
class Job:
    """What a caller asks of a parameter set, before any prime is known: as CkksConfig.create."""

    depth: int
    scale_bits: int
    slots: int | None = None
    security: str = "128"
    allow_insecure: bool = False
    alpha: int | None = None
    dnum: int | None = None
    N: int | None = None
    base_bits: int | None = None
    dtype_name: str = "int64"

    def __post_init__(self) -> None:
        for name in ("depth", "scale_bits", "slots", "alpha", "dnum", "N", "base_bits"):
            value = getattr(self, name)
            if value is not None or name in ("depth", "scale_bits"):
                object.__setattr__(self, name, as_int(name, value, _OPERATION))
        check_security_level(self.security, _OPERATION)
        check_names("ternary", SIGMA, self.dtype_name, _OPERATION)
        self._check_ranges()

    def _check_ranges(self) -> None:
        rows, word = self.rows, self.word
        gap = HEADROOM_BITS if word.base_primes == 1 else _BASE_GAP_BITS
        base_bits = (self.scale_bits + HEADROOM_BITS, word.base_primes * word.prime_bits)
        ranges = {
            "depth": (self.depth, 0, MAX_LIMBS - 1 - word.base_primes),
            "scale_bits": (self.scale_bits, 1, word.prime_bits - gap),
            "base_bits": (self.nominal_base_bits, *base_bits),
            "slots": (self.slots, 1, MAX_DEGREE // 2),
            "alpha": (self.alpha, 1, min(rows, MAX_DIGIT_PRIMES)),
            "dnum": (self.dnum, -(-rows // MAX_DIGIT_PRIMES), rows),
        }
        for name, (value, low, high) in ranges.items():
            if value is not None and not low <= value <= high:
                refuse(
                    f"{name} is {value} and its range here is {low} to {high}",
                    f"{name} is an integer in that range",
                    f"Use {name} from {low} to {high}",
                    _OPERATION,
                    **{name: value},
                )
        if self.N is not None:
            check_degree(self.N, _OPERATION)
            if self.slots is not None and 2 * self.slots > self.N:
                refuse(
                    f"slots is {self.slots} and N is {self.N}",
                    "A ring of degree N has N/2 slots",
                    f"Use slots of at most {self.N // 2}, or leave N out",
                    _OPERATION,
                    slots=self.slots,
                    N=self.N,
                )

    @property
    def word(self) -> Word:
        """Return what the residue type decides."""
        return WORDS[self.dtype_name]

    @property
    def rows(self) -> int:
        """Return the number of Q primes."""
        return self.depth + self.word.base_primes

    @property
    def nominal_base_bits(self) -> int:
        """Return the bits of the base modulus."""
        if self.base_bits is not None:
            return self.base_bits
        count = self.word.base_primes
        headroom = -(-(self.scale_bits + HEADROOM_BITS) // count)
        return count * max(headroom, self.scale_bits + _BASE_GAP_BITS)

    @property
    def default_scale(self) -> float:
        """Return D_0: 2^scale_bits, or a little less at 50, so that no scale prime passes 2^50."""
        gap = _SCALE_50_GAP if self.scale_bits == 50 else 0
        return float((1 << self.scale_bits) - gap)

    @property
    def nominal_q_bits(self) -> int:
        """Return log2(Q) as it will be, up to a fraction of a bit."""
        return self.nominal_base_bits + self.depth * self.scale_bits

    def degrees(self) -> Iterator[int]:
        """Yield the ring degrees to try, smallest first."""
        if self.N is not None:
            yield self.N
            return
        for N in MAX_LOG2_QP[self.security]:
            if 2 * (self.slots or 1) <= N:
                yield N

    def alphas(self) -> range:
        """Return the digit sizes to try.

        Raises:
            ParameterError: No digit size gives dnum digits, or not the alpha given; the text says
                which numbers exist.
        """
        rows, most = self.rows, min(self.rows, MAX_DIGIT_PRIMES)
        reachable = {-(-rows // alpha): alpha for alpha in range(most, 0, -1)}
        if self.dnum is None:
            return range(1, most + 1) if self.alpha is None else range(self.alpha, self.alpha + 1)
        alpha = reachable.get(self.dnum)
        if alpha is None or self.alpha not in (None, alpha):
            given = "" if self.alpha is None else f" and alpha is {self.alpha}"
            refuse(
                f"dnum is {self.dnum}{given}, with {rows} Q primes",
                "Digits have alpha rows each, dnum = ceil(rows / alpha)",
                f"Give one of them; dnum can be {', '.join(map(str, sorted(reachable)))}",
                _OPERATION,
                dnum=self.dnum,
            )
        return range(alpha, alpha + 1)


def find_parameters(job: Job) -> dict[str, Any]:
    """Find the smallest secure parameters of a job, as the fields of a CkksConfig.

    Formula: the smallest N whose security row holds Q and the special primes of some digit size;
    there the digit size with the fewest transforms for a key switch, (dnum + 2)(L + K), and of
    those the smallest P.

    Cost: some milliseconds to tens of milliseconds for each N tried; rings whose row cannot even
    hold Q are skipped unsearched.

    Args:
        job: What is asked for.

    Returns:
        Keyword arguments of CkksConfig.

    Raises:
        InsecureParametersError: No ring within the table holds the job; ask for less depth, a
            smaller scale, a lower level or a larger N.
        ParameterError: Too few primes exist near the scale; use a larger scale or a smaller N.

    Example:
        >>> found = find_parameters(Job(depth=7, scale_bits=40))
        >>> found["N"], found["alpha"], len(found["p_primes"])
        (16384, 2, 2)
    """
    alphas = job.alphas()
    for N in job.degrees():
        limit = max_log2_qp(N, job.security)
        if limit is not None and job.nominal_q_bits < limit:
            chain = _q_chain(job, N)
            for alpha in _fastest_first(chain, alphas, limit, job.word):
                special = search_special_primes(N, chain, alpha, job.word)
                if is_within_security_row(math.prod((*chain, *special)), N, job.security):
                    return _fields(job, N, chain, special, alpha)
    if not job.allow_insecure or job.N is None:
        _refuse_insecure(job)
    chain = _q_chain(job, job.N)
    alpha = alphas[0] if len(alphas) == 1 else min(_UNLIMITED_ALPHA, len(chain))
    special = search_special_primes(job.N, chain, alpha, job.word)
    return _fields(job, job.N, chain, special, alpha)


def _q_chain(job: Job, N: int) -> tuple[int, ...]:
    bits, count = job.nominal_base_bits, job.word.base_primes
    chain = search_q_chain(N, job.depth, job.default_scale, bits, count)
    if job.base_bits is None:
        # Where primes are rare the canonical scale may have grown: the base keeps its distance.
        scale = canonical_scales(job.default_scale, chain[: job.depth])[-1]
        base = math.log2(math.prod(chain[job.depth :]))
        missing = MIN_HEADROOM_BITS - (base - math.log2(scale))
        if missing > 0:
            bits = min(bits + math.ceil(missing), count * job.word.prime_bits)
            return search_q_chain(N, job.depth, job.default_scale, bits, count)
    return chain


def _fastest_first(chain: Sequence[int], alphas: range, limit: int, word: Word) -> list[int]:
    q_bits = math.log2(math.prod(chain))
    ranked: list[tuple[int, float, int]] = []
    for alpha in alphas:
        count, p_bits = special_prime_shape(chain, alpha, word)
        fits = count <= MAX_DIGIT_PRIMES and len(chain) + count <= MAX_LIMBS
        if q_bits + p_bits <= limit and fits:
            dnum = -(-len(chain) // alpha)
            ranked.append(((dnum + 2) * (len(chain) + count), p_bits, alpha))
    return [alpha for _, _, alpha in sorted(ranked)]


def _fields(
    job: Job, N: int, chain: tuple[int, ...], special: tuple[int, ...], alpha: int
) -> dict[str, Any]:
    return {
        "N": N,
        "q_primes": chain,
        "p_primes": special,
        "alpha": alpha,
        "default_scale": job.default_scale,
        "num_base_primes": job.word.base_primes,
        "dtype_name": job.dtype_name,
        "security": job.security,
        "allow_insecure": job.allow_insecure,
    }


def _refuse_insecure(job: Job) -> NoReturn:
    N = MAX_DEGREE if job.N is None else job.N
    remedy = "Use less depth, a smaller scale or a smaller alpha"
    if job.N is not None:
        remedy += ", a larger N, or allow_insecure=True for tests and teaching"
    count = job.word.base_primes
    rows = [job.scale_bits] * job.depth + [job.nominal_base_bits // count] * count
    digit = min(
        max(sum(rows[start : start + alpha]) for start in range(0, len(rows), alpha))
        for alpha in job.alphas()
    )
    least, limit = job.nominal_q_bits + digit + SPECIAL_MARGIN_BITS, max_log2_qp(N, job.security)
    row = f"the table has no row for N={N}" if limit is None else f"the limit for N={N} is {limit}"
    raise InsecureParametersError(
        _OPERATION,
        f"depth {job.depth} at scale 2^{job.scale_bits} needs a log2(QP) of about {least} and "
        f"{row} at security {job.security!r}",
        "QP, special primes included, stays within the security row",
        remedy,
        log2_qp=least,
        log2_qp_limit=limit,
        N=N,
    )
