"""Compilations as folders: the Program as text, and its public values as files beside it."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import torch

from fhelium.compile import Compilation, CompileWorkspace
from fhelium.compile.compilation import require_public
from fhelium.compile.material_operands import materials_of
from fhelium.compile.materials import key_symbol
from fhelium.compile.states import infer_compilation
from fhelium.config import CkksConfig
from fhelium.errors import FileAccessError, OperandTypeError, ProgramError
from fhelium.ir.program import Program
from fhelium.ir.types import TableType
from fhelium.serialization.reading import load_value, naming
from fhelium.serialization.storage import (
    PathLike,
    flush_folder,
    open_regular,
    path_text,
    translated,
    write_all,
    write_atomically,
)
from fhelium.serialization.strict_json import refuse
from fhelium.serialization.writing import save_value
from fhelium.values import Plaintext

TEXT_LIMIT: Final = 64 << 20
_PROGRAM: Final = "program.mlir"
_STATES: Final = "ciphertexts.mlir"
_CONFIG: Final = "config.fhelium"
_VALUES: Final = "values"
# A symbol may come from somebody else's text, and becomes a file name.
_SYMBOL: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z._:-]{0,191}")


def save_compilation(compilation: Compilation, path: PathLike) -> None:
    """Save a Program with its parameters and the keys and encoded vectors that it is bound to.

    The folder holds the Program as MLIR text that anyone can read, the parameters, and each public
    value as ``save_value`` writes it. It appears whole or not at all. Numerical tables follow from
    the parameters and are made anew after loading; nothing else of the workspace is saved.

    Args:
        compilation: At any stage; what is not bound stays unbound.
        path: A folder that does not exist yet.

    Raises:
        SecretExposureError: A secret key is bound. It is never saved with a Program.
        OperandTypeError: It is no Compilation, such as a compiled function, which has one for each
            kind of input: save ``f.prepare(...).compilation``. Or a key or an encoded vector is
            bound as a bare tensor, of which nobody knows what it is: ``compilation.bind`` it.
        ProgramError: A key or an encoded vector has a symbol that is no file name of its own.
        FileAccessError: The folder exists, or cannot be written.

    Example:
        >>> import tempfile
        >>> from fhelium.compile import CompileWorkspace, capture, encrypted
        >>> workspace = CompileWorkspace({CkksConfig: CkksConfig.create(depth=2, scale_bits=40)})
        >>> found = capture(lambda x: 2 * x, inputs={"x": encrypted()}, workspace=workspace)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save_compilation(found, f"{folder}/doubled")
        ...     loaded = load_compilation(f"{folder}/doubled")
        >>> loaded.program.to_text() == found.program.to_text()
        True
    """
    operation, target = "save_compilation", path_text(path, "save_compilation")
    if not isinstance(compilation, Compilation):
        raise OperandTypeError(
            operation,
            f"got a {type(compilation).__name__}, needed is a Compilation",
            "A compiled function has one for each kind of input",
            "Pass f.prepare(...).compilation",
        )
    values = _public_values(operation, compilation)
    with _new_folder(operation, target) as folder:
        (folder / _VALUES).mkdir(mode=0o700)
        for name, value in values.items():
            save_value(value, folder / _VALUES / name)
        _write_text(operation, folder / _PROGRAM, compilation.program)
        if compilation.state_program is not None:
            _write_text(operation, folder / _STATES, compilation.state_program)
        save_value(compilation.workspace.config, folder / _CONFIG)


def load_compilation(
    path: PathLike,
    *,
    config: CkksConfig | None = None,
    device: torch.device | str | None = None,
) -> Compilation:
    """Load what ``save_compilation`` wrote.

    Nothing is executed and nothing is believed: the text is parsed and verified, states are found
    anew by the operations' rules, and each value is checked as ``load_value`` checks it.

    Args:
        path: The folder.
        config: The parameters that it must have.
        device: Where the values go; CPU when omitted.

    Returns:
        A compilation with a workspace of its own; ``prepare_material_bindings`` adds the tables.

    Raises:
        FileFormatError: A file is damaged, or its value is not the one that its name says.
        SecretExposureError: A file holds a secret key, which no Program is bound to.
        ProgramError: The text is no Program.
        StateError: Its operations do not fit one another.
        FileAccessError: A file cannot be read.
        ContextMismatchError: The parameters are others than ``config``.
    """
    operation, folder = "load_compilation", Path(path_text(path, "load_compilation"))
    found = load_value(folder / _CONFIG, config=config)
    program = _read_text(operation, folder / _PROGRAM)
    compilation = Compilation(program, CompileWorkspace({CkksConfig: found}))
    with translated(operation, str(folder)):
        names = os.listdir(folder)
        files = sorted(os.listdir(folder / _VALUES))
    if _STATES in names:
        compilation.state_program = _read_text(operation, folder / _STATES)
    needed = _file_names(operation, compilation)
    for name in files:
        path = folder / _VALUES / name
        value = load_value(path, config=found, device=device)
        require_public(operation, name, value)
        symbol = needed.get(name)
        own = symbol if isinstance(value, Plaintext) else key_symbol(value)
        if symbol is None or symbol != own:
            with naming(operation, str(path)):
                refuse(
                    f"holds a {type(value).__name__} that its name does not say",
                    f"The Program's values are {', '.join(needed) or 'none'}",
                )
        compilation.bind(symbol, value)
    infer_compilation(compilation)
    return compilation


def _public_values(operation: str, compilation: Compilation) -> dict[str, Any]:
    """Return what is saved, and refuse what must not or cannot be."""
    found = {}
    for symbol, bound in compilation.material_bindings.items():
        if not isinstance(bound, torch.Tensor):
            require_public(operation, symbol, bound)
    for name, symbol in _file_names(operation, compilation).items():
        bound = compilation.material_bindings.get(symbol)
        value = compilation.public_values.get(symbol)
        if bound is None:
            continue
        if value is None or value.data is not bound:
            raise OperandTypeError(
                operation,
                f"{symbol!r} is bound to a bare tensor",
                "Saved are keys and encoded vectors, whose type says that they are public",
                "Bind it with compilation.bind or prepare_material_bindings",
            )
        require_public(operation, symbol, value)
        found[name] = value
    return found


def _file_names(operation: str, compilation: Compilation) -> dict[str, str]:
    """Return file name and symbol of the Program's keys and encoded vectors; tables are neither."""
    found: dict[str, str] = {}
    for material in materials_of(compilation.program):
        if isinstance(material.result.type, TableType):
            continue
        symbol = material.symbol.data
        name = f"{symbol.replace(':', '-')}.fhelium"
        if not _SYMBOL.fullmatch(symbol) or found.setdefault(name, symbol) != symbol:
            raise ProgramError(
                operation,
                f"the material {symbol!a} has no file name of its own",
                "A value's file is named after its symbol: letters, digits, dots, colons, hyphens "
                "and underscores, where a colon counts as a hyphen",
                "Give it another symbol in the Program",
                symbol=symbol,
            )
    return found


