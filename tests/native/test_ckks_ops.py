"""Operators on whole ciphertexts against Python integers and the definition of the ring."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from rns_oracle import (
    BATCHES,
    INT32,
    INT64,
    VIEWS,
    WORDS,
    Word,
    assert_unchanged_and_equal_for_threads,
    at,
    centred,
    ckks,
    each_word,
    filled,
    from_residues,
    parameters,
    primes,
    radix,
    residues,
    seen_as,
)

MIXED = INT64.mixed
cases = {
    "word": st.sampled_from(WORDS),
    "batch": st.sampled_from(BATCHES),
    "limbs": st.integers(1, len(MIXED)),
    "n": st.sampled_from([1, 2, 5, 16]),
    "view": st.sampled_from(VIEWS),
    "pattern": st.sampled_from(["random", "zero", "one", "largest", "alternating"]),
    "seed": st.integers(0, 2**20),
}


def unmontgomery(x: int, q: int, word: Word) -> int:
    """Return x R^-1 mod q."""
    return x * pow(radix(q, word), -1, q) % q


def inverses(moduli, word: Word) -> torch.Tensor:
    """Return q_0^-1 modulo the others, in Montgomery form."""
    constants = [pow(moduli[0], -1, q) * radix(q, word) % q for q in moduli[1:]]
    return torch.tensor(constants, dtype=word.dtype)


def called_unchanged(operator, *inputs):
    """Call an operator, check that its tensors are what they were, return its contiguous result."""
    before = [x.clone() if isinstance(x, torch.Tensor) else x for x in inputs]
    result = operator(*inputs)
    for x, y in zip(inputs, before, strict=True):
        assert torch.equal(x, y) if isinstance(x, torch.Tensor) else x == y
    assert result.is_contiguous()
    return result


@settings(max_examples=60, deadline=None)
@given(**cases, components=st.integers(1, 3), repeat=st.sampled_from(["", "batch", "constant"]))
def test_plaintext_operators(word, batch, limbs, n, view, pattern, seed, components, repeat):
    moduli = word.mixed[-limbs:]
    params = parameters(moduli, word=word)
    shape = (components, *batch, limbs, n)
    ciphertext = seen_as(residues(shape, moduli, pattern, seed, word), view)
    plain_shape = (*(() if repeat == "batch" else batch), limbs, 1 if repeat == "constant" else n)
    plaintext = residues(plain_shape, moduli, seed=seed, word=word)
    plaintext = seen_as(plaintext, view)
    c, p = ciphertext.tolist(), plaintext.expand(ciphertext.shape[1:]).tolist()
    total = filled(shape, lambda i: (at(c, i) + (i[0] == 0) * at(p, i[1:])) % moduli[i[-2]], word)
    product = filled(
        shape, lambda i: unmontgomery(at(c, i) * at(p, i[1:]), moduli[i[-2]], word), word
    )
    for name, expected in (("add_plaintext", total), ("multiply_plaintext", product)):
        operands = (ciphertext, plaintext, params)
        assert torch.equal(called_unchanged(getattr(ckks, name), *operands), expected)
        written = seen_as(ciphertext, view)
        kept = plaintext.clone()
        assert getattr(ckks, name + "_")(written, plaintext, params) is None
        assert torch.equal(written, expected)
        assert torch.equal(plaintext, kept)


def test_plaintexts_inside_the_ciphertext():
    params = parameters(MIXED)
    ciphertext = residues((2, 3, len(MIXED), 4), MIXED)
    expected = ckks.add_plaintext(ciphertext, ciphertext[1].clone(), params)
    ckks.add_plaintext_(ciphertext, ciphertext[1], params)  # component 1 is only read
    assert torch.equal(ciphertext, expected)
    ckks.add_plaintext_(ciphertext, ciphertext[0], params)  # the destination itself
    before = ciphertext.clone()
    for name, source in (
        ("add_plaintext_", ciphertext[0, :1]),
        ("multiply_plaintext_", ciphertext[0]),
        ("multiply_plaintext_", ciphertext[1]),
    ):
        with pytest.raises(
            RuntimeError, match=f"{name}: source and destination share part of their storage"
        ):
            getattr(ckks, name)(ciphertext, source, params)
    with pytest.raises(RuntimeError, match="two indices share an element"):
        ckks.multiply_plaintext_(ciphertext[:1].expand(2, -1, -1, -1), before[0], params)
    with pytest.raises(RuntimeError, match="two indices share an element"):
        ckks.add_plaintext_(ciphertext[:, :1].expand(-1, 3, -1, -1), before[0], params)
    assert torch.equal(ciphertext, before)


@settings(max_examples=60, deadline=None)
@given(**cases, other_view=st.sampled_from(VIEWS))
def test_ciphertext_product_and_square(word, batch, limbs, n, view, pattern, seed, other_view):
    moduli = word.mixed[-limbs:]
    params = parameters(moduli, word=word)
    shape = (2, *batch, limbs, n)
    lhs = seen_as(residues(shape, moduli, pattern, seed, word), view)
    other = "largest" if seed % 2 else "random"
    rhs = seen_as(residues(shape, moduli, other, seed + 1, word), other_view)

    def expected(x, y):
        def coefficient(i):
            a, b = ([at(v, (c, *i[1:])) for c in (0, 1)] for v in (x, y))
            terms = (a[0] * b[0], a[0] * b[1] + a[1] * b[0], a[1] * b[1])
            return terms[i[0]] % moduli[i[-2]]

        return filled((3, *shape[1:]), coefficient, word)

    a, b = lhs.tolist(), rhs.tolist()
    product = called_unchanged(ckks.ciphertext_product, lhs, rhs, params)
    assert torch.equal(product, expected(a, b))
    assert torch.equal(called_unchanged(ckks.ciphertext_square, lhs, params), expected(a, a))


@settings(max_examples=60, deadline=None)
@given(**cases, count=st.integers(1, 6), key_stored_by_limb=st.booleans())
def test_key_switch_inner_product(
    word, batch, limbs, n, view, pattern, seed, count, key_stored_by_limb
):
    moduli = word.mixed[-limbs:]
    digits = seen_as(residues((count, *batch, limbs, n), moduli, pattern, seed, word), view)
    other = "largest" if seed % 2 else "random"
    key = residues((count, 2, limbs, n), moduli, other, seed + 1, word)
    if key_stored_by_limb:
        key = key.permute(2, 0, 1, 3).contiguous().permute(1, 2, 0, 3)
    else:
        key = seen_as(key, view)
    x, k = digits.tolist(), key.tolist()

    def coefficient(i):
        c, *b, limb, j = i
        total = sum(at(x, (d, *b, limb, j)) * k[d][c][limb][j] for d in range(count))
        return unmontgomery(total, moduli[limb], word)

    params = parameters(moduli, word=word)
    result = called_unchanged(ckks.key_switch_inner_product, digits, key, params)
    assert torch.equal(result, filled((2, *batch, limbs, n), coefficient, word))


@each_word
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 50])
def test_inner_products_hold_the_largest_terms(count, word: Word):
    """Sums at and past every border where the reduction changes, next to the largest residues."""
    largest, border = word.sizes[-1], word.sizes[2]
    moduli = (*word.mixed, primes(border, 5)[4], primes(largest, 5)[4])
    n = 64
    digits = residues((count, len(moduli), n), moduli, "largest", word=word)
    key = residues((count, 2, len(moduli), n), moduli, "largest", word=word)
    spread = torch.Generator().manual_seed(count)
    most = min(2**20, min(moduli))
    digits -= torch.randint(0, most, digits.shape, generator=spread).to(word.dtype)
    lower = torch.randint(0, most, (count, 2, 1, n // 2), generator=spread)
    key[..., n // 2 :] -= lower.to(word.dtype)
    x, k = digits.tolist(), key.tolist()

    def coefficient(i):
        c, limb, j = i
        total = sum(x[d][limb][j] * k[d][c][limb][j] for d in range(count))
        return unmontgomery(total, moduli[limb], word)

    result = ckks.key_switch_inner_product(digits, key, parameters(moduli, word=word))
    assert torch.equal(result, filled((2, len(moduli), n), coefficient, word))


@settings(max_examples=60, deadline=None)
@given(**cases)
def test_rescale_divides_to_the_nearest(word, batch, limbs, n, view, pattern, seed):
    mixed, first = word.mixed, seed % 7
    order = mixed[first:] + mixed[:first]  # any size of prime may be the one that goes
    moduli = order[: max(2, limbs)]
    shape = (*batch, len(moduli), n)
    values = seen_as(residues(shape, moduli, pattern, seed, word), view)
    inverse = inverses(moduli, word)
    nested = values.tolist()

    def coefficient(i):
        column = [at(nested, (*i[:-2], limb, i[-1])) for limb in range(len(moduli))]
        x = from_residues(column, moduli)
        return (x - centred(column[0], moduli[0])) // moduli[0] % moduli[i[-2] + 1]

    params = parameters(moduli, word=word)
    result = called_unchanged(ckks.rescale_nearest, values, inverse, params)
    assert torch.equal(result, filled((*batch, len(moduli) - 1, n), coefficient, word))


@each_word
def test_rescale_at_the_middle_of_the_dropped_prime(word: Word):
    mixed = word.mixed
    for first in range(len(mixed)):
        moduli = mixed[first:] + mixed[:first]
        q0 = moduli[0]
        inverse = inverses(moduli, word)
        low = [0, 1, q0 // 2 - 1, q0 // 2, q0 // 2 + 1, q0 // 2 + 2, q0 - 1]
        wholes = [0, 1, -1, 12345]
        values = [w * q0 + r for w in wholes for r in low]
        nearest = [w + (r > q0 // 2) for w in wholes for r in low]
        rows = torch.tensor([[v % q for v in values] for q in moduli], dtype=word.dtype)
        result = ckks.rescale_nearest(rows, inverse, parameters(moduli, word=word))
        assert result.tolist() == [[v % q for v in nearest] for q in moduli[1:]]


def reversed_bits(i: int, n: int) -> int:
    """Return i with its log2 n bits in reverse order."""
    bits = n.bit_length() - 1
    return int(f"{i:0{bits}b}"[::-1], 2) if bits else 0


def evaluated(values: torch.Tensor, moduli, n: int) -> torch.Tensor:
    """Return a polynomial's values at psi^(2 bitrev(i) + 1), by the definition."""
    out = []
    for row, q in zip(values.tolist(), moduli, strict=True):
        psi = next(
            r for g in range(2, 1000) if pow(r := pow(g, (q - 1) // (2 * n), q), n, q) == q - 1
        )
        points = [pow(psi, 2 * reversed_bits(i, n) + 1, q) for i in range(n)]
        out.append([sum(c * pow(z, k, q) for k, c in enumerate(row)) % q for z in points])
    return torch.tensor(out, dtype=values.dtype)


@each_word
@pytest.mark.parametrize("n", [1, 2, 4, 8, 32])
def test_automorphisms_are_x_to_x_to_the_g(n, word: Word):
    moduli = word.mixed
    params = parameters(moduli, n, word)
    values = residues((len(moduli), n), moduli, word=word)
    values[::2, n // 2 :] = 0  # a zero has no sign
    in_ntt = evaluated(values, moduli, n)
    for g in range(1, 2 * n, 2):
        expected = torch.zeros_like(values)
        for limb, q in enumerate(moduli):
            for k, c in enumerate(values[limb].tolist()):
                power = k * g % (2 * n)
                expected[limb, power % n] = c % q if power < n else -c % q
        assert torch.equal(ckks.automorphism_coefficient(values, g, params), expected)
        assert torch.equal(ckks.automorphism_ntt(in_ntt, g), evaluated(expected, moduli, n))


@settings(max_examples=40, deadline=None)
@given(
    word=st.sampled_from(WORDS),
    batch=st.sampled_from(BATCHES),
    log_n=st.integers(0, 7),
    view=st.sampled_from(VIEWS),
    seed=st.integers(0, 2**20),
)
def test_automorphisms_compose_and_take_any_layout(word, batch, log_n, view, seed):
    n, moduli = 2**log_n, word.mixed[:3]
    params = parameters(moduli, n, word)
    values = seen_as(residues((*batch, 3, n), moduli, seed=seed, word=word), view)
    g, h = (seed % n) * 2 + 1, (seed // 7 % n) * 2 + 1
    for call in (
        lambda x, e: ckks.automorphism_coefficient(x, e, params),
        ckks.automorphism_ntt,
    ):
        once = called_unchanged(call, values, g)
        assert torch.equal(once, call(values.contiguous(), g))
        assert torch.equal(call(once, h), call(values, g * h % (2 * n)))
        assert torch.equal(call(once, pow(g, -1, 2 * n)), values)
        for i in torch.cartesian_prod(*map(torch.arange, batch), torch.tensor([0])).view(
            -1, len(batch) + 1
        ):
            item = tuple(i[:-1].tolist())
            assert torch.equal(once[item], call(values[item], g))


@pytest.mark.parametrize("name", ["automorphism_coefficient", "automorphism_ntt"])
def test_galois_elements_and_degrees_are_refused(name):
    def call(values, g):
        extra = (parameters(MIXED),) if name == "automorphism_coefficient" else ()
        return getattr(ckks, name)(values, g, *extra)

    values = residues((len(MIXED), 8), MIXED)
    for g in (0, -1, 2, 8, 16, 17, 2**62 + 1):
        with pytest.raises(RuntimeError, match=f"{name}: galois_element is {g} with 2N = 16"):
            call(values, g)
    for n in (0, 3, 12):
        with pytest.raises(
            RuntimeError, match=f"{name}: the last axis has length {n}.*power of two"
        ):
            call(residues((len(MIXED), n), MIXED), 1)
    with pytest.raises(RuntimeError, match=f"{name}: input holds uint8, needed is int32 or int64"):
        call(values.byte(), 3)


X = residues((2, 3, 7, 4), MIXED)
P = residues((3, 7, 4), MIXED)
KEY = residues((2, 2, 7, 4), MIXED)
PARAMS = parameters(MIXED)
INVERSE = inverses(MIXED, INT64)
VALID = {
    "add_plaintext": (X, P, PARAMS),
    "add_plaintext_": (X, P, PARAMS),
    "multiply_plaintext": (X, P, PARAMS),
    "multiply_plaintext_": (X, P, PARAMS),
    "ciphertext_product": (X, X.clone(), PARAMS),
    "ciphertext_square": (X, PARAMS),
    "key_switch_inner_product": (X, KEY, PARAMS),
    "rescale_nearest": (X, INVERSE, PARAMS),
    "automorphism_coefficient": (X, 3, PARAMS),
}
PLAINTEXT = [
    (1, X, r"plaintext has shape \[2, 3, 7, 4\] against the ciphertext's \[2, 3, 7, 4\]"),
    (1, P[:2], r"plaintext has shape \[2, 7, 4\] against \[2, 3, 7, 4\]"),
    (1, P[:, :6], r"plaintext has shape \[3, 6, 4\] against \[2, 3, 7, 4\]"),
    (1, P[0, 0], r"plaintext has shape \[4\]"),
    (1, P.int(), "plaintext holds int32, needed is int64"),
    (0, X.int(), "plaintext holds int64, needed is int32"),
    (0, X[0, 0], r"ciphertext has shape \[7, 4\] with 2 axes, needed are at least 3"),
    (0, X[:0], r"ciphertext has shape \[0, 3, 7, 4\]"),
]
WRONG = {
    "add_plaintext": PLAINTEXT,
    "add_plaintext_": PLAINTEXT,
    "multiply_plaintext": PLAINTEXT,
    "multiply_plaintext_": PLAINTEXT,
    "ciphertext_product": [
        (1, X[:, :2], r"rhs has shape \[2, 2, 7, 4\], needed is \[2, 3, 7, 4\]"),
        (0, torch.cat([X, X[:1]]), "lhs has 3 components, needed are 2"),
        (0, X[:, 0, 0], r"lhs has shape \[2, 4\] with 2 axes, needed are at least 3"),
        (1, X.int(), "rhs holds int32, needed is int64"),
    ],
    "ciphertext_square": [
        (0, X[:1], "input has 1 components, needed are 2"),
        (0, X[0, 0], r"input has shape \[7, 4\] with 2 axes, needed are at least 3"),
        (0, X.double(), "input holds float64, needed is int32 or int64"),
    ],
    "key_switch_inner_product": [
        (1, KEY[:1], r"key has shape \[1, 2, 7, 4\], needed is \[2, 2, 7, 4\]"),
        (1, KEY[..., :2], r"key has shape \[2, 2, 7, 2\], needed is \[2, 2, 7, 4\]"),
        (1, KEY[0], r"key has shape \[2, 7, 4\], needed is \[2, 2, 7, 4\]"),
        (1, KEY.int(), "key holds int32, needed is int64"),
        (0, X[:0], r"digits has shape \[0, 3, 7, 4\]"),
        (0, X[0, 0], r"digits has shape \[7, 4\] with 2 axes, needed are at least 3"),
    ],
    "rescale_nearest": [
        (0, X[:, :, :1], "input has 1 limbs, needed are at least 2"),
        (1, INVERSE[1:], r"inverse has shape \[5\], needed is \[6\]"),
        (1, torch.tensor(MIXED[1:]), rf"inverse holds {MIXED[1]} for limb 0, .* {MIXED[1]}"),
        (1, INVERSE + 2**45, r"inverse holds \d+ for limb 0, whose modulus is \d+"),
        (1, INVERSE.int(), "inverse holds int32, needed is int64"),
        (0, X.int(), "for int64 residues, this call is on int32"),
    ],
    "automorphism_coefficient": [(0, X[0, 0, 0], r"input has shape \[4\]")],
}


@pytest.mark.parametrize(
    ("name", "position", "value", "message"),
    [(name, *case) for name, wrong in WRONG.items() for case in wrong],
)
def test_wrong_operands_are_refused(name, position, value, message):
    arguments = list(VALID[name])
    arguments[0] = arguments[0].clone()
    arguments[position] = value.clone()
    before = arguments[0].clone()
    with pytest.raises(RuntimeError, match=f"^{name}: .*{message}"):
        getattr(ckks, name)(*arguments)
    assert torch.equal(arguments[0], before)


@pytest.mark.parametrize("name", VALID)
def test_wrong_parameters_are_refused(name):
    *operands, params = VALID[name]
    operands[0] = operands[0].clone()
    getattr(ckks, name)(*operands, params)
    operator = getattr(ckks, name)
    with pytest.raises(RuntimeError, match=rf"^{name}: rns_params has shape \[7, 6\].*\[7, 7\]"):
        operator(*operands, params[:, :6])
    with pytest.raises(RuntimeError, match=rf"^{name}: rns_params has shape \[6, 7\].*\[7, 7\]"):
        operator(*operands, params[:6])
    with pytest.raises(RuntimeError, match=f"^{name}: rns_params holds int32"):
        operator(*operands, params.int())
    with pytest.raises(RuntimeError, match=f"^{name}: column 0 .* for int32 .* is on int64"):
        operator(*operands, parameters(INT32.mixed, word=INT32))
    even = params.clone()
    even[0, 2] += 1
    with pytest.raises(RuntimeError, match=f"^{name}: column 2 of rns_params"):
        operator(*operands, even)


@each_word
@pytest.mark.parametrize("name", [n for n in VALID if not n.endswith("_")])
def test_thread_count_does_not_matter(name, word: Word):
    n = 4096
    moduli = primes(word.sizes[2], 3, n) + primes(word.sizes[-2], 2, n)
    generator = torch.Generator().manual_seed(3)
    x = torch.randint(0, min(moduli), (2, 2, 5, n), generator=generator).to(word.dtype)
    second = {
        "add_plaintext": x[0],
        "multiply_plaintext": x[1],
        "ciphertext_product": x.flip(0),
        "key_switch_inner_product": x.flip(3),
        "rescale_nearest": x[0, 0, 1:, 0],
    }
    inputs = [x, *([second[name]] if name in second else []), parameters(moduli, n, word)]
    operator = getattr(ckks, name)
    if name == "automorphism_coefficient":
        assert_unchanged_and_equal_for_threads(lambda a, p: operator(a, 5, p), *inputs)
        assert_unchanged_and_equal_for_threads(lambda a: ckks.automorphism_ntt(a, 5), x)
    else:
        assert_unchanged_and_equal_for_threads(operator, *inputs)
