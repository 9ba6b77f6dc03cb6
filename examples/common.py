"""What several examples share."""

from __future__ import annotations

from collections.abc import Sequence


def print_table(headings: Sequence[object], rows: Sequence[Sequence[object]]) -> None:
    """Print rows under headings, each column as wide as its widest cell."""
    cells = [[str(cell) for cell in row] for row in (headings, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )
