"""The rules that the constructor holds to, one refusal after the other, and the security row."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import sympy

from fhelium.config import DEFAULT_PRESET, CkksConfig
from fhelium.config.primes import largest_prime_below
from fhelium.errors import InsecureParametersError, InsecureWarning, ParameterError

quiet = pytest.mark.filterwarnings("ignore::fhelium.errors.InsecureWarning")
DEFAULT = CkksConfig.parse(DEFAULT_PRESET)
FIELDS = DEFAULT.to_mapping()


def changed(**changes):
    return CkksConfig(**{**FIELDS, **changes})


def refused(*parts, kind=ParameterError, **changes):
    with pytest.raises(kind) as caught:
        changed(**changes)
    text = str(caught.value)
    assert text.startswith("CkksConfig: ")
    assert caught.value.fact
    assert caught.value.rule
    assert caught.value.remedy
    for part in parts:
        assert str(part) in text, f"{part!r} is not in: {text}"
    return caught.value


# --- rules -----------------------------------------------------------------------------------


def test_the_fields_of_a_preset_pass_the_constructor():
    assert changed() == DEFAULT
    assert changed(q_primes=np.array(FIELDS["q_primes"]), N=np.int64(16384)) == DEFAULT
    assert type(changed(N=np.int64(16384)).N) is int


@pytest.mark.parametrize("N", [0, -16, 1, 2, 8, 12288, 1 << 18])
def test_degree_is_a_power_of_two_in_range(N):
    refused(f"N is {N}", "power of two", N=N)


@pytest.mark.parametrize("name", ["N", "alpha", "num_base_primes"])
@pytest.mark.parametrize("value", [True, 2.0, "2", None, 1 << 100, [2]])
def test_integers_are_integers(name, value):
    refused(name, type(value).__name__, **{name: value})


def test_numbers_too_long_to_print_are_refused_all_the_same():
    for name in ("N", "alpha", "default_scale"):
        refused("a huge number", **{name: 10**5000})


def test_primes_are_sequences_of_integers():
    refused("q_primes is a int", q_primes=97)
    refused("p_primes is a str", p_primes="97")
    refused("q_primes[1]", "float", q_primes=[97, 2.5])


def test_both_kinds_of_primes_exist_and_are_not_too_many():
    refused("0 Q primes and 2 special", q_primes=[])
    refused("8 Q primes and 0 special", p_primes=[])
    refused("at most 256", q_primes=[97] * 255)


@pytest.mark.parametrize("prime", [0, 1, 2, -97, (1 << 62) + 1, 1 << 63])
def test_primes_are_in_range(prime):
    refused(f"is {prime}", "2^62", p_primes=[FIELDS["p_primes"][0], prime])


def test_primes_are_one_modulo_2n():
    refused("which is 97 (mod 32768)", "prime 0", q_primes=[97, *FIELDS["q_primes"][1:]])
    half = next(n for n in range((1 << 40) + 16385, 1 << 41, 32768) if sympy.isprime(n))
    refused("which is 16385 (mod 32768)", q_primes=[half, *FIELDS["q_primes"][1:]])
    even = FIELDS["q_primes"][0] - 1
    refused("which is 0 (mod 32768)", q_primes=[even, *FIELDS["q_primes"][1:]])


def test_primes_are_distinct_also_between_q_and_p():
    q, p = FIELDS["q_primes"], FIELDS["p_primes"]
    refused("prime 1", "and so is prime 0", q_primes=[q[0], q[0], *q[2:]])
    refused("prime 9", "and so is prime 7", p_primes=[p[0], q[7]])


def test_moduli_are_prime():
    composite = next(n for n in range((1 << 40) + 1, 1 << 41, 32768) if n not in FIELDS["q_primes"])
    refused("composite", composite, q_primes=[composite, *FIELDS["q_primes"][1:]])


@pytest.mark.parametrize("alpha", [0, -1, 9])
def test_alpha_is_within_the_chain(alpha):
    refused(f"alpha is {alpha} and there are 8 Q primes", "from 1 to 8", alpha=alpha)


@pytest.mark.parametrize("count", [0, 9])
def test_base_primes_are_within_the_chain(count):
    refused(f"num_base_primes is {count}", "from 1 to 8", num_base_primes=count)


@pytest.mark.parametrize("scale", [0.5, 0.0, -1.0, math.inf, -math.inf, math.nan])
def test_scale_is_finite_and_at_least_one(scale):
    refused(f"default_scale is {scale}", default_scale=scale)


@pytest.mark.parametrize("scale", ["big", None, True, 1j, 10**400])
def test_scale_is_a_real_number(scale):
    refused("default_scale is", "float64", default_scale=scale)


def test_headroom_of_the_base():
    # The base is 2^50 less a little, so the scale may be up to 2^40.1 less a little.
    refused("2^50.00", "2^40.11", "2^9.9", default_scale=2.0**40.11)
    one = {"q_primes": FIELDS["q_primes"][-1:], "alpha": 1}
    assert changed(**one, default_scale=2.0**40.09).max_depth == 0
    refused("2^40.11", "depth 0", **one, default_scale=2.0**40.11)


def test_special_modulus_carries_the_largest_digit():
    p = FIELDS["p_primes"]
    refused("P is 2^48.00", "2^90.00", "alpha 2", "2^5.9", p_primes=p[:1])
    refused("2^120.00", "2^96.00", "alpha 3", alpha=3)
    assert changed(alpha=1).dnum == 8


def test_the_margin_of_p_is_five_point_nine_bits():
    def special(bits):
        return [largest_prime_below(int(2.0**bits), 16384)]

    base = largest_prime_below(1 << 50, 16384)
    one = {"q_primes": [base], "alpha": 1}
    assert changed(**one, p_primes=special(55.91)).dnum == 1
    refused("2^55.89", p_primes=special(55.89), **one)


def test_scales_that_drift_away_are_refused():
    for bound, drift in ((1 << 39, "+1.00"), (1 << 42, "-2.00")):
        chain = [largest_prime_below(bound, 16384)]
        for _ in range(6):
            chain.append(largest_prime_below(chain[-1], 16384))
        error = refused(
            "depth 1",
            f"2^{drift} times",
            "2^40.00",
            q_primes=[*chain, FIELDS["q_primes"][-1]],
            p_primes=[largest_prime_below(1 << 60, 16384), largest_prime_below(1 << 59, 16384)],
        )
        assert error.depth == 1
        assert error.drift_bits == pytest.approx(float(drift), abs=1e-3)


def test_a_large_secret_or_noise_or_dtype_has_one_value():
    refused("'sparse'", "'ternary'", secret="sparse")
    refused("3.2", "3.19", sigma=3.2)
    refused("'int16'", "'int64'", dtype_name="int16")
    refused("'127'", "'pq128'", security="127")
    refused("allow_insecure", "True or False", allow_insecure=1)


def test_positional_arguments_and_unknown_fields_are_errors():
    with pytest.raises(TypeError):
        CkksConfig(16384)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        changed(seed=3)


# --- security --------------------------------------------------------------------------------


def test_exceeding_the_row_is_an_error_with_both_values():
    extra = largest_prime_below(1 << 40, 16384, set(DEFAULT.primes))
    error = refused(
        "log2(QP) is 466.0",
        "limit is 430",
        "N=16384",
        "'128'",
        kind=InsecureParametersError,
        q_primes=[*FIELDS["q_primes"][:-1], extra, FIELDS["q_primes"][-1]],
        alpha=1,
    )
    assert error.log2_qp_limit == 430
    assert error.log2_qp == pytest.approx(466, abs=0.01)
    error = refused("limit is 297", kind=InsecureParametersError, security="192")
    assert isinstance(error, ParameterError)
    refused("limit is 322", "'pq128'", kind=InsecureParametersError, security="pq128")


def test_an_insecure_ring_is_asked_for_by_name_and_warns_where_it_was_asked():
    with pytest.raises(InsecureParametersError, match="no row for N=512"):
        CkksConfig.create(depth=3, scale_bits=30, N=512)
    makers = [
        lambda: CkksConfig.create(depth=3, scale_bits=30, N=512, allow_insecure=True),
        lambda: CkksConfig.parse(DEFAULT_PRESET, N=512, allow_insecure=True),
        lambda: changed(N=512, allow_insecure=True),
        lambda: CkksConfig.parse(DEFAULT, N=512, allow_insecure=True),
    ]
    for make in makers:
        with pytest.warns(InsecureWarning, match="no row for N=512") as caught:
            config = make()
        assert len(caught) == 1
        assert caught[0].filename == __file__
        assert config.insecure
        assert config.log2_qp_limit is None
        assert "INSECURE" in repr(config)
        assert "INSECURE" in config.describe()


def test_allow_insecure_does_not_make_a_secure_ring_insecure():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        config = CkksConfig.parse(DEFAULT_PRESET, allow_insecure=True)
    assert not config.insecure
    assert config.q_primes == DEFAULT.q_primes
    assert "INSECURE" not in repr(config)


@quiet
@pytest.mark.parametrize("log_degree", range(4, 13))
def test_every_other_rule_holds_for_insecure_rings(log_degree):
    config = CkksConfig.create(depth=3, scale_bits=30, N=1 << log_degree, allow_insecure=True)
    assert (config.N, config.max_depth, config.alpha, config.dnum) == (1 << log_degree, 3, 2, 2)
    fields = config.to_mapping()
    for change in ({"p_primes": fields["p_primes"][:1]}, {"default_scale": 2.0**31}, {"alpha": 4}):
        with pytest.raises(ParameterError):
            CkksConfig(**{**fields, **change})
