"""The derived facts of a config and the ways to make one."""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal, localcontext

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fhelium.config import DEFAULT_PRESET, CkksConfig, Preset, max_log2_qp
from fhelium.config.primes import largest_prime_below
from fhelium.errors import InsecureParametersError, ParameterError

quiet = pytest.mark.filterwarnings("ignore::fhelium.errors.InsecureWarning")
DEFAULT = CkksConfig.parse(DEFAULT_PRESET)
FIELDS = DEFAULT.to_mapping()


def changed(**changes):
    return CkksConfig(**{**FIELDS, **changes})


# --- derived facts ---------------------------------------------------------------------------


def test_facts_of_the_default_preset():
    assert DEFAULT.primes == DEFAULT.q_primes + DEFAULT.p_primes
    assert DEFAULT.dtype is torch.int64
    assert DEFAULT.special_modulus == math.prod(FIELDS["p_primes"])
    assert [DEFAULT.modulus(d) for d in (0, 7)] == [
        math.prod(FIELDS["q_primes"]),
        FIELDS["q_primes"][7],
    ]
    assert DEFAULT.modulus() == DEFAULT.modulus(0)
    assert DEFAULT.prime_ids("Q", 0) == tuple(range(8))
    assert DEFAULT.prime_ids("QP", 0) == tuple(range(10))
    assert DEFAULT.prime_ids("Q", 7) == (7,)
    assert DEFAULT.ciphertext_nbytes() == 2 * 8 * 16384 * 8
    assert DEFAULT.ciphertext_nbytes(depth=6, components=3) == 3 * 2 * 16384 * 8
    assert DEFAULT.switching_key_nbytes() == 4 * 2 * 10 * 16384 * 8


@pytest.mark.parametrize("preset", Preset)
def test_digits_partition_the_active_rows(preset):
    config = CkksConfig.parse(preset)
    full = [
        tuple(range(j * config.alpha, min((j + 1) * config.alpha, len(config.q_primes))))
        for j in range(config.dnum)
    ]
    for depth in range(config.max_depth + 1):
        active = [[row for row in digit if row >= depth] for digit in full]
        alive = [digit for digit in active if digit]
        assert [list(range(*bounds)) for bounds in config.digits(depth)] == alive
        assert config.digit_offset(depth) == len(active) - len(alive)


def test_canonical_scale_snaps_what_is_within_2_to_the_minus_44():
    for depth in range(DEFAULT.max_depth + 1):
        scale = DEFAULT.scale_at(depth)
        for factor in (1.0, 1 + 2**-45, 1 - 2**-45, 1 + 2**-52):
            assert DEFAULT.canonical_scale(scale * factor, depth) == scale
        for factor in (1 + 2**-43, 1 - 2**-43, 2.0, -1.0):
            assert DEFAULT.canonical_scale(scale * factor, depth) == scale * factor
    assert DEFAULT.canonical_scale(math.inf, 0) == math.inf


@quiet
def test_products_of_canonical_scales_are_canonical_at_every_depth():
    for preset in Preset:
        config = CkksConfig.parse(preset)
        for depth in range(config.max_depth):
            product = config.scale_at(depth) ** 2 / config.q_primes[depth]
            assert config.canonical_scale(product, depth + 1) == config.scale_at(depth + 1)


@quiet
def test_canonical_scales_of_the_longest_chains_are_rounded_right():
    config = CkksConfig.create(depth=240, scale_bits=40, N=16, allow_insecure=True)
    with localcontext() as context:
        context.prec = 1000
        scale = Decimal(config.default_scale)
        for depth, prime in enumerate(config.q_primes[:-1]):
            assert config.scale_at(depth) == float(scale)
            scale = scale * scale / prime
    assert config.scale_at(240) == float(scale)


