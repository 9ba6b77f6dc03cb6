"""Domains, NTT backends, thread counts, hoisting and in-place forms give the same residues."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
import torch

from fhelium import Engine
from tests.eager.pool import COUNT, NAMES, SLOTS, in_coefficients, same, unary
from tests.eager.support import KeyedEngine, unchanged


@pytest.mark.parametrize("domain", ["coefficient", "ntt"])
@pytest.mark.parametrize("output_domain", [None, "coefficient", "ntt"])
def test_hoisted_rotations_are_single_rotations(pool, domain, output_domain):
    e, batch = pool.engine, pool.values[domain, 0]
    steps = (1, 0, -2, 1, 3, SLOTS, -SLOTS - 1)
    with unchanged(batch):
        many = e.rotate_many_by_steps(batch, steps, output_domain=output_domain)
    assert len(many) == len(steps)
    for step, found in zip(steps, many, strict=True):
        if step % SLOTS:
            key = e.keys.rotation(step)
            assert same(found, e.rotate_with_key(batch, key, output_domain=output_domain)), step
        else:
            assert torch.equal(pool.keyed.decrypt(found), pool.keyed.decrypt(batch)), step
            assert output_domain in (None, found.polynomial_domain), step


@pytest.mark.parametrize("domain", ["coefficient", "ntt"])
def test_sums_over_lists_are_single_sums(pool, domain):
    e = pool.engine
    values = [pool.value(k, domain) for k in range(COUNT)]
    factors = [e.prepare_plaintext(pool.messages[k], values[0]) for k in range(COUNT)]
    total = values[0]
    for value in values[1:]:
        total = e.add(total, value)
    products = [e.multiply_plaintext(v, f) for v, f in zip(values, factors, strict=True)]
    weighted = products[0]
    for product in products[1:]:
        weighted = e.add(weighted, product)
    with unchanged(*values, *factors):
        assert same(e.add_many(values), total)
        assert same(e.sum_plaintext_products(values, factors), weighted)


def test_in_place_forms_are_the_others_over_their_operand(pool):
    e = pool.engine
    for domain in ("coefficient", "ntt"):
        x, y = pool.value(0, domain), pool.value(1, domain)
        term = e.prepare_plaintext(0.5, x, "add")
        to = (
            "ntt_domain_to_coefficient_domain"
            if domain == "ntt"
            else "coefficient_domain_to_ntt_domain"
        )
        forms = {"add": (y,), "subtract": (y,), "negate": (), "add_plaintext": (term,), to: ()}
        for name, operands in forms.items():
            target = x.clone()
            place = target.data.data_ptr()
            with unchanged(x, *operands):
                expected = getattr(e, name)(x, *operands)
                result = getattr(e, f"{name}_")(target, *operands)
            assert result is target
            assert target.data.data_ptr() == place
            assert same(target, expected)
            assert target.state == expected.state


@pytest.mark.parametrize("name", NAMES)
def test_both_domains_give_equal_residues(pool, name):
    e = pool.engine
    operation = unary(e)[name]
    in_ntt = pool.value(0, "ntt")
    found = operation(in_coefficients(e, in_ntt))
    assert found.polynomial_domain == "coefficient"
    assert same(found, in_coefficients(e, operation(in_ntt)))


def test_output_domain_changes_the_form_and_nothing_else(pool):
    e = pool.engine
    x, weights = pool.value(0, "coefficient"), e.prepare_plaintext(0.5, pool.value(0))
    key = e.keys.rotation(1)
    for operation in (
        lambda v, **o: e.multiply(v, v, **o),
        e.square,
        lambda v, **o: e.relinearize(e.square(v), **o),
        lambda v, **o: e.rescale_to_next_depth(e.square(v), **o),
        lambda v, **o: e.rotate_with_key(v, key, **o),
        e.conjugate,
        lambda v, **o: e.multiply_plaintext(v, weights, **o),
    ):
        for value in (x, e.coefficient_domain_to_ntt_domain(x)):
            plain, ntt = (operation(value, output_domain=d) for d in ("coefficient", "ntt"))
            assert (plain.polynomial_domain, ntt.polynomial_domain) == ("coefficient", "ntt")
            assert same(e.coefficient_domain_to_ntt_domain(plain), ntt)
            assert same(operation(value), plain if value is x else ntt)


def test_domain_changes_undo_each_other(pool):
    e, x = pool.engine, pool.value(0, "coefficient")
    there = e.coefficient_domain_to_ntt_domain(x)
    assert same(e.ntt_domain_to_coefficient_domain(there), x)
    assert not torch.equal(there.data, x.data)


@pytest.mark.filterwarnings("ignore::fhelium.errors.InsecureWarning")
def test_ntt_backends_agree_on_everything(pool):
    packed, indexed = (
        KeyedEngine.make(pool.keyed.config, steps=(3, -1, -2), rng_seed=5, ntt_backend=name)
        for name in ("packed", "radix2_indexed")
    )
    assert torch.equal(packed.secret_key.data, indexed.secret_key.data)
    assert torch.equal(packed.public_key.data, indexed.public_key.data)
    for mine, theirs in zip(packed.keys, indexed.keys, strict=True):
        assert torch.equal(mine.data, theirs.data)
    for domain in ("coefficient", "ntt"):
        x, y = (k.encrypt(pool.messages[:2], output_domain=domain) for k in (packed, indexed))
        assert same(x, y)
        for name in NAMES:
            a, b = unary(packed.engine)[name](x), unary(indexed.engine)[name](x)
            assert same(a, b), name
            assert torch.equal(packed.decrypt(a), indexed.decrypt(a))


@pytest.fixture
def threads() -> Iterator[Callable[[int], None]]:
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.mark.filterwarnings("ignore::fhelium.errors.InsecureWarning")
def test_thread_counts_agree_on_everything(pool, threads):
    def everything() -> list[torch.Tensor]:
        keyed = KeyedEngine.make(pool.keyed.config, steps=(3, -1, -2), rng_seed=6)
        x = keyed.encrypt(pool.messages, output_domain="ntt")
        results = [operation(x) for operation in unary(keyed.engine).values()]
        return [
            keyed.public_key.data,
            *(key.data for key in keyed.keys),
            *(value.data for value in results),
            *(keyed.decrypt(value) for value in results),
            keyed.engine.decrypt_message(x, keyed.secret_key),
        ]

    threads(1)
    alone = everything()
    for count in (2, 3, 7):
        threads(count)
        assert all(torch.equal(a, b) for a, b in zip(alone, everything(), strict=True)), count


def test_python_threads_share_an_engine(pool):
    """A new engine, so that its tables are made while several threads ask for them."""
    e = Engine(pool.keyed.config)
    e.add_keys(pool.keyed.keys)
    x = pool.values["ntt", 0]
    expected = {name: operation(x) for name, operation in unary(pool.engine).items()}
    start, problems = threading.Barrier(4), []

    def work(offset: int) -> None:
        operations = list(unary(e).items())
        start.wait()
        try:
            for name, operation in operations[offset:] + operations[:offset]:
                if not same(operation(x), expected[name]):
                    problems.append(name)
        except Exception as error:
            problems.append(repr(error))

    workers = [threading.Thread(target=work, args=(3 * k,)) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert not problems


def test_results_own_their_storage(pool):
    """Writing over a result, even where nothing had to be computed, never reaches an operand."""
    e, x = pool.engine, pool.value(0, "coefficient").clone()
    copies = unary(e) | {
        "rotate by 0": lambda v: e.rotate_by_step(v, 0),
        "sum of 1": lambda v: e.sum_slots(v, 1),
        "mod_switch to its depth": lambda v: e.mod_switch_to_depth(v, 0),
        "align to its depth": lambda v: e.align_to_depth(v, 0),
        "times 1": lambda v: e.multiply_scalar(v, 1, scale=1.0),
    }
    with unchanged(x):
        for operation in copies.values():
            operation(x).data.fill_(-1)
