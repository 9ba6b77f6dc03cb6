"""The Markdown page of a comparison with other libraries."""

from __future__ import annotations

import math
from typing import Any

Times = dict[str, dict[str, float]]  # by operation, then by library

GLANCE = (
    "add",
    "multiply plaintext, rescale",
    "multiply, relinearize, rescale",
    "rotate",
    "rotate by 8 steps",
    "encode + encrypt",
    "decrypt + decode",
    "rotation key",
)
TOGETHER = {"encode + encrypt": ("encode", "encrypt"), "decrypt + decode": ("decrypt", "decode")}


def page(results: dict[str, Any]) -> str:
    """Return machine and day, a glance, then times and errors of every ring."""
    records, machine = results["records"], results["machine"]
    rings = sorted({record["log_degree"] for record in records})
    libraries = list(dict.fromkeys(record["library"] for record in records))
    title = "# FHElium beside other libraries\n\n"
    title += (
        f"Measured on {machine['processor']} (family/model {machine['family']}, "
        f"{machine['cores']} cores{', virtual' if machine['virtual'] else ''}) on "
        f"{machine['date']} with `{results['command']}`: medians of rounds in which all take "
        "turns, of two threads the best round. What each library does exactly: "
        "[benchmarks](benchmarks.md#other-libraries).\n"
    )
    if all(record["threads"] == 1 for record in records):
        title += "Two threads, which need both cores free, are not in this run.\n"
    parts = [title, summary(records, libraries, rings)]
    for ring in rings:
        for threads, clock in ((1, "cpu_ms"), (2, "best_wall_ms")):
            found = times(records, ring, threads, clock)
            if found:
                parts.append(_times(found, libraries, ring, threads))
        parts.append(_errors(records, libraries, ring))
    return "\n".join(parts)


def times(records: list[dict[str, Any]], ring: int, threads: int, clock: str) -> Times:
    """Return milliseconds, also of steps that follow one another."""
    found: Times = {}
    for record in records:
        if record["log_degree"] == ring and record["threads"] == threads:
            found.setdefault(record["operation"], {})[record["library"]] = record[clock]
    for name, (first, second) in TOGETHER.items():
        one, other = found.get(first, {}), found.get(second, {})
        sums = {library: one[library] + other[library] for library in one if library in other}
        if sums:
            found[name] = sums | found.get(name, {})
    return found


def summary(records: list[dict[str, Any]], libraries: list[str], rings: list[int]) -> str:
    """Return the smallest ring's times and, for every ring, how much longer the next one takes."""
    by_ring = [times(records, ring, 1, "cpu_ms") for ring in rings]
    powers = ", ".join(f"2^{ring}" for ring in rings)
    text = _head([f"ms at N = 2^{rings[0]}", *libraries, f"fastest other / FHElium, {powers}"])
    for operation in GLANCE:
        first = by_ring[0][operation]
        cells = [_number(first[name]) if name in first else "-" for name in libraries]
        factors = ", ".join(_factor(found[operation], libraries) for found in by_ring)
        text += _row([operation, *cells, factors])
    return text


def _times(found: Times, libraries: list[str], ring: int, threads: int) -> str:
    kind = (
        "processor time, one thread"
        if threads == 1
        else f"time waited, {threads} threads, best round"
    )
    used = [name for name in libraries if any(name in by_library for by_library in found.values())]
    text = f"## N = 2^{ring}, ms of {kind}\n\n" + _head(["", *used])
    for operation, by_library in found.items():
        cells = [_number(by_library[name]) if name in by_library else "-" for name in used]
        text += _row([operation, *cells])
    return text


def _errors(records: list[dict[str, Any]], libraries: list[str], ring: int) -> str:
    """Return the largest error of a slot, as a power of two."""
    found: Times = {}
    for r in records:
        if r["log_degree"] == ring and r["threads"] == 1 and r["error"] is not None:
            found.setdefault(r["operation"], {})[r["library"]] = r["error"]
    text = f"Largest error of a slot at N = 2^{ring}\n\n" + _head(["", *libraries])
    for operation, errors in found.items():
        text += _row([operation, *(f"2^{math.log2(errors[name]):.1f}" for name in libraries)])
    return text


def _factor(found: dict[str, float], libraries: list[str]) -> str:
    others = [milliseconds for name, milliseconds in found.items() if name != libraries[0]]
    return f"{min(others) / found[libraries[0]]:.1f}"


def _head(cells: list[str]) -> str:
    return _row(cells) + "|---" * len(cells) + "|\n"


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _number(milliseconds: float) -> str:
    return f"{milliseconds:.3g}" if milliseconds < 100 else f"{milliseconds:.0f}"
