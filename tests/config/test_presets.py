"""Every preset: its rules recomputed in exact arithmetic that shares nothing with the library."""

from __future__ import annotations

import math
import time
from decimal import Decimal, localcontext
from fractions import Fraction

import flint
import pytest

from fhelium.config import DEFAULT_PRESET, CkksConfig, Preset
from fhelium.config.primes import is_prime, primitive_root

# name: base bits, special primes, alpha, dnum, log2 QP, limit, largest drift allowed in bits
TABLE = {
    "slots4096_scale30_depth4_int64": (40, 1, 1, 5, 206, 214, 0.03),
    "slots4096_scale40_depth2_int64": (50, 2, 1, 3, 186, 214, 4e-5),
    "slots8192_scale30_depth9_int64": (40, 2, 3, 4, 406, 430, 0.03),
    "slots8192_scale40_depth7_int64": (50, 2, 2, 4, 426, 430, 4e-5),
    "slots8192_scale50_depth5_int64": (60, 2, 2, 3, 426, 430, 4e-5),
    "slots16384_scale30_depth21_int64": (40, 4, 6, 4, 856, 868, 0.03),
    "slots16384_scale40_depth16_int64": (50, 4, 4, 5, 856, 868, 4e-5),
    "slots16384_scale50_depth12_int64": (60, 4, 4, 4, 866, 868, 4e-5),
    "slots32768_scale30_depth45_int64": (40, 7, 10, 5, 1696, 1747, 0.03),
    "slots32768_scale40_depth34_int64": (50, 6, 7, 5, 1706, 1747, 4e-5),
    "slots32768_scale50_depth27_int64": (60, 6, 6, 5, 1716, 1747, 4e-5),
    "slots65536_scale30_depth95_int64": (40, 10, 16, 6, 3384.3, 3523, 0.12),
    "slots65536_scale40_depth72_int64": (50, 11, 13, 6, 3456, 3523, 2e-4),
    "slots65536_scale50_depth58_int64": (60, 9, 10, 6, 3466, 3523, 4e-5),
    "slots8192_scale25_depth12_int32": (54, 2, 2, 7, 414, 430, 0.08),
    "slots16384_scale25_depth28_int32": (54, 4, 4, 8, 860.2, 868, 0.3),
    "slots32768_scale25_depth24_int32": (54, 12, 13, 2, 988.5, 1747, 0.56),
}
# Primes that are never dropped, and the size below which primes fit the type and are fast.
WORDS = {"int64": (1, 62, 50), "int32": (2, 31, 30)}
names = pytest.mark.parametrize("name", TABLE)


def said(name: str) -> tuple[int, int, int, str]:
    slots, scale, depth, dtype = name.split("_")
    return int(slots[5:]), int(scale[5:]), int(depth[5:]), dtype


def exact_scales(config: CkksConfig) -> list[Decimal]:
    scales = [Decimal(config.default_scale)]
    for q in config.q_primes[: config.max_depth]:
        scales.append(scales[-1] ** 2 / q)
    return scales


def test_the_presets_are_the_table():
    assert [preset.value for preset in Preset] == list(TABLE)
    assert DEFAULT_PRESET is Preset.slots8192_scale40_depth7_int64


@names
def test_shape_is_what_name_and_table_say(name):
    slots, scale_bits, depth, dtype = said(name)
    base_bits, special, alpha, dnum, log2_qp, limit, _ = TABLE[name]
    config = CkksConfig.parse(Preset(name))
    assert (config.N, config.num_slots, config.max_depth) == (2 * slots, slots, depth)
    base = config.q_primes[depth:]
    assert len(base) == config.num_base_primes == WORDS[dtype][0]
    assert (len(config.p_primes), config.alpha, config.dnum) == (special, alpha, dnum)
    assert all(math.ceil(math.log2(q)) == base_bits / len(base) for q in base)
    assert math.prod(base) == config.modulus(depth)
    assert config.log2_qp == pytest.approx(log2_qp, abs=0.13)
    assert (config.log2_qp_limit, config.security, config.insecure) == (limit, "128", False)
    assert (config.sigma, config.secret, config.dtype_name) == (3.19, "ternary", dtype)
    assert config.ciphertext_nbytes() == 2 * (depth + len(base)) * 2 * slots * int(dtype[3:]) // 8
    assert abs(math.log2(config.default_scale) - scale_bits) < 2**-15
    assert not config.allow_insecure


