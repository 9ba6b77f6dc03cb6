"""The samplers against the keystream of `cryptography` and exact arithmetic."""

from __future__ import annotations

import hashlib
import math
import random
import runpy
import struct
from pathlib import Path

import flint
import mpmath
import pytest
import torch
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

_ROOT = Path(__file__).parents[2]
NO_PRIME = 0xFFFFFFFF
KEY = hashlib.sha256(b"a fixed key").digest()


def key_of(key: bytes) -> torch.Tensor:
    return torch.frombuffer(bytearray(key), dtype=torch.uint8)


def keystream(key: bytes, nonce: bytes, counter: int, size: int) -> bytes:
    cipher = Cipher(algorithms.ChaCha20(key, struct.pack("<I", counter) + nonce), mode=None)
    return cipher.encryptor().update(bytes(size))


def words(
    key: bytes, degree: int, prime_id: int, index: int, component: int, attempt: int
) -> list[int]:
    """Give the 64-bit words of one row, one a coefficient."""
    nonce = struct.pack("<III", prime_id, index, component | attempt << 8)
    return list(struct.unpack(f"<{degree}Q", keystream(key, nonce, 0, 8 * degree)))


# ---- ChaCha20 ------------------------------------------------------------------------------------


def blocks(key: bytes, nonce: bytes, counter: int, count: int) -> bytes:
    out = torch.ops.fhelium_random_ops.chacha20_blocks(key_of(key), key_of(nonce), counter, count)
    assert out.dtype == torch.uint8
    return bytes(out.tolist())


def test_rfc_8439_vectors() -> None:
    expected = bytes.fromhex(  # section 2.3.2
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
        "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"
    )
    nonce = bytes.fromhex("000000090000004a00000000")
    assert blocks(bytes(range(32)), nonce, 1, 1) == expected
    expected = bytes.fromhex(  # appendix A.1, vectors 1 and 2
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"
        "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
        "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f"
    )
    assert blocks(bytes(32), bytes(12), 0, 2) == expected


def test_blocks_equal_an_independent_keystream() -> None:
    generator = random.Random(1)
    for count in [0, 1, 2, 3, 4, 5, 7, 8, 63, 700, 1500]:
        key, nonce = generator.randbytes(32), generator.randbytes(12)
        counter = generator.randrange((1 << 32) - count)
        assert blocks(key, nonce, counter, count) == keystream(key, nonce, counter, 64 * count)
    last = (1 << 32) - 1
    assert blocks(KEY, bytes(12), last, 1) == keystream(KEY, bytes(12), last, 64)


@pytest.mark.parametrize(
    ("key", "nonce", "counter", "count", "match"),
    [
        (31, 12, 0, 1, r"key has shape \[31\], needed is \[32\]"),
        (32, 8, 0, 1, r"nonce has shape \[8\], needed is \[12\]"),
        (32, 12, -1, 1, "counter is -1"),
        (32, 12, 1 << 32, 1, "counter is 4294967296"),
        (32, 12, (1 << 32) - 1, 2, "blocks is 2"),
        (32, 12, 0, -1, "blocks is -1"),
    ],
)
def test_blocks_refuse(key: int, nonce: int, counter: int, count: int, match: str) -> None:
    with pytest.raises(RuntimeError, match=f"^chacha20_blocks: {match}"):
        blocks(bytes(key), bytes(nonce), counter, count)


def test_keys_are_bytes_of_any_stride() -> None:
    ops = torch.ops.fhelium_random_ops
    key = key_of(KEY)
    assert torch.equal(
        ops.sample_ternary(torch.stack([key, key], 1)[:, 0], 0, 1, 64),
        ops.sample_ternary(key, 0, 1, 64),
    )
    with pytest.raises(RuntimeError, match="key holds int64, needed is uint8"):
        ops.sample_ternary(key.long(), 0, 1, 64)


# ---- uniform -------------------------------------------------------------------------------------


def uniform(
    primes: list[int],
    ids: list[int],
    component: int,
    first: int,
    count: int,
    degree: int,
    dtype: torch.dtype = torch.int64,
) -> torch.Tensor:
    moduli = torch.tensor(primes, dtype=dtype)
    params = torch.ops.fhelium_rns_ops.rns_parameters(moduli, degree)
    return torch.ops.fhelium_random_ops.sample_uniform(
        key_of(KEY), torch.tensor(ids), component, first, count, degree, params, dtype
    )


