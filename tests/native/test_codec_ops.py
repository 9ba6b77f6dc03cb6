"""Between doubles and residues, against Python integers."""

import functools
import math
import random
from fractions import Fraction

import flint
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

OPS = torch.ops.fhelium_rns_ops
LARGEST = float.fromhex("0x1.fffffffffffffp1023")


@functools.cache
def primes_below(bound, count):
    found = []
    while len(found) < count:
        bound -= 1
        if flint.fmpz(bound).is_prime():
            found.append(bound)
    return tuple(found)


BASES = {
    "one tiny": (3,),
    "one largest": primes_below(2**62, 1),
    "tiny and largest": (3, primes_below(2**62, 1)[0], 5, primes_below(2**61, 1)[0], 7),
    "both Montgomery radices": primes_below(2**50, 2) + primes_below(2**50 + 2**40, 2),
    "eight of 45 bits": primes_below(2**45, 8),
    "nine": primes_below(2**62, 9),
    "ten, ascending": primes_below(2**62, 10)[::-1],
    "seventeen": primes_below(2**60, 9) + primes_below(2**30, 8),
    "int32, tiny and largest": (3, 2**31 - 1, 5, 7),
    "int32, thirty of 25 bits": primes_below(2**25, 30),
    "int32, nine largest": primes_below(2**31, 9)[::-1],
}
"""Sizes on both sides of the words and of the sums that the kernels fold."""
NARROW = {primes for name, primes in BASES.items() if "int32" in name}


def dtype_of(primes):
    """The residue type under which a basis is tested."""
    return torch.int32 if tuple(primes) in NARROW else torch.int64


def parameters(primes, degree=2):
    return OPS.rns_parameters(torch.tensor(primes, dtype=dtype_of(primes)), degree)


def residues_of(integers, primes):
    rows = [[x % q for x in integers] for q in primes]
    return torch.tensor(rows, dtype=dtype_of(primes))


def rounded(values, scale, primes):
    """Call the operator for the residue type of a basis."""
    return OPS.round_to_residues(values, scale, parameters(primes), dtype_of(primes))


def to_float(x):
    """The nearest double, ties to even; infinity beyond the doubles."""
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def bits(tensor):
    return tensor.view(torch.int64)


# --- residues_to_real ----------------------------------------------------------------------------


