"""Statistics of the samplers: chi-square and Kolmogorov-Smirnov, corrected for many tests.

Keys are fixed, so the outcome is as well: a failure is a change of a sampler, never bad luck.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator

import pytest
import torch

from fhelium.native.wrapper import random_ops, rns_ops

LEVEL = 1e-3  # of a whole set of tests: each of m tests is held to LEVEL / m
ROWS = 64

# Two primes of presets, and two just above 2^64 / 5 and 2^64 / 7 that reject many words.
PRIMES = ((1 << 40) - 87, 1152921504606830593, 3689348814741910379, 2635249153387078927)
SIXTEENTHS = torch.full((16,), 1 / 16, dtype=torch.float64)
WIDTHS = (1.0, 3.2, 36.1, 2.0**30, 2.0**47, 2.0**57)


def key(name: str) -> torch.Tensor:
    return torch.frombuffer(bytearray(hashlib.sha256(name.encode()).digest()), dtype=torch.uint8)


def chi_square(counts: torch.Tensor, expected: torch.Tensor) -> float:
    """Return the probability of a larger statistic."""
    counts, expected = counts.double().flatten(), expected.double().flatten()
    assert float(expected.min()) > 5  # where the statistic has its distribution
    statistic = ((counts - expected) ** 2 / expected).sum()
    freedom = torch.tensor((len(expected) - 1) / 2, dtype=torch.float64)
    return float(torch.special.gammaincc(freedom, statistic / 2))


def kolmogorov_smirnov(uniforms: torch.Tensor) -> float:
    """Return the probability of a larger distance from the uniform distribution on [0, 1]."""
    ordered = uniforms.sort().values
    count = len(ordered)
    steps = torch.arange(count + 1, dtype=torch.float64) / count
    distance = max(float((steps[1:] - ordered).max()), float((ordered - steps[:-1]).max()))
    scaled = distance * (math.sqrt(count) + 0.12 + 0.11 / math.sqrt(count))
    series = (2 * (-1) ** (k - 1) * math.exp(-2 * (k * scaled) ** 2) for k in range(1, 101))
    return min(1.0, max(0.0, sum(series)))


def even(counts: torch.Tensor) -> float:
    """Test for equal counts."""
    return chi_square(counts, torch.full_like(counts, int(counts.sum())).double() / counts.numel())


def pairs(bins: torch.Tensor, shares: torch.Tensor) -> float:
    """Test neighbours for independence, given the share of each bin."""
    first, second = bins.flatten()[::2], bins.flatten()[1::2]
    size = len(shares)
    counts = torch.bincount(first * size + second, minlength=size * size)
    return chi_square(counts, torch.outer(shares, shares) * len(first))


def holds(p_values: dict[str, float]) -> None:
    """Hold a set of tests to the level: none is too improbable, nor too good to be true."""
    least = LEVEL / (2 * len(p_values))
    bad = {name: p for name, p in p_values.items() if not least <= p <= 1 - least}
    assert not bad


def normal_cdf(x: torch.Tensor) -> torch.Tensor:
    return torch.special.ndtr(x)


def uniform_tests(count: int) -> Iterator[tuple[str, float]]:
    degree = count // ROWS
    params = rns_ops.rns_parameters(torch.tensor(PRIMES), 16)
    ids = torch.arange(len(PRIMES))
    for limb, q in enumerate(PRIMES):
        rows = random_ops.sample_uniform(
            key("uniform"), ids[limb : limb + 1], 0, 0, ROWS, degree, params[:, limb : limb + 1]
        )
        x = rows.flatten()
        assert int(x.min()) >= 0
        assert int(x.max()) < q
        unit = (x.double() + 0.5) / q
        yield f"{q} KS", kolmogorov_smirnov(unit)
        # q is far above the count: the shares of residues mod 256 are even to 2^-32.
        yield f"{q} low bits", even(torch.bincount(x & 255, minlength=256))
        yield f"{q} middle bits", even(torch.bincount((x >> 16) & 255, minlength=256))
        yield f"{q} high bits", even(torch.bincount((unit * 256).long(), minlength=256))
        yield f"{q} neighbours", pairs((unit * 16).long(), SIXTEENTHS)


def ternary_tests(count: int) -> Iterator[tuple[str, float]]:
    rows = random_ops.sample_ternary(key("ternary"), 0, ROWS, count // ROWS)
    x = (rows + 1).flatten()
    yield "values", even(torch.bincount(x, minlength=3))
    yield "neighbours", pairs(x, torch.full((3,), 1 / 3, dtype=torch.float64))
    words = x[: len(x) // 5 * 5].reshape(-1, 5) @ torch.tensor([81, 27, 9, 3, 1])
    yield "words of five", even(torch.bincount(words, minlength=243))
    across = rows.T.flatten() + 1  # neighbours are the same coefficient of two rows
    yield "rows", pairs(across, torch.full((3,), 1 / 3, dtype=torch.float64))


def gaussian_shares(sigma: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the values of a discrete Gaussian cut at 13 sigma, and the share of each."""
    values = torch.arange(-int(13 * sigma), int(13 * sigma) + 1)
    weights = torch.exp(-(values.double() ** 2) / (2 * sigma**2))
    return values, weights / weights.sum()


