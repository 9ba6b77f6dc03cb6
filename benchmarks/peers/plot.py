"""Draw a comparison: python plot.py RESULTS.json OUT.svg. Needs matplotlib and nothing of ours."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
from tables import times

SHOWN = {
    "multiply, relinearize, rescale": "ciphertext product",
    "rotate": "rotation",
    "rotation key": "rotation key",
    "encode + encrypt": "encode + encrypt",
    "decrypt + decode": "decrypt + decode",
}
COLOURS = ("#1b6ca8", "#c9a227", "#b5483a", "#5b7f3b")


def main() -> None:
    """Draw one panel for each ring: milliseconds of each operation, on a logarithmic scale."""
    results = json.loads(Path(sys.argv[1]).read_text())
    records = results["records"]
    rings = sorted({r["log_degree"] for r in records})
    libraries = list(dict.fromkeys(r["library"] for r in records))
    plt.rcParams.update({"font.size": 8, "svg.fonttype": "none", "svg.hashsalt": "fhelium"})
    figure, panels = plt.subplots(1, len(rings), figsize=(9, 2.4), sharey=True, squeeze=False)
    for ring, axes in zip(rings, panels[0], strict=True):
        found = times(records, ring, 1, "cpu_ms")
        for library, colour in zip(libraries, COLOURS, strict=False):
            values = [found[operation].get(library, float("nan")) for operation in SHOWN]
            axes.plot(values, list(SHOWN.values()), "o", color=colour, label=library)
        axes.set_xscale("log")
        axes.grid(color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.set_title(f"N = 2^{ring}, ms", fontsize=8)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(length=0)
    panels[0][0].invert_yaxis()
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, ncol=len(labels), loc="lower center", frameon=False)
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    figure.savefig(sys.argv[2], metadata={"Date": None})


if __name__ == "__main__":
    main()
