"""JSON in one spelling only: what a file may say, and how deep, long and often it may say it."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

from fhelium.errors import FileFormatError

NESTING_LIMIT: Final = 8
NUMBER_LENGTH_LIMIT: Final = 40
REMEDY: Final = "Get the file again from where it came; nothing of it was used"

_STRINGS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_BRACKETS = re.compile(rb"[][{}]")


def refuse(fact: str, rule: str, remedy: str = REMEDY, **fields: Any) -> NoReturn:
    """Raise a FileFormatError whose fact goes on from the file's name."""
    raise FileFormatError("file", fact, rule, remedy, **fields)


def canonical_text(value: Any) -> str:
    """Return the one JSON text of a value: sorted names, no blanks, ASCII, shortest floats.

    Example:
        >>> canonical_text({"b": 1.0, "a": [None, "x"]})
        '{"a":[null,"x"],"b":1.0}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def parse_object(text: bytes, what: str) -> dict[str, Any]:
    """Parse a JSON object; refuse nesting past the limit, repeated names and odd numbers.

    Example:
        >>> parse_object(b'{"a": [1, 2.5]}', "header")
        {'a': [1, 2.5]}
    """
    _check_nesting(text, what)
    try:
        value = json.loads(
            text.decode("ascii"),
            object_pairs_hook=_unique_names,
            parse_int=_integer,
            parse_float=_real,
            parse_constant=_no_constant,
        )
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        # The error's own text may quote the file; its place is enough.
        place = getattr(error, "pos", getattr(error, "start", 0))
        refuse(f"has a {what} that is no JSON at character {place}", f"The {what} is ASCII JSON")
    if not isinstance(value, dict):
        refuse(f"has a {what} that is no JSON object", f"The {what} is a JSON object")
    return value


def shown(value: object, limit: int = 60) -> str:
    """Return what a file says as a short quotation, without control characters.

    Example:
        >>> shown("a\\x1b[31m"), shown("x" * 70)[-14:]
        ("'a\\\\x1b[31m'", 'xxxxxxxxxxx...')
    """
    return brief(ascii(value), limit)


def brief(text: str, limit: int = 400) -> str:
    """Return a text in ASCII, cut where it is long.

    Example:
        >>> brief("\\xe9t\\xe9"), brief("abcdefgh", limit=6)
        ('\\\\xe9t\\\\xe9', 'abc...')
    """
    text = text.encode("ascii", "backslashreplace").decode()
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def _check_nesting(text: bytes, what: str) -> None:
    # Before parsing: a parser would recurse as deep as the file asks.
    depth = 0
    for bracket in _BRACKETS.finditer(_STRINGS.sub(b"", text)):
        depth += 1 if bracket[0] in b"[{" else -1
        if depth > NESTING_LIMIT:
            refuse(
                f"has a {what} nested deeper than {NESTING_LIMIT}",
                f"A {what} nests at most {NESTING_LIMIT} deep",
            )


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in found if names.count(name) > 1)
        refuse(f"says {shown(twice)} twice in one object", "A name stands once in an object")
    return found


def _integer(text: str) -> int:
    return int(_bounded(text))


def _real(text: str) -> float:
    return float(_bounded(text))


def _bounded(text: str) -> str:
    if len(text) > NUMBER_LENGTH_LIMIT:
        refuse(
            f"holds a number of {len(text)} characters",
            f"A number has at most {NUMBER_LENGTH_LIMIT} characters",
        )
    return text


def _no_constant(name: str) -> NoReturn:
    refuse(f"holds the number {name}", "Numbers are finite")
