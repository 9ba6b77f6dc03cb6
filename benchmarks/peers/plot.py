"""Draw a comparison: python plot.py RESULTS.json OUT.svg. Needs matplotlib and nothing of ours."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

SHOWN = {
    "multiply, relinearize, rescale": "ciphertext product",
    "rotate": "rotation",
    "rotation key": "rotation key",
    "encrypt": "encryption",
    "decrypt": "decryption",
}
COLOURS = ("#1b6ca8", "#c9a227", "#b5483a")


def main() -> None:
    """Draw one panel for each ring: milliseconds of each operation, on a logarithmic scale."""
    results = json.loads(Path(sys.argv[1]).read_text())
    records = [r for r in results["records"] if r["threads"] == 1 and r["operation"] in SHOWN]
    rings = sorted({r["log_degree"] for r in records})
    libraries = list(dict.fromkeys(r["library"] for r in records))
    plt.rcParams.update({"font.size": 8, "svg.fonttype": "none", "svg.hashsalt": "fhelium"})
    figure, panels = plt.subplots(1, len(rings), figsize=(9, 2.6), sharey=True, squeeze=False)
    height = 0.8 / len(libraries)
    for ring, axes in zip(rings, panels[0], strict=True):
        for i, library in enumerate(libraries):
            found = {
                r["operation"]: r["cpu_ms"]
                for r in records
                if r["library"] == library and r["log_degree"] == ring
            }
            places = [row + i * height for row in range(len(SHOWN))]
            values = [found.get(operation, float("nan")) for operation in SHOWN]
            axes.barh(places, values, height, color=COLOURS[i % 3], label=library)
        axes.set_xscale("log")
        axes.set_yticks([row + 0.4 - height / 2 for row in range(len(SHOWN))], SHOWN.values())
        axes.invert_yaxis()
        axes.set_title(f"N = 2^{ring}", fontsize=8)
        axes.set_xlabel("ms of processor time")
        axes.spines[["top", "right"]].set_visible(False)
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, ncol=len(labels), loc="lower center", frameon=False)
    machine = results["machine"]
    figure.suptitle(f"{machine['processor']}, one thread, {machine['date']}", fontsize=8)
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    figure.savefig(sys.argv[2], metadata={"Date": None})


if __name__ == "__main__":
    main()
