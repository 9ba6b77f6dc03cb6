"""Bad files of keys: details, key sets, seals and permissions."""

from __future__ import annotations

from fhelium import errors
from tests.serialization.corpus_base import (
    ABSENT,
    PASSPHRASE,
    field_cases,
    malformed,
)

# Keys.

field_cases(
    "rotation",
    "details.step",
    {
        "zero": (0, "rotation key of step 0"),
        "of all slots": (8, "canonical, from 1 to 7"),
        "negative": (-1, "rotation key of step -1"),
        "huge": (10**30, "rotation key of step 1000"),
        "a float": (1.0, "step is of JSON type int"),
        "a bool": (True, "step is of JSON type int"),
        "absent": (ABSENT, r"without \['step'\]"),
    },
)
field_cases(
    "public",
    "details.public_seed",
    {
        "too short": ("00" * 31, "64 hexadecimal digits"),
        "too long": ("00" * 33, "64 hexadecimal digits"),
        "in capitals": ("AB" * 32, "64 hexadecimal digits"),
        "a number": (5, "public_seed is of JSON type str"),
        "absent": (ABSENT, r"without \['public_seed'\]"),
    },
)
field_cases("public", "details", {"a list": ([], r"details \[\]")})
field_cases("public", "stream", {"later": ("2", "from stream '2'"), "a number": (1, "stream 1")})
field_cases(
    "public", "state.polynomial_domain", {"coefficient": ("coefficient", "A key's state is")}
)
field_cases("public", "state.depth", {"dropped": (1, "A key's state is")})
field_cases("public", "state.noise_bound", {"some": (0.5, "A key's state is")})
field_cases("public", "key_id", {"none": (None, "A key's state is")})
field_cases("secret", "state.components", {"two": (2, "A key's state is")})
field_cases("switching", "details.source_key_id", {"empty": ("", "says source_key_id ''")})
field_cases(
    "keys",
    "keys",
    {"none": ([], "set of 0 keys"), "a dict": ({}, "keys is of JSON type list")},
)
field_cases(
    "keys",
    "keys.0.type",
    {
        "SecretKey": ("SecretKey", "'SecretKey' in a key set.* never a secret key"),
        "PublicKey": ("PublicKey", "'PublicKey' in a key set"),
        "EvaluationKeys": ("EvaluationKeys", "'EvaluationKeys' in a key set"),
        "a list": ([], r"a \[\] in a key set"),
    },
)
field_cases("keys", "keys.0.schema", {"later": (2, "schema 2 of RelinearizationKey")})
field_cases("keys", "keys.0.insecure", {"taken away": (False, "unmarked RelinearizationKey")})
field_cases("keys", "keys.0", {"a number": (1, "key of the set 1")})
field_cases("keys", "keys.0.state", {"of its own": ({}, r"unknown \['state'\]")})
field_cases("keys", "keys.3.details.step", {"twice": (1, "twice or out of order")})
field_cases("keys", "keys.4.details.step", {"out of order": (2, "twice or out of order")})


@malformed("a key twice in a set", "twice or out of order")
def _key_twice(sources):
    parts = sources.parts("keys")
    parts.manifest["keys"].insert(0, parts.manifest["keys"][0])
    parts.tensors["0005.hidden"], parts.table["0005.hidden"] = (
        parts.tensors["0000.hidden"],
        parts.table["0000.hidden"],
    )
    return parts.raw()


@malformed("4097 keys", "set of 4097 keys")
def _many_keys(sources):
    parts = sources.parts("keys")
    parts.manifest["keys"] = [0] * 4097
    return parts.raw()


# Seals.

field_cases(
    "sealed",
    "seal.n",
    {
        "of a terabyte": (1 << 30, "n 1073741824"),
        "too cheap": (1 << 14, "n 16384"),
        "no power of two": (100000, "n 100000"),
        "a float": (131072.0, "n is of JSON type int"),
    },
)
field_cases("sealed", "seal.r", {"large": (1 << 20, "is sealed by")})
field_cases("sealed", "seal.p", {"large": (1 << 20, "is sealed by")})
field_cases("sealed", "seal.cipher", {"none": ("none", "is sealed by")})
field_cases("sealed", "seal.salt", {"short": ("00", "32 hexadecimal digits")})
field_cases("sealed", "seal.nonce", {"absent": (ABSENT, r"without \['nonce'\]")})
field_cases(
    "sealed", "seal", {"taken away": (None, "holds the tensors"), "a text": ("no", "the seal")}
)


@malformed("seal over plain coefficients", r"holds the tensors \['coefficients'\]")
def _seal_over_plain(sources):
    parts = sources.parts("secret")
    parts.manifest["seal"] = sources.parts("sealed").manifest["seal"]
    return parts.raw()


@malformed("sealed bytes cut", "asks for U8")
def _seal_cut(sources):
    parts = sources.parts("sealed")
    parts.tensors["sealed"] = parts.tensors["sealed"][:-1]
    parts.table["sealed"]["shape"] = [31]
    return parts.raw()


OPEN = {"options": {"passphrase": PASSPHRASE}, "error": errors.PassphraseError, "inspect": False}


@malformed("sealed bytes changed, digest and all", "does not open this file", **OPEN)
def _seal_changed(sources):
    parts = sources.parts("sealed")
    parts.tensors["sealed"] = bytes([parts.tensors["sealed"][0] ^ 1]) + parts.tensors["sealed"][1:]
    return parts.raw()


@malformed("sealed key given another name", "does not open this file", **OPEN)
def _seal_renamed(sources):
    parts = sources.parts("sealed")
    parts.manifest["key_id"] = "ab" * 16
    return parts.raw()


@malformed("plain key in place of a sealed one", "without a passphrase", **OPEN)
def _seal_replaced(sources):
    return sources["secret"]


@malformed("ciphertext in place of a sealed key", "is a Ciphertext without a passphrase", **OPEN)
def _seal_replaced_by_ciphertext(sources):
    return sources["ciphertext"]


@malformed(
    "sealed key and no passphrase",
    "no passphrase was given",
    error=errors.PassphraseError,
    inspect=False,
)
def _no_passphrase(sources):
    return sources["sealed"]


@malformed(
    "sealed key and another passphrase",
    "does not open this file",
    error=errors.PassphraseError,
    options={"passphrase": "nine slow otter"},
    inspect=False,
)
def _other_passphrase(sources):
    return sources["sealed"]
