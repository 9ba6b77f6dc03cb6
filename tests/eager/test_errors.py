"""Values whose states, keys, depths or bounds do not fit are refused, with both and the way out."""

from __future__ import annotations

import math

import pytest
import torch

from fhelium import Ciphertext, Engine
from fhelium.errors import (
    BoundError,
    ContextMismatchError,
    DecryptionError,
    DepthExhaustedError,
    DeviceMismatchError,
    KeyMismatchError,
    MessageValueError,
    MissingKeyError,
    SecretExposureError,
    StateError,
)
from tests.eager.misuse import SECRET, SLOTS, refused, rows
from tests.eager.support import PRIVATE, KeyedEngine, insecure_config, largest_error
from tests.programs import run_python

DOMAIN_REMEDY = "engine.coefficient_domain_to_ntt_domain"


@rows(
    ("add depths", lambda w: w.e.add(w.x, w.deep), StateError,
     ("add: ", "depth", r"/0\b.*and 2\b", "engine.align_to_depth")),
    ("subtract depths", lambda w: w.e.subtract(w.deep, w.x), StateError,
     ("subtract: ", "depth", r"/2\b.*and 0\b", "engine.align_to_depth")),
    ("multiply depths", lambda w: w.e.multiply(w.x, w.deep), StateError,
     ("multiply: ", "depth", r"/0\b.*and 2\b", "engine.align_to_depth")),
    ("add_plaintext depths", lambda w: w.e.add_plaintext(w.deep, w.term), StateError,
     ("add_plaintext: ", "depth", r"/2\b.*and 0\b")),
    ("multiply_plaintext depths", lambda w: w.e.multiply_plaintext(w.deep, w.factor), StateError,
     ("multiply_plaintext: ", "depth", r"/2\b.*and 0\b")),
    ("add scales", lambda w: w.e.add(w.x, w.small_scale), StateError,
     ("scale", "2^30", "2^20", "engine.align_to_depth")),
    ("add scales of one depth",
     lambda w: w.e.add(w.e.mod_switch_to_depth(w.x, 1), w.e.align_to_depth(w.x, 1)),
     StateError, ("scale", "engine.align_to_depth")),
    ("add_plaintext scales", lambda w: w.e.add_plaintext(w.small_scale, w.term), StateError,
     ("scale", "2^20", "2^30", "engine.align_to_depth")),
    ("add domains", lambda w: w.e.add(w.x, w.y), StateError,
     ("domain", r"/coefficient.*and ntt", DOMAIN_REMEDY)),
    ("multiply domains", lambda w: w.e.multiply(w.y, w.x), StateError,
     ("domain", r"/ntt.*and coefficient", DOMAIN_REMEDY)),
    ("add_plaintext domains", lambda w: w.e.add_plaintext(w.y, w.term), StateError,
     ("domain", r"/ntt.*and coefficient", DOMAIN_REMEDY)),
    ("to ntt twice", lambda w: w.e.coefficient_domain_to_ntt_domain(w.y), StateError,
     ("is ntt", "needed is coefficient")),
    ("to coefficient twice", lambda w: w.e.ntt_domain_to_coefficient_domain(w.x), StateError,
     ("is coefficient", "needed is ntt")),
    ("add components", lambda w: w.e.add(w.e.mod_switch_to_depth(w.product, 1), w.e.multiply_scalar(
        w.e.mod_switch_to_depth(w.x, 1), 1, scale=2.0**30)), StateError,
     ("components", r"/3\b.*and 2\b", "/[Rr]elinearize")),
    ("multiply three", lambda w: w.e.multiply(w.product, w.x), StateError,
     ("components is 3", "needed is 2", "engine.relinearize")),
    ("square three", lambda w: w.e.square(w.product), StateError,
     ("square: ", "components is 3", "needed is 2", "engine.relinearize")),
    ("rotate three", lambda w: w.e.rotate_by_step(w.product, 1), StateError,
     ("components is 3", "needed is 2", "engine.relinearize")),
    ("rotate three with key", lambda w: w.e.rotate_with_key(w.product, w.e.keys.rotation(1)),
     StateError,
     ("components is 3", "needed is 2", "engine.relinearize")),
    ("rotate three by nothing", lambda w: w.e.rotate_by_step(w.product, 0), StateError,
     ("components is 3", "needed is 2", "engine.relinearize")),
    ("conjugate three", lambda w: w.e.conjugate(w.product), StateError,
     ("components is 3", "needed is 2", "engine.relinearize")),
    ("sum three", lambda w: w.e.sum_slots(w.product, 2), StateError,
     ("components is 3", "needed is 2", "engine.relinearize")),
    ("sum three by one", lambda w: w.e.sum_slots(w.product, 1), StateError,
     ("components is 3", "needed is 2", "engine.relinearize")),
    ("relinearize two", lambda w: w.e.relinearize(w.x), StateError,
     ("components is 2", "needed is 3", "product of two ciphertexts")),
    ("montgomery ciphertext", lambda w: w.e.add(w.montgomery, w.y), StateError,
     ("residue representation", "montgomery", "needed is standard")),
    ("montgomery decrypt", lambda w: w.e.decrypt_message(w.montgomery, w.sk), StateError,
     ("residue representation", "montgomery", "needed is standard")),
    ("batches", lambda w: w.e.add(w.batch3, w.batch2), StateError, ("(3,) and (2,)", "Reshape")),
)  # fmt: skip
def test_states_that_do_not_fit(misfits, row):
    refused(misfits, row)


