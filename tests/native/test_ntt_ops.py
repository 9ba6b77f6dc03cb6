"""The transforms against direct evaluation in Python integers and python-flint's products."""

from __future__ import annotations

import random

import flint
import pytest
import torch

from tests.native.rns_oracle import is_prime, primitive_root
from tests.native.samples import butterflies


def prime_below(limit: int, degree: int) -> int:
    """Find the largest q < limit with q = 1 mod 2N."""
    q = (limit - 2) // (2 * degree) * (2 * degree) + 1
    while not is_prime(q):
        q -= 2 * degree
        assert q > 1
    return q


def prime_above(limit: int, degree: int) -> int:
    q = limit // (2 * degree) * (2 * degree) + 1
    while q <= limit or not is_prime(q):
        q += 2 * degree
    return q


def bit_reverse(x: int, bits: int) -> int:
    return int(f"{x:0{bits}b}"[::-1], 2)


class Ring:
    """The operators and their tables for one degree, chain and residue type."""

    def __init__(self, degree: int, primes: list[int], dtype: torch.dtype = torch.int64) -> None:
        self.degree, self.primes, self.dtype = degree, primes, dtype
        self.roots = [primitive_root(q, degree) for q in primes]
        roots = self.tensor(self.roots)
        ops = torch.ops.fhelium_ntt_ops
        self.params = torch.ops.fhelium_rns_ops.rns_parameters(self.tensor(primes), degree)
        self.twiddles = ops.radix2_twiddles(roots, degree, self.params)
        self.indices = butterflies(degree)
        self.inverse_indices = butterflies(degree, inverse=True)
        if degree >= 16:
            self.tables = ops.ntt_tables(roots, degree, self.params)

    def tensor(self, values: list) -> torch.Tensor:
        return torch.tensor(values, dtype=self.dtype)

    def packed(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.fhelium_ntt_ops.ntt_packed(x, self.tables, self.params)

    def packed_inverse(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.fhelium_ntt_ops.intt_packed(x, self.tables, self.params)

    def indexed(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.fhelium_ntt_ops.ntt_radix2_indexed(
            x, *self.indices, self.twiddles[0], self.params
        )

    def indexed_inverse(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.fhelium_ntt_ops.intt_radix2_indexed(
            x, *self.inverse_indices, self.twiddles[1], self.params
        )

    def random(self, *batch: int, seed: int = 0) -> torch.Tensor:
        generator = random.Random(seed)
        count = torch.Size(batch).numel()
        rows = [
            [[generator.randrange(q) for _ in range(self.degree)] for q in self.primes]
            for _ in range(count)
        ]
        return self.tensor(rows).reshape(*batch, len(self.primes), self.degree)

    def extremes(self) -> torch.Tensor:
        """Rows that drive lazy values to their bounds: all q-1, alternating, unit vectors, zero."""
        top = self.tensor(self.primes)[:, None] - 1
        even = torch.arange(self.degree) % 2
        last = torch.zeros(self.degree, dtype=torch.int64)
        last[-1] = 1
        rows = [even * 0 + 1, even, 1 - even, last, last.flip(0), last * 0]
        return torch.stack([top * row.to(self.dtype) for row in rows])

    def evaluate(self, coefficients: list[int], limb: int, index: int) -> int:
        """Evaluate a polynomial by Horner at psi^(2 bitrev(index) + 1)."""
        q, bits = self.primes[limb], self.degree.bit_length() - 1
        point = pow(self.roots[limb], 2 * bit_reverse(index, bits) + 1, q)
        value = 0
        for c in reversed(coefficients):
            value = (value * point + c) % q
        return value


# Sizes of primes of each residue type; 2^30 is the border of the doubled butterflies on 32 bits.
SIZES = {torch.int64: (20, 45, 50, 51, 62), torch.int32: (18, 25, 27, 30, 31)}
each_type = pytest.mark.parametrize("dtype", SIZES)


@each_type
@pytest.mark.parametrize("log_degree", [4, 5, 6, 7, 8])
def test_forward_is_evaluation_at_every_odd_power(log_degree: int, dtype: torch.dtype) -> None:
    degree = 1 << log_degree
    ring = Ring(degree, [prime_below(1 << b, degree) for b in SIZES[dtype]], dtype)
    for x in torch.cat([ring.extremes(), ring.random(1)]):
        expected = [
            [ring.evaluate(x[limb].tolist(), limb, i) for i in range(degree)]
            for limb in range(len(ring.primes))
        ]
        assert ring.packed(x).tolist() == expected
        assert ring.indexed(x).tolist() == expected
        assert torch.equal(ring.packed_inverse(ring.tensor(expected)), x)
        assert torch.equal(ring.indexed_inverse(ring.tensor(expected)), x)


@each_type
@pytest.mark.parametrize("degree", [2, 4, 8])
def test_validation_path_serves_tiny_rings(degree: int, dtype: torch.dtype) -> None:
    ring = Ring(degree, [17, 97], dtype)
    x = ring.random()
    y = ring.indexed(x)
    assert y.tolist() == [
        [ring.evaluate(x[limb].tolist(), limb, i) for i in range(degree)] for limb in range(2)
    ]
    assert torch.equal(ring.indexed_inverse(y), x)


@each_type
@pytest.mark.parametrize("degree", [1 << 9, 1 << 10])
def test_every_prime_size_matches_the_validation_path(degree: int, dtype: torch.dtype) -> None:
    sizes = range(18, SIZES[dtype][-1] + 1)
    ring = Ring(degree, [prime_below(1 << b, degree) for b in sizes], dtype)
    x = torch.cat([ring.extremes(), ring.random(2)])
    y = ring.packed(x)
    assert torch.equal(y, ring.indexed(x))
    assert torch.equal(ring.packed_inverse(y), x)
    assert torch.equal(ring.indexed_inverse(y), x)
    # The inverse on its own extremes, not only on what the forward produces.
    assert torch.equal(ring.packed_inverse(x), ring.indexed_inverse(x))


@pytest.mark.parametrize(
    ("dtype", "log_degree"),
    [
        *((torch.int64, log) for log in (4, 7, 10, 12, 13, 14)),
        *((torch.int32, log) for log in (4, 5, 7, 10, 12, 13)),
    ],
)
def test_primes_around_the_bounds_of_a_word(dtype: torch.dtype, log_degree: int) -> None:
    degree, bits = 1 << log_degree, torch.iinfo(dtype).bits
    # Without reductions forward and backward; with values below 4q.
    borders = [(1 << bits) // (2 * log_degree + 1), (1 << bits) // degree, 1 << (bits - 2)]
    borders = [b for b in borders if b > 4 * degree]
    primes = {find(b, degree) for find in (prime_below, prime_above) for b in borders}
    largest = 1 << SIZES[dtype][-1]
    ring = Ring(degree, sorted(q for q in primes if q < largest), dtype)
    assert len(ring.primes) >= 3
    x = torch.cat([ring.extremes(), ring.random(1)])
    assert torch.equal(ring.packed(x), ring.indexed(x))
    assert torch.equal(ring.packed_inverse(x), ring.indexed_inverse(x))


@pytest.mark.parametrize("sizes", [(40, 48, 50, 61), (25, 27, 30, 31)])
@pytest.mark.parametrize("log_degree", range(4, 17))
def test_round_trip_and_sampled_outputs(log_degree: int, sizes: tuple[int, ...]) -> None:
    degree, dtype = 1 << log_degree, torch.int32 if max(sizes) < 32 else torch.int64
    ring = Ring(degree, [prime_below(1 << b, degree) for b in sizes], dtype)
    x = ring.random(1)[0]
    y = ring.packed(x)
    assert torch.equal(y, ring.indexed(x))
    assert torch.equal(ring.packed_inverse(y), x)
    assert torch.equal(ring.indexed_inverse(y), x)
    for limb, index in ((0, 0), (1, degree - 1), (2, degree // 3), (3, degree // 2)):
        assert y[limb, index].item() == ring.evaluate(x[limb].tolist(), limb, index)


@each_type
@pytest.mark.parametrize("log_degree", [4, 9, 12, 15])
def test_pointwise_product_is_the_negacyclic_product(log_degree: int, dtype: torch.dtype) -> None:
    degree = 1 << log_degree
    ring = Ring(degree, [prime_below(1 << b, degree) for b in SIZES[dtype][2:]], dtype)
    a, b = ring.random(2)
    ntt_a, ntt_b = ring.packed(a).tolist(), ring.packed(b).tolist()
    product = [
        [u * v % q for u, v in zip(*rows, strict=True)]
        for q, *rows in zip(ring.primes, ntt_a, ntt_b, strict=True)
    ]
    result = ring.packed_inverse(ring.tensor(product))
    for limb, q in enumerate(ring.primes):
        modulus = flint.nmod_poly([1] + [0] * (degree - 1) + [1], q)
        expected = flint.nmod_poly(a[limb].tolist(), q) * flint.nmod_poly(b[limb].tolist(), q)
        coefficients = [int(c) for c in (expected % modulus).coeffs()]
        coefficients += [0] * (degree - len(coefficients))
        assert result[limb].tolist() == coefficients


@pytest.fixture(scope="module")
def ring() -> Ring:
    return Ring(64, [prime_below(1 << b, 64) for b in (30, 50, 61)])


@pytest.fixture(scope="module")
def narrow_ring() -> Ring:
    return Ring(64, [prime_below(1 << b, 64) for b in (25, 30, 31)], torch.int32)


NAMES = ["ntt_packed", "intt_packed", "ntt_radix2_indexed", "intt_radix2_indexed"]


def arguments(ring: Ring, name: str) -> tuple[torch.Tensor, ...]:
    if "packed" in name:
        return ring.tables, ring.params
    if name.startswith("intt"):
        return *ring.inverse_indices, ring.twiddles[1], ring.params
    return *ring.indices, ring.twiddles[0], ring.params


@pytest.mark.parametrize("which", ["ring", "narrow_ring"])
@pytest.mark.parametrize("name", NAMES)
def test_batches_strides_and_in_place(
    request: pytest.FixtureRequest, which: str, name: str
) -> None:
    ring: Ring = request.getfixturevalue(which)
    ops = torch.ops.fhelium_ntt_ops
    call, call_ = getattr(ops, name), getattr(ops, name + "_")
    args = arguments(ring, name)
    x = ring.random(2, 3)
    one_by_one = torch.stack([torch.stack([call(row, *args) for row in batch]) for batch in x])
    before = x.clone()
    assert torch.equal(call(x, *args), one_by_one)
    assert torch.equal(x, before)
    assert call(x[:0], *args).shape == (0, 3, 3, 64)

    wide = torch.zeros(2, 3, 3, 128, dtype=ring.dtype)
    views = {
        "permuted batch": x.permute(1, 0, 2, 3).contiguous().permute(1, 0, 2, 3),
        "coefficients apart": wide[..., ::2].copy_(x),
        "coefficients outermost": x.permute(3, 0, 1, 2).contiguous().permute(1, 2, 3, 0),
        "limbs apart": torch.stack([x, x], 3)[:, :, :, 1],
        "offset": wide.clone()[..., 5:69].copy_(x),
    }
    for kind, view in views.items():
        assert torch.equal(view, x), kind
        out = call(view, *args)
        assert torch.equal(out, one_by_one), kind
        assert out.is_contiguous(), kind
        assert call_(view, *args) is None
        assert torch.equal(view, one_by_one), kind
    assert not wide[..., 1::2].any()  # what lies between stays untouched

    expanded = x[:1].expand(2, 3, 3, 64)
    assert torch.equal(call(expanded, *args)[1], one_by_one[0])
    with pytest.raises(RuntimeError, match=rf"^{name}_: .*share an element"):
        call_(expanded, *args)
    assert torch.equal(x, before)


@pytest.mark.parametrize("name", NAMES)
def test_strided_tables_and_parameters(ring: Ring, name: str) -> None:
    call = getattr(torch.ops.fhelium_ntt_ops, name)
    x, args = ring.random(), arguments(ring, name)
    limbs = slice(1, 3)
    strided = [torch.stack([a, a], -1)[..., 0] for a in args[:-1]]
    if "packed" in name:
        strided = [torch.stack([args[0], args[0]], 1)[:, 1]]
    assert torch.equal(call(x, *strided, args[-1].t().contiguous().t()), call(x, *args))
    sliced = [a if a.shape[0] != 3 else a[limbs] for a in args[:-1]]
    assert torch.equal(call(x[limbs], *sliced, args[-1][:, limbs]), call(x, *args)[limbs])


@each_type
@pytest.mark.parametrize("name", NAMES)
def test_thread_count_changes_nothing(name: str, dtype: torch.dtype) -> None:
    ring = Ring(1 << 10, [prime_below(1 << b, 1 << 10) for b in SIZES[dtype][1::3]], dtype)
    call, args, x = getattr(torch.ops.fhelium_ntt_ops, name), arguments(ring, name), ring.random(9)
    threads = torch.get_num_threads()
    results = []
    try:
        for count in (1, 2, 5):
            torch.set_num_threads(count)
            results.append(call(x, *args))
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(r, results[0]) for r in results)


@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize("bad", [-1, 64, 1 << 40, -(1 << 63)])
@pytest.mark.parametrize("name", ["ntt_radix2_indexed", "intt_radix2_indexed_"])
def test_indices_are_range_checked(ring: Ring, name: str, which: int, bad: int) -> None:
    x, args = ring.random(), list(arguments(ring, name))
    args[which] = args[which].clone()
    args[which][3, 5] = bad
    before = x.clone()
    with pytest.raises(RuntimeError, match=rf"^{name}: .* outside \[0, 64\)"):
        getattr(torch.ops.fhelium_ntt_ops, name)(x, *args)
    assert torch.equal(x, before)
    args[which][3, 5] = 63  # the last legal index is accepted
    getattr(torch.ops.fhelium_ntt_ops, name)(x, *args)


def test_indices_cannot_be_changed_under_the_check(ring: Ring) -> None:
    storage = torch.zeros(6 * 32 + 3 * 64, dtype=torch.int64)
    even = storage[: 6 * 32].view(6, 32)
    even.copy_(ring.indices[0])
    x = storage[32 : 32 + 3 * 64].view(3, 64)
    with pytest.raises(RuntimeError, match=r"share .*storage"):
        torch.ops.fhelium_ntt_ops.ntt_radix2_indexed_(
            x, even, *ring.indices[1:], ring.twiddles[0], ring.params
        )
    twiddles = ring.twiddles[0].clone()
    with pytest.raises(RuntimeError, match="the same view"):
        torch.ops.fhelium_ntt_ops.ntt_radix2_indexed_(
            twiddles, *ring.indices, twiddles, ring.params
        )


def test_indices_and_narrow_residues_in_one_storage(narrow_ring: Ring) -> None:
    storage = torch.zeros(6 * 32 + 100, dtype=torch.int64)
    even = storage[: 6 * 32].view(6, 32)
    even.copy_(narrow_ring.indices[0])
    for first, refused in ((2 * 6 * 32 - 1, True), (2 * 6 * 32, False)):
        x = storage.view(torch.int32)[first : first + 3 * 64].view(3, 64)
        call = (x, even, *narrow_ring.indices[1:], narrow_ring.twiddles[0], narrow_ring.params)
        if refused:
            with pytest.raises(RuntimeError, match=r"share .*storage"):
                torch.ops.fhelium_ntt_ops.ntt_radix2_indexed_(*call)
        else:
            torch.ops.fhelium_ntt_ops.ntt_radix2_indexed_(*call)


@pytest.mark.parametrize("name", [*NAMES, *(name + "_" for name in NAMES)])
def test_two_residue_types_are_refused(ring: Ring, narrow_ring: Ring, name: str) -> None:
    call = getattr(torch.ops.fhelium_ntt_ops, name)
    x, args = narrow_ring.random(), arguments(narrow_ring, name)
    wide = arguments(ring, name)
    with pytest.raises(RuntimeError, match=f"^{name}: column 0 .* for int64 .* is on int32"):
        call(x, *args[:-1], ring.params)
    table = "tables" if "packed" in name else "twiddles"
    with pytest.raises(RuntimeError, match=f"^{name}: {table} holds int64, needed is int32"):
        call(x, *args[:-2], wide[-2], narrow_ring.params)
    with pytest.raises(RuntimeError, match=f"^{name}: column 0 .* for int32 .* is on int64"):
        call(x.long(), *args[:-2], wide[-2], narrow_ring.params)


def test_packed_refuses_tables_of_something_else(ring: Ring) -> None:
    ops = torch.ops.fhelium_ntt_ops
    x = ring.random()
    other = Ring(32, ring.primes)
    swapped = ring.tables[[1, 0, 2]]
    for tables, match in [
        (ring.tables[:2], r"tables has shape \[2, .*the residues need \[3, "),
        (other.tables, "tables has shape"),
        (swapped, "row 0 of tables is not a table for N = 64 and q = "),
        (torch.stack([ring.tables, ring.tables], -1)[..., 0], "tables has strides"),
        (ring.tables.to(torch.int32), "tables holds int32, needed is int64"),
        (torch.zeros_like(ring.tables), "row 0 of tables"),
    ]:
        before = x.clone()
        with pytest.raises(RuntimeError, match=rf"^ntt_packed_: {match}"):
            ops.ntt_packed_(x, tables, ring.params)
        assert torch.equal(x, before)
    with pytest.raises(RuntimeError, match="rns_params has shape"):
        ops.ntt_packed(x, ring.tables, ring.params[:, :2])
    with pytest.raises(RuntimeError, match="input holds float64"):
        ops.ntt_packed(x.double(), ring.tables, ring.params)
    with pytest.raises(RuntimeError, match="a power of two from 16 on"):
        ops.ntt_packed(x[:, :48], ring.tables, ring.params)
    with pytest.raises(RuntimeError, match="at least two axes"):
        ops.ntt_packed(x[0], ring.tables, ring.params)


def test_indexed_refuses_shapes_that_disagree(ring: Ring) -> None:
    ops = torch.ops.fhelium_ntt_ops
    x, (even, odd, schedule) = ring.random(), ring.indices
    for tensors, match in [
        ((even[:5], odd, schedule, ring.twiddles[0]), r"even_indices has shape \[5, 32\], needed"),
        ((even, odd[:, :31], schedule, ring.twiddles[0]), "odd_indices has shape"),
        ((even, odd, schedule.int(), ring.twiddles[0]), "schedule holds int32"),
        ((even, odd, schedule, ring.twiddles), "twiddles has shape"),
        ((even, odd, schedule, ring.twiddles[0][:2]), "twiddles has shape"),
    ]:
        with pytest.raises(RuntimeError, match=rf"^ntt_radix2_indexed: {match}"):
            ops.ntt_radix2_indexed(x, *tensors, ring.params)
    foreign = torch.ops.fhelium_rns_ops.rns_parameters(torch.tensor(ring.primes), 32)
    with pytest.raises(RuntimeError, match="rns_params is not for degree 64"):
        ops.intt_radix2_indexed(x, *ring.inverse_indices, ring.twiddles[1], foreign)


@pytest.mark.parametrize("make", ["ntt_tables", "radix2_twiddles", "compact_twiddles"])
def test_tables_refuse_wrong_roots_and_degrees(ring: Ring, make: str) -> None:
    call = getattr(torch.ops.fhelium_ntt_ops, make)
    roots = torch.tensor(ring.roots)
    call(torch.stack([roots, roots], 1)[:, 0], 64, ring.params)  # strided roots are fine
    for wrong in (
        roots[[1, 0, 2]],
        roots * roots % torch.tensor(ring.primes),  # order N only
        torch.zeros_like(roots),
        roots + torch.tensor(ring.primes),
        -roots,
    ):
        with pytest.raises(RuntimeError, match=rf"^{make}: (root 0 is|roots holds \d+ for limb 0)"):
            call(wrong, 64, ring.params)
    for degree in (0, -64, 48, 1, 1 << 21):
        with pytest.raises(RuntimeError, match=rf"^{make}: degree is {degree}\."):
            call(roots, degree, ring.params)
    with pytest.raises(RuntimeError, match="root 0"):
        call(roots, 32, ring.params)
    with pytest.raises(RuntimeError, match=r"roots has shape \[2\], needed is \[3\]"):
        call(roots[:2], 64, ring.params)
    with pytest.raises(RuntimeError, match="for int64 residues, this call is on int32"):
        call(roots.int(), 64, ring.params)
    half = torch.ops.fhelium_rns_ops.rns_parameters(torch.tensor(ring.primes), 32)
    with pytest.raises(RuntimeError, match="rns_params column 0 is not for degree 64"):
        call(roots, 64, half)


@pytest.mark.parametrize("which", ["ring", "narrow_ring"])
def test_twiddles_are_powers_in_bit_reversed_order(
    request: pytest.FixtureRequest, which: str
) -> None:
    ring: Ring = request.getfixturevalue(which)
    forward, inverse = ring.twiddles.tolist()
    for limb, q in enumerate(ring.primes):
        wide = 52 if q < 1 << 50 else 64
        r, psi = 1 << (32 if ring.dtype == torch.int32 else wide), ring.roots[limb]
        powers = [bit_reverse(k, 6) for k in range(64)]
        assert forward[limb] == [pow(psi, e, q) * r % q for e in powers]
        assert inverse[limb] == [pow(psi, -e, q) * r % q for e in powers]
