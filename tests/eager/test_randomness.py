"""Fresh randomness for everything, the fenced test mode, forks, and the guarded decryption."""

from __future__ import annotations

import math
import os
import random
import threading
import warnings

import numpy as np
import pytest
import torch

from fhelium import Ciphertext, CkksConfig, Engine
from fhelium.backend.ckks import CkksDeviceResources
from fhelium.errors import DecryptionWarning, InsecureWarning, RandomnessError
from fhelium.rng import RandomSource, no_randomness
from tests.eager.support import PRIVATE, KeyedEngine, insecure_config, unchanged, uniform
from tests.programs import run_python

# ---- fresh entropy -----------------------------------------------------------------------------


def test_two_encryptions_of_one_message_differ(small):
    first, second = small.encrypt(0.5), small.encrypt(0.5)
    batch = small.encrypt(torch.full((2, small.config.num_slots), 0.5))
    values = [first, second, *batch.unbind()]
    for k, value in enumerate(values):
        assert torch.allclose(
            small.decrypt(value), torch.tensor(0.5 + 0j).to(torch.complex128), atol=1e-4
        )
        for other in values[:k]:
            # Uniform residues coincide once in a prime: never in half of the places.
            assert (value.data == other.data).float().mean() < 0.01


def test_no_noise_repeats_in_ten_thousand_draws():
    """Engines, threads, batches and calls of one secret never share a mask or an error."""
    config = insecure_config(depth=1, scale_bits=30, N=64)
    first = KeyedEngine.make(config, steps=())
    lock, masks, errors, per_thread = threading.Lock(), [], [], 2500

    def work() -> None:
        engine = Engine(config)
        for size in (1,) * 20 + (per_thread - 20,):
            value = engine.encrypt_message(torch.zeros(size, 32), first.public_key)
            raw = engine.decrypt(value, first.secret_key, policy=PRIVATE)
            with lock:
                masks.extend(bytes(c) for c in value.data[1, :, 0].numpy())
                errors.extend(bytes(e) for e in raw.data[:, 0].numpy())

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert len(masks) == len(errors) == 10_000
    assert len(set(masks)) == 10_000
    assert len(set(errors)) == 10_000


def test_other_generators_have_no_influence(small):
    """Seeding torch, numpy and random alike gives different ciphertexts and keys."""
    found = []
    for _ in range(2):
        torch.manual_seed(7)
        np.random.seed(7)
        random.seed(7)
        found.append((small.encrypt(0.5).data, small.engine.create_secret_key()))
    assert not torch.equal(found[0][0], found[1][0])
    assert not torch.equal(found[0][1].data, found[1][1].data)
    assert found[0][1].key_id != found[1][1].key_id


def test_every_operation_draws_its_own_bytes_from_the_system(small, monkeypatch):
    drawn: list[bytes] = []
    system = os.urandom

    def recording(count: int) -> bytes:
        drawn.append(system(count))
        return drawn[-1]

    monkeypatch.setattr(os, "urandom", recording)
    engine = small.engine
    for call in (
        lambda: small.encrypt(0.5),
        engine.create_secret_key,
        lambda: engine.create_public_key(small.secret_key),
        lambda: engine.create_relinearization_key(small.secret_key),
    ):
        before = len(drawn)
        call()
        assert all(len(root) == 32 for root in drawn[before:])
        assert len(drawn) > before
    assert len(set(drawn)) == len(drawn)
    public_key = engine.create_public_key(small.secret_key)
    # The published seed is bytes of its own, and the secret root is other bytes.
    assert public_key.public_seed in drawn
    assert len(drawn[-2:]) == len(set(drawn[-2:])) == 2


def test_a_refused_draw_says_which_operation_it_was_for(small):
    """Where no randomness may be drawn, each operation that needs some refuses in its own name."""
    e, key = small.engine, small.secret_key
    plain = e.encode(0.5)
    for name, call in {
        "create_secret_key": e.create_secret_key,
        "create_public_key": lambda: e.create_public_key(key),
        "create_relinearization_key": lambda: e.create_relinearization_key(key),
        "create_rotation_key": lambda: e.create_rotation_key(1, key),
        "create_conjugation_key": lambda: e.create_conjugation_key(key),
        "create_switching_key": lambda: e.create_switching_key(key, key),
        "encrypt": lambda: e.encrypt(plain, small.public_key),
        "encrypt_message": lambda: small.encrypt(0.5),
        "encrypt_with_secret_key": lambda: e.encrypt_with_secret_key(0.5, key),
    }.items():
        with no_randomness(), pytest.raises(RandomnessError) as caught:
            call()
        assert caught.value.operation == name