@rows(
    ("add contexts", lambda w: w.e.add(w.x, w.x3), ContextMismatchError,
     ("{w.x.context_id}", "{w.x3.context_id}", "one config")),
    ("foreign value", lambda w: w.e.add(w.x3, w.x3), ContextMismatchError,
     ("{w.x.context_id}", "{w.x3.context_id}", "Engine(value.state.config)")),
    ("foreign rotate", lambda w: w.e.rotate_by_step(w.x3, 1), ContextMismatchError,
     ("{w.x.context_id}", "{w.x3.context_id}")),
    ("foreign rotate by nothing", lambda w: w.e.rotate_by_step(w.x3, 0), ContextMismatchError,
     ("{w.x.context_id}", "{w.x3.context_id}")),
    ("foreign decrypt", lambda w: w.e.decrypt_message(w.x3, w.other.secret_key),
     ContextMismatchError,
     ("{w.x.context_id}", "{w.x3.context_id}")),
    ("decrypt with a foreign key", lambda w: w.e.decrypt_message(w.x, w.other.secret_key),
     ContextMismatchError, ("{w.x.context_id}", "{w.x3.context_id}")),
    ("encrypt with a foreign key", lambda w: w.e.encrypt_message(SECRET, w.other.public_key),
     ContextMismatchError, ("{w.x.context_id}", "{w.x3.context_id}")),
    ("public key of a foreign one", lambda w: w.e.create_public_key(w.other.secret_key),
     ContextMismatchError, ("{w.x.context_id}", "{w.x3.context_id}")),
    ("foreign keys", lambda w: w.e.add_keys(w.other.keys), ContextMismatchError,
     ("{w.x.context_id}", "{w.x3.context_id}")),
    ("foreign relinearization",
     lambda w: w.e.relinearize(w.product, w.other.keys.relinearization()),
     ContextMismatchError, ("{w.x.context_id}", "{w.x3.context_id}")),
    ("add keys", lambda w: w.e.add(w.x, w.x2), KeyMismatchError,
     ("{w.sk.key_id}", "{w.sk2.key_id}", "engine.switch_key")),
    ("multiply keys", lambda w: w.e.multiply(w.x, w.x2), KeyMismatchError,
     ("{w.sk.key_id}", "{w.sk2.key_id}")),
    ("rotate with another's key", lambda w: w.e.rotate_with_key(w.x, w.rotation2), KeyMismatchError,
     ("{w.sk.key_id}", "{w.sk2.key_id}")),
    ("rotate another's value", lambda w: w.e.rotate_by_step(w.x2, 1), KeyMismatchError,
     ("{w.sk.key_id}", "{w.sk2.key_id}")),
    ("hold another's key", lambda w: w.e.add_keys(w.rotation2), KeyMismatchError,
     ("{w.sk.key_id}", "{w.sk2.key_id}", "Keep one set for each secret key")),
    ("hold a secret key", lambda w: w.e.add_keys(w.sk), SecretExposureError,
     ("{w.sk.key_id}", "Keep the secret key")),
    ("decrypt with another key", lambda w: w.e.decrypt_message(w.x, w.sk2), KeyMismatchError,
     ("decrypt_message: ", "{w.sk.key_id}", "{w.sk2.key_id}")),
    ("decrypt to plaintext with another key", lambda w: w.e.decrypt(w.x, w.sk2), KeyMismatchError,
     ("decrypt: ", "{w.sk.key_id}", "{w.sk2.key_id}")),
    ("forged key id", lambda w: w.e.decrypt_message(w.forged, w.sk), DecryptionError,
     ("larger than", "bound", "key and ciphertext belong together")),
    ("forged key id, private", lambda w: w.e.decrypt_message(w.forged, w.sk, policy=PRIVATE),
     DecryptionError, ("larger than", "bound", "key and ciphertext belong together")),
    ("forged key id, real", lambda w: w.e.decrypt_message(w.forged, w.sk, real=True),
     DecryptionError, ("larger than", "bound")),
    ("forged key id, plaintext", lambda w: w.e.decrypt(w.forged, w.sk), DecryptionError,
     ("decrypt: ", "larger than", "bound")),
    ("forged key id, private plaintext", lambda w: w.e.decrypt(w.forged, w.sk, policy=PRIVATE),
     DecryptionError, ("decrypt: ", "larger than", "bound")),
    ("forged key id, precision", lambda w: w.e.precision(SECRET, w.forged, w.sk), DecryptionError,
     ("larger than", "bound")),
    ("a bound that is not true", lambda w: w.e.decrypt_message(
        Ciphertext(w.x.data, w.x.state.replace(message_bound=0.25)), w.sk, policy=PRIVATE),
     DecryptionError, ("larger than", "assumed message_bound")),
    ("add devices", lambda w: w.e.add(w.x, w.away), DeviceMismatchError, ("cpu", "meta", ".to(")),
    ("decrypt devices", lambda w: w.e.decrypt_message(w.away, w.sk), DeviceMismatchError,
     ("cpu", "meta", ".to(")),
    ("key devices", lambda w: w.e.rotate_with_key(w.x, w.e.keys.rotation(1).to("meta")),
     DeviceMismatchError, ("cpu", "meta", ".to(")),
    ("plaintext devices", lambda w: w.e.add_plaintext(w.x, w.term.to("meta")), DeviceMismatchError,
     ("cpu", "meta", ".to(")),
    ("encrypt devices", lambda w: w.e.encrypt(w.e.encode(SECRET), w.pk.to("meta")),
     DeviceMismatchError, ("cpu", "meta", ".to(")),
    ("encrypt elsewhere", lambda w: w.e.encrypt_message(SECRET, w.pk, device="meta"),
     DeviceMismatchError, ("cpu", "meta", ".to(")),
    ("message elsewhere", lambda w: w.e.encrypt_message(torch.zeros(SLOTS, device="meta"), w.pk),
     DeviceMismatchError, ("cpu", "meta", ".to(")),
)  # fmt: skip
def test_values_of_different_worlds(misfits, row):
    refused(misfits, row)


