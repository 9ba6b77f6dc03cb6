"""Bad files whose manifest says what cannot be, under a right digest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.serialization.corpus_base import (
    ABSENT,
    Sources,
    field_cases,
    header_text,
    malformed,
    setter,
)

# The manifest.

field_cases(
    "ciphertext",
    "state.scale",
    {
        "below 1": (0.5, "scale is 0.5"),
        "zero": (0.0, "scale is 0.0"),
        "negative": (-(2.0**30), "scale is -1073741824.0"),
        "beyond the modulus": (2.0**200, "A scale is smaller than the modulus"),
        "an integer": (2**30, "scale is 1073741824"),
        "a text": ("2^30", "scale is '2"),
        "unknown": (None, "unknown axes"),
        "absent": (ABSENT, r"state without \['scale'\]"),
    },
)
header_text(
    "scale 1e999",
    "scale is inf",
    lambda t: t.replace('standard\\",\\"scale\\":1073741824.0', 'standard\\",\\"scale\\":1e999'),
)
header_text(
    "scale NaN",
    "number NaN",
    lambda t: t.replace('standard\\",\\"scale\\":1073741824.0', 'standard\\",\\"scale\\":NaN'),
)
header_text(
    "scale in another spelling",
    "another spelling",
    lambda t: t.replace(
        'standard\\",\\"scale\\":1073741824.0', 'standard\\",\\"scale\\":1.073741824e9'
    ),
)
header_text(
    "field of the manifest twice",
    "'type' twice",
    lambda t: t.replace('\\"type\\":', '\\"type\\":\\"SecretKey\\",\\"type\\":'),
)
field_cases(
    "ciphertext",
    "state.depth",
    {
        "negative": (-1, "depth is -1"),
        "past the last": (3, "depth is 3 and max_depth is 2"),
        "huge": (10**30, "depth is 1000"),
        "a bool": (True, "depth is True"),
        "a float": (1.0, "depth is 1.0"),
        "a list": ([0], r"depth is \[0\]"),
        "unknown": (None, "unknown axes"),
        "of fewer limbs": (1, r"asks for I64 \[2, 2, 16\]"),
    },
)
field_cases(
    "ciphertext",
    "state.components",
    {
        "four": (4, "components is 4"),
        "sixteen": (16, "components is 16"),
        "one": (1, "Ciphertext of 1 components"),
        "three over two": (3, r"asks for I64 \[3, 3, 16\]"),
        "a bool": (True, "components is True"),
    },
)
field_cases(
    "ciphertext",
    "state.polynomial_domain",
    {
        "unknown": ("slots", "polynomial_domain is 'slots'"),
        "a number": (1, "domain is 1"),
        "of 100000 letters": ("\u202e" * 100000, r"polynomial_domain is '\\u202e"),
    },
)
field_cases(
    "ciphertext",
    "state.modulus_basis",
    {
        "unknown": ("P", "modulus_basis is 'P'"),
        "of more limbs": ("QP", r"asks for I64 \[2, 4, 16\]"),
    },
)
field_cases("ciphertext", "state.residue_representation", {"unknown": ("lazy", "is 'lazy'")})
field_cases(
    "ciphertext",
    "state.noise_bound",
    {"negative": (-1.0, "noise_bound is -1.0"), "an integer": (0, "noise_bound is 0")},
)
field_cases(
    "ciphertext",
    "state.message_bound",
    {"past the modulus": (1e30, "half the modulus"), "a text": ("1", "message_bound is '1'")},
)
field_cases(
    "ciphertext",
    "state",
    {"a list": ([], r"state \[\]"), "absent": (ABSENT, r"without \['state'\]")},
)
field_cases("ciphertext", "state.level", {"unknown": (3, r"unknown \['level'\]")})
field_cases("ciphertext", "comment", {"unknown": ("hi", r"unknown \['comment'\]")})
field_cases("ciphertext", "details", {"without a stream": ({}, r"unknown \['details'\]")})
field_cases("ciphertext", "stream", {"without details": ("1", r"without \['details'\]")})
field_cases("plaintext", "stream", {"on clear values": ("1", r"unknown \['stream'\]")})
field_cases("seeded", "stream", {"taken away": (ABSENT, r"unknown \['details'\]")})
field_cases("seeded", "details", {"of no seed": ({"public_seed": None}, "is of JSON type str")})
field_cases("seeded", "state.components", {"three": (3, "seed for a second component")})
field_cases("seeded", "state.modulus_basis", {"QP": ("QP", "seed for a second component")})
field_cases(
    "seeded", "state.residue_representation", {"montgomery": ("montgomery", "second component")}
)
field_cases("ciphertext", "seal", {"of a secret key": (None, r"unknown \['seal'\]")})
field_cases(
    "ciphertext",
    "insecure",
    {
        "taken away": (False, "not marked insecure"),
        "a number": (1, "insecure is of JSON type bool"),
        "absent": (ABSENT, r"without \['insecure'\]"),
    },
)
field_cases(
    "ciphertext",
    "key_id",
    {
        "empty": ("", "says key_id ''"),
        "with control characters": ("\x1b[2Jk", r"says key_id '\\x1b\[2Jk'"),
        "of 129 letters": ("k" * 129, "1 to 128 letters"),
        "a number": (7, "says key_id 7"),
        "a path": ("../../k", "says key_id '../../k'"),
    },
)
field_cases(
    "ciphertext",
    "context_id",
    {
        "of another ring": ("ab" * 16, "whose context_id is"),
        "absent": (ABSENT, r"without \['context_id'\]"),
        "a number": (5, "says context_id 5"),
    },
)
field_cases(
    "ciphertext",
    "format",
    {
        "of a later version": (2, "has format 2. This version reads format 1. Update"),
        "a text": ("1", "has format '1'"),
        "a bool": (True, "has format True"),
        "absent": (ABSENT, "has format None"),
    },
)
field_cases(
    "ciphertext", "schema", {"later": (2, "has schema 2 of Ciphertext"), "no": (None, "None")}
)
field_cases(
    "ciphertext",
    "type",
    {
        "unknown": ("Cyphertext", "holds a 'Cyphertext'"),
        "a class path": ("os.system", "holds a 'os.system'"),
        "a list": (["Ciphertext"], "holds a"),
        "Plaintext": ("Plaintext", "holds a Plaintext of 2 components"),
        "PublicKey": ("PublicKey", r"without \['details', 'stream'\]"),
        "SecretKey": ("SecretKey", r"without \['seal'\]"),
        "EvaluationKeys": ("EvaluationKeys", r"without \['keys', 'stream'\]"),
        "CkksConfig": ("CkksConfig", r"unknown \['key_id', 'state'\]"),
    },
)
field_cases("plaintext", "type", {"Ciphertext": ("Ciphertext", "a Ciphertext of 1 components")})
field_cases("secret", "type", {"Plaintext": ("Plaintext", r"unknown \['seal'\]")})
field_cases("public", "type", {"SecretKey": ("SecretKey", "manifest without")})
field_cases("public", "type", {"ConjugationKey": ("ConjugationKey", r"asks for I64 \[4, 3, 16\]")})
field_cases("relinearization", "type", {"RotationKey": ("RotationKey", r"without \['step'\]")})
field_cases(
    "rotation", "type", {"RelinearizationKey": ("RelinearizationKey", r"unknown \['step'\]")}
)
field_cases("config", "type", {"Ciphertext": ("Ciphertext", r"without \['key_id', 'state'\]")})

# The parameters.


def _ring(name: str, says: str, change: Callable[[dict[str, Any]], Any]) -> None:
    def build(sources: Sources) -> bytes:
        parts = sources.parts("ciphertext")
        change(parts.manifest["config"])
        return parts.raw()

    malformed(f"config: {name}", says)(build)


def _swap_primes(config: dict[str, Any]) -> None:
    config["q_primes"][:2] = config["q_primes"][1::-1]


_ring("primes out of order", "whose context_id is", _swap_primes)
_ring("composite modulus", "which is composite", setter("q_primes", 0, 2**30 + 1 + 32 * 3))
_ring("even modulus", r"which is 0 \(mod 32\)", setter("q_primes", 0, 2**30))
_ring("modulus of 64 bits", r"Primes lie between 2 and 2\^62", setter("q_primes", 0, 2**64 - 59))
_ring("negative modulus", "Primes lie between", setter("q_primes", 0, -97))
_ring("modulus twice", "Primes are distinct", lambda c: c["q_primes"].insert(0, c["q_primes"][0]))
_ring("no primes", "Each kind has at least one", setter("q_primes", []))
_ring("257 limbs", "has 257 q_primes", setter("q_primes", [97] * 257))
_ring("257 limbs in two lists", "they are at most 256", setter("q_primes", [97] * 256))
_ring("primes are a text", "q_primes '97'", setter("q_primes", "97"))
_ring("prime is a float", r"q_primes\[0\] is 97.0", setter("q_primes", [97.0]))
_ring("prime is a list", r"q_primes\[0\] is \[\]", setter("q_primes", [[]]))
_ring("N of 2^18", "N is 262144", setter("N", 2**18))
_ring("N of 2^60", "N is 1152921504606846976", setter("N", 2**60))
_ring("N no power of two", "N is 48", setter("N", 48))
_ring("N negative", "N is -16", setter("N", -16))
_ring("N a float", "says N 16.0", setter("N", 16.0))
_ring("N of another ring", r"which is 33 \(mod 64\)", setter("N", 32))
_ring("alpha zero", "alpha is 0", setter("alpha", 0))
_ring("another alpha", "whose context_id is|P is", setter("alpha", 2))
_ring("scale of 2^1023", "scale at depth 0 is 2.1023", setter("default_scale", 1.5e308))
_ring("scale an integer", "default_scale 1073741824", setter("default_scale", 2**30))
_ring("base primes", "num_base_primes is 9", setter("num_base_primes", 9))
_ring("another error", "sigma is 0.0", setter("sigma", 0.0))
_ring("another secret", "secret is 'sparse'", setter("secret", "sparse"))
_ring("unknown dtype", "dtype_name is 'object'", setter("dtype_name", "object"))
_ring("unknown security", "security is 'none'", setter("security", "none"))
_ring("insecure not allowed", r"log2\(QP\) is", setter("allow_insecure", False))
_ring("a preset instead", "config without", lambda c: (c.clear(), c.update(preset="x")))
_ring("a field missing", r"config without \['alpha'\]", lambda c: c.pop("alpha"))
_ring("a field too many", r"unknown \['seed'\]", setter("seed", 1))
