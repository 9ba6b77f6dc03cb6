"""Compare two results of make bench, by the ratios of their medians.

    python -m benchmarks compare BASE.json NEW.json [--limit 1.1]

A line for each benchmark that both have, the worst first. A ratio counts as a change where it is
beyond 3 % and beyond twice the noise: that of a median, 1.57 IQR / sqrt(rounds) on either side
(McGill, Tukey, Larsen 1978). With --limit the exit status is 1 where a change is beyond it.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import NamedTuple

LEAST_CHANGE = 0.03
SETTINGS = ("processor", "isa", "threads", "memory_settings")


class Change(NamedTuple):
    """One benchmark in both results."""

    name: str
    before: float
    after: float
    noise: float  # of the ratio, relative

    @property
    def ratio(self) -> float:
        return self.after / self.before

    @property
    def counts(self) -> bool:
        return abs(math.log(self.ratio)) > max(LEAST_CHANGE, 2 * self.noise)


def read(path: Path) -> tuple[dict[str, object], dict[str, dict[str, float]]]:
    """Return the machine and the statistics by name."""
    found = json.loads(path.read_text())
    return found["machine_info"], {b["fullname"]: b["stats"] for b in found["benchmarks"]}


def noise(stats: dict[str, float]) -> float:
    """Return the relative uncertainty of a median."""
    return 1.57 * stats["iqr"] / math.sqrt(stats["rounds"]) / stats["median"]


def changes(
    before: dict[str, dict[str, float]], after: dict[str, dict[str, float]]
) -> list[Change]:
    """Return what both have, the largest ratio first."""
    found = [
        Change(
            name,
            before[name]["median"],
            after[name]["median"],
            math.hypot(noise(before[name]), noise(after[name])),
        )
        for name in before.keys() & after.keys()
    ]
    return sorted(found, key=lambda change: -change.ratio)


def main(arguments: list[str]) -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks compare",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("base", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--limit", type=float, help="the ratio that is too much")
    options = parser.parse_args(arguments)
    (old_machine, before), (new_machine, after) = read(options.base), read(options.new)
    for key in SETTINGS:
        if old_machine.get(key) != new_machine.get(key):
            print(f"not the same {key}: {old_machine.get(key)} and {new_machine.get(key)}")
    print(f"{'ms':72}{'base':>10}{'new':>10}{'ratio':>8}")
    found = changes(before, after)
    for change in found:
        mark = "" if not change.counts else " slower" if change.ratio > 1 else " faster"
        name = change.name.removeprefix("benchmarks/")
        times = f"{change.before * 1e3:10.4f}{change.after * 1e3:10.4f}"
        print(f"{name:72}{times}{change.ratio:8.2f}{mark}")
    alone = (len(before) - len(found), len(after) - len(found))
    if any(alone):
        print(f"in one result alone: {alone[0]} of the base, {alone[1]} of the new one")
    if options.limit and any(change.counts and change.ratio > options.limit for change in found):
        raise SystemExit(1)
