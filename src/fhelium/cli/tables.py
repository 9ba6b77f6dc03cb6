"""Tables of clear numbers: samples from CSV or NPY files, labels from CSV files."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import NoReturn

import numpy as np

from fhelium.errors import FileAccessError, MessageTypeError, MessageValueError

TABLE_ROWS = 1_000_000
"""Most rows of a table: a bound on what is read, far above what a demo needs."""


def write_table(path: Path, names: Iterable[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file with a line of names."""
    with path.open("x", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)


def read_samples(path: Path, columns: int, operation: str) -> np.ndarray:
    """Read measurements, one sample a row: a CSV file, its line of names optional, or NPY.

    Returns:
        float64 [sample, column], at least one row.

    Raises:
        MessageValueError: The shape is another one, or an entry is no finite number; the text
            names row and column and never shows the entry.
        MessageTypeError: An NPY file holds something else than numbers.
        FileAccessError: The file cannot be read.
    """
    try:
        if path.suffix.lower() == ".npy":
            table = _read_npy(path, operation)
        else:
            table = _read_csv(path, operation)
    except OSError as error:
        fact = f"{str(path)!a}: {os.strerror(error.errno) if error.errno else 'cannot be read'}"
        rule, remedy = "Samples come from a CSV or NPY file", "Check the path"
        raise FileAccessError(operation, fact, rule, remedy, errno=error.errno) from error
    if table.ndim != 2 or table.shape[1] != columns or not 1 <= len(table) <= TABLE_ROWS:
        raise MessageValueError(
            operation,
            f"{str(path)!a} has shape {list(table.shape)}",
            f"A table has 1 to {TABLE_ROWS} samples as rows and {columns} measurements as columns",
            "Bring the columns into the order of the test set",
        )
    if not np.isfinite(table).all():
        row, column = (int(i) + 1 for i in np.argwhere(~np.isfinite(table))[0])
        _refuse_entry(path, operation, row, column, "is not finite")
    return table


def read_labels(path: Path, operation: str) -> dict[str, np.ndarray]:
    """Read columns of zeros and ones by their names.

    Raises:
        MessageValueError: There is no column "label", or an entry is neither 0 nor 1.
        FileAccessError: The file cannot be read.
    """
    try:
        with path.open(newline="", encoding="utf-8") as file:
            names = [name.strip() for name in next(csv.reader(file), [])]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        fact = f"{str(path)!a} cannot be read"
        rule, remedy = "Labels come from a CSV file with a line of names", "Check the path"
        raise FileAccessError(operation, fact, rule, remedy) from error
    if "label" not in names:
        raise MessageValueError(
            operation,
            f"{str(path)!a} has no column 'label'",
            "The first line names the columns",
            "Write 'label' above the column of zeros and ones",
        )
    table = read_samples(path, len(names), operation)
    wrong = np.argwhere((table != 0) & (table != 1))
    if len(wrong):
        row, column = (int(i) + 1 for i in wrong[0])
        _refuse_entry(path, operation, row, column, "is neither 0 nor 1")
    return {name: table[:, i].astype(bool) for i, name in enumerate(names)}


def _read_npy(path: Path, operation: str) -> np.ndarray:
    try:
        # No pickle: an NPY file of objects would run code. Mapped, so that a size is not believed.
        array = np.load(path, allow_pickle=False, mmap_mode="r")
    except (ValueError, EOFError) as error:
        raise MessageTypeError(
            operation,
            f"{str(path)!a} is no NPY file of numbers",
            "An NPY file holds one array of a real number type",
            "Write it with numpy.save",
        ) from error
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf":
        raise MessageTypeError(
            operation,
            f"{str(path)!a} does not hold one array of real numbers",
            "An NPY file holds one array of a real number type",
            "Write it with numpy.save",
        )
    return np.array(array, dtype=np.float64)


def _read_csv(path: Path, operation: str) -> np.ndarray:
    rows: list[list[float]] = []
    with path.open(newline="", encoding="utf-8") as file:
        try:
            reader = csv.reader(file)
            first = next(reader, [])
            lines = reader if _is_header(first) else chain([first], reader)
            for row in lines:
                if row and len(rows) < TABLE_ROWS + 1:
                    rows.append(_read_row(row, path, operation, len(rows) + 1))
        except (UnicodeDecodeError, csv.Error) as error:
            raise MessageTypeError(
                operation,
                f"{str(path)!a} is no CSV file",
                "A CSV file is text with commas between numbers",
                "Write it with numpy.savetxt(path, table, delimiter=',')",
            ) from error
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        row = next(i for i, row in enumerate(rows) if len(row) != len(rows[0]))
        raise MessageValueError(
            operation,
            f"{str(path)!a} has {len(rows[0])} entries in row 1 and {len(rows[row])} in row "
            f"{row + 1}",
            "All rows have as many entries",
            "Fill in what is missing",
        )
    return np.array(rows, dtype=np.float64).reshape(len(rows), *widths)


def _is_header(row: list[str]) -> bool:
    return any(not _is_number(entry) for entry in row)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read_row(row: list[str], path: Path, operation: str, number: int) -> list[float]:
    for column, entry in enumerate(row, 1):
        if not _is_number(entry):
            _refuse_entry(path, operation, number, column, "is no number")
    return [float(entry) for entry in row]


def _refuse_entry(path: Path, operation: str, row: int, column: int, fact: str) -> NoReturn:
    raise MessageValueError(
        operation,
        f"{str(path)!a}: row {row}, column {column} {fact}",
        "Rows count from 1, a line of names left out",
        "Correct the entry",
        index=(row, column),
    )
