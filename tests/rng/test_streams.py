"""Roots, sub-keys, the fenced test mode and the fork guard."""

from __future__ import annotations

import copy
import hashlib
import os
import pickle
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fhelium import rng
from fhelium.errors import InsecureWarning, ParameterError, RandomnessError
from fhelium.rng import Domain, RandomSource, derive, key_tensor

_ROOT = Path(__file__).parents[2]


def seeded(seed: int) -> RandomSource:
    with pytest.warns(InsecureWarning):
        return RandomSource(seed)


# ---- sub-keys ------------------------------------------------------------------------------------


def test_domains_and_labels_separate() -> None:
    root = bytes(range(32))
    labels = [(), (0,), (1,), (0, 0), (b"0",), ("0",), (b"",), ("",), (-1,), (255,), (1 << 70,)]
    keys = {derive(root, domain, *label) for domain in Domain for label in labels}
    assert len(keys) == len(Domain) * len(labels)
    assert all(len(key) == 32 for key in keys)
    assert derive(root, Domain.KEY_ERROR, 1) == derive(root, Domain.KEY_ERROR, 1)
    assert derive(bytes(32), Domain.KEY_ERROR, 1) != derive(root, Domain.KEY_ERROR, 1)


_labels = st.lists(st.one_of(st.integers(), st.binary(max_size=9), st.text(max_size=9)), max_size=4)


@given(_labels, _labels)
def test_label_lists_are_encoded_without_collisions(a: list, b: list) -> None:
    keys = [derive(bytes(32), Domain.PUBLIC_SEED, *labels) for labels in (a, b)]
    assert (keys[0] == keys[1]) == (a == b)


def test_derivation_of_stream_version_1_never_changes() -> None:
    """Spelt out by hand, so that stored seeds keep their meaning."""
    message = b"".join(
        tag + len(contents).to_bytes(8, "little") + contents
        for tag, contents in [
            (b"s", b"public-seed"),
            (b"i", b"\x03"),
            (b"i", b"\x80\x00"),
            (b"i", b"\xff"),
            (b"b", b"\x00\x01"),
            (b"s", "α".encode()),
        ]
    )
    expected = hashlib.blake2b(
        message, key=bytes(range(32)), digest_size=32, person=b"FHElium-rng-1"
    ).digest()
    assert derive(bytes(range(32)), Domain.PUBLIC_SEED, 3, 128, -1, b"\0\1", "α") == expected
    assert rng.STREAM_VERSION == "1"
    assert [domain.value for domain in Domain] == [
        "secret-key",
        "public-seed",
        "key-error",
        "encryption-mask",
        "encryption-error",
        "decryption-noise",
        "release-noise",
        "key-id",
        "test-root",
    ]


def test_derive_refuses() -> None:
    with pytest.raises(ParameterError, match="the root is 31 bytes"):
        derive(bytes(31), Domain.KEY_ID)
    with pytest.raises(ParameterError, match="the root is of type str"):
        derive("x" * 32, Domain.KEY_ID)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="closed"):
        derive(bytes(32), "key-id")  # type: ignore[arg-type]
    for label in (True, 1.5, None, [1]):
        with pytest.raises(ParameterError, match="a label has type"):
            derive(bytes(32), Domain.KEY_ID, label)  # type: ignore[arg-type]


def test_key_tensor_holds_the_bytes() -> None:
    key = derive(bytes(32), Domain.KEY_ID)
    tensor = key_tensor(key)
    assert tensor.dtype == torch.uint8
    assert bytes(tensor.tolist()) == key
    tensor.zero_()  # a copy: the bytes object stays as it is
    assert key == derive(bytes(32), Domain.KEY_ID)
    with pytest.raises(ParameterError, match="31 bytes"):
        key_tensor(bytes(31))


# ---- sources -------------------------------------------------------------------------------------


def test_secure_roots_never_repeat() -> None:
    a, b = RandomSource(), RandomSource()
    roots = {s.root(Domain.SECRET_KEY, "test") for s in (a, b) for _ in range(100)}
    assert len(roots) == 200
    assert {len(root) for root in roots} == {32}
    assert not a.insecure


def test_secure_source_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RandomSource().root(Domain.SECRET_KEY, "test")


def test_seeded_sources_repeat_each_other_and_never_themselves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("RANK", raising=False)
    domains = [Domain.SECRET_KEY, Domain.SECRET_KEY, Domain.PUBLIC_SEED]
    a, b, c = seeded(5), seeded(5), seeded(6)
    assert a.insecure
    first, second, third = ([s.root(d, "test") for d in domains] for s in (a, b, c))
    assert first == second
    assert len({*first, *third}) == 6
    # The domain counts, not only the call.
    assert seeded(5).root(Domain.PUBLIC_SEED, "test") != first[0]
    assert seeded(-5).root(Domain.SECRET_KEY, "test") != first[0]


def test_ranks_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    roots = []
    for rank in ("0", "1", "10"):
        monkeypatch.setenv("RANK", rank)
        roots.append(seeded(5).root(Domain.SECRET_KEY, "test"))
    monkeypatch.delenv("RANK")
    assert seeded(5).root(Domain.SECRET_KEY, "test") == roots[0]
    assert len(set(roots)) == 3
    monkeypatch.setenv("RANK", "first")
    with pytest.raises(RandomnessError, match="RANK is 'first'"):
        seeded(5).root(Domain.SECRET_KEY, "test")