def _write_text(operation: str, path: Path, program: Program) -> None:
    with write_atomically(str(path), operation, replace=False) as fd:
        write_all(fd, program.to_text().encode())


def _read_text(operation: str, path: Path) -> Program:
    with open_regular(str(path), operation) as file, naming(operation, str(path)):
        if file.file_bytes > TEXT_LIMIT:
            refuse(f"has {file.file_bytes} bytes of text", f"A Program has at most {TEXT_LIMIT}")
        try:
            text = file.read(TEXT_LIMIT, 0).decode()
        except UnicodeDecodeError:
            refuse("has a text that is no UTF-8", "A Program is MLIR text")
    return Program.parse(text, str(path))


@contextmanager
def _new_folder(operation: str, target: str) -> Iterator[Path]:
    """Give a folder that becomes the target when all went well, and vanishes otherwise."""
    made, beside = None, os.path.dirname(target.rstrip("/")) or "."
    with translated(operation, target):
        try:
            made = tempfile.mkdtemp(prefix=".fhelium-", dir=beside)
            yield Path(made)
            if os.path.lexists(target):
                raise FileAccessError(
                    operation,
                    f"{target!a} exists already",
                    "A saved Program takes the place of nothing",
                    "Choose another name, or move the old folder away yourself",
                    path=target,
                )
            os.rename(made, target)
            made = None
            flush_folder(beside)
        finally:
            if made is not None:
                shutil.rmtree(made, ignore_errors=True)
