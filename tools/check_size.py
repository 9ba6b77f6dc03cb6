"""Check that files, functions and classes stay small.

Usage: python tools/check_size.py [ROOT]

Prints one line for each offender and exits 1 if there is one. Limits: a Python file 500 lines, a
function 60 lines without its docstring, a C++ or CUDA file 400 lines, a public class 25 public
methods of its own. A generated file is exempt; its first line says so.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

PYTHON_LINES = 500
FUNCTION_LINES = 60
NATIVE_LINES = 400
CLASS_METHODS = 25

FOLDERS = ("src", "csrc", "tools", "tests", "examples", "docs", "cmake", "benchmarks")
NATIVE_SUFFIXES = {".cpp", ".h", ".hpp", ".cu", ".cuh", ".c", ".cc"}
GENERATED = re.compile(r"^(#|//|\"\"\")\s*Generated\b")


def source_files(root: Path) -> Iterator[Path]:
    """Yield the Python and native sources below a checkout, in order."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            hidden = any(
                part.startswith((".", "__pycache__")) for part in path.relative_to(root).parts
            )
            if path.is_file() and not hidden and path.suffix in {".py", *NATIVE_SUFFIXES}:
                yield path


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the lines of a function from `def` to its end, its docstring left out."""
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is not None:
        lines -= (first.end_lineno or first.lineno) - first.lineno + 1
    return lines


def method_names(node: ast.ClassDef) -> set[str]:
    """Return the public methods that a class writes itself: what its reader must learn.

    Overloads and setters count once.
    """
    return {
        item.name
        for item in node.body
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
        and not item.name.startswith("_")
    }


def python_offences(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the fact of each function and class that is too large."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = body_lines(node)
            if lines > FUNCTION_LINES:
                yield node.lineno, f"{node.name} has {lines} lines, at most {FUNCTION_LINES}"
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            methods = len(method_names(node))
            if methods > CLASS_METHODS:
                yield (
                    node.lineno,
                    f"{node.name} has {methods} public methods, at most {CLASS_METHODS}",
                )


def offences(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the fact of everything too large in one file."""
    text = path.read_text(encoding="utf-8")
    if GENERATED.match(text):
        return
    limit = PYTHON_LINES if path.suffix == ".py" else NATIVE_LINES
    lines = len(text.splitlines())
    if lines > limit:
        yield 1, f"the file has {lines} lines, at most {limit}"
    if path.suffix == ".py":
        yield from python_offences(text)


def main(arguments: list[str]) -> int:
    """Print the offenders below a checkout; return 1 if there is one."""
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parents[1]
    found = [
        f"{path.relative_to(root)}:{line}: {fact}"
        for path in source_files(root)
        for line, fact in offences(path)
    ]
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
