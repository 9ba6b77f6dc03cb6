"""The symbol check finds weak symbols in kernel objects."""

import shutil
import subprocess

import pytest

from tools import check_symbols

STRONG = "namespace { int twice(int x) { return 2 * x; } }\nextern const int t = twice(2);\n"
WEAK = "inline int twice(int x) { return 2 * x; }\nint (*t)(int) = twice;\n"


@pytest.mark.parametrize(("source", "code"), [(STRONG, 0), (WEAK, 1)])
def test_a_weak_symbol_is_an_offence(tmp_path, capsys, source, code):
    compiler = shutil.which("c++") or shutil.which("g++")
    assert compiler is not None
    folder = tmp_path / "build" / "any"
    folder.mkdir(parents=True)
    (tmp_path / "kernels_portable.cpp").write_text(source)
    subprocess.run(
        [compiler, "-c", "kernels_portable.cpp", "-o", folder / "kernels_portable.cpp.o"],
        cwd=tmp_path,
        check=True,
    )
    assert check_symbols.main([str(tmp_path)]) == code
    assert ("twice" in capsys.readouterr().out) == bool(code)


def test_no_object_at_all_is_a_failure(tmp_path):
    assert check_symbols.main([str(tmp_path)]) == 1