@pytest.mark.parametrize(
    "call",
    [
        lambda depth: DEFAULT.modulus(depth),
        lambda depth: DEFAULT.prime_ids("Q", depth),
        lambda depth: DEFAULT.scale_at(depth),
        lambda depth: DEFAULT.canonical_scale(1.0, depth),
        lambda depth: DEFAULT.digits(depth),
        lambda depth: DEFAULT.digit_offset(depth),
        lambda depth: DEFAULT.ciphertext_nbytes(depth),
    ],
)
def test_a_depth_outside_the_chain_is_refused(call):
    for depth in (-1, 8, 1 << 40):
        with pytest.raises(ParameterError, match=f"depth is {depth} and max_depth is 7"):
            call(depth)
    for depth in (1.5, "1", None, True):
        with pytest.raises(ParameterError, match="depth is"):
            call(depth)
    call(np.int64(3))


def test_other_lookups_outside_the_config_are_refused():
    with pytest.raises(ParameterError, match="basis is 'P'"):
        DEFAULT.prime_ids("P", 0)  # type: ignore[arg-type]
    for prime_id in (-1, 10):
        with pytest.raises(ParameterError, match=f"prime_id is {prime_id} and there are 10"):
            DEFAULT.root(prime_id)


def test_two_base_primes():
    q, config = FIELDS["q_primes"], changed(num_base_primes=2)
    assert config.max_depth == 6
    assert config.modulus(6) == q[6] * q[7]
    with pytest.raises(ParameterError, match="max_depth is 6"):
        config.scale_at(7)


# --- parse, create, describe -----------------------------------------------------------------


def test_all_ways_to_name_a_preset_give_one_config():
    name = "slots8192_scale40_depth7_int64"
    sources = [DEFAULT_PRESET, name, {"preset": name}, DEFAULT.to_mapping(), DEFAULT]
    sources.append({"depth": 7, "scale_bits": 40})
    sources.append({"depth": 7, "scale_bits": 40, "N": 16384, "security": "128"})
    assert all(CkksConfig.parse(source) == DEFAULT for source in sources)
    assert CkksConfig.parse(DEFAULT) is DEFAULT


@quiet
@pytest.mark.parametrize("preset", Preset)
def test_mappings_survive_json(preset):
    for config in (
        CkksConfig.parse(preset),
        CkksConfig.parse(preset, N=2048, allow_insecure=True, alpha=1),
    ):
        again = CkksConfig.parse(json.loads(json.dumps(config.to_mapping())))
        assert again == config
        assert again.context_id == config.context_id
        assert again.default_scale == config.default_scale


def test_overrides():
    assert CkksConfig.parse(DEFAULT_PRESET, depth=5).max_depth == 5
    assert CkksConfig.parse(DEFAULT_PRESET, dnum=8).alpha == 1
    assert CkksConfig.parse(DEFAULT_PRESET, slots=100).N == 16384
    assert CkksConfig.parse({"preset": DEFAULT_PRESET, "depth": 6}, depth=4).max_depth == 4
    wide = CkksConfig.parse(DEFAULT_PRESET, N=32768, security="256", depth=7)
    assert (wide.num_slots, wide.security, wide.log2_qp_limit) == (16384, "256", 462)
    assert CkksConfig.parse(DEFAULT, alpha=1) == changed(alpha=1)
    with pytest.raises(InsecureParametersError, match="466 and the limit for N=16384 is 430"):
        CkksConfig.parse(DEFAULT_PRESET, depth=9)
    with pytest.raises(InsecureParametersError, match="is 297"):
        CkksConfig.parse(DEFAULT_PRESET, security="192")