def test_equal_bytes_give_equal_ciphertexts(small, monkeypatch):
    """Nothing but the system's bytes enters: with those fixed, encryption is a function."""
    monkeypatch.setattr(os, "urandom", lambda count: bytes(count))
    first, second = small.encrypt(0.5), small.encrypt(0.5)
    assert torch.equal(first.data, second.data)


# ---- the test mode -----------------------------------------------------------------------------


def seeded(config: CkksConfig, seed: int) -> KeyedEngine:
    with pytest.warns(InsecureWarning, match="rng_seed"):
        return KeyedEngine.make(config, steps=(1,), rng_seed=seed)


def test_seeded_engines_repeat_each_other_and_never_themselves(small):
    first, again, other = (seeded(small.config, seed) for seed in (1, 1, 2))
    messages = [0.5, 0.5]
    values = [[keyed.encrypt(m).data for m in messages] for keyed in (first, again, other)]
    for mine, theirs in (
        (first.secret_key, again.secret_key),
        (first.public_key, again.public_key),
        *zip(first.keys, again.keys, strict=True),
    ):
        assert torch.equal(mine.data, theirs.data)
        assert mine.key_id == theirs.key_id
    assert all(torch.equal(a, b) for a, b in zip(values[0], values[1], strict=True))
    assert not torch.equal(values[0][0], values[0][1])
    assert not torch.equal(values[0][0], values[2][0])
    assert not torch.equal(first.secret_key.data, other.secret_key.data)
    assert first.secret_key.key_id != other.secret_key.key_id


def test_ranks_of_one_seed_differ(small, monkeypatch):
    found = []
    for rank in ("0", "1"):
        monkeypatch.setenv("RANK", rank)
        with pytest.warns(InsecureWarning):
            engine = Engine(small.config, rng_seed=3)
        found.append(engine.create_secret_key().data)
    assert not torch.equal(*found)


def test_a_seed_warns_at_the_line_that_gave_it(small):
    for call in (
        lambda: Engine(small.config, rng_seed=1),
        lambda: CkksDeviceResources(config=small.config, rng_seed=1),
        lambda: RandomSource(1),
    ):
        with pytest.warns(InsecureWarning, match=r"^RandomSource: rng_seed .*\. .*\.$") as caught:
            call()
        assert [warning.filename for warning in caught] == [__file__]


def test_a_seed_marks_what_it_makes():
    """On secure parameters the mark comes from the seed alone and goes wherever its values go."""
    config = CkksConfig.parse("slots4096_scale40_depth2_int64")
    assert not config.insecure
    marked = seeded(config, 4)
    e = marked.engine
    assert e.insecure
    x = marked.encrypt(0.5)
    made = [marked.secret_key, marked.public_key, *marked.keys, x, e.add(x, x), e.square(x),
            e.rotate_by_step(x, 1), e.align_to_depth(x, 1), x.clone(),
            e.decrypt(x, marked.secret_key)]  # fmt: skip
    for value in made:
        assert value.state.insecure
        assert value.insecure
        assert "insecure" in repr(value)
    assert "insecure" in repr(e)
    assert "insecure" in repr(e.keys)

    secure = Engine(config)
    key = secure.create_secret_key()
    assert not secure.insecure
    assert not key.insecure
    assert "insecure" not in repr(key)
    assert "insecure" not in repr(secure)
    # The seed is no part of the parameters: contexts agree, and the mark travels by the values.
    assert key.context_id == marked.secret_key.context_id
    public = secure.create_public_key(key)
    assert not public.insecure
    assert not secure.encrypt_message(0.5, public).insecure
    assert e.create_public_key(key).insecure
    assert secure.encrypt_message(0.5, e.create_public_key(key)).insecure
    assert e.encrypt_message(0.5, public).insecure
    clean = secure.encrypt_message(0.5, public)
    assert secure.rotate_with_key(clean, e.create_rotation_key(1, key)).insecure
    assert not secure.rotate_with_key(clean, secure.create_rotation_key(1, key)).insecure
    assert secure.add(clean, e.encrypt_message(0.5, public)).insecure
    assert secure.create_public_key(marked.secret_key).insecure