def expected_uniform(q: int, prime_id: int, component: int, index: int, degree: int) -> list[int]:
    """Reject words from the largest multiple of q on; take the next attempt's word instead."""
    limit = (1 << 64) // q * q
    attempts = [words(KEY, degree, prime_id, index, component, a) for a in range(24)]
    return [next(w[j] % q for w in attempts if w[j] < limit) for j in range(degree)]


# Primes that reject nearly nothing, and ones just above 2^64/5 and 2^64/7: a fifth, a seventh.
PRIMES = [12289, (1 << 40) - 87, 3689348814741910379, 2635249153387078927]


def test_uniform_primes_are_what_they_claim() -> None:
    assert all(flint.fmpz(q).is_prime() for q in PRIMES)
    assert [(1 << 64) // q for q in PRIMES[2:]] == [4, 6]


@pytest.mark.parametrize("degree", [1, 2, 16, 64, 128, 1024, 8192])
def test_uniform_is_reproduced_from_the_keystream(degree: int) -> None:
    ids, component, first = [7, 0, 2, 0xFFFFFFFE], 3, 41
    result = uniform(PRIMES, ids, component, first, 2, degree)
    assert result.shape == (2, 4, degree)
    pairs = list(zip(PRIMES, ids, strict=True))
    assert result.tolist() == [
        [expected_uniform(q, i, component, first + c, degree) for q, i in pairs] for c in range(2)
    ]


def test_uniform_int32_values_are_those_of_int64() -> None:
    primes, ids = [12289, (1 << 31) - 1, (1 << 30) - 35], [7, 0, 2]
    result = uniform(primes, ids, 3, 41, 2, 1024, torch.int32)
    assert result.dtype == torch.int32
    assert torch.equal(result.long(), uniform(primes, ids, 3, 41, 2, 1024))
    assert result[0, 1].tolist() == expected_uniform(primes[1], 0, 3, 41, 1024)


def test_uniform_refuses_a_type_that_is_not_that_of_the_parameters() -> None:
    moduli = torch.tensor(PRIMES[:1])
    params = torch.ops.fhelium_rns_ops.rns_parameters(moduli, 16)
    for dtype, match in (
        (torch.int32, "column 0 of rns_params is for int64 residues, this call is on int32"),
        (torch.float64, "dtype is float64, needed is int32 or int64"),
    ):
        with pytest.raises(RuntimeError, match=f"^sample_uniform: {match}"):
            torch.ops.fhelium_random_ops.sample_uniform(
                key_of(KEY), torch.tensor([0]), 0, 0, 1, 16, params, dtype
            )


def test_uniform_rows_do_not_depend_on_their_neighbours() -> None:
    whole = uniform(PRIMES, [0, 1, 2, 3], 1, 0, 3, 256)
    alone = uniform([PRIMES[2]], [2], 1, 2, 1, 256)
    assert torch.equal(whole[2, 2], alone[0, 0])
    assert torch.equal(uniform(PRIMES, [0, 1, 2, 3], 1, 0, 3, 64), whole[..., :64])
    assert uniform(PRIMES, [0, 1, 2, 3], 1, 0, 0, 64).shape == (0, 4, 64)
    last = (1 << 32) - 1
    assert uniform(PRIMES, [0, 1, 2, 3], 255, last, 1, 64).shape == (1, 4, 64)


def chi_square(observed: torch.Tensor, expected: list[float]) -> float:
    """Give the statistic as a number of standard deviations from its mean."""
    pairs = zip(observed.tolist(), expected, strict=True)
    statistic = sum((o - e) ** 2 / e for o, e in pairs)
    freedom = len(expected) - 1
    return (statistic - freedom) / math.sqrt(2 * freedom)


def test_uniform_is_uniform() -> None:
    q, count = 3689348814741910379, 1 << 18
    x = uniform([q], [0], 0, 0, 16, count // 16).flatten()
    assert x.min() >= 0
    assert x.max() < q
    bins = 256
    width = q // bins + 1
    high = torch.bincount(x // width, minlength=bins)
    sizes = [min(width, q - b * width) / q * count for b in range(bins)]
    assert abs(chi_square(high, sizes)) < 4
    assert abs(chi_square(torch.bincount(x % bins, minlength=bins), [count / bins] * bins)) < 4


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"component": 256}, "component is 256"),
        ({"component": -1}, "component is -1"),
        ({"first": -1}, "first_index is -1"),
        ({"first": (1 << 32) - 1, "count": 2}, "first_index is 4294967295"),
        ({"count": -1}, "count is -1"),
        ({"degree": 24}, "degree is 24"),
        ({"degree": 0}, "degree is 0"),
        ({"ids": [0]}, r"prime_ids has shape \[1\], needed is \[2\]"),
        ({"ids": [0, -1]}, "a prime id is -1"),
        ({"ids": [0, NO_PRIME]}, "a prime id is 4294967295"),
    ],
)
def test_uniform_refuses(change: dict, match: str) -> None:
    values = {"ids": [0, 1], "component": 0, "first": 0, "count": 1, "degree": 16} | change
    params = torch.ops.fhelium_rns_ops.rns_parameters(torch.tensor(PRIMES[:2]), 16)
    with pytest.raises(RuntimeError, match=f"^sample_uniform: {match}"):
        torch.ops.fhelium_random_ops.sample_uniform(
            key_of(KEY),
            torch.tensor(values["ids"]),
            values["component"],
            values["first"],
            values["count"],
            values["degree"],
            params,
        )


