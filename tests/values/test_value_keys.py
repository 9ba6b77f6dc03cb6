"""Keys: payloads, layout, what a secret key refuses and what it counts."""

from __future__ import annotations

import copy
import io
import pickle
import threading
import warnings

import pytest
import torch

from fhelium.errors import DecryptionWarning, SecretExposureError, StateError
from fhelium.values import (
    ConjugationKey,
    PublicKey,
    RelinearizationKey,
    RotationKey,
    SecretKey,
    SwitchingKey,
    galois_element,
    is_switching_key_layout,
    key_state,
    secret_key,
    switching_key_storage,
)


def digest(number: int) -> bytes:
    return number.to_bytes(16, "little")


def test_key_state_is_all_primes_in_ntt_montgomery(config):
    state = key_state(config, key_id="k", components=2)
    assert state.prime_ids == config.prime_ids("QP", 0)
    assert (state.polynomial_domain, state.residue_representation) == ("ntt", "montgomery")
    assert (state.scale, state.depth, state.key_id, state.insecure) == (None, 0, "k", True)
    with pytest.raises(StateError, match="key_id is ''"):
        key_state(config, key_id="", components=2)


@pytest.mark.parametrize(
    "change",
    [
        {"polynomial_domain": "coefficient"},
        {"residue_representation": "standard"},
        {"modulus_basis": "Q"},
        {"depth": 1},
        {"components": 1},
        {"scale": 2.0},
        {"noise_bound": 1.0},
        {"key_id": None},
        {"insecure": False},
    ],
)
def test_keys_refuse_any_other_state(config, make, change):
    key = make.public_key(config)
    with pytest.raises(StateError) as caught:
        PublicKey(key.data, key.state.replace(**change), public_seed=key.public_seed)
    assert caught.value.rule
    assert "state" in caught.value.fact


@pytest.mark.parametrize("index", range(2, 8))
def test_keys_refuse_other_shapes_with_both(config, make, index):
    key = make.all_values(config)[index]
    for axis in range(key.data.dim()):
        with pytest.raises(StateError, match=r"data has shape .* asks for") as caught:
            key._with_tensors({"data": key.data.narrow(axis, 0, key.data.shape[axis] - 1)})
        assert str(tuple(key.data.shape)) in str(caught.value)


def test_key_shapes(config, make):
    limbs, digits = len(config.primes), config.dnum
    assert digits == 2
    shapes = [tuple(value.data.shape) for value in make.all_values(config)[2:]]
    assert shapes == [(limbs, 1024), (2, limbs, 1024)] + 4 * [(digits, 2, limbs, 1024)]
    assert make.rotation_key(config, 1).nbytes == config.switching_key_nbytes()


def test_switching_key_storage_is_the_layout_of_files():
    data = switching_key_storage(3, 5, 16)
    assert (data.shape, data.dtype, data.device.type) == ((3, 2, 5, 16), torch.int64, "cpu")
    data.copy_(torch.arange(data.numel()).reshape(data.shape))
    stored = torch.empty(0, dtype=torch.int64).set_(data.untyped_storage())
    expected = [
        data[j, c, i, n] for i in range(5) for j in range(3) for c in range(2) for n in range(16)
    ]
    assert stored.tolist() == [int(x) for x in expected]
    active = data[:, :, 2:]
    assert is_switching_key_layout(active)
    assert active.data_ptr() == data.data_ptr() + 2 * (3 * 2 * 16) * 8
    assert switching_key_storage(1, 2, 16, dtype=torch.int32, device="meta").dtype == torch.int32


def test_other_layouts_are_recognised(config, make):
    key = make.switching_key(config, RelinearizationKey)
    assert is_switching_key_layout(key.data)
    assert not is_switching_key_layout(key.data.contiguous())
    assert not is_switching_key_layout(key.data[:, :1])
    assert not is_switching_key_layout(key.data[0])
    with pytest.raises(StateError, match=r"data has strides .* asks for") as caught:
        key._with_tensors({"data": key.data.contiguous()})
    assert str(key.data.stride()) in str(caught.value)
    assert "switching_key_storage" in caught.value.remedy


@pytest.mark.parametrize("seed", [None, b"", bytes(31), bytes(33), "a" * 32, bytearray(32)])
def test_public_seeds_are_32_bytes(config, make, seed):
    key = make.public_key(config)
    with pytest.raises(TypeError, match=r"PublicKey: public_seed is .*A public seed is 32 bytes"):
        PublicKey(key.data, key.state, public_seed=seed)
    assert key.public_seed == bytes(range(32))


def test_switching_keys_name_both_secret_keys(config, make):
    key = make.switching_key(config, source_key_id="old", key_id="new")
    assert (key.source_key_id, key.key_id) == ("old", "new")
    for kind in (SwitchingKey, RelinearizationKey, ConjugationKey):
        own = make.switching_key(config, kind)
        assert own.source_key_id == own.key_id == "k1"
        assert isinstance(own, SwitchingKey)
    for bad in ("", 7):
        with pytest.raises(TypeError, match="source_key_id is"):
            make.switching_key(config, source_key_id=bad)