@pytest.mark.parametrize(
    ("source", "overrides", "parts"),
    [
        ("slots8192_scale40_depth8_int64", {}, ["slots8192_scale40_depth7_int64", "Did you mean"]),
        ("tiny", {}, [*Preset, "create"]),
        (DEFAULT_PRESET, {"deph": 3}, ["'deph'", "depth", "scale_bits", "dnum", "security"]),
        (DEFAULT_PRESET, {"rng_seed": 3}, ["'rng_seed'"]),
        (DEFAULT, {"dnum": 3}, ["'dnum'", "q_primes", "alpha", "CkksConfig.create"]),
        ({"depth": 3}, {}, ["scale_bits"]),
        ({}, {}, ["no entry", "depth and scale_bits"]),
        ({"depth": 3, "scale_bits": 30, "seed": 1}, {}, ["'seed'"]),
        ({"q_primes": [97]}, {}, ["N, p_primes, alpha, default_scale"]),
        ({**FIELDS, "seed": 1}, {}, ["'seed'", "q_primes"]),
        ({"preset": 3}, {}, ["preset 3 is unknown"]),
        (16384, {}, ["int", "Preset"]),
        (None, {}, ["NoneType"]),
        ([1], {}, ["list"]),
    ],
)
def test_unknown_names_list_what_exists(source, overrides, parts):
    with pytest.raises(ParameterError) as caught:
        CkksConfig.parse(source, **overrides)
    text = str(caught.value)
    assert text.startswith("CkksConfig.parse: ")
    for part in parts:
        assert str(part) in text


def test_create_finds_the_smallest_secure_ring():
    for depth, scale_bits in [(0, 20), (1, 20), (1, 30), (2, 40), (7, 40), (8, 40), (20, 40)]:
        config = CkksConfig.create(depth=depth, scale_bits=scale_bits)
        assert not config.insecure
        assert config.max_depth == depth
        if config.N > 1024:
            with pytest.raises(InsecureParametersError):
                CkksConfig.create(depth=depth, scale_bits=scale_bits, N=config.N // 2)
    assert CkksConfig.create(depth=7, scale_bits=40) == DEFAULT
    assert CkksConfig.create(depth=1, scale_bits=20).N == 4096


def test_create_takes_a_ring_with_enough_slots():
    assert CkksConfig.create(depth=1, scale_bits=30, slots=8192).num_slots == 8192
    assert CkksConfig.create(depth=1, scale_bits=30, slots=8193).num_slots == 16384
    assert CkksConfig.create(depth=7, scale_bits=40, slots=3).num_slots == 8192


def test_more_headroom_on_request():
    config = CkksConfig.create(depth=3, scale_bits=40, base_bits=58)
    assert math.log2(config.modulus(3) / config.scale_at(3)) == pytest.approx(18, abs=0.01)


def test_the_base_grows_with_a_canonical_scale_that_grows():
    config = CkksConfig.create(depth=15, scale_bits=25)
    last = config.scale_at(15)
    assert last > config.default_scale * 2**0.1
    assert 9.9 <= math.log2(config.modulus(15) / last) < 11
    with pytest.raises(ParameterError, match=r"base modulus is 2\^35.00"):
        CkksConfig.create(depth=15, scale_bits=25, base_bits=35)


def test_rare_primes_still_give_a_large_enough_p():
    # The special primes of this job have 25 bits, where primes 1 (mod 2^17) are far apart.
    config = CkksConfig.create(depth=11, scale_bits=35, alpha=1, security="256")
    assert (config.N, len(config.p_primes)) == (65536, 2)
    assert 5.9 <= math.log2(config.special_modulus / max(config.q_primes)) < 6.2


@settings(max_examples=200, deadline=None)
@given(
    st.integers(0, 30),
    st.integers(30, 52),
    st.sampled_from(["128", "192", "256", "pq128"]),
    st.data(),
)
def test_whatever_create_finds_obeys_every_rule(depth, scale_bits, security, data):
    alpha = data.draw(st.one_of(st.none(), st.integers(1, min(depth + 1, 16))))
    try:
        config = CkksConfig.create(
            depth=depth, scale_bits=scale_bits, security=security, alpha=alpha
        )
    except InsecureParametersError:
        assume(False)
        raise
    assert config.max_depth == depth
    assert alpha in (None, config.alpha)
    limit = max_log2_qp(config.N, security)
    assert limit is not None
    assert math.prod(config.primes) < 1 << limit
    largest = max(math.prod(config.q_primes[a:b]) for a, b in config.digits())
    assert config.special_modulus**10 >= 2**59 * largest**10
    assert all(q % (2 * config.N) == 1 for q in config.primes)


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 60),
    st.integers(18, 29),
    st.sampled_from(["128", "192", "256", "pq128"]),
    st.one_of(st.none(), st.integers(1, 16)),
)
def test_whatever_create_finds_for_int32_fits_the_type(depth, scale_bits, security, alpha):
    config, refusal = None, ""
    try:
        config = CkksConfig.create(
            depth=depth,
            scale_bits=scale_bits,
            security=security,
            alpha=alpha if alpha is None else min(alpha, depth + 2),
            dtype_name="int32",
        )
    except ParameterError as error:
        refusal = str(error)
    if config is None:  # too few primes, or beyond the table: never a broken config
        reasons = r"no unused prime|depth \d+ at scale|the canonical scale"
        assert re.match(rf"CkksConfig(\.create)?: ({reasons})", refusal)
        assume(False)
        return
    assert (config.max_depth, config.num_base_primes, config.dtype) == (depth, 2, torch.int32)
    assert max(config.primes) < 1 << 31
    assert max(config.alpha, len(config.p_primes)) <= 16
    limit = max_log2_qp(config.N, security)
    assert limit is not None
    assert math.prod(config.primes) < 1 << limit
    largest = max(math.prod(config.q_primes[a:b]) for a, b in config.digits())
    assert config.special_modulus**10 >= 2**59 * largest**10
    scales = [config.scale_at(d) for d in range(depth + 1)]
    assert config.modulus(depth) >= 2**9.9 * max(scales[0], scales[-1])