# ---- ternary -------------------------------------------------------------------------------------


@pytest.mark.parametrize("degree", [1, 8, 16, 64, 1024, 16384])
def test_ternary_is_reproduced_from_the_keystream(degree: int) -> None:
    result = torch.ops.fhelium_random_ops.sample_ternary(key_of(KEY), 5, 2, degree)
    assert result.dtype == torch.int64
    assert result.tolist() == [
        [(3 * w >> 64) - 1 for w in words(KEY, degree, NO_PRIME, i, 5, 0)] for i in range(2)
    ]


def test_ternary_is_uniform() -> None:
    count = 1 << 18
    x = torch.ops.fhelium_random_ops.sample_ternary(key_of(KEY), 0, 16, count // 16).flatten()
    assert abs(chi_square(torch.bincount(x + 1, minlength=3), [count / 3] * 3)) < 4


# ---- Gaussian ------------------------------------------------------------------------------------


def exact_thresholds() -> list[int]:
    """Compute 2^127 P(|x| <= k) with rigorous ball arithmetic."""
    flint.ctx.prec = 400
    variance = flint.arb(319) ** 2 / 10000
    weights = [(1 if m == 0 else 2) * (-flint.arb(m * m) / (2 * variance)).exp() for m in range(42)]
    total, partial, result = sum(weights), flint.arb(0), []
    for weight in weights[:-1]:
        partial += weight
        scaled = partial / total * 2**127 + flint.arb(1) / 2
        result.append(int(scaled.floor().unique_fmpz()))
    return result


def test_committed_table_is_up_to_date_and_exact() -> None:
    tool = runpy.run_path(str(_ROOT / "tools" / "generate_gaussian_table.py"))
    committed = (_ROOT / "csrc" / "random" / "gaussian_table.h").read_text(encoding="utf-8")
    assert tool["render"]() == committed
    assert 13 * 3.19 < 42
    thresholds = exact_thresholds()
    assert tool["cumulative_table"]() == thresholds
    assert len(thresholds) == 41
    assert thresholds == sorted(set(thresholds))
    assert thresholds[-1] < 1 << 127


@pytest.mark.parametrize("degree", [1, 16, 64, 16384])
def test_gaussian_is_reproduced_from_the_keystream(degree: int) -> None:
    result = torch.ops.fhelium_random_ops.sample_gaussian(key_of(KEY), 9, 2, degree)
    thresholds = exact_thresholds()
    for index in range(2):
        high, low = (words(KEY, degree, NO_PRIME, index, 9, attempt) for attempt in (0, 1))
        expected = []
        for h, w in zip(high, low, strict=True):
            value = h << 63 | w >> 1
            magnitude = sum(value >= t for t in thresholds)
            expected.append(-magnitude if w & 1 else magnitude)
        assert result[index].tolist() == expected


def test_gaussian_has_the_right_shape() -> None:
    count = 1 << 20
    x = torch.ops.fhelium_random_ops.sample_gaussian(key_of(KEY), 0, 16, count // 16).flatten()
    weights = [math.exp(-(k**2) / (2 * 3.19**2)) for k in range(-41, 42)]
    expected = [w / sum(weights) * count for w in weights]
    observed = torch.bincount(x + 41, minlength=83)
    core = [k for k in range(83) if expected[k] > 20]
    assert abs(chi_square(observed[core], [expected[k] for k in core])) < 4
    # Zero has a single weight: a sign drawn for it as well would give half or double.
    assert abs(observed[41].item() - expected[41]) < 5 * math.sqrt(expected[41])
    assert abs(x.double().mean().item()) < 5 * 3.19 / math.sqrt(count)
    assert abs(x.double().var().item() / 3.19**2 - 1) < 5 * math.sqrt(2 / count)
    beyond = sum(e for k, e in enumerate(expected) if abs(k - 41) > 14)
    tail = (x.abs() > 14).sum().item()
    assert abs(tail - beyond) < 6 * math.sqrt(beyond)


# ---- rounded Gaussian ----------------------------------------------------------------------------


def rounded(sigma: float, count: int, degree: int) -> torch.Tensor:
    return torch.ops.fhelium_random_ops.sample_rounded_gaussian(key_of(KEY), sigma, count, degree)


def exact_normal(radius: int, angle: int) -> mpmath.mpf:
    uniform = (mpmath.mpf(radius >> 1) + 0.5) / 2**63
    turn = mpmath.mpf(angle) / 2**64
    return mpmath.sqrt(-2 * mpmath.log(uniform)) * mpmath.cos(2 * mpmath.pi * turn)


@pytest.mark.parametrize("sigma", [1.0, 36.1, 2.0**30, math.nextafter(2.0**48, 0)])
def test_rounded_gaussian_is_accurate(sigma: float) -> None:
    degree = 4096
    result = rounded(sigma, 1, degree)[0].tolist()
    radius, angle = (words(KEY, degree, NO_PRIME, 0, 0, attempt) for attempt in (0, 1))
    with mpmath.workprec(120):
        for value, r, a in zip(result, radius, angle, strict=True):
            exact = sigma * exact_normal(r, a)
            assert abs(value - exact) <= 0.5 + abs(exact) * mpmath.mpf(2) ** -50


@pytest.mark.parametrize(("sigma", "shift"), [(2.0**48, 1), (1.5 * 2.0**52, 5), (2.0**57, 10)])
def test_wide_gaussian_fills_its_low_bits(sigma: float, shift: int) -> None:
    degree = 4096
    result = rounded(sigma, 1, degree)[0].tolist()
    low = words(KEY, degree, NO_PRIME, 0, 0, 2)
    radius, angle = (words(KEY, degree, NO_PRIME, 0, 0, attempt) for attempt in (0, 1))
    half = 1 << (shift - 1)
    with mpmath.workprec(120):
        for value, w, r, a in zip(result, low, radius, angle, strict=True):
            high, rest = divmod(value + half, 1 << shift)
            assert rest == w >> (64 - shift)
            exact = sigma * exact_normal(r, a) / 2**shift
            assert abs(high - exact) <= 0.5 + abs(exact) * mpmath.mpf(2) ** -50


@pytest.mark.parametrize("sigma", [1.0, 36.1, 2.0**57])
def test_rounded_gaussian_has_the_right_shape(sigma: float) -> None:
    count = 1 << 20
    x = rounded(sigma, 16, count // 16).flatten()
    normal = x.double() / sigma
    assert abs(normal.mean().item()) < 5 / math.sqrt(count)
    variance = 1 + 1 / (12 * sigma**2)  # rounding adds 1/12
    assert abs(normal.var().item() / variance - 1) < 5 * math.sqrt(2 / count)
    edges = torch.tensor([k / 4 for k in range(-16, 17)], dtype=torch.float64) * sigma
    if sigma == 1.0:
        edges = torch.arange(-4, 5).double()
    edges = edges.round() + 0.5 if sigma < 2**40 else edges
    observed = torch.bincount(torch.bucketize(x.double(), edges), minlength=len(edges) + 1)
    cumulative = [0.0] + [0.5 * (1 + math.erf(e / sigma / math.sqrt(2))) for e in edges.tolist()]
    expected = [(b - a) * count for a, b in zip(cumulative, [*cumulative[1:], 1.0], strict=True)]
    assert abs(chi_square(observed, expected)) < 4
    assert normal.abs().max() < 9.42


def test_rounded_gaussian_refuses() -> None:
    for sigma in (0.0, 0.999, -3.0, 2.0**57 * 1.001, math.inf, math.nan):
        with pytest.raises(RuntimeError, match=r"^sample_rounded_gaussian: sigma is"):
            rounded(sigma, 1, 16)


# ---- all samplers --------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 3])
def test_thread_count_changes_nothing(count: int) -> None:
    ops, key, degree = torch.ops.fhelium_random_ops, key_of(KEY), 1 << 14
    threads = torch.get_num_threads()
    results = []
    try:
        for size in (1, 2, 3):
            torch.set_num_threads(size)
            results.append(
                [
                    uniform(PRIMES, [0, 1, 2, 3], 0, 0, count, degree),
                    ops.sample_ternary(key, 0, count, degree),
                    ops.sample_gaussian(key, 0, count, degree),
                    ops.sample_rounded_gaussian(key, 2.0**55, count, degree),
                    ops.chacha20_blocks(key, key[:12], 9, 5001),
                ]
            )
    finally:
        torch.set_num_threads(threads)
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))


def test_components_and_batch_items_are_independent() -> None:
    ops, key = torch.ops.fhelium_random_ops, key_of(KEY)
    for sample in (ops.sample_ternary, ops.sample_gaussian):
        rows = torch.cat([sample(key, c, 3, 1024) for c in (0, 1, 255)]).double()
        correlation = torch.corrcoef(rows) - torch.eye(9)
        assert correlation.abs().max() < 5 / 32


@pytest.mark.parametrize("name", ["sample_ternary", "sample_gaussian"])
def test_integer_samplers_refuse(name: str) -> None:
    call = getattr(torch.ops.fhelium_random_ops, name)
    for arguments, match in [
        ((256, 1, 16), "component is 256"),
        ((0, -1, 16), "count is -1"),
        ((0, 1, 17), "degree is 17"),
        ((0, 1, 1 << 21), "degree is 2097152"),
    ]:
        with pytest.raises(RuntimeError, match=f"^{name}: {match}"):
            call(key_of(KEY), *arguments)


def test_stream_version_1_never_changes() -> None:
    """Old public seeds must expand to the same polynomials, and floats round alike everywhere."""
    ops, key, degree = torch.ops.fhelium_random_ops, key_of(KEY), 4096
    samples = {
        "uniform": uniform(PRIMES, [0, 1, 2, 3], 1, 2, 2, degree),
        "ternary": ops.sample_ternary(key, 0, 1, degree),
        "gaussian": ops.sample_gaussian(key, 0, 1, degree),
        "rounded 36.1": ops.sample_rounded_gaussian(key, 36.1, 1, degree),
        "rounded 2^48": ops.sample_rounded_gaussian(key, math.nextafter(2.0**48, 0), 1, degree),
        "rounded 2^57": ops.sample_rounded_gaussian(key, 2.0**57, 1, degree),
    }
    digests = {
        name: hashlib.blake2b(x.numpy().astype("<i8").tobytes(), digest_size=8).hexdigest()
        for name, x in samples.items()
    }
    assert digests == {
        "uniform": "c97639ffd6e5362b",
        "ternary": "45504208623506c1",
        "gaussian": "0e6d40f87e3a525d",
        "rounded 36.1": "a9e055a7cefae080",
        "rounded 2^48": "5a3d429b816dbb46",
        "rounded 2^57": "dbd4b883f4d7486b",
    }
