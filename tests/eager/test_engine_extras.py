"""Secret-key encryption, key switching, in-place refusals, key recording."""

from __future__ import annotations

import copy

import pytest
import torch

from fhelium import Ciphertext, DecryptPolicy, Engine
from fhelium.backend.ckks.encryption import ComposedEncryption
from fhelium.errors import KeyMismatchError, MissingKeyError, OperandTypeError, StateError

PRIVATE = DecryptPolicy.private()


def message(*batch: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(11)
    return torch.rand(*batch, 512, dtype=torch.float64, generator=generator) * 2 - 1


@pytest.mark.parametrize("domain", ["coefficient", "ntt"])
@pytest.mark.parametrize("depth", [0, 2])
@pytest.mark.parametrize("batch", [(), (3,), (2, 2)])
def test_secret_key_encryption(small, batch, depth, domain) -> None:
    engine: Engine = small.engine
    clear = message(*batch)
    hidden = engine.encrypt_with_secret_key(
        clear, small.secret_key, depth=depth, output_domain=domain
    )
    found = engine.decrypt_message(hidden, small.secret_key, policy=PRIVATE)
    assert (found - clear).abs().max() <= hidden.noise_bound
    assert hidden.polynomial_domain == domain
    # The second component is what the public seed expands to: half the value need not be stored.
    composed = ComposedEncryption(engine.dispatcher(hidden.device).resources, "packed")
    expanded = composed.public_component(
        hidden.public_seed, hidden.batch_shape, depth, to_ntt=domain == "ntt"
    )
    assert torch.equal(hidden.data[1], expanded)
    again = engine.encrypt_with_secret_key(clear, small.secret_key, depth=depth)
    assert again.public_seed != hidden.public_seed


def test_a_seed_stays_with_whole_copies_only(small) -> None:
    hidden = small.engine.encrypt_with_secret_key(message(3), small.secret_key)
    assert hidden.clone().public_seed == hidden.public_seed
    assert hidden.to("cpu").public_seed == hidden.public_seed
    for part in (hidden[0], hidden[1:], hidden.reshape_batch(1, 3), *hidden.unbind()):
        assert part.public_seed is None
    assert Ciphertext.stack([hidden, hidden]).public_seed is None
    assert small.engine.add(hidden, hidden).public_seed is None
    written = hidden.clone()
    small.engine.negate_(written)
    assert written.public_seed is None
    assert dict(hidden.metadata()) == dict(hidden[0].metadata())


def test_switched_ciphertexts_belong_to_the_new_key(small) -> None:
    engine: Engine = small.engine
    other, third = engine.create_secret_key(), engine.create_secret_key()
    key = engine.create_switching_key(small.secret_key, other)
    clear = message()
    ciphertext = engine.encrypt_message(clear, small.public_key)
    switched = engine.switch_key(ciphertext, key)
    assert switched.key_id == other.key_id
    found = engine.decrypt_message(switched, other, policy=PRIVATE)
    assert (found - clear).abs().max() <= switched.noise_bound
    with pytest.raises(KeyMismatchError):
        engine.decrypt_message(switched, small.secret_key)
    with pytest.raises(KeyMismatchError, match="the switching key starts from"):
        engine.switch_key(switched, key)
    with pytest.raises(KeyMismatchError):
        engine.switch_key(ciphertext, engine.create_switching_key(third, other))


def test_in_place_forms_refuse_shared_storage_and_growth(small) -> None:
    engine: Engine = small.engine
    batch = engine.encrypt_message(message(3), small.public_key)
    before = batch.data.clone()
    with pytest.raises(StateError, match=r"^add_: the target holds .* Clone the target first\."):
        engine.add_(batch[0], batch[1])
    with pytest.raises(StateError, match="does not grow its target"):
        engine.add_(batch[0].clone(), batch)
    deeper = engine.mod_switch_to_depth(batch, 1)
    with pytest.raises(StateError, match=r"^add: depth is 0 for lhs and 1 for rhs"):
        engine.add_(batch, deeper)
    assert torch.equal(batch.data, before)
    assert batch.depth == 0


def test_recording_lists_the_keys_without_computing(small) -> None:
    engine = Engine(small.config)
    x = engine.encrypt_message(message(2), small.public_key, output_domain="ntt")
    with engine.record_keys() as needed:
        y = engine.rescale_to_next_depth(engine.relinearize(engine.square(x)))
        engine.rotate_many_by_steps(y, (5, 0, -1))
        engine.conjugate(engine.sum_slots(y, size=4))
        assert y.device.type == "meta"
        assert y.batch_shape == (2,)
        assert y.depth == 1
    assert needed.steps == (5, 510, 511)
    assert needed.needs_relinearization
    assert needed.needs_conjugation
    assert len(engine.keys) == 0
    with pytest.raises(MissingKeyError):
        engine.rotate_by_step(x, 5)
    engine.add_keys(
        engine.create_evaluation_keys(small.secret_key, steps=needed.steps, conjugation=True)
    )
    assert engine.rotate_by_step(x, 5).device.type == "cpu"


def test_recording_goes_through_clear_operands(small) -> None:
    """A clear operand made for a result that was not computed: its state is known all the same."""
    engine = Engine(small.config)
    x = engine.encrypt_message(message(), small.public_key, output_domain="ntt")
    weights = message()

    def scored(x):
        y = engine.rotate_by_step(x, 3)
        y = engine.multiply_plaintext(y, engine.prepare_plaintext(weights, like=y))
        y = engine.rescale_to_next_depth(y)
        return engine.add_plaintext(y, engine.prepare_plaintext(0.25, like=y, for_="add"))

    with engine.record_keys() as needed:
        recorded = scored(x)
    assert needed.steps == (3,)
    engine.add_keys(engine.create_evaluation_keys(small.secret_key, steps=needed.steps))
    assert scored(x).state == recorded.state


def test_recording_finds_wrong_states_too(small) -> None:
    x = small.engine.encrypt_message(message(), small.public_key)
    with small.engine.record_keys() as needed, pytest.raises(StateError, match="depth is"):
        small.engine.add(x, small.engine.mod_switch_to_depth(x, 1))
    assert needed.steps == ()
    assert not needed.needs_relinearization


def test_lists_are_checked(small) -> None:
    engine: Engine = small.engine
    x = engine.encrypt_message(message(), small.public_key)
    with pytest.raises(OperandTypeError, match="ciphertexts is empty"):
        engine.add_many([])
    with pytest.raises(OperandTypeError, match="ciphertexts is no list"):
        engine.add_many(x)  # pyright: ignore[reportArgumentType]
    with pytest.raises(OperandTypeError, match="ciphertexts is a float"):
        engine.add_many([x, 0.5])  # pyright: ignore[reportArgumentType]
    weights = [engine.prepare_plaintext(0.5, like=x)]
    with pytest.raises(StateError, match="2 ciphertexts and 1 plaintexts"):
        engine.sum_plaintext_products([x, x], weights)


@pytest.mark.parametrize(
    "relative",
    [
        copy.copy,
        lambda value: value[:],
        lambda value: value[1],
        lambda value: value.reshape_batch(1, 3),
        lambda value: value.unbind()[0],
        lambda value: copy.copy(value[None]),
    ],
    ids=["copy", "whole slice", "part", "reshaped", "unbound", "copy of a view"],
)
def test_in_place_forms_spare_values_that_read_the_same_storage(small, relative) -> None:
    """Neither side may be written while the other exists: its state would describe old residues."""
    engine: Engine = small.engine
    batch = engine.encrypt_message(message(3), small.public_key)
    other = relative(batch)
    before = other.data.clone()
    for target in (batch, other):
        with pytest.raises(StateError, match=r"^coefficient_domain_to_ntt_domain_: the target"):
            engine.coefficient_domain_to_ntt_domain_(target)
    assert torch.equal(other.data, before)
    assert engine.coefficient_domain_to_ntt_domain_(batch.clone()).polynomial_domain == "ntt"
    del other, target
    assert engine.coefficient_domain_to_ntt_domain_(batch).polynomial_domain == "ntt"


def test_gathered_values_own_their_storage(small) -> None:
    batch = small.engine.encrypt_message(message(3), small.public_key)
    picked = batch[[0, 2]]
    small.engine.negate_(picked)
    small.engine.negate_(batch)
