"""From a preset, a name or a mapping to the fields of a config."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from fhelium.config.presets import DEFAULT_PRESET, Preset
from fhelium.config.rules import refuse
from fhelium.config.search import Job, find_parameters

_OPERATION = "CkksConfig.parse"
_JOB_NAMES = tuple(field.name for field in fields(Job))


def resolve_fields(
    source: object, overrides: Mapping[str, Any], field_names: tuple[str, ...]
) -> dict[str, Any]:
    """Turn a description of parameters into the fields of a CkksConfig.

    A mapping with `q_primes` holds fields (what `to_mapping` gives), one with `preset` names a
    preset and what to change, any other holds arguments of `CkksConfig.create`.

    Args:
        source: A Preset, its name, or a mapping.
        overrides: What to change; names as in the mapping.
        field_names: The fields a CkksConfig has.

    Raises:
        ParameterError: A name is unknown; the text lists those that exist.

    Example:
        >>> resolve_fields("slots4096_scale30_depth4_int64", {}, ())["alpha"]
        1
    """
    if isinstance(source, str):  # a Preset is a str as well
        source = {"preset": source}
    if not isinstance(source, Mapping):
        refuse(
            f"the source is a {type(source).__name__}",
            "Parameters come as a Preset, its name, a mapping or a CkksConfig",
            f"Use CkksConfig.parse(Preset.{DEFAULT_PRESET})",
            _OPERATION,
        )
    given = {**source, **overrides}
    if "q_primes" in given:
        check_names_known(given, field_names)
        missing = [
            name for name in ("N", "p_primes", "alpha", "default_scale") if name not in given
        ]
        if missing:
            refuse(
                f"q_primes is given and {', '.join(missing)} is not",
                "A mapping with q_primes holds every field of the config",
                "Give them too, or leave q_primes out and let the primes be searched",
                _OPERATION,
            )
        return given
    if "preset" not in given:
        check_names_known(given, _JOB_NAMES)
        missing = [name for name in ("depth", "scale_bits") if name not in given]
        if missing:
            refuse(
                f"the mapping has {', '.join(map(repr, given)) or 'no entry'} and lacks "
                f"{' and '.join(missing)}",
                "A job says at least its depth and scale_bits",
                "Give them, or a 'preset'",
                _OPERATION,
            )
        return find_parameters(Job(**given))
    check_names_known(given, ("preset", *_JOB_NAMES))
    return find_parameters(_preset_job(find_preset(given.pop("preset")), given))


def find_preset(name: object) -> Preset:
    """Return the preset of a name."""
    if isinstance(name, str) and name in list(Preset):
        return Preset(name)
    near = difflib.get_close_matches(str(name), list(Preset), n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    return refuse(
        f"preset {name!r} is unknown and the presets are {', '.join(Preset)}",
        "A preset is one of these names",
        f"{hint}CkksConfig.create(depth=, scale_bits=) finds other parameters",
        _OPERATION,
        name=name,
    )


def check_names_known(given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse names outside a set."""
    known = tuple(known)
    unknown = [name for name in given if name not in known]
    if unknown:
        refuse(
            f"{', '.join(map(repr, unknown))} is unknown and the names are {', '.join(known)}",
            "Only these can be set here",
            "Use one of them; to search new primes use CkksConfig.create",
            _OPERATION,
            unknown=tuple(unknown),
        )


def _preset_job(preset: Preset, changes: dict[str, Any]) -> Job:
    recipe = preset.recipe
    job: dict[str, Any] = recipe._asdict()
    del job["slots"]
    if "slots" not in changes and "N" not in changes:
        job["N"] = 2 * recipe.slots  # a preset's ring stays its own unless another is asked for
    return Job(**{**job, **changes})
