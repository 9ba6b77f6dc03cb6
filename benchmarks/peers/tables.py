"""The Markdown page of a comparison with other libraries."""

from __future__ import annotations

import math
from typing import Any

Times = dict[str, dict[str, float]]  # by operation, then by library

TOGETHER = {"encode + encrypt": ("encode", "encrypt"), "decrypt + decode": ("decrypt", "decode")}


def page(results: dict[str, Any]) -> str:
    """Return machine and day, the factors at a glance, then times and errors of every ring."""
    records, machine = results["records"], results["machine"]
    rings = sorted({record["log_degree"] for record in records})
    libraries = list(dict.fromkeys(record["library"] for record in records))
    title = "# FHElium beside other libraries\n\n"
    title += (
        f"Measured on {machine['processor']} (family/model {machine['family']}, "
        f"{machine['cores']} cores{', virtual' if machine['virtual'] else ''}) on "
        f"{machine['date']} with `{results['command']}`: medians of rounds in which all take "
        "turns. [Benchmarks](benchmarks.md#other-libraries) says what each library does.\n"
    )
    parts = [title, summary(records, libraries, rings)]
    for ring in rings:
        for threads, clock in ((1, "cpu_ms"), (2, "wall_ms")):
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
    for name, parts in TOGETHER.items():
        if all(part in found for part in parts):
            found[name] = {
                library: sum(found[part][library] for part in parts) for library in found[parts[0]]
            }
    return found


def summary(records: list[dict[str, Any]], libraries: list[str], rings: list[int]) -> str:
    """Return how many times longer the fastest other library takes, a column for each ring."""
    text = "How many times longer the fastest other library takes, one thread\n\n"
    text += _head(["", *(f"N = 2^{ring}" for ring in rings)])
    by_ring = [times(records, ring, 1, "cpu_ms") for ring in rings]
    for operation in by_ring[0]:
        text += _row([operation, *(_factor(found[operation], libraries) for found in by_ring)])
    return text


def _times(found: Times, libraries: list[str], ring: int, threads: int) -> str:
    kind = "processor time, one thread" if threads == 1 else f"time waited, {threads} threads"
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