@names
def test_primes_are_distinct_proven_primes_of_the_ring(name):
    config = CkksConfig.parse(name)
    primes = [*config.q_primes, *config.p_primes]
    assert len(set(primes)) == len(primes)
    for q in primes:
        assert flint.fmpz(q).is_prime()
        assert q % (2 * config.N) == 1
        assert q < 1 << WORDS[config.dtype_name][1]


@names
def test_fast_sizes_are_kept(name):
    _, scale_bits, depth, dtype = said(name)
    config, fast = CkksConfig.parse(name), 1 << WORDS[dtype][2]
    assert max(config.q_primes[:depth]) < fast
    if scale_bits < 50:
        assert max(config.primes) < fast
    assert min(config.p_primes) > 2**26


@names
def test_qp_is_within_the_row_and_p_and_base_are_large_enough(name):
    *_, limit, _ = TABLE[name]
    config = CkksConfig.parse(name)
    q, p, alpha = config.q_primes, config.p_primes, config.alpha
    special = math.prod(p)
    assert math.prod(q) * special < 2**limit
    # x >= 2^5.9 y in integers: x^10 >= 2^59 y^10.
    for start in range(0, len(q), alpha):
        assert special**10 >= 2**59 * math.prod(q[start : start + alpha]) ** 10
    with localcontext() as context:
        context.prec = 1000
        for scale in (exact_scales(config)[0], exact_scales(config)[-1]):
            base = Fraction(math.prod(q[config.max_depth :]))
            assert base**10 >= 2**99 * Fraction(scale) ** 10


@names
def test_canonical_scales_are_exact_and_stay_together(name):
    *_, drift = TABLE[name]
    config = CkksConfig.parse(name)
    with localcontext() as context:
        context.prec = 1000
        exact = exact_scales(config)
        assert [config.scale_at(depth) for depth in range(config.max_depth + 1)] == [
            float(scale) for scale in exact
        ]
        ratios = [scale / exact[0] for scale in exact]
    assert max(abs(math.log2(ratio)) for ratio in ratios) < drift


@names
def test_each_scale_prime_is_the_unused_prime_nearest_to_its_target(name):
    config = CkksConfig.parse(name)
    used = set(config.q_primes[config.max_depth :])
    step = 2 * config.N
    with localcontext() as context:
        context.prec = 1000
        scales = exact_scales(config)
        for q, scale in zip(config.q_primes, scales[:-1], strict=False):
            target = scale * scale / scales[0]
            reach = abs(q - target)
            first = int(target - reach) // step * step + 1
            for other in range(first, int(target + reach) + step, step):
                if abs(other - target) < reach and other not in used:
                    assert not flint.fmpz(other).is_prime()
            used.add(q)


def fastest_alpha(config: CkksConfig) -> int:
    bits = [math.log2(q) for q in config.q_primes]
    size = 30 if config.dtype_name == "int32" else 50 if max(bits) < 50 else 60
    costs = []
    for alpha in range(1, min(len(bits), 16) + 1):
        digits = [sum(bits[start : start + alpha]) for start in range(0, len(bits), alpha)]
        special = max(digits) + 6
        count = math.ceil(special / size)
        limbs = len(bits) + count
        if sum(bits) + special <= config.log2_qp_limit and count <= 16:
            # L inverse transforms, dnum (L + K) - L forward ones, 2 K back and 2 L forward again.
            transforms = limbs * len(digits) + 2 * limbs
            costs.append((transforms, round(special, 6), alpha))
    return min(costs)[2]


@names
def test_no_other_digit_size_switches_keys_with_fewer_transforms(name):
    config = CkksConfig.parse(name)
    assert config.alpha == fastest_alpha(config)


@pytest.mark.parametrize(
    ("scale_bits", "dtype"), [(30, "int64"), (40, "int64"), (50, "int64"), (25, "int32")]
)
def test_the_digit_size_of_any_job_is_the_fastest_that_fits(scale_bits, dtype):
    alphas = set()
    for depth in range(740 // scale_bits):
        config = CkksConfig.create(depth=depth, scale_bits=scale_bits, N=1 << 15, dtype_name=dtype)
        assert config.alpha == fastest_alpha(config)
        alphas.add(config.alpha)
    assert len(alphas) > 4


def test_parsing_the_largest_preset_is_quick():
    is_prime.cache_clear()
    primitive_root.cache_clear()
    start = time.process_time()
    config = CkksConfig.parse(Preset.slots65536_scale30_depth95_int64)
    assert len(config.describe()) > 100
    assert len(config.context_id) == 32
    roots = [config.root(prime_id) for prime_id in range(len(config.primes))]
    assert time.process_time() - start < 1.0
    assert all(pow(psi, config.N, q) == q - 1 for psi, q in zip(roots, config.primes, strict=True))