def rounded_shares(sigma: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the values of a rounded Gaussian, and the share of each."""
    values = torch.arange(-math.ceil(9.5 * sigma), math.ceil(9.5 * sigma) + 1)
    edges = torch.cat([values.double() - 0.5, values[-1:].double() + 0.5]) / sigma
    # From the nearer side, so that no tail is a difference of two numbers close to 1.
    upper = normal_cdf(-edges[:-1].abs()) - normal_cdf(-edges[1:].abs())
    middle = normal_cdf(edges[1:]) - normal_cdf(edges[:-1])
    return values, torch.where(values == 0, middle, upper.abs())


def discrete_tests(
    x: torch.Tensor, values: torch.Tensor, shares: torch.Tensor
) -> Iterator[tuple[str, float]]:
    """Test integers against the share of each value; rare values at both ends share a bin."""
    kept = shares * x.numel() > 20
    low, high = int(values[kept][0]), int(values[kept][-1])
    below, above = shares[values <= low].sum(), shares[values >= high].sum()
    joined = torch.cat([below[None], shares[kept][1:-1], above[None]])
    bins = x.flatten().clamp(low, high) - low
    counts = torch.bincount(bins, minlength=len(joined))
    yield "values", chi_square(counts, joined * x.numel())
    coarse = (bins * 8 // len(joined)).clamp(max=7)
    edges = torch.arange(len(joined)) * 8 // len(joined)
    by_bin = torch.zeros(8, dtype=torch.float64).index_add(0, edges, joined)
    used = by_bin * by_bin.min() * x.numel() > 20
    renumbered = torch.cumsum(used.long(), 0) - 1
    if int(used.sum()) > 1:
        inside = used[coarse].reshape(-1, 2).all(-1)
        both = coarse.reshape(-1, 2)[inside]
        conditional = by_bin[used] / by_bin[used].sum()
        yield "neighbours", pairs(renumbered[both], conditional)


def gaussian_tests(count: int) -> Iterator[tuple[str, float]]:
    rows = random_ops.sample_gaussian(key("gaussian"), 0, ROWS, count // ROWS)
    yield from discrete_tests(rows, *gaussian_shares(3.19))
    signs = rows.flatten()[rows.flatten() != 0] > 0
    yield "signs", even(torch.bincount(signs.long(), minlength=2))
    scaled = rows.double()
    variance = float(scaled.square().mean())
    _, shares = gaussian_shares(3.19)
    exact = float((shares * gaussian_shares(3.19)[0].double() ** 2).sum())
    spread = math.sqrt(2 / count) * exact
    yield "variance", math.erfc(abs(variance - exact) / spread / math.sqrt(2))


def rounded_tests(count: int) -> Iterator[tuple[str, float]]:
    for sigma in WIDTHS:
        name = f"rounded {sigma:g}"
        rows = random_ops.sample_rounded_gaussian(key(name), sigma, ROWS, count // ROWS)
        x = rows.flatten()
        if sigma < 100:
            for part, p in discrete_tests(rows, *rounded_shares(sigma)):
                yield f"{name} {part}", p
            continue
        unit = normal_cdf(x.double() / sigma)
        yield f"{name} KS", kolmogorov_smirnov(unit)
        yield f"{name} low bits", even(torch.bincount(x & 255, minlength=256))
        yield (
            f"{name} neighbours",
            pairs((unit * 16).long().clamp(max=15), SIXTEENTHS),
        )


SAMPLERS: dict[str, Callable[[int], Iterator[tuple[str, float]]]] = {
    "uniform": uniform_tests,
    "ternary": ternary_tests,
    "gaussian": gaussian_tests,
    "rounded": rounded_tests,
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_quarter_of_a_million_samples(name: str) -> None:
    holds(dict(SAMPLERS[name](1 << 18)))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", SAMPLERS)
def test_sixteen_million_samples(name: str) -> None:
    holds(dict(SAMPLERS[name](1 << 24)))


def test_the_tests_find_small_faults() -> None:
    count = 1 << 20
    good = torch.rand(count, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    copied = good.clone()
    copied[1::100] = good[::100]
    narrow = random_ops.sample_gaussian(key("fault"), 0, 16, count // 16)

    def binned(x: torch.Tensor, bins: int) -> torch.Tensor:
        return torch.bincount((x * bins).long(), minlength=bins)

    holds({"KS": kolmogorov_smirnov(good), "even": even(binned(good, 256))})
    faults = {
        "a power": kolmogorov_smirnov(good**1.01),
        "uneven": even(binned(good**1.02, 256)),
        "dependent": pairs((copied * 16).long(), SIXTEENTHS),
        "too even": even(torch.full((256,), count // 256)),
        "another width": dict(discrete_tests(narrow, *gaussian_shares(3.22)))["values"],
    }
    for name, p in faults.items():
        with pytest.raises(AssertionError):
            holds({name: p})