@rows(
    ("missing step", lambda w: w.e.rotate_by_step(w.x, -5), MissingKeyError,
     ("step -5", "canonical step 507", "[1, 3, 510, 511]",
      "engine.create_rotation_key(507, secret_key)",
      "engine.add_keys")),
    ("missing step, wrapped", lambda w: w.e.rotate_by_step(w.x, 512 + 9), MissingKeyError,
     ("step 521", "canonical step 9", "[1, 3, 510, 511]",
      "engine.create_rotation_key(9, secret_key)")),
    ("missing step of a sum", lambda w: w.e.sum_slots(w.x), MissingKeyError,
     ("step -4", "canonical step 508", "[1, 3, 510, 511]")),
    ("no relinearization key", lambda w: Engine(w.keyed.config).relinearize(w.product),
     MissingKeyError,
     ("relinearization", "engine.create_relinearization_key(secret_key)", "engine.add_keys")),
    ("no conjugation key", lambda w: Engine(w.keyed.config).conjugate(w.x), MissingKeyError,
     ("conjugation", "engine.create_conjugation_key(secret_key)", "engine.add_keys")),
    ("no rotation keys", lambda w: Engine(w.keyed.config).rotate_by_step(w.x, 1), MissingKeyError,
     ("step 1", "no rotation keys exist", "engine.create_rotation_key(1, secret_key)")),
    ("step float", lambda w: w.e.rotate_by_step(w.x, 1.0), StateError,
     ("rotate_by_step: ", "float", "int")),
    ("step bool", lambda w: w.e.rotate_by_step(w.x, True), StateError, ("bool", "int")),
    ("step text", lambda w: w.e.rotate_by_step(w.x, "1"), StateError, ("str", "int")),
    ("step none", lambda w: w.e.rotate_by_step(w.x, None), StateError, ("NoneType", "int")),
    ("key step float", lambda w: w.e.create_rotation_key(0.5, w.sk), StateError,
     ("create_rotation_key: ", "float", "int")),
    ("key step zero", lambda w: w.e.create_rotation_key(2 * SLOTS, w.sk), StateError,
     ("1024", "512 slots", "needs no key")),
    ("key steps text", lambda w: w.e.create_evaluation_keys(w.sk, steps="12"), StateError,
     ("str", "int")),
    ("key steps number", lambda w: w.e.create_evaluation_keys(w.sk, steps=3), StateError,
     ("steps is a int", "steps=(3,)")),
    ("sum of three", lambda w: w.e.sum_slots(w.x, 3), StateError, ("3", "512", "power of two")),
    ("sum of none", lambda w: w.e.sum_slots(w.x, 0), StateError, ("0", "512", "power of two")),
    ("sum of too many", lambda w: w.e.sum_slots(w.x, 1024),
     StateError, ("1024", "512", "power of two")),
    ("sum of a float", lambda w: w.e.sum_slots(w.x, 2.0), StateError, ("2.0", "power of two")),
    ("sum of a bool", lambda w: w.e.sum_slots(w.x, True), StateError, ("True", "power of two")),
    ("sum of a text", lambda w: w.e.sum_slots(w.x, "4"), StateError, ("'4'", "power of two")),
)  # fmt: skip
def test_steps_and_missing_keys(misfits, row):
    refused(misfits, row)