@pytest.mark.parametrize("step", [1, 2, 3, 7, 255, 256, 511, -1, -7, 513])
def test_galois_element_moves_slots_as_torch_roll_does(config, step):
    # Slot j is the value at zeta^(5^j), so X -> X^g puts slot log_5(5^j g) into slot j.
    g, N = galois_element(step, config), config.N
    power, log = 1, {}
    for j in range(config.num_slots):
        log[power] = j
        power = power * 5 % (2 * N)
    moved = [log[pow(5, j, 2 * N) * g % (2 * N)] for j in range(config.num_slots)]
    assert moved == torch.roll(torch.arange(config.num_slots), step).tolist()


def test_rotation_keys_keep_the_canonical_step(config, make):
    for step, canonical in ((1, 1), (-1, 511), (513, 1), (-511, 1), (511, 511)):
        key = make.rotation_key(config, step)
        assert key.step == canonical
        assert (
            key.galois_element == galois_element(step, config) == galois_element(canonical, config)
        )
    assert make.switching_key(config, ConjugationKey).galois_element == 2 * config.N - 1
    for step in (0, 512, -1024):
        with pytest.raises(StateError, match=f"step is {step} and there are 512 slots.*no key"):
            make.rotation_key(config, step)
    for step in (1.0, True, "1", None):
        with pytest.raises(TypeError, match="A step is an int"):
            make.rotation_key(config, step)


@pytest.mark.parametrize(
    ("operation", "call"),
    [
        ("pickle", pickle.dumps),
        ("pickle", lambda key: pickle.dumps({"keys": [key]}, protocol=0)),
        ("pickle", lambda key: torch.save(key, io.BytesIO())),
        ("pickle", lambda key: key.__reduce__()),
        ("pickle", lambda key: key.__reduce_ex__(5)),
        ("pickle", lambda key: key.__getstate__()),
        ("copy", copy.copy),
        ("deepcopy", copy.deepcopy),
        ("deepcopy", lambda key: copy.deepcopy([key])),
    ],
)
def test_a_secret_key_is_not_copied_out(config, make, operation, call):
    key = make.secret_key(config, "secret-id")
    with pytest.raises(SecretExposureError) as caught:
        call(key)
    assert str(caught.value).startswith(f"{operation}: operand is secret key secret-id.")
    assert "send ciphertexts" in caught.value.remedy
    assert caught.value.key_id == "secret-id"
    assert isinstance(caught.value, TypeError)


def test_a_secret_key_has_no_dictionary_to_leak(config, make):
    key = make.secret_key(config)
    assert not hasattr(key, "__dict__")
    with pytest.raises(TypeError):
        vars(key)


def test_queries_count_once_each(config, make):
    key = make.secret_key(config)
    assert [key.count_query(digest(n)) for n in (1, 2, 1, 3, 3)] == [1, 2, 2, 3, 3]
    assert make.secret_key(config).count_query(digest(1)) == 1


def test_copies_of_a_key_object_count_together(config, make):
    key = make.secret_key(config)
    key.count_query(digest(1))
    for twin in (key.clone(), key.to("meta")):
        assert twin.count_query(digest(1)) == 1
    assert key.clone().count_query(digest(2)) == 2
    assert key.count_query(digest(3)) == 3


def test_many_queries_warn_once_and_name_the_key(config, make):
    key = make.secret_key(config, "busy-key")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [key.count_query(digest(n)) for n in range(127)] == list(range(1, 128))
        assert key.count_query(digest(0)) == 127
    with pytest.warns(DecryptionWarning, match=r"128 distinct values .* key busy-key") as seen:
        assert key.count_query(digest(127)) == 128
    assert len(seen) == 1
    assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [key.count_query(digest(n)) for n in range(126, 300)][-1] == 300


def test_queries_of_many_threads_are_all_counted(config, make):
    key = make.secret_key(config)
    start = threading.Barrier(8)

    def work(offset: int) -> None:
        start.wait()
        for n in range(200):
            key.count_query(digest(n + offset * 100))

    threads = [threading.Thread(target=work, args=(offset,)) for offset in range(8)]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [warning.category for warning in seen] == [DecryptionWarning]
    assert len(seen) == 1
    assert key.count_query(digest(0)) == 900


def test_counting_stays_in_bounded_memory(config, make, monkeypatch):
    monkeypatch.setattr(secret_key, "_REMEMBERED_QUERIES", 10)
    key = make.secret_key(config)
    assert [key.count_query(digest(n)) for n in range(20)][-1] == 20
    assert len(key._queries._seen) == 10
    assert key.count_query(digest(3)) == 20


@pytest.mark.parametrize("bad", [b"", "digest", None, 7, bytearray(16)])
def test_a_digest_is_bytes(config, make, bad):
    with pytest.raises(TypeError, match="digest is"):
        make.secret_key(config).count_query(bad)


def test_classes_are_their_own_kinds(config, make):
    for value in make.all_values(config)[3:]:
        assert not isinstance(value, SecretKey)
        assert value.key_id == "k1"
    assert isinstance(make.rotation_key(config, 1), RotationKey)