def test_int32_by_name_and_by_preset():
    config = CkksConfig.create(depth=12, scale_bits=25, dtype_name="int32")
    assert config == CkksConfig.parse("slots8192_scale25_depth12_int32")
    assert CkksConfig.parse(config.to_mapping()) == config
    assert CkksConfig.parse({"depth": 12, "scale_bits": 25, "dtype_name": "int32"}) == config
    wide = CkksConfig.parse("slots8192_scale25_depth12_int32", dtype_name="int64")
    assert (wide.dtype, wide.num_base_primes, wide.max_depth) == (torch.int64, 1, 12)
    assert wide.context_id != config.context_id
    assert CkksConfig.parse("slots16384_scale25_depth28_int32", alpha=2).dnum == 15
    roomy = CkksConfig.create(depth=3, scale_bits=25, dtype_name="int32", base_bits=60)
    assert math.log2(roomy.modulus(3)) == pytest.approx(60, abs=0.01)


def test_a_digit_of_more_primes_than_a_conversion_takes_is_never_chosen():
    config = CkksConfig.create(depth=27, scale_bits=30, N=1 << 16)
    assert config.alpha == 14  # all 28 rows in one digit would need fewer transforms
    fields = config.to_mapping()
    special = [largest_prime_below(1 << 55, config.N)]
    while math.prod(special) < 2**6 * math.prod(config.q_primes):
        special.append(largest_prime_below(special[-1], config.N))
    for change in ({"alpha": 17}, {"alpha": 28}):
        with pytest.raises(ParameterError, match=r"alpha is \d+. A digit and P have at most 16"):
            CkksConfig(**{**fields, "p_primes": special, **change})
    while len(special) < 17:
        special.append(largest_prime_below(special[-1], config.N))
    with pytest.raises(ParameterError, match="number of special primes is 17"):
        CkksConfig(**{**fields, "p_primes": special, "allow_insecure": True})


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"depth": 254}, ["depth is 254", "0 to 253"]),
        ({"scale_bits": 30}, ["scale_bits is 30", "1 to 29"]),
        ({"base_bits": 34}, ["base_bits is 34", "35 to 62"]),
        ({"base_bits": 63}, ["base_bits is 63", "35 to 62"]),
        ({"alpha": 17}, ["alpha is 17", "1 to 14"]),
        ({"depth": 40, "alpha": 17}, ["alpha is 17", "1 to 16"]),
        ({"depth": 40, "dnum": 2}, ["dnum is 2", "3 to 42"]),
        ({"dnum": 8}, ["dnum is 8", "14 Q primes", "1, 2, 3, 4, 5, 7, 14"]),
        ({"dtype_name": "int16"}, ["dtype_name is 'int16'", "'int64', 'int32'"]),
    ],
)
def test_create_refuses_what_int32_does_not_hold(change, parts):
    with pytest.raises(ParameterError) as caught:
        CkksConfig.create(**{"depth": 12, "scale_bits": 25, "dtype_name": "int32", **change})
    text = str(caught.value)
    assert text.startswith("CkksConfig.create: ")
    for part in parts:
        assert part in text


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"depth": -1}, ["depth is -1", "0 to 254"]),
        ({"depth": 2.0}, ["depth is 2.0", "float"]),
        ({"depth": 300}, ["depth is 300"]),
        ({"scale_bits": 53}, ["scale_bits is 53", "1 to 52"]),
        ({"scale_bits": 0}, ["scale_bits is 0"]),
        ({"base_bits": 45}, ["base_bits is 45", "50 to 62"]),
        ({"slots": 0}, ["slots is 0"]),
        ({"slots": 1 << 20}, ["slots is 1048576"]),
        ({"slots": 9000, "N": 16384}, ["slots is 9000 and N is 16384", "8192"]),
        ({"N": 1000}, ["N is 1000", "power of two"]),
        ({"alpha": 9}, ["alpha is 9", "1 to 8"]),
        ({"dnum": 5}, ["dnum is 5", "8 Q primes", "1, 2, 3, 4, 8"]),
        ({"dnum": 4, "alpha": 3}, ["dnum is 4 and alpha is 3"]),
        ({"security": 128}, ["128", "security='128'"]),
    ],
)
def test_create_refuses_what_is_out_of_range(change, parts):
    with pytest.raises(ParameterError) as caught:
        CkksConfig.create(**{"depth": 7, "scale_bits": 40, **change})
    text = str(caught.value)
    assert text.startswith("CkksConfig.create: ")
    for part in parts:
        assert part in text