def crafted(modulus):
    """Centred integers where a comparison, a carry or a rounding is decided by the last bit."""
    half = (modulus - 1) // 2
    found = {0, 1, 2, half, half - 1, half // 2, modulus // 3, modulus // 4}
    for power in range(modulus.bit_length()):
        found |= {2**power - 1, 2**power, 2**power + 1}
        # 54 significant bits: halfway between doubles, and one beside it. Even and odd mantissa.
        for mantissa in (2**53 + 1, 2**53 + 3, 2**54 - 1, 2**54 - 3):
            tie = mantissa << power
            found |= {tie - 1, tie, tie + 1}
    return [sign * x for x in sorted(found) if x <= half for sign in (1, -1)]


@pytest.mark.parametrize("name", BASES)
def test_crafted_integers_give_the_nearest_double(name):
    primes = BASES[name]
    integers = crafted(math.prod(primes))
    found = OPS.residues_to_real(residues_of(integers, primes), parameters(primes))
    assert found.dtype == torch.float64
    assert found.tolist() == [to_float(x) for x in integers]


@pytest.mark.parametrize("name", BASES)
def test_random_integers_of_every_size(name):
    primes = BASES[name]
    generator = random.Random(name)
    half = (math.prod(primes) - 1) // 2
    integers = []
    for _ in range(500):
        bound = min(half, 2 ** generator.randint(1, half.bit_length()))
        integers.append(generator.randint(-bound, bound))
    found = OPS.residues_to_real(residues_of(integers, primes), parameters(primes))
    assert found.tolist() == [to_float(x) for x in integers]


@pytest.mark.parametrize("name", [name for name, primes in BASES.items() if len(primes) > 1])
def test_small_integers_and_the_first_larger_ones(name):
    """The last two moduli alone name integers up to half their product; one more is larger."""
    primes = BASES[name]
    half, whole = math.prod(primes[-2:]) // 2, math.prod(primes) // 2
    generator = random.Random(name)
    sizes = [generator.randrange(1, half.bit_length() + 1) for _ in range(200)]
    small = [min(half, generator.randrange(2**size)) for size in sizes]
    small += [0, 1, half, half - 1, primes[-1] // 2, primes[-1] // 2 + 1, primes[-1]]
    small += [sign * x for x in small for sign in (1, -1)]
    for x in (None, half + 1, -half - 1, half + primes[-1], whole, -whole):
        integers = small if x is None else [*small[:100], x, *small[100:]]
        integers = [y for y in integers if abs(y) <= whole]
        found = OPS.residues_to_real(residues_of(integers, primes), parameters(primes))
        assert found.tolist() == [to_float(y) for y in integers]


def test_all_residues_of_a_small_basis():
    primes = (3, 5, 7)
    integers = list(range(-52, 53))
    found = OPS.residues_to_real(residues_of(integers, primes), parameters(primes))
    assert found.tolist() == [float(x) for x in integers]


def test_the_largest_basis():
    primes = primes_below(2**62, 128)
    modulus = math.prod(primes)
    half = modulus // 2
    generator = random.Random(1)
    integers = [half, -half, half - 1, 1 - half, 2**1024, -(2**1024), 2**1024 - 2**970]
    integers += [int(LARGEST), int(LARGEST) + 2**969, int(LARGEST) + 2**970 - 1, 0, -1]
    integers += [2**1000 + 2**947, 2**1000 + 2**947 + 1, 2**1000 + 2**947 - 1, -(2**1000) - 1]
    integers += [generator.randint(-(2**1023), 2**1023) for _ in range(100)]
    for power in range(1025, half.bit_length(), 61):
        integers += [generator.randint(2**power, 2 ** (power + 1)) * (-1) ** power]
    integers = [x for x in integers if abs(x) <= half]
    found = OPS.residues_to_real(residues_of(integers, primes), parameters(primes)).tolist()
    assert found == [to_float(x) for x in integers]
    assert math.inf in found
    assert -math.inf in found
    assert LARGEST in found


@settings(deadline=None, max_examples=200)
@given(data=st.data())
def test_any_integer_of_any_basis(data):
    primes = BASES[data.draw(st.sampled_from(sorted(BASES)))]
    half = (math.prod(primes) - 1) // 2
    near = st.integers(0, 3)
    size = st.one_of(st.integers(0, half), near.map(lambda d: max(0, half - d)), near)
    x = min(half, data.draw(size)) * data.draw(st.sampled_from([1, -1]))
    found = OPS.residues_to_real(residues_of([x], primes), parameters(primes))
    assert found.item() == to_float(x)


def test_order_of_the_limbs_does_not_matter():
    primes = BASES["seventeen"]
    integers = crafted(math.prod(primes))[::7]
    residues, order = residues_of(integers, primes), torch.randperm(len(primes))
    found = OPS.residues_to_real(residues, parameters(primes))
    shuffled = [primes[i] for i in order]
    assert torch.equal(OPS.residues_to_real(residues[order], parameters(shuffled)), found)


def random_residues(primes, *batch, degree, seed):
    generator = torch.Generator().manual_seed(seed)
    rows = [torch.randint(0, q, (*batch, degree), generator=generator) for q in primes]
    return torch.stack(rows, dim=-2).to(dtype_of(primes))


@pytest.mark.parametrize("name", ["eight of 45 bits", "int32, thirty of 25 bits"])
@pytest.mark.parametrize("degree", [1, 2, 63, 64, 65, 128, 1000])
def test_batches_blocks_and_views_of_residues(name, degree):
    primes = BASES[name]
    limbs = len(primes)
    params = parameters(primes)
    residues = random_residues(primes, 2, 3, degree=degree, seed=degree)
    before = residues.clone()
    found = OPS.residues_to_real(residues, params)
    assert found.shape == (2, 3, degree)
    alone = [OPS.residues_to_real(row, params) for row in residues.flatten(0, 1)]
    assert torch.equal(found.flatten(0, 1), torch.stack(alone))
    assert torch.equal(residues, before)
    turned = residues.permute(3, 2, 0, 1).contiguous().permute(2, 3, 1, 0)
    room = torch.zeros(2, 3, 3 + limbs, 2 * degree + 1, dtype=residues.dtype)
    spaced = room[:, :, 3:, 1::2]
    spaced.copy_(residues)
    repeated = residues[:1].expand(4, 3, limbs, degree)
    assert torch.equal(OPS.residues_to_real(turned, params), found)
    assert torch.equal(OPS.residues_to_real(spaced, params), found)
    assert torch.equal(OPS.residues_to_real(spaced, params.T.contiguous().T), found)
    assert torch.equal(OPS.residues_to_real(repeated, params), found[:1].expand(4, 3, degree))


# --- round_to_residues ---------------------------------------------------------------------------


def expected_residues(values, scale, primes):
    """Python multiplies in double and its round is to nearest, ties to even."""
    return residues_of([round(x * scale) for x in values], primes)


def crafted_values():
    values = {0.0, 0.5, 1.5, 2.5, 0.49999999999999994, 1.0, 5e-324, 1e-300, 0.1}
    for power in (1, 20, 49, 50, 51, 52, 53, 54, 61, 62, 63, 64, 65, 100, 500, 971, 1022):
        whole = 2.0**power
        values |= {whole, math.nextafter(whole, 0), math.nextafter(whole, math.inf)}
        values |= {whole + 0.5, whole + 1.5, whole - 0.5, whole * 1.7}
    values |= {LARGEST, LARGEST / 3, 2.0**1023}
    return [sign * x for x in sorted(values) for sign in (1.0, -1.0)]


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("scale", [1.0, 0.5, 0.3, 1e-300])
def test_crafted_values(name, scale):
    primes = BASES[name]
    values = crafted_values()
    found = rounded(torch.tensor(values, dtype=torch.float64), scale, primes)
    assert found.dtype == dtype_of(primes)
    assert torch.equal(found, expected_residues(values, scale, primes))


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("scale", [2.0**40, 1.1 * 2.0**40, 2.0**90, 1.3 * 2.0**300])
def test_random_values_at_a_scale(name, scale):
    primes = BASES[name]
    generator = random.Random(name)
    values = [generator.uniform(-1, 1) * 2.0 ** generator.randint(-60, 10) for _ in range(300)]
    found = rounded(torch.tensor(values, dtype=torch.float64), scale, primes)
    assert torch.equal(found, expected_residues(values, scale, primes))


def test_the_product_is_rounded_to_a_double_before_it_is_rounded_to_an_integer():
    # The double 0.1 lies above a tenth: 25 * 0.1 is above 2.5 in the reals and 2.5 as a double.
    values = torch.tensor([5.0, 25.0, -25.0, 45.0, -5.0], dtype=torch.float64)
    assert Fraction(25.0) * Fraction(0.1) > Fraction(5, 2)
    found = OPS.round_to_residues(values, 0.1, parameters((97,)))
    assert found[0].tolist() == [0, 2, 97 - 2, 4, 0]


@pytest.mark.parametrize("power", [0, 51, 52, 53, 62, 63, 64, 1023])
def test_values_at_a_border_alone(power):
    """The path is chosen for a whole polynomial, so each value decides by itself here."""
    primes, whole = BASES["both Montgomery radices"], 2.0**power
    for x in (whole, math.nextafter(whole, 0), math.nextafter(whole, math.inf)):
        for value in (x, -x):
            tensor = torch.tensor([value], dtype=torch.float64)
            found = OPS.round_to_residues(tensor, 1.0, parameters(primes))
            assert torch.equal(found, expected_residues([value], 1.0, primes))


@pytest.mark.parametrize("position", [0, 5, 199])
def test_one_large_coefficient_among_small_ones(position):
    primes = BASES["both Montgomery radices"]
    values = [float(k - 100) for k in range(200)]
    values[position] = -1.7 * 2.0**200
    found = OPS.round_to_residues(
        torch.tensor(values, dtype=torch.float64), 1.0, parameters(primes)
    )
    assert torch.equal(found, expected_residues(values, 1.0, primes))


@settings(deadline=None, max_examples=200)
@given(
    value=st.floats(allow_nan=False, allow_infinity=False),
    scale=st.floats(min_value=5e-324, allow_nan=False, allow_infinity=False),
)
def test_any_value_at_any_scale(value, scale):
    primes = BASES["tiny and largest"]
    tensor = torch.tensor([value], dtype=torch.float64)
    if math.isinf(value * scale):
        with pytest.raises(RuntimeError, match=r"values\[0\] times the scale is not finite"):
            OPS.round_to_residues(tensor, scale, parameters(primes))
    else:
        found = OPS.round_to_residues(tensor, scale, parameters(primes))
        assert torch.equal(found, expected_residues([value], scale, primes))


@pytest.mark.parametrize("name", ["eight of 45 bits", "int32, thirty of 25 bits"])
@pytest.mark.parametrize("power", [0, 40, 100, 250])
def test_a_round_trip_is_exact(name, power):
    primes = BASES[name]
    generator = torch.Generator().manual_seed(power)
    values = torch.randn(3, 100, generator=generator, dtype=torch.float64)
    params, scale = parameters(primes), 2.0**power
    residues = rounded(values, scale, primes)
    assert torch.equal(OPS.residues_to_real(residues, params), torch.round(values * scale))


@pytest.mark.parametrize("degree", [1, 2, 63, 1000])
@pytest.mark.parametrize("scale", [2.0**40, 2.0**70])
@pytest.mark.parametrize("name", ["nine", "int32, nine largest"])
def test_batches_and_views_of_values(name, degree, scale):
    primes = BASES[name]
    generator = torch.Generator().manual_seed(degree)
    values = torch.randn(2, 3, degree, generator=generator, dtype=torch.float64)
    before = values.clone()
    found = rounded(values, scale, primes)
    assert found.shape == (2, 3, len(primes), degree)
    assert found.is_contiguous()
    for i in range(2):
        for j in range(3):
            assert torch.equal(found[i, j], expected_residues(values[i, j].tolist(), scale, primes))
    assert torch.equal(bits(values), bits(before))
    turned = values.permute(2, 0, 1).contiguous().permute(1, 2, 0)
    assert torch.equal(rounded(turned, scale, primes), found)
    repeated = values[:1].expand(2, 3, degree)
    assert torch.equal(rounded(repeated, scale, primes)[1], found[0])


@pytest.mark.parametrize("name", ["eight of 45 bits", "int32, thirty of 25 bits"])
def test_threads_change_no_bit(name):
    primes = BASES[name]
    params = parameters(primes)
    values = torch.randn(5, 4096, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    residues = random_residues(primes, 5, degree=4096, seed=2)
    threads = torch.get_num_threads()
    results = []
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            whole = [rounded(values, 2.0**p, primes) for p in (40, 80)]
            results.append([*whole, OPS.residues_to_real(residues, params)])
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e300])
@pytest.mark.parametrize("index", [(0, 0), (0, 4095), (2, 17)])
def test_values_that_are_not_finite_are_named(bad, index):
    values = torch.full((3, 4096), 0.43210987, dtype=torch.float64)
    values[index] = bad
    values[2, 4000] = math.nan
    message = rf"round_to_residues: values\[{index[0]}, {index[1]}\] times the scale is not finite"
    with pytest.raises(RuntimeError, match=message) as info:
        OPS.round_to_residues(values, 1e20, parameters((97, 193)))
    assert "43210" not in str(info.value)


@pytest.mark.parametrize("scale", [0.0, -1.0, math.nan, math.inf])
def test_scales(scale):
    with pytest.raises(RuntimeError, match=r"round_to_residues: the scale is .*finite and above 0"):
        OPS.round_to_residues(torch.zeros(2, dtype=torch.float64), scale, parameters((97,)))


def test_shapes_and_types():
    params = parameters((97, 193))
    double = torch.float64
    with pytest.raises(RuntimeError, match=r"values has shape \[\]"):
        OPS.round_to_residues(torch.zeros((), dtype=double), 1.0, params)
    with pytest.raises(RuntimeError, match="values holds float32, needed is float64"):
        OPS.round_to_residues(torch.zeros(2), 1.0, params)
    with pytest.raises(RuntimeError, match="rns_params has shape"):
        OPS.round_to_residues(torch.zeros(2, dtype=double), 1.0, params[0])
    with pytest.raises(RuntimeError, match="rns_params has shape"):
        OPS.round_to_residues(torch.zeros(2, dtype=double), 1.0, params[:5])
    wrong = params.clone()
    wrong[0, 1] = 194
    with pytest.raises(RuntimeError, match="column 1 of rns_params is not a parameter column"):
        OPS.round_to_residues(torch.zeros(2, dtype=double), 1.0, wrong)
    with pytest.raises(RuntimeError, match="input holds float64, needed is int32 or int64"):
        OPS.residues_to_real(torch.zeros(2, 4, dtype=double), params)
    with pytest.raises(RuntimeError, match="for int64 residues, this call is on int32"):
        OPS.residues_to_real(torch.zeros(2, 4, dtype=torch.int32), params)
    with pytest.raises(RuntimeError, match="for int64 residues, this call is on int32"):
        OPS.round_to_residues(torch.zeros(2, dtype=double), 1.0, params, torch.int32)
    with pytest.raises(RuntimeError, match="dtype is uint8, needed is int32 or int64"):
        OPS.round_to_residues(torch.zeros(2, dtype=double), 1.0, params, torch.uint8)
    with pytest.raises(RuntimeError, match=r"input has shape \[4\]"):
        OPS.residues_to_real(torch.zeros(4, dtype=torch.int64), params)
    with pytest.raises(RuntimeError, match=r"rns_params has shape \[7, 2\].*\[7, 3\]"):
        OPS.residues_to_real(torch.zeros(3, 4, dtype=torch.int64), params)
    with pytest.raises(RuntimeError, match="residues_to_real: the residues have 0 limbs"):
        OPS.residues_to_real(torch.zeros(0, 4, dtype=torch.int64), params[:, :0])


@pytest.mark.parametrize("moduli", [(97, 97), (15, 7, 21), (97, 193, 97)])
def test_moduli_that_share_a_factor(moduli):
    residues = torch.zeros(len(moduli), 4, dtype=torch.int64)
    with pytest.raises(RuntimeError, match=rf"modulus {len(moduli) - 1} shares a factor"):
        OPS.residues_to_real(residues, parameters(moduli))


def test_empty_batches_and_polynomials():
    params = parameters((97, 193))
    assert OPS.round_to_residues(torch.zeros(0, 4, dtype=torch.float64), 1.0, params).shape == (
        0,
        2,
        4,
    )
    assert OPS.round_to_residues(torch.zeros(3, 0, dtype=torch.float64), 1.0, params).shape == (
        3,
        2,
        0,
    )
    assert OPS.residues_to_real(torch.zeros(0, 2, 4, dtype=torch.int64), params).shape == (0, 4)
    assert OPS.residues_to_real(torch.zeros(3, 2, 0, dtype=torch.int64), params).shape == (3, 0)
