"""The Markdown tables of a comparison with other libraries."""

from __future__ import annotations

import math
from typing import Any


def markdown(results: dict[str, Any]) -> str:
    """Return one table for each ring and number of threads, and one of the errors."""
    parts = []
    records = results["records"]
    for log_degree in sorted({record["log_degree"] for record in records}):
        for threads in sorted({record["threads"] for record in records}):
            chosen = [
                record
                for record in records
                if record["log_degree"] == log_degree and record["threads"] == threads
            ]
            if chosen:
                parts.append(_times(chosen, log_degree, threads))
        parts.append(
            _errors([r for r in records if r["log_degree"] == log_degree and r["threads"] == 1])
        )
    return "\n".join(parts)


def _libraries(records: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(record["library"] for record in records))


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _times(records: list[dict[str, Any]], log_degree: int, threads: int) -> str:
    """Milliseconds, and how many times longer the fastest other library takes.

    Processor time where one thread works, else what a user waits.
    """
    libraries, clock = _libraries(records), "cpu_ms" if threads == 1 else "wall_ms"
    kind = "ms of processor time, one thread" if threads == 1 else f"ms waited, {threads} threads"
    text = f"N = 2^{log_degree}, {kind}\n\n"
    text += _row(["", *libraries, "fastest other / FHElium"]) + "|---" * (len(libraries) + 2)
    text += "|\n"
    for operation in dict.fromkeys(record["operation"] for record in records):
        found = {r["library"]: r[clock] for r in records if r["operation"] == operation}
        others = [value for name, value in found.items() if name != libraries[0]]
        factor = f"{min(others) / found[libraries[0]]:.1f}" if others else ""
        cells = [_number(found[name]) if name in found else "-" for name in libraries]
        text += _row([operation, *cells, factor])
    return text


def _errors(records: list[dict[str, Any]]) -> str:
    """Return the largest error of a slot, as a power of two."""
    libraries = _libraries(records)
    text = "largest error\n\n" + _row(["", *libraries]) + "|---" * (len(libraries) + 1) + "|\n"
    for operation in dict.fromkeys(r["operation"] for r in records if r["error"] is not None):
        found = {r["library"]: r["error"] for r in records if r["operation"] == operation}
        text += _row([operation, *(f"2^{math.log2(found[name]):.1f}" for name in libraries)])
    return text


def _number(milliseconds: float) -> str:
    return f"{milliseconds:.3g}" if milliseconds < 100 else f"{milliseconds:.0f}"