def test_create_says_what_a_job_too_large_needs():
    with pytest.raises(InsecureParametersError) as caught:
        CkksConfig.create(depth=100, scale_bits=40)
    text = str(caught.value)
    assert "depth 100 at scale 2^40 needs a log2(QP) of about 4106" in text
    assert "the limit for N=131072 is 3523" in text
    assert "less depth" in text
    with pytest.raises(ParameterError, match=r"no unused prime.*262144"):
        CkksConfig.create(depth=3, scale_bits=16, N=1 << 17)


def test_describe_says_what_matters_before_anything_is_allocated():
    text = DEFAULT.describe()
    for part in (
        "N = 16384, 8192 slots, int64",
        "2^40.00, depth 0 to 7",
        "8 primes, 330.0 bits: 7 x 40.0, 50.0",
        "2 special primes, 96.0 bits: 2 x 48.0",
        "426.0 of 430 at security '128' (classical attacks, MATZOV cost model), margin 4.0 bits",
        "alpha 2, dnum 4",
        "base 2^10.0 times the scale, P 2^6.0 times the largest digit",
        "2.0 MiB (2097152 bytes) at depth 0",
        "10.0 MiB (10485760 bytes)",
        "150.0 MiB (157286400 bytes): 15 keys, 13 rotations",
        DEFAULT.context_id,
    ):
        assert part in text
    assert max(map(len, text.splitlines())) <= 120
    assert repr(DEFAULT) == (
        "CkksConfig(N=16384, slots=8192, depth=7, scale=2^40.00, log2_qp=426.0/430, security='128')"
    )
