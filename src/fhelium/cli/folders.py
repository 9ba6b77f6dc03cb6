"""The folders of the two sides: which files they hold, and how each is read and refused."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Self, TypeVar

from fhelium.config import CkksConfig
from fhelium.errors import FileAccessError, FileFormatError, OperandTypeError
from fhelium.serialization import inspect_value, load_value
from fhelium.text import size_text

CLIENT = "client"
SERVER = "server"

PARAMETERS = "parameters.fhelium"
SECRET_KEY = "secret_key.fhelium"
PUBLIC_KEY = "public_key.fhelium"
EVALUATION_KEYS = "evaluation_keys.fhelium"
MODEL = "model.json"
SCALING = "scaling.json"
TEST_SET = "test_set.csv"
TEST_LABELS = "test_labels.csv"

_ROWS = re.compile(r"rows-(\d{5,9})-(\d{5,9})\.fhelium")

T = TypeVar("T")


@dataclass(frozen=True, order=True)
class Rows:
    """The rows of a table that one ciphertext holds; its file is named after them.

    Args:
        first: Number of the first row, counted from 1.
        last: Number of the last row.
    """

    first: int
    last: int

    @property
    def file_name(self) -> str:
        """Return the name that samples and scores of these rows have."""
        return f"rows-{self.first:05d}-{self.last:05d}.fhelium"

    @property
    def count(self) -> int:
        """Return how many there are."""
        return self.last - self.first + 1

    @classmethod
    def of(cls, path: Path, operation: str, limit: int) -> Self:
        """Read the rows from a file's name.

        Raises:
            FileFormatError: The name is no such name, or says more rows than a ciphertext holds.
        """
        match = _ROWS.fullmatch(path.name)
        rows = cls(int(match[1]), int(match[2])) if match else cls(0, 0)
        if not 1 <= rows.first <= rows.last < rows.first + limit:
            raise FileFormatError(
                operation,
                f"{str(path)!a} does not name the rows that it holds",
                f"The name is {Rows(1, limit).file_name!a} for rows 1 to {limit}, the most that "
                "one file holds",
                "Give the file the name that it was made with",
            )
        return rows


def load_as(
    kind: type[T],
    path: Path,
    operation: str,
    *,
    config: CkksConfig | None = None,
    passphrase: str | None = None,
) -> T:
    """Load a value of one kind; a file of another kind is refused before its tensors are read.

    Raises:
        OperandTypeError: The file holds another kind of value.
        FHEliumError: The file cannot be read, is damaged, or has other parameters.
    """
    found = inspect_value(path).type_name
    if found != kind.__name__:
        raise OperandTypeError(
            operation,
            f"{str(path)!a} holds a {found}, needed is a {kind.__name__}",
            "Each file of a folder has its place",
            "Put the right file there",
        )
    value = load_value(path, config=config, passphrase=passphrase)
    assert isinstance(value, kind)
    return value


def value_files(folder: Path, operation: str, limit: int) -> list[tuple[Rows, Path]]:
    """Return the files of ciphertexts in a folder, in the order of their rows.

    Raises:
        FileAccessError: There is none.
        FileFormatError: A name does not say which rows the file holds, or two say the same row.
    """
    paths = folder.glob("*.fhelium")
    found = sorted((Rows.of(path, operation, limit), path) for path in paths)
    if not found:
        raise FileAccessError(
            operation,
            f"{str(folder)!a} holds no ciphertexts",
            f"They are files such as {Rows(1, limit).file_name!a}",
            "Pass the folder that the other side sent",
        )
    for (before, one), (after, other) in pairwise(found):
        if after.first <= before.last:
            raise FileFormatError(
                operation,
                f"{one.name!a} and {other.name!a} both name row {after.first}",
                "A folder holds the rows of one table",
                "Keep the files of one encryption in a folder of their own",
            )
    return found


def make_folder(folder: Path, operation: str, *, private: bool = False) -> None:
    """Make a folder, or take an empty one; a private one is its owner's alone.

    Raises:
        FileAccessError: It holds something, or cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        occupied = any(folder.iterdir())
        if private and not occupied:
            folder.chmod(0o700)  # whatever it was before
    except OSError as error:
        raise FileAccessError(
            operation,
            f"{str(folder)!a}: {os.strerror(error.errno or 0)}",
            "Results go to a folder of their own",
            "Pass another folder",
            errno=error.errno,
        ) from error
    if occupied:
        raise FileAccessError(
            operation,
            f"{str(folder)!a} holds files already",
            "Nothing is replaced or mixed with what is there",
            "Pass a new folder, or empty this one",
        )


def size_of(path: Path) -> str:
    """Return the size of a file as text."""
    return size_text(path.stat().st_size)