@rows(
    ("rescale at the end", lambda w: w.e.rescale_to_next_depth(w.last), DepthExhaustedError,
     ("depth 3", "largest depth is 3", "preset with more depth")),
    ("align beyond", lambda w: w.e.align_to_depth(w.x, 4),
     DepthExhaustedError, ("depth 4", "is 3")),
    ("switch beyond", lambda w: w.e.mod_switch_to_depth(w.x, 4), DepthExhaustedError,
     ("depth 4", "is 3")),
    ("align up", lambda w: w.e.align_to_depth(w.deep, 1), StateError,
     ("depth 2", "asked for is 1", "only grows")),
    ("switch up", lambda w: w.e.mod_switch_to_depth(w.deep, 0), StateError,
     ("depth 2", "asked for is 0", "only grows")),
    ("align a product in place", lambda w: w.e.align_to_depth(w.product, 0), StateError,
     ("depth 0", "canonical scale", "Rescale first")),
    ("align to text", lambda w: w.e.align_to_depth(w.x, "1"), StateError, ("str", "int")),
    ("switch to bool", lambda w: w.e.mod_switch_to_depth(w.x, True), StateError, ("bool", "int")),
    ("rescale without product", lambda w: w.e.rescale_to_next_depth(w.x), StateError,
     ("1.07374e+09", "0.99999", "follows a product")),
    ("encrypt too deep", lambda w: w.keyed.encrypt(SECRET, depth=4), DepthExhaustedError,
     ("depth 4", "0 to 3")),
    ("encrypt at depth -1", lambda w: w.keyed.encrypt(SECRET, depth=-1), DepthExhaustedError,
     ("depth -1", "0 to 3")),
    ("product at the end", lambda w: w.e.multiply(w.last, w.last), BoundError,
     ("60.0", "39.0", "used up, 3 of 3", "preset with more depth", "message_bound")),
    ("product and rescale at the end", lambda w: w.e.multiply_and_rescale(w.last, w.last),
     DepthExhaustedError, ("depth 3", "largest depth is 3", "scale30_depth4_int64")),
    ("product switched away", lambda w: w.e.mod_switch_to_depth(w.product, 3), BoundError,
     ("60.0", "39.0", "message_bound")),
    ("square at the end", lambda w: w.e.square(w.last),
     BoundError, ("60.0", "39.0", "message_bound")),
    ("scalar at the end", lambda w: w.e.multiply_scalar(w.last, 600, scale=1), BoundError,
     ("39.2", "39.0")),
    ("sum at the end", lambda w: w.e.add_scalar(w.last, 600), BoundError, ("39.2", "39.0")),
    ("bound too large", lambda w: w.keyed.encrypt(SECRET, depth=3, message_bound=600.0), BoundError,
     ("39.2", "39.0", "message_bound")),
    ("no bound at all", lambda w: w.keyed.encrypt(SECRET, message_bound=math.inf), BoundError,
     ("inf", "129.0")),
    ("huge scalar", lambda w: w.e.multiply_scalar(w.x, 1e300), BoundError, ("129.0",)),
    ("beyond a quarter", lambda w: w.keyed.encrypt(300.0, depth=3, message_bound=300.0),
     MessageValueError, ("2^30", "quarter of the modulus", "2^38.00")),
)  # fmt: skip
def test_exhausted_depth_and_bounds(misfits, row):
    refused(misfits, row)


