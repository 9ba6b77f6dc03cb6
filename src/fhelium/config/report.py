"""The text of CkksConfig.describe(): what a parameter set is and costs, before any allocation."""

from __future__ import annotations

import math
from itertools import groupby

from fhelium.config.chain import digit_bits
from fhelium.config.modulus_chain import ModulusChain
from fhelium.config.security import SECURITY_MODELS
from fhelium.text import size_text


def describe(config: ModulusChain) -> str:
    """Write the report of a parameter set.

    Args:
        config: The parameters.

    Returns:
        Lines of "name  facts", without a newline at the end.

    Example:
        >>> from fhelium.config import CkksConfig
        >>> print(describe(CkksConfig.parse("slots8192_scale40_depth7_int64")).splitlines()[1])
        ring           N = 16384, 8192 slots, int64 residues
    """
    rows = {
        "CKKS": f"parameters {config.context_id}",
        "ring": f"N = {config.N}, {config.num_slots} slots, {config.dtype_name} residues",
        "secret, error": f"{config.secret}, sigma {config.sigma}",
        "scale": f"2^{math.log2(config.default_scale):.2f}, depth 0 to {config.max_depth}, "
        f"canonical scales drift by {_drift(config):.1e} bits",
        "Q": f"{len(config.q_primes)} primes, {_bits(config.q_primes)} bits: "
        f"{_sizes(config.q_primes)}, the first dropped first",
        "P": f"{len(config.p_primes)} special primes, {_bits(config.p_primes)} bits: "
        f"{_sizes(config.p_primes)}",
        "log2(QP)": _security(config),
        "digits": f"alpha {config.alpha}, dnum {config.dnum}",
        "headroom": _headroom(config),
        "ciphertext": f"{_bytes(config.ciphertext_nbytes())} at depth 0, "
        f"{_bytes(config.ciphertext_nbytes(config.max_depth))} at depth {config.max_depth}",
        "switching key": _bytes(config.switching_key_nbytes()),
        "full key set": _key_set(config),
    }
    return "\n".join(f"{name:<15}{text}" for name, text in rows.items())


def _bytes(count: int) -> str:
    return f"{size_text(count)} ({count} bytes)"


def _bits(primes: tuple[int, ...]) -> str:
    return f"{math.log2(math.prod(primes)):.1f}"


def _sizes(primes: tuple[int, ...]) -> str:
    runs = groupby(f"{math.log2(prime):.1f}" for prime in primes)
    lengths = ((bits, len(list(run))) for bits, run in runs)
    return ", ".join(bits if count == 1 else f"{count} x {bits}" for bits, count in lengths)


def _drift(config: ModulusChain) -> float:
    start = config.default_scale
    depths = range(config.max_depth + 1)
    return max(abs(math.log2(config.scale_at(depth) / start)) for depth in depths)


def _security(config: ModulusChain) -> str:
    limit, level = config.log2_qp_limit, config.security
    if limit is None:
        text = f"{config.log2_qp:.1f}, no row for N = {config.N} at security {level!r}"
    else:
        margin = limit - config.log2_qp
        text = (
            f"{config.log2_qp:.1f} of {limit} at security {level!r} ({SECURITY_MODELS[level]}), "
            f"margin {margin:.1f} bits"
        )
    return f"{text}; INSECURE, for tests and teaching only" if config.insecure else text


def _headroom(config: ModulusChain) -> str:
    base = math.log2(config.modulus(config.max_depth)) - math.log2(
        config.scale_at(config.max_depth)
    )
    special = math.log2(config.special_modulus) - digit_bits(config.q_primes, config.alpha)
    return f"base 2^{base:.1f} times the scale, P 2^{special:.1f} times the largest digit"


def _key_set(config: ModulusChain) -> str:
    rotations = config.num_slots.bit_length() - 1
    count = rotations + 2
    return (
        f"{_bytes(count * config.switching_key_nbytes())}: {count} keys, {rotations} rotations by "
        "powers of two, relinearization, conjugation"
    )