def test_threads_share_no_root() -> None:
    source, roots = seeded(1), []
    start = threading.Barrier(8)

    def draw() -> None:
        start.wait()
        for _ in range(200):
            roots.append(source.root(Domain.ENCRYPTION_MASK, "test"))

    threads = [threading.Thread(target=draw) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    serial = seeded(1)
    assert set(roots) == {serial.root(Domain.ENCRYPTION_MASK, "test") for _ in range(1600)}
    assert len(roots) == 1600


def test_require_secure_refuses_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("1", "yes"):
        monkeypatch.setenv("FHELIUM_REQUIRE_SECURE_RNG", value)
        with pytest.raises(RandomnessError, match="FHELIUM_REQUIRE_SECURE_RNG is set"):
            RandomSource(1)
        assert not RandomSource().insecure
    for value in ("", "0"):
        monkeypatch.setenv("FHELIUM_REQUIRE_SECURE_RNG", value)
        assert seeded(1).insecure


def test_seed_is_an_integer() -> None:
    for seed in (True, 1.0, "1", b"1"):
        with pytest.raises(ParameterError, match="rng_seed has type"):
            RandomSource(seed)  # type: ignore[arg-type]


def test_source_is_not_copied_pickled_or_shown() -> None:
    seed = 987654321
    for source in (RandomSource(), seeded(seed)):
        for action in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(RandomnessError, match="about to be"):
                action(source)
    with pytest.warns(InsecureWarning) as record:
        source = RandomSource(seed)
    root = source.root(Domain.SECRET_KEY, "test")
    text = repr(source) + str(source) + str(record[0].message)
    assert repr(source) == "RandomSource(seeded for tests, insecure)"
    assert str(seed) not in text
    assert root.hex()[:8] not in text
    assert not hasattr(source, "__dict__")


# ---- fork guard ----------------------------------------------------------------------------------

_PRELUDE = """
import os, sys, time, warnings
warnings.simplefilter("ignore")
import torch
from fhelium import rng
from fhelium.errors import RandomnessError

def work():
    from fhelium.native import require_native
    require_native()
    torch.set_num_threads(2)
    key = torch.arange(32, dtype=torch.uint8)
    torch.ops.fhelium_random_ops.sample_gaussian(key, 0, 4, 1 << 15)

def in_child(function):
    '''Run the function in a forked child; return what it printed. Never wait for long.'''
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, str(function()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    deadline = time.monotonic() + 30
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, 9)
            return "hang"
        time.sleep(0.01)
    return os.read(reading, 65536).decode()

def attempt(function):
    try:
        return function()
    except RandomnessError as error:
        return error
"""


def run(script: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(_ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", _PRELUDE + script],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
class TestFork:
    def test_child_forked_after_native_work_is_told_so(self) -> None:
        out = run("""
work()
secure, seeded = rng.RandomSource(), rng.RandomSource(3)
for function in (
    lambda: secure.root(rng.Domain.SECRET_KEY, "create_secret_key"),
    lambda: seeded.root(rng.Domain.SECRET_KEY, "create_secret_key"),
    lambda: rng.fresh_bytes("create_secret_key"),
    lambda: rng.require_unforked("create_secret_key"),
    lambda: in_child(lambda: attempt(lambda: rng.require_unforked("create_secret_key"))),
):
    print(in_child(lambda: attempt(function)))
rng.require_unforked("parent")
print(len(secure.root(rng.Domain.SECRET_KEY, "test")))
""")
        *refusals, parent = out.splitlines()
        assert len(refusals) == 5
        for line in refusals:
            assert line.startswith("create_secret_key: process ")
            assert "was forked from one that had used native threads" in line
            assert "multiprocessing.get_context('spawn') or 'forkserver'" in line
        assert parent == "32"

    def test_child_forked_before_native_work_is_free_and_different(self) -> None:
        out = run("""
source = rng.RandomSource()
draw = lambda: source.root(rng.Domain.SECRET_KEY, "test").hex()
print(draw(), in_child(draw), in_child(draw))
print(in_child(lambda: (work(), draw())[1]))
""")
        roots = out.split()
        assert len(set(roots)) == 4
        assert all(len(root) == 64 for root in roots)

    def test_forked_copy_of_a_seeded_source_is_refused(self) -> None:
        out = run("""
source = rng.RandomSource(3)
print(in_child(lambda: attempt(lambda: source.root(rng.Domain.SECRET_KEY, "encrypt"))))
print(in_child(lambda: rng.RandomSource(3).root(rng.Domain.SECRET_KEY, "test").hex()))
""")
        refusal, fresh = out.splitlines()
        assert refusal.startswith("encrypt: a seeded source of process ")
        assert "Make the engine in the worker" in refusal
        assert len(fresh) == 64

    def test_spawned_worker_works(self) -> None:
        script = """
work()
import multiprocessing
with multiprocessing.get_context("spawn").Pool(1) as pool:
    print(len(pool.apply(rng.fresh_bytes, ("worker",))))
"""
        assert run(f"if __name__ == '__main__':\n{_indent(script)}") == "32\n"


def _indent(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


def test_no_entropy_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(size: int) -> bytes:
        raise OSError("no device")

    monkeypatch.setattr(os, "urandom", broken)
    with pytest.raises(RandomnessError, match="gave no random bytes"):
        RandomSource().root(Domain.SECRET_KEY, "test")


def test_rng_stands_below_native_and_values() -> None:
    out = run("""
print(*sorted({m.split(".")[1] for m in sys.modules if m.startswith("fhelium.")}))
""")
    assert set(out.split()) <= {"errors", "rng", "version"}
