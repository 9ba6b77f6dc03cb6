"""The identity of a parameter set: stable everywhere, changed by whatever matters."""

from __future__ import annotations

import copy
import hashlib
import pickle
import subprocess
import sys

import pytest

from fhelium.config import DEFAULT_PRESET, CkksConfig
from fhelium.config.primes import largest_prime_below
from fhelium.errors import InsecureWarning

DEFAULT_ID = "2be8e44b82d25ccb4889e67878896977"
pytestmark = pytest.mark.filterwarnings("ignore::fhelium.errors.InsecureWarning")


def small(**changes):
    # Primes that are 1 (mod 4096) serve every N up to 2048. 30-bit scale, 50-bit base.
    scale = [largest_prime_below(2**30, 2048)]
    scale.append(largest_prime_below(scale[0], 2048))
    base = largest_prime_below(2**50, 2048)
    special = [largest_prime_below(2**50, 2048, {base}), largest_prime_below(2**57, 2048)]
    fields = {
        "N": 1024,
        "q_primes": (*scale, base),
        "p_primes": tuple(special),
        "alpha": 1,
        "default_scale": 2.0**30,
        "allow_insecure": True,
    }
    return CkksConfig(**{**fields, **changes})


def test_the_default_preset_keeps_its_identity_for_ever():
    # A change of this literal orphans every stored key and ciphertext of the default preset.
    assert CkksConfig.parse(DEFAULT_PRESET).context_id == DEFAULT_ID


def test_the_identity_is_blake2b_of_the_canonical_text():
    config = CkksConfig.parse(DEFAULT_PRESET)
    primes = ",".join(str(prime) for prime in config.q_primes + config.p_primes)
    text = (
        '{"N":16384,"allow_insecure":false,"alpha":2,"dtype":"int64",'
        '"noise":{"distribution":"gaussian","sigma":3.19},'
        f'"primes":[{primes}],"secret":"ternary","special_primes":2}}'
    )
    digest = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    assert config.context_id == digest == DEFAULT_ID


@pytest.mark.parametrize("seed", ["0", "4711"])
def test_another_process_agrees(seed):
    code = (
        "import sys; from fhelium.config import CkksConfig, DEFAULT_PRESET; "
        "c = CkksConfig.parse(DEFAULT_PRESET); c.describe(); "
        "print(c.context_id, 'torch' in sys.modules)"
    )
    environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path), "LC_ALL": "C"}
    answer = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert answer.stdout.split() == [DEFAULT_ID, "False"], "a config must not import torch"


def test_each_field_of_the_identity_changes_it():
    config = small()
    q, p = config.q_primes, config.p_primes
    variants = {
        "degree": small(N=2048),
        "order": small(q_primes=(q[1], q[0], q[2])),
        "another prime": small(p_primes=(p[0], largest_prime_below(p[1], 2048))),
        "special primes": small(q_primes=(*q, p[0]), p_primes=p[1:], num_base_primes=2),
        "alpha": small(alpha=2),
    }
    # The next three have one legal value so far, so they are changed behind the constructor.
    for name, value in (("sigma", 3.2), ("secret", "sparse"), ("dtype_name", "int32")):
        variants[name] = behind(config, **{name: value})
    secure = CkksConfig.parse(DEFAULT_PRESET)
    marked = CkksConfig.parse(DEFAULT_PRESET, allow_insecure=True)
    ids = [item.context_id for item in (config, *variants.values(), secure, marked)]
    assert len(set(ids)) == len(ids)
    assert variants["special primes"].primes == config.primes


def behind(config, **changes):
    twin = object.__new__(CkksConfig)
    twin.__dict__.update({**config._fields(), **changes})
    return twin


def test_what_does_not_touch_the_arithmetic_leaves_it():
    config = CkksConfig.parse(DEFAULT_PRESET)
    stricter = CkksConfig.parse("slots8192_scale40_depth7_int64", N=2**15, security="192", dnum=8)
    looser = CkksConfig.parse(stricter, security="128")
    assert looser != stricter
    assert looser.context_id == stricter.context_id != config.context_id


@pytest.mark.parametrize("make", [lambda: CkksConfig.parse(DEFAULT_PRESET), small])
def test_equality_hash_pickle_and_copies_go_by_content(make):
    config, again = make(), make()
    assert config is not again
    assert config == again
    assert hash(config) == hash(again)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(config, protocol)) == config
    assert copy.deepcopy(config) == copy.copy(config) == config
    assert copy.deepcopy({"a": [config]})["a"][0].context_id == config.context_id
    assert {config: 1}[again] == 1
    assert config != CkksConfig.parse("slots4096_scale30_depth4_int64")


def test_a_pickle_of_an_insecure_config_warns_again():
    data = pickle.dumps(small())
    with pytest.warns(InsecureWarning):
        pickle.loads(data)


def test_a_config_cannot_be_changed():
    config = CkksConfig.parse(DEFAULT_PRESET)
    with pytest.raises(AttributeError):
        config.N = 1024  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del config.q_primes  # type: ignore[misc]
