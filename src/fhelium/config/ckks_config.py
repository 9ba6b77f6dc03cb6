"""CkksConfig: the validated, immutable parameters that every key and value belongs to."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Self

from fhelium.config import rules
from fhelium.config.modulus_chain import ModulusChain
from fhelium.config.parse import check_names_known, resolve_fields
from fhelium.config.presets import Preset
from fhelium.config.report import describe
from fhelium.config.search import Job, find_parameters
from fhelium.config.security import check_security_level
from fhelium.errors import InsecureParametersError, InsecureWarning, warn


@dataclass(frozen=True, kw_only=True, repr=False)
class CkksConfig(ModulusChain):
    """Parameters of a CKKS ring: degree, modulus chain, digits, scale and security.

    The constructor checks every rule; `CkksConfig.parse` takes a preset and `CkksConfig.create`
    searches the smallest secure parameters for a job. Equality, hash and pickle go by content.

    Args:
        N: Ring degree, a power of two; a message has N/2 slots.
        q_primes: Q primes in the order in which rescaling drops them, base prime last.
        p_primes: Special primes, which only keys and key switching see.
        alpha: Q primes in a key-switching digit.
        default_scale: Scale at depth 0, the factor between a message and its integers.
        num_base_primes: How many of the Q primes are never dropped: 1, or 2 for int32 residues,
            where one prime leaves no headroom.
        security: "128", "192", "256" (classical, MATZOV) or "pq128" (quantum, ChaLoy21).
        allow_insecure: Accept what the security table refuses, with an InsecureWarning.
        dtype_name: Residue dtype, "int64" (primes below 2^62) or "int32" (below 2^31).
        sigma: Standard deviation of the error; fixed.
        secret: Distribution of the secret; fixed.

    Raises:
        InsecureParametersError: log2(QP) exceeds the security row; use a larger N or less depth.
        ParameterError: Another rule is broken; the text says which, with both values and a remedy.

    Example:
        >>> config = CkksConfig.parse(Preset.slots8192_scale40_depth7_int64)
        >>> config
        CkksConfig(N=16384, slots=8192, depth=7, scale=2^40.00, log2_qp=426.0/430, security='128')
    """

    N: int
    q_primes: tuple[int, ...]
    p_primes: tuple[int, ...]
    alpha: int
    default_scale: float
    num_base_primes: int = 1
    security: str = "128"
    allow_insecure: bool = False
    dtype_name: str = "int64"
    sigma: float = rules.SIGMA
    secret: str = "ternary"

    def __post_init__(self) -> None:
        self._normalise()
        rules.check_degree(self.N)
        rules.check_names(self.secret, self.sigma, self.dtype_name)
        check_security_level(self.security)
        rules.check_primes(self.N, self.q_primes, self.p_primes, self.dtype_name)
        rules.check_shape(len(self.q_primes), self.num_base_primes, self.alpha)
        rules.check_conversion_sizes(self.alpha, len(self.p_primes))
        base = self.q_primes[self.max_depth :]
        rules.check_headroom(self.default_scale, base, 0)
        rules.check_special_modulus(self.q_primes, self.p_primes, self.alpha)
        rules.check_headroom(self.scale_at(self.max_depth), base, self.max_depth)
        self._check_security()

    @classmethod
    def parse(cls, source: Preset | str | Mapping[str, Any] | CkksConfig, **overrides: Any) -> Self:
        """Make a config of a preset, its name, a mapping or another config.

        With a preset, overrides are arguments of `create` and new primes are searched; the ring
        degree stays the preset's unless `N` or `slots` is given. A mapping holds the fields
        (`to_mapping`), or a `preset` with such overrides, or arguments of `create`. With a config,
        overrides replace fields.

        Args:
            source: What to read; a config without overrides is returned as it is.
            **overrides: What to change.

        Raises:
            InsecureParametersError: The changed parameters exceed the security row.
            ParameterError: A name is unknown or a rule is broken; the text lists what exists.

        Example:
            >>> CkksConfig.parse("slots8192_scale40_depth7_int64", dnum=8).alpha
            1
        """
        names = tuple(field.name for field in fields(cls))
        if isinstance(source, cls):
            check_names_known(overrides, names)
            return cls(**{**source._fields(), **overrides}) if overrides else source
        return cls(**resolve_fields(source, overrides, names))

    @classmethod
    def create(
        cls,
        *,
        depth: int,
        scale_bits: int,
        slots: int | None = None,
        security: str = "128",
        allow_insecure: bool = False,
        alpha: int | None = None,
        dnum: int | None = None,
        N: int | None = None,
        base_bits: int | None = None,
        dtype_name: str = "int64",
    ) -> Self:
        """Find the smallest secure parameters for a job.

        The smallest ring wins, then the digit size with the fewest transforms for a key switch.
        With `allow_insecure` and an `N` that the security table does not cover, the chain is made
        all the same, in digits of two primes.

        Cost: milliseconds for a small ring, about 20 ms at N = 2^16.

        Args:
            depth: Number of rescalings, which is the number of products one after the other.
            scale_bits: log2 of the scale; results have about scale_bits - 13 right bits.
            slots: Least number of slots; None for any.
            security: Level of the security table.
            allow_insecure: Accept a ring that the table does not cover, if `N` is given.
            alpha: Q primes in a digit; None for the fastest that fits.
            dnum: Number of digits, another way to say alpha.
            N: Ring degree; None for the smallest that fits.
            base_bits: Bits of the base modulus; None for scale_bits + 10 (a bit more where a small
                scale needs it), and for int32 residues for two primes of scale_bits + 2 each. More
                of them leave room for values above 1 at the last depth.
            dtype_name: Residue dtype: "int64", or "int32" with half the memory and scales of up to
                29 bits.

        Raises:
            InsecureParametersError: No allowed ring holds the job; ask for less depth, a smaller
                scale or a larger N.
            ParameterError: An argument is out of range, or too few primes exist near the scale.

        Example:
            >>> CkksConfig.create(depth=7, scale_bits=40).N
            16384
        """
        job = Job(
            depth=depth,
            scale_bits=scale_bits,
            slots=slots,
            security=security,
            allow_insecure=allow_insecure,
            alpha=alpha,
            dnum=dnum,
            N=N,
            base_bits=base_bits,
            dtype_name=dtype_name,
        )
        return cls(**find_parameters(job))

    def describe(self) -> str:
        """Return a report of the parameters and what they cost, several lines of text.

        It says N, slots, the chain with bits, log2(QP) against the limit and the margin, alpha,
        dnum, headroom, and the bytes of a ciphertext, a key and a full key set.

        Example:
            >>> report = CkksConfig.parse("slots8192_scale40_depth7_int64").describe()
            >>> "margin 4.0 bits" in report
            True
        """
        return describe(self)

    def to_mapping(self) -> dict[str, Any]:
        """Return the fields as JSON can hold them; CkksConfig.parse makes an equal config of it.

        Example:
            >>> config = CkksConfig.parse("slots4096_scale30_depth4_int64")
            >>> CkksConfig.parse(config.to_mapping()) == config
            True
        """
        mapping = self._fields()
        return mapping | {"q_primes": list(self.q_primes), "p_primes": list(self.p_primes)}

    def __repr__(self) -> str:
        limit = self.log2_qp_limit
        mark = ", INSECURE" if self.insecure else ""
        return (
            f"CkksConfig(N={self.N}, slots={self.num_slots}, depth={self.max_depth}, "
            f"scale=2^{math.log2(self.default_scale):.2f}, "
            f"log2_qp={self.log2_qp:.1f}/{'-' if limit is None else limit}, "
            f"security={self.security!r}{mark})"
        )

    def __hash__(self) -> int:
        return self._content_hash

    @cached_property
    def _content_hash(self) -> int:
        # Bounds and tables are cached by config: hashing fifty primes each time would show.
        return hash(tuple(self._fields().values()))

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, so that what comes back obeys the rules (and warns) as well.
        return _restore, (self._fields(),)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def _fields(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def _normalise(self) -> None:
        for name in ("N", "alpha", "num_base_primes"):
            object.__setattr__(self, name, rules.as_int(name, getattr(self, name)))
        for name in ("q_primes", "p_primes"):
            object.__setattr__(self, name, rules.as_int_tuple(name, getattr(self, name)))
        for name in ("default_scale", "sigma"):
            object.__setattr__(self, name, rules.as_float(name, getattr(self, name)))
        object.__setattr__(
            self, "allow_insecure", rules.as_bool("allow_insecure", self.allow_insecure)
        )
        rules.check_scale(self.default_scale)

    def _check_security(self) -> None:
        if not self.insecure:
            return
        limit = self.log2_qp_limit
        row = "the table has no row" if limit is None else f"the limit is {limit}"
        fact = (
            f"log2(QP) is {self.log2_qp:.1f} and {row} for N={self.N} at security {self.security!r}"
        )
        if not self.allow_insecure:
            raise InsecureParametersError(
                "CkksConfig",
                fact,
                "QP, special primes included, stays within the security row",
                "Use a larger N, less depth or fewer special primes; allow_insecure=True is for "
                "tests and teaching",
                log2_qp=self.log2_qp,
                log2_qp_limit=limit,
                N=self.N,
            )
        warn(
            InsecureWarning,
            "CkksConfig",
            fact,
            "These parameters protect nothing",
            "Use them for tests and teaching only",
        )


def _restore(values: dict[str, Any]) -> CkksConfig:
    return CkksConfig(**values)
