"""The manifest: what a stored value is, as JSON in the file and as an object here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fhelium.config import CkksConfig
from fhelium.rng import STREAM_VERSION
from fhelium.serialization.strict_json import canonical_text
from fhelium.values import (
    Ciphertext,
    CkksState,
    EvaluationKeys,
    Plaintext,
    PublicKey,
    SecretKey,
    SwitchingKey,
    TensorResident,
    value_type_of,
)
from fhelium.values import value_type as registered_type

FORMAT_VERSION: Final = 1

Stored = Ciphertext | Plaintext | SecretKey | PublicKey | SwitchingKey | EvaluationKeys | CkksConfig
"""What a file holds: one value, key, key set or config."""

CONFIG: Final = "CkksConfig"
KEY_SET: Final = "EvaluationKeys"
SECRET_KEY: Final = "SecretKey"
# As it stands in a file, whose header holds the manifest as a text.
SECRET_MARK: Final = rb"\"type\":\"SecretKey\""
SLOT_TYPES: Final = ("Ciphertext", "Plaintext")
# In the order in which a key set lists them.
SWITCHING_TYPES: Final = ("RelinearizationKey", "ConjugationKey", "RotationKey", "SwitchingKey")
TYPES: Final = (CONFIG, *SLOT_TYPES, SECRET_KEY, "PublicKey", *SWITCHING_TYPES, KEY_SET)

_OWN_SCHEMAS: Final = {CONFIG: 1, KEY_SET: 1}
KEY_ID: Final = re.compile(r"[0-9A-Za-z._-]{1,128}")
AXES: Final = (
    "depth",
    "scale",
    "polynomial_domain",
    "modulus_basis",
    "residue_representation",
    "components",
    "noise_bound",
    "message_bound",
)


@dataclass(frozen=True, slots=True)
class Seal:
    """How a secret key is sealed with a passphrase: scrypt, then AES-256-GCM.

    Args:
        salt: 16 bytes for scrypt.
        nonce: 12 bytes for AES-GCM.
        cost: scrypt's n; it takes 1024 n bytes of memory.
    """

    salt: bytes
    nonce: bytes
    cost: int


@dataclass(frozen=True, slots=True)
class Seeded:
    """A value whose uniform half is stored as the seed that it came from.

    Args:
        type_name: Registered name of its class.
        details: As the class names them: public_seed, and step or source_key_id.
        insecure: Its mark.
    """

    type_name: str
    details: Mapping[str, Any]
    insecure: bool


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a file says about its value, apart from the tensors.

    Args:
        type_name: One of TYPES.
        config: The parameters of the ring.
        state: The state that the value has, or each key of a set; None for a config.
        seeded: The keys of a set; the value itself, where its uniform half is a seed; or none.
        seal: For a secret key under a passphrase.
    """

    type_name: str
    config: CkksConfig
    state: CkksState | None = None
    seeded: tuple[Seeded, ...] = ()
    seal: Seal | None = None

    @property
    def insecure(self) -> bool:
        """Return whether the value, or any key of the set, is marked insecure."""
        return self.config.insecure if self.state is None else self.state.insecure

    @property
    def key_id(self) -> str | None:
        """Return the name of the secret key that the value belongs to."""
        return None if self.state is None else self.state.key_id

    @property
    def schema_version(self) -> int:
        """Return the version of what the type stores."""
        return schema_version(self.type_name)

    def text(self) -> str:
        """Return the manifest as the file holds it.

        Example:
            >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
            >>> manifest = Manifest("CkksConfig", config)
            >>> manifest.text()[-58:]
            '"format":1,"insecure":true,"schema":1,"type":"CkksConfig"}'
        """
        found: dict[str, Any] = {
            "format": FORMAT_VERSION,
            "type": self.type_name,
            "schema": self.schema_version,
            "config": self.config.to_mapping(),
            "context_id": self.config.context_id,
            "insecure": self.insecure,
        }
        if self.state is not None:
            found["key_id"] = self.key_id
            found["state"] = {axis: getattr(self.state, axis) for axis in AXES}
        if self.seeded:
            found["stream"] = STREAM_VERSION
        if self.type_name == KEY_SET:
            found["keys"] = [_key_mapping(key) for key in self.seeded]
        elif self.seeded:
            found["details"] = _detail_mapping(self.seeded[0].details)
        if self.type_name == SECRET_KEY:
            found["seal"] = None if self.seal is None else _seal_mapping(self.seal)
        return canonical_text(found)


def schema_version(type_name: str) -> int:
    """Return the schema version that this library writes and reads for a type.

    Example:
        >>> schema_version("Ciphertext"), schema_version("EvaluationKeys")
        (1, 1)
    """
    own = _OWN_SCHEMAS.get(type_name)
    return registered_type(type_name).schema_version if own is None else own


def stored_classes() -> set[type]:
    """Return the value and key classes that files hold; a subclass may carry more than they do."""
    return {registered_type(name).value_class for name in TYPES if name not in _OWN_SCHEMAS}


def describe_value(value: Stored, seal: Seal | None = None) -> Manifest:
    """Return the manifest of a value.

    Example:
        >>> describe_value(public_key).seeded[0].type_name, describe_value(x).seeded
        ('PublicKey', ())
    """
    if isinstance(value, CkksConfig):
        return Manifest(CONFIG, value)
    if isinstance(value, EvaluationKeys):
        keys = tuple(_entry_of(key) for key in value)
        state = next(iter(value)).state.replace(insecure=value.insecure)
        return Manifest(KEY_SET, state.config, state, keys)
    entry = _entry_of(value)
    seeded = (entry,) if entry.details.get("public_seed") is not None else ()
    return Manifest(entry.type_name, value.config, value.state, seeded, seal)


def _entry_of(value: TensorResident) -> Seeded:
    registered = value_type_of(value)
    details = {name: getattr(value, name) for name in registered.value_class.detail_names}
    return Seeded(registered.type_name, details, value.insecure)


def _key_mapping(key: Seeded) -> dict[str, Any]:
    return {
        "type": key.type_name,
        "schema": schema_version(key.type_name),
        "insecure": key.insecure,
        "details": _detail_mapping(key.details),
    }


def _detail_mapping(details: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v.hex() if isinstance(v, bytes) else v for k, v in details.items()}


def _seal_mapping(seal: Seal) -> dict[str, Any]:
    return {
        "cipher": "AES-256-GCM",
        "nonce": seal.nonce.hex(),
        "kdf": "scrypt",
        "n": seal.cost,
        "r": 8,
        "p": 1,
        "salt": seal.salt.hex(),
    }
