"""Each dialect and each pass as text: what goes in, and what comes out, checked by FileCheck.

A file in ``filecheck/`` belongs to the dialect or pass of its name. Its sections are Programs, with
a line ``// RUN:`` that says what passes they go through and lines ``// CHECK:`` for what comes out:
the Program's text and the Python that emitters wrote, or the class and text of an error.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import Options
from filecheck.parser import Parser, pattern_for_opts

import fhelium.compile.passes
from fhelium import CkksConfig
from fhelium import compile as fc
from fhelium.backend import OperationBackend
from fhelium.errors import FHEliumError
from fhelium.ir.program import DIALECTS
from tests.compile.support import CompileRing

FOLDER = Path(__file__).parent / "filecheck"
NAMES: dict[str, Any] = {**vars(fc), "registry": OperationBackend().registry}


def sections(path: Path) -> list[str]:
    return path.read_text().split("// -----\n")


def passes_of(section: str) -> tuple[fc.CompilePass, ...]:
    lines = [line for line in section.splitlines() if line.startswith("// RUN:")]
    return tuple(eval(line.removeprefix("// RUN:"), NAMES) for line in lines)


def output_of(config: CkksConfig, section: str) -> str:
    workspace = fc.CompileWorkspace({CkksConfig: config})
    try:
        compilation = fc.Compilation(fc.Program.parse(section), workspace)
        found = fc.Pipeline(passes_of(section)).run(compilation)
    except FHEliumError as error:
        return f"{type(error).__name__}: {error}\n"
    sources = (workspace.get(kind) for kind in (fc.EagerPythonSource, fc.BackendPythonSource))
    return "".join([found.program.to_text(), *(source.source for source in sources if source)])


SECTIONS = [
    pytest.param(path, index, id=f"{path.stem}-{index}")
    for path in sorted(FOLDER.glob("*/*.mlir"))
    for index in range(len(sections(path)))
]


@pytest.mark.parametrize(("path", "index"), SECTIONS)
def test_text(ring: CompileRing, path: Path, index: int, capsys) -> None:
    section = sections(path)[index]
    options = Options(str(path))
    output = output_of(ring.config, section)
    checks = Parser(options, io.StringIO(section), *pattern_for_opts(options))
    code = Matcher(options, FInput("output", output), checks).run()
    assert code == 0, f"{capsys.readouterr().err}\n{output}"


def test_every_pass_has_a_text() -> None:
    folder = Path(fhelium.compile.passes.__file__).parent
    found = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert found == {path.stem for path in (FOLDER / "passes").glob("*.mlir")}


def test_every_operation_of_a_dialect_has_a_text() -> None:
    for dialect in DIALECTS:
        text = (FOLDER / "dialects" / f"{dialect.name}.mlir").read_text()
        checked = [line for line in text.splitlines() if "// CHECK" in line]
        for operation in dialect.operations:
            assert any(f'"{operation.name}"' in line for line in checked), operation.name
