"""Reading a manifest: every field is there, of its type, and possible, before anything else."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

from fhelium.config import CkksConfig
from fhelium.errors import FHEliumError
from fhelium.rng import STREAM_VERSION
from fhelium.serialization.manifest import (
    AXES,
    CONFIG,
    FORMAT_VERSION,
    KEY_ID,
    KEY_SET,
    SECRET_KEY,
    SLOT_TYPES,
    SWITCHING_TYPES,
    TYPES,
    Manifest,
    Seal,
    Seeded,
    schema_version,
)
from fhelium.serialization.strict_json import brief, canonical_text, parse_object, refuse, shown
from fhelium.values import CkksState, key_state
from fhelium.values import value_type as registered_type

KEYS_LIMIT: Final = 4096
LIMBS_LIMIT: Final = 256
SCRYPT_COSTS: Final = (1 << 15, 1 << 16, 1 << 17)

_CONFIG_TYPES: Final = {
    "N": int,
    "q_primes": list,
    "p_primes": list,
    "alpha": int,
    "default_scale": float,
    "num_base_primes": int,
    "security": str,
    "allow_insecure": bool,
    "dtype_name": str,
    "sigma": float,
    "secret": str,
}
_OPTIONAL_AXES: Final = {"noise_bound", "message_bound"}


def parse_manifest(text: str, config: CkksConfig | None = None) -> Manifest:
    """Read a manifest, and refuse one that describes no value.

    Args:
        text: As `Manifest.text` writes it.
        config: An equal one is used in place of the file's.

    Example:
        >>> from fhelium.serialization.manifest import describe_value
        >>> parse_manifest(describe_value(x).text()).state == x.state
        True
    """
    found = parse_object(text.encode("ascii", "replace"), "manifest")
    name = _type_of(found)
    names = {"format", "type", "schema", "config", "context_id", "insecure"}
    if name != CONFIG:
        names |= {"key_id", "state"}
    if name == KEY_SET:
        names |= {"stream", "keys"}
    elif name == SECRET_KEY:
        names.add("seal")
    elif name not in (CONFIG, *SLOT_TYPES) or (name == "Ciphertext" and "stream" in found):
        names |= {"stream", "details"}
    _check_names(found, names, "manifest")
    ring = _config(found["config"], found["context_id"], config)
    insecure = _of_type(found, "insecure", bool)
    if name == CONFIG:
        manifest = Manifest(name, ring)
    else:
        state = _state(found, ring, insecure, name)
        seeded = _seeded(found, name, state)
        manifest = Manifest(name, ring, state, seeded, _seal(found.get("seal")))
    if manifest.text() != text:
        refuse(
            "has a manifest in another spelling than this library's",
            "A manifest is canonical JSON of numbers and names in their canonical form",
        )
    return manifest


def _type_of(found: dict[str, Any]) -> str:
    newer = "Update FHElium, or have the value saved by this version"
    version = found.get("format")
    if type(version) is not int or version != FORMAT_VERSION:
        refuse(
            f"has format {shown(version)}",
            f"This version reads format {FORMAT_VERSION}",
            newer,
            format_version=version,
        )
    name, schema = found.get("type"), found.get("schema")
    if not isinstance(name, str) or name not in TYPES:
        refuse(f"holds a {shown(name)}", f"A file holds one of {', '.join(TYPES)}", newer)
    if type(schema) is not int or schema != schema_version(name):
        refuse(
            f"has schema {shown(schema)} of {name}",
            f"This version reads schema {schema_version(name)}",
            newer,
        )
    return name


def _check_names(found: object, names: set[str], what: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        refuse(f"has the {what} {shown(found)}", f"A {what} is a JSON object")
    missing, unknown = sorted(names - set(found)), sorted(set(found) - names)
    if missing or unknown:
        facts = [f"without {shown(missing)}"] * bool(missing)
        facts += [f"with the unknown {shown(unknown)}"] * bool(unknown)
        refuse(
            f"has a {what} {' and '.join(facts)}",
            f"A {what} has the fields {', '.join(sorted(names))}",
            missing=missing,
            unknown=unknown,
        )
    return found


def _of_type(found: dict[str, Any], name: str, kind: type) -> Any:
    value = found[name]
    if type(value) is not kind:
        refuse(f"says {name} {shown(value)}", f"{name} is of JSON type {kind.__name__}")
    return value


def _hex(found: dict[str, Any], name: str, count: int) -> bytes:
    text = _of_type(found, name, str)
    if len(text) != 2 * count or set(text) - set("0123456789abcdef"):
        refuse(f"says {name} {shown(text)}", f"{name} is {2 * count} hexadecimal digits")
    return bytes.fromhex(text)


def _id(value: object, name: str) -> str:
    if not isinstance(value, str) or not KEY_ID.fullmatch(value):
        refuse(
            f"says {name} {shown(value)}",
            f"{name} is 1 to 128 letters, digits, dots, hyphens and underscores",
        )
    return value


def _config(found: object, context_id: object, known: CkksConfig | None) -> CkksConfig:
    mapping = _check_names(found, set(_CONFIG_TYPES), "config")
    for name, kind in _CONFIG_TYPES.items():
        _of_type(mapping, name, kind)
    for name in ("q_primes", "p_primes"):
        count = len(mapping[name])
        if count > LIMBS_LIMIT:
            refuse(f"has {count} {name}", f"There are at most {LIMBS_LIMIT} limbs")
    try:
        if known is not None and canonical_text(known.to_mapping()) == canonical_text(mapping):
            config = known
        else:
            config = CkksConfig(**mapping)
    except FHEliumError as error:
        refuse(f"holds parameters that cannot be: {brief(error.fact)}", error.rule)
    if context_id != config.context_id:
        refuse(
            f"says context_id {shown(context_id)} over parameters whose context_id is "
            f"{config.context_id}",
            "The parameter identity follows from the parameters",
        )
    return config


def _state(found: dict[str, Any], config: CkksConfig, insecure: bool, name: str) -> CkksState:
    axes = _check_names(found["state"], set(AXES), "state")
    key_id = None if found["key_id"] is None else _id(found["key_id"], "key_id")
    try:
        state = CkksState(config=config, key_id=key_id, insecure=insecure, **axes)
        state.check("state")
    except FHEliumError as error:
        refuse(f"holds a state that cannot be: {brief(error.fact)}", error.rule)
    if name in SLOT_TYPES:
        unknown = sorted(a for a in set(AXES) - _OPTIONAL_AXES if axes[a] is None)
        counts = (2, 3) if name == "Ciphertext" else (1,)
        if unknown or state.components not in counts:
            refuse(
                f"holds a {name} of {state.components} components, unknown axes {unknown}",
                f"A {name} has {' or '.join(map(str, counts))} and no unknown axes",
            )
        return state
    components = 1 if name == SECRET_KEY else 2
    needed = key_state(config, key_id=key_id or "-", components=components, insecure=insecure)
    if state != needed:
        refuse(f"holds a {name} in the state {state!r}", f"A key's state is {needed!r}")
    return state


def _seeded(found: dict[str, Any], name: str, state: CkksState) -> tuple[Seeded, ...]:
    if "stream" not in found:
        return ()
    config, insecure = state.config, state.insecure
    if found["stream"] != STREAM_VERSION:
        refuse(
            f"has a public half from stream {shown(found['stream'])}",
            f"This version expands seeds of stream {STREAM_VERSION}",
            "Update FHElium, or make the key again",
        )
    if name == "Ciphertext":
        _check_seeded_state(state)
    if name != KEY_SET:
        return (Seeded(name, _details(found["details"], name, config), insecure),)
    listed = _of_type(found, "keys", list)
    if not 1 <= len(listed) <= KEYS_LIMIT:
        refuse(f"holds a set of {len(listed)} keys", f"A set holds 1 to {KEYS_LIMIT} keys")
    keys = tuple(_listed_key(item, config) for item in listed)
    if any(key.insecure for key in keys) != insecure:
        refuse(f"says insecure {insecure} over its keys' marks", "A set is as insecure as its keys")
    order = [_order(key) for key in keys]
    if any(after <= before for before, after in pairwise(order)):
        refuse("lists its keys twice or out of order", "A set lists each key once, in order")
    return keys


def _check_seeded_state(state: CkksState) -> None:
    fresh = state.components == 2 and state.modulus_basis == "Q"
    if not fresh or state.residue_representation != "standard":
        refuse(
            f"has a seed for a second component in the state {state!r}",
            "A ciphertext with a seed is fresh: two components, basis Q, standard residues",
        )


def _listed_key(item: object, config: CkksConfig) -> Seeded:
    found = _check_names(item, {"type", "schema", "insecure", "details"}, "key of the set")
    name, schema = found["type"], found["schema"]
    if not isinstance(name, str) or name not in SWITCHING_TYPES:
        refuse(
            f"holds a {shown(name)} in a key set",
            f"A key set holds {', '.join(SWITCHING_TYPES)}, never a secret key",
        )
    if type(schema) is not int or schema != schema_version(name):
        refuse(f"has schema {shown(schema)} of {name}", f"It is {schema_version(name)}")
    insecure = _of_type(found, "insecure", bool)
    if config.insecure and not insecure:
        refuse(f"holds an unmarked {name} of insecure parameters", "Such a key is marked insecure")
    return Seeded(name, _details(found["details"], name, config), insecure)


def _details(item: object, name: str, config: CkksConfig) -> dict[str, Any]:
    names = set(registered_type(name).value_class.detail_names)
    found = _check_names(item, names, f"{name}'s details")
    details: dict[str, Any] = {"public_seed": _hex(found, "public_seed", 32)}
    if "source_key_id" in names:
        details["source_key_id"] = _id(found["source_key_id"], "source_key_id")
    if "step" in names:
        step = details["step"] = _of_type(found, "step", int)
        if not 1 <= step < config.num_slots:
            refuse(
                f"holds a rotation key of step {shown(step)}",
                f"A stored step is canonical, from 1 to {config.num_slots - 1}",
            )
    return details


def _order(key: Seeded) -> tuple[int, int, str]:
    details = key.details
    kind = SWITCHING_TYPES.index(key.type_name)
    return kind, details.get("step", 0), details.get("source_key_id", "")


def _seal(item: object) -> Seal | None:
    if item is None:
        return None
    found = _check_names(item, {"cipher", "nonce", "kdf", "n", "r", "p", "salt"}, "seal")
    named = {name: found[name] for name in ("cipher", "kdf", "r", "p")}
    cost = _of_type(found, "n", int)
    if named != {"cipher": "AES-256-GCM", "kdf": "scrypt", "r": 8, "p": 1} or (
        cost not in SCRYPT_COSTS
    ):
        refuse(
            f"is sealed by {shown(named)}, n {shown(cost)}",
            f"A seal is AES-256-GCM under scrypt, r 8, p 1, n one of {SCRYPT_COSTS}",
        )
    return Seal(_hex(found, "salt", 16), _hex(found, "nonce", 12), cost)