def test_missing_keys_are_fields_as_well(misfits):
    with pytest.raises(MissingKeyError) as caught:
        misfits.e.rotate_by_step(misfits.x, -5)
    assert caught.value.step == -5
    assert caught.value.canonical_step == 507
    assert caught.value.available_steps == (1, 3, 510, 511)


@pytest.mark.parametrize("depth", [0, 2, 3])
@pytest.mark.parametrize("domain", ["coefficient", "ntt"])
def test_a_relabelled_ciphertext_never_decrypts(misfits, depth, domain):
    """A forged key id is caught by size at every depth, for products and single items as well."""
    e = misfits.e
    batch = e.encrypt_message(torch.zeros(2, SLOTS), misfits.pk2, depth=depth, output_domain=domain)
    forms = [batch, batch[0]]
    if depth == 0:
        forms.append(e.multiply(batch[0], batch[1]))
    for form in forms:
        forged = Ciphertext(form.data, form.state.replace(key_id=misfits.sk.key_id))
        for policy in (None, PRIVATE):
            with pytest.raises(DecryptionError):
                e.decrypt_message(forged, misfits.sk, policy=policy)
            with pytest.raises(DecryptionError):
                e.decrypt(forged, misfits.sk, policy=policy)


@pytest.mark.parametrize("domain", ["coefficient", "ntt"])
def test_a_relabelled_ciphertext_never_decrypts_beyond_the_doubles(domain):
    """Coefficients of a modulus past 2^1024 pass the doubles too: no size at all is no message."""
    keyed = KeyedEngine.make(insecure_config(depth=35, scale_bits=40, N=64), steps=())
    assert keyed.config.modulus() > 2**1024
    other = keyed.engine.create_secret_key()
    message = keyed.encrypt(torch.zeros(2, 32), output_domain=domain)
    forged = Ciphertext(message.data, message.state.replace(key_id=other.key_id))
    for policy in (None, PRIVATE):
        with pytest.raises(DecryptionError):
            keyed.engine.decrypt_message(forged, other, policy=policy)
        with pytest.raises(DecryptionError):
            keyed.engine.decrypt(forged, other, policy=policy)