@pytest.mark.parametrize("setting", ["1", "true", "yes"])
def test_seeds_are_refused_where_security_is_required(small, monkeypatch, setting):
    monkeypatch.setenv("FHELIUM_REQUIRE_SECURE_RNG", setting)
    with pytest.raises(RandomnessError, match=r"FHELIUM_REQUIRE_SECURE_RNG.*Drop rng_seed"):
        Engine(small.config, rng_seed=1)
    Engine(small.config).create_secret_key()


@pytest.mark.parametrize("setting", ["", "0"])
def test_an_empty_requirement_is_none(small, monkeypatch, setting):
    monkeypatch.setenv("FHELIUM_REQUIRE_SECURE_RNG", setting)
    with pytest.warns(InsecureWarning):
        Engine(small.config, rng_seed=1)


# ---- forks -------------------------------------------------------------------------------------

FORK = """
    import os, sys, time, warnings
    warnings.simplefilter("ignore")
    import torch
    from fhelium import CkksConfig, DecryptPolicy, Engine
    from fhelium.errors import RandomnessError
    torch.set_num_threads(2)

    def in_child(call, seconds=8):
        '''Call in a forked child; say what happened there, or that nothing did.'''
        child = os.fork()
        if child == 0:
            try:
                call()
                os._exit(1)
            except RandomnessError as error:
                os._exit(0 if "spawn" in error.remedy and "forked" in error.fact else 2)
            except BaseException:
                os._exit(3)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                code = os.waitstatus_to_exitcode(status)
                return ["refused", "worked", "wrong text", "another error"][code]
            time.sleep(0.01)
        os.kill(child, 9)
        os.waitpid(child, 0)
        return "hung"
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
def test_a_child_forked_after_use_is_refused_at_once():
    """Everything that computes or draws, in rings large enough to use threads: never a hang."""
    program = (
        FORK
        + """
    e = Engine("slots4096_scale40_depth2_int64")
    sk = e.create_secret_key()
    pk = e.create_public_key(sk)
    e.add_keys(e.create_evaluation_keys(sk, steps=(1,)))
    messages = torch.zeros(16, 4096, dtype=torch.complex128)
    x = e.encrypt_message(messages, pk, output_domain="ntt")
    plain = e.encode(0.5)
    term = e.prepare_plaintext(0.5, x)
    calls = {
        "create_secret_key": e.create_secret_key,
        "create_public_key": lambda: e.create_public_key(sk),
        "create_rotation_key": lambda: e.create_rotation_key(2, sk),
        "encode": lambda: e.encode(messages),
        "decode": lambda: e.decode(plain),
        "encrypt": lambda: e.encrypt(plain, pk),
        "encrypt_message": lambda: e.encrypt_message(messages, pk),
        "prepare_plaintext": lambda: e.prepare_plaintext(messages, x),
        "decrypt_message": lambda: e.decrypt_message(x, sk),
        "decrypt_message private": lambda: e.decrypt_message(x, sk, policy=DecryptPolicy.private()),
        "add": lambda: e.add(x, x),
        "multiply": lambda: e.multiply(x, x),
        "multiply_plaintext": lambda: e.multiply_plaintext(x, term),
        "add_scalar": lambda: e.add_scalar(x, 0.5),
        "rotate": lambda: e.rotate_by_step(x, 1),
        "rescale": lambda: e.rescale_to_next_depth(e.square(x)),
        "a new engine": lambda: Engine("slots4096_scale40_depth2_int64").create_secret_key(),
    }
    for name, call in calls.items():
        start = time.monotonic()
        print(name, in_child(call), "quickly" if time.monotonic() - start < 10 else "slowly")
    print("parent", bool((e.decrypt_message(x, sk).abs() < 1e-5).all()))
    """
    )
    lines = run_python(program).splitlines()
    assert lines[-1] == "parent True"
    assert len(lines) == 18
    for line in lines[:-1]:
        assert line.endswith(" refused quickly"), line


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
def test_a_child_forked_before_use_works_and_differs():
    program = (
        FORK
        + """
    def ciphertext():
        config = CkksConfig.create(depth=1, scale_bits=30, N=1024, allow_insecure=True)
        e = Engine(config)
        sk = e.create_secret_key()
        x = e.encrypt_message(0.5, e.create_public_key(sk))
        assert (e.decrypt_message(x, sk) - 0.5).abs().max() < 1e-3
        return bytes(x.data.numpy())

    read, write = os.pipe()
    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            os.write(write, ciphertext()[:64].hex().encode() + b" ")
            os._exit(0)
        children.append(child)
    for child in children:
        assert os.waitpid(child, 0)[1] == 0
    os.close(write)
    first, second = os.read(read, 4096).decode().split()
    print(first != second, ciphertext()[:64].hex() not in (first, second))
    """
    )
    assert run_python(program) == "True True"


# ---- the guarded decryption --------------------------------------------------------------------


@pytest.fixture
def fresh(small) -> KeyedEngine:
    """The small ring under a secret key that has decrypted nothing yet."""
    secret_key = small.engine.create_secret_key()
    public_key = small.engine.create_public_key(secret_key)
    return KeyedEngine(small.engine, secret_key, public_key, small.keys)


def guarded(keyed: KeyedEngine, value: Ciphertext) -> torch.Tensor:
    return keyed.engine.decrypt_message(value, keyed.secret_key)


def test_one_ciphertext_has_one_answer(fresh):
    """Again, copied, in the other domain, in a batch, by another engine or key: one answer."""
    e = fresh.engine
    messages = uniform(3, fresh.config.num_slots, seed=1, complex_slots=True)
    batch = fresh.encrypt(messages)
    with unchanged(batch, fresh.secret_key):
        answers = guarded(fresh, batch)
        assert torch.equal(answers, guarded(fresh, batch))
    for k in range(3):
        assert torch.equal(answers[k], guarded(fresh, batch[k]))
        assert torch.equal(answers[k], guarded(fresh, batch[k].clone()))
    assert torch.equal(answers, guarded(fresh, e.coefficient_domain_to_ntt_domain(batch)))
    assert torch.equal(answers.flip(0), guarded(fresh, batch[[2, 1, 0]]))
    assert torch.equal(answers.reshape(3, 1, -1), guarded(fresh, batch.reshape_batch(3, 1)))
    assert torch.equal(answers, e.decrypt_message(batch, fresh.secret_key.clone()))
    assert torch.equal(answers, Engine(fresh.config).decrypt_message(batch, fresh.secret_key))
    assert torch.equal(answers.real, e.decrypt_message(batch, fresh.secret_key, real=True))
    assert torch.equal(answers, e.decode(e.decrypt(batch, fresh.secret_key)))


def test_the_answer_covers_the_exact_value(fresh):
    value = fresh.encrypt(0.5)
    exact, covered = fresh.decrypt(value), guarded(fresh, value)
    assert torch.equal(exact, fresh.decrypt(value))
    assert (covered != exact).all()
    # Another ciphertext of the same message gets other noise, and so does the same one under other
    # parameters of its state.
    other = fresh.encrypt(0.5)
    first, second = covered - exact, guarded(fresh, other) - fresh.decrypt(other)
    correlation = (first @ second.conj()).abs() / (first.norm() * second.norm())
    assert correlation < 6 / math.sqrt(len(first))


@pytest.mark.parametrize("backend", ["packed", "radix2_indexed"])
@pytest.mark.parametrize("domain", ["coefficient", "ntt"])
def test_every_polynomial_is_covered_whatever_its_strides(fresh, backend, domain):
    """Noise that went into a copy would give the exact result away."""
    engine = Engine(fresh.config, ntt_backend=backend)
    batch = fresh.encrypt(torch.zeros(2, 3, fresh.config.num_slots), output_domain=domain)
    data = batch.data
    for other in (
        data.transpose(1, 2),
        data.transpose(1, 2).contiguous().transpose(1, 2),
        data.transpose(0, 2).contiguous().transpose(0, 2),
        data.transpose(-1, -2).contiguous().transpose(-1, -2),
        data.transpose(1, -1).contiguous().transpose(1, -1),
        data[:, :1].expand(2, 4, 3, *data.shape[-2:]),
        data[:, :, :0],
    ):
        strided = Ciphertext(other, batch.state)
        exact = engine.decrypt(strided, fresh.secret_key, policy=PRIVATE)
        covered = engine.decrypt(strided, fresh.secret_key)
        differs = (exact.data != covered.data).flatten(-2).any(-1)
        assert differs.all()
        plain = Ciphertext(other.contiguous(), batch.state)
        assert torch.equal(covered.data, engine.decrypt(plain, fresh.secret_key).data)


def test_covering_noises_of_one_polynomial_do_not_cancel(fresh):
    """Noise of two widths over one polynomial must not be one draw stretched: the difference of the
    answers would give the draw, and so the exact value."""
    value = fresh.encrypt(0.5)
    exact = fresh.decrypt(value)
    widths, errors = [], []
    for factor in (20.0, 40.0):
        bound = value.noise_bound * factor
        noisy = Ciphertext(value.data, value.state.replace(noise_bound=bound))
        errors.append(guarded(fresh, noisy) - exact)
        widths.append(factor)
    guess = (errors[1] * widths[0] - errors[0] * widths[1]) / (widths[1] - widths[0])
    assert guess.abs().square().mean() > errors[0].abs().square().mean()
    correlation = (errors[0] @ errors[1].conj()).abs() / (errors[0].norm() * errors[1].norm())
    assert correlation < 6 / math.sqrt(len(exact))


def test_guarding_costs_about_a_bit_at_most(default):
    messages = uniform(4, default.config.num_slots, seed=2)
    value = default.encrypt(messages)
    exact, covered = (default.decrypt(value) - messages, guarded(default, value) - messages)
    cost = math.log2(float(covered.norm() / exact.norm()))
    # Rounding noise of 30.2 a coefficient and covering noise of 36.1: 0.64 bits.
    assert 0.2 < cost < 1.0
    state = default.engine.decrypt(value, default.secret_key).state
    assert covered.abs().max() < state.noise_bound
    assert value.noise_bound < state.noise_bound < 2.5 * value.noise_bound


def test_covering_noise_follows_the_tracked_noise(fresh):
    """A noisier result is covered by more noise, so the cost stays about a bit at any depth."""
    e = fresh.engine
    big = e.multiply_scalar(fresh.encrypt(0.001, message_bound=0.001), 512, scale=1.0)
    exact = fresh.decrypt(big)
    covered = guarded(fresh, big) - exact
    # A bound of some 20 deviations of a slot's error.
    sigma = big.noise_bound * big.scale / 20 / math.sqrt(fresh.config.N)
    assert sigma > 20 * 36.1
    rms = float(covered.abs().square().mean().sqrt()) * big.scale / math.sqrt(fresh.config.N)
    assert 0.7 * sigma < rms < 1.4 * sigma


def test_many_distinct_answers_warn_once(fresh):
    batch = fresh.encrypt(torch.zeros(130, fresh.config.num_slots))
    with warnings.catch_warnings():
        warnings.simplefilter("error", DecryptionWarning)
        for _ in range(3):
            guarded(fresh, batch[:127])  # the same answers again are no new queries
        for k in range(127):
            guarded(fresh, batch[k])
        fresh.decrypt(batch)  # the owner's raw values are not given away
        guarded(fresh, fresh.engine.coefficient_domain_to_ntt_domain(batch[5]))
    with pytest.warns(DecryptionWarning, match="128 distinct") as caught:
        guarded(fresh, batch[127])
    assert len(caught) == 1
    assert fresh.secret_key.key_id in str(caught[0].message)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", DecryptionWarning)
        guarded(fresh, batch)


def test_queries_are_counted_for_a_key_and_its_copies(fresh):
    batch = fresh.encrypt(torch.zeros(128, fresh.config.num_slots))
    fresh.engine.decrypt_message(batch[:100], fresh.secret_key.clone())
    with pytest.warns(DecryptionWarning):
        guarded(fresh, batch[100:])