def test_bounds_refuse_before_garbage(small):
    """Doubling at the last depth: every accepted value is right, and then comes the refusal."""
    value, expected = small.encrypt(1.0, depth=3), 1.0
    while expected < 256:  # 2^38 of 2^39: the noise takes more than nothing of the last bit
        assert largest_error(small.decrypt(value), torch.tensor(expected)) < value.noise_bound
        value = small.engine.add(value, value)
        expected *= 2
    assert largest_error(small.decrypt(value), torch.tensor(expected)) < value.noise_bound
    with pytest.raises(BoundError):
        small.engine.add(value, value)


def test_large_messages_have_honest_bounds(small, default):
    """Beyond 2^28 the rounding of float64 outweighs encryption noise, and the bound must know."""
    for keyed in (small, default):
        for bits in (10, 20, 30, 40, 60):
            message = torch.linspace(-1, 1, keyed.config.num_slots, dtype=torch.float64) * 2.0**bits
            value = keyed.encrypt(message, message_bound=2.0**bits)
            error = largest_error(keyed.decrypt(value), message)
            assert error < value.noise_bound, bits
            assert value.noise_bound < 2.0 ** (bits - 40) + 2.0**-17


def test_errors_do_not_rely_on_assertions():
    """Under python -O the same misuse raises the same errors, and results are the same."""
    program = """
        import warnings
        warnings.simplefilter("ignore")
        import torch
        from fhelium import Ciphertext, CkksConfig, DecryptPolicy, Engine
        from fhelium.errors import FHEliumError
        if __debug__:
            raise SystemExit("not optimised")
        config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
        e = Engine(config)
        sk, other = e.create_secret_key(), e.create_secret_key()
        pk = e.create_public_key(sk)
        e.add_keys(e.create_evaluation_keys(sk, steps=(1,)))
        x = e.encrypt_message(0.5, pk)
        forged = e.encrypt_message(0.5, e.create_public_key(other))
        forged = Ciphertext(forged.data, forged.state.replace(key_id=sk.key_id))
        last = e.align_to_depth(x, 3)
        for call in (
            lambda: e.add(x, last), lambda: e.add(x, 1), lambda: e.rotate_by_step(x, 2),
            lambda: e.multiply(last, last), lambda: e.rescale_to_next_depth(last),
            lambda: e.decrypt_message(x, other), lambda: e.decrypt_message(forged, sk),
            lambda: e.decrypt(forged, sk), lambda: e.encrypt_message(2.0, pk),
            lambda: e.encrypt_message(torch.zeros(3), pk), lambda: e.relinearize(x),
            lambda: e.rotate_by_step(e.square(x), 1), lambda: e.encrypt_message(0.5, pk, depth=9),
            lambda: Ciphertext(x.data[:1], x.state), lambda: Ciphertext(x.data.int(), x.state),
        ):
            try:
                call()
                print("nothing")
            except FHEliumError as error:
                print(type(error).__name__)
        y = e.rescale_to_next_depth(e.relinearize(e.square(e.rotate_by_step(x, 1))))
        found = e.decrypt_message(y, sk, policy=DecryptPolicy.private())
        print(bool((found - 0.25).abs().max() < y.noise_bound))
    """
    lines = run_python(program, {"PYTHONOPTIMIZE": "1"}).splitlines()
    assert lines == [
        "StateError", "OperandTypeError", "MissingKeyError", "BoundError", "DepthExhaustedError",
        "KeyMismatchError", "DecryptionError", "DecryptionError", "MessageValueError",
        "MessageValueError", "StateError", "StateError", "DepthExhaustedError", "StateError",
        "StateError", "True",
    ]  # fmt: skip
