"""The symbol check finds weak symbols in kernel objects."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tools import check_symbols

STRONG = "namespace { int twice(int x) { return 2 * x; } }\nextern const int t = twice(2);\n"
WEAK = "inline int twice(int x) { return 2 * x; }\nint (*t)(int) = twice;\n"


def kernel(root: Path, name: str, source: str, build: str | None = "any") -> None:
    """Write csrc/rns/<name>.cpp and, unless build is None, compile it below build/."""
    path = root / "csrc" / "rns" / f"{name}.cpp"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)
    if build is None:
        return
    compiler = shutil.which("c++") or shutil.which("g++")
    assert compiler is not None
    target = root / "build" / build / "csrc" / "rns" / f"{name}.cpp.o"
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([compiler, "-c", path, "-o", target], check=True)


@pytest.mark.parametrize("isa", check_symbols.ISAS)
@pytest.mark.parametrize(("source", "code"), [(STRONG, 0), (WEAK, 1)])
def test_a_weak_symbol_is_an_offence(tmp_path, capsys, isa, source, code):
    kernel(tmp_path, "kernels_portable", STRONG)
    kernel(tmp_path, f"other_{isa}", source)
    assert check_symbols.main([str(tmp_path)]) == code
    assert ("twice" in capsys.readouterr().out) == bool(code)


def test_every_build_is_read(tmp_path):
    kernel(tmp_path, "kernels_portable", WEAK, "first")
    kernel(tmp_path, "kernels_portable", STRONG, "second")
    assert check_symbols.main([str(tmp_path)]) == 1


def test_a_kernel_that_no_build_has_is_an_offence(tmp_path, capsys):
    kernel(tmp_path, "kernels_portable", STRONG)
    kernel(tmp_path, "kernels_avx2", STRONG, None)
    assert check_symbols.main([str(tmp_path)]) == 0  # a build for another processor
    kernel(tmp_path, "other_avx2", STRONG)
    assert check_symbols.main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.startswith("csrc/rns/kernels_avx2.cpp: no object")
    kernel(tmp_path, "other_portable", STRONG, None)
    assert check_symbols.main([str(tmp_path)]) == 1
    assert "csrc/rns/other_portable.cpp: no object" in capsys.readouterr().out


def test_every_kernel_of_this_checkout_is_read():
    root = Path(check_symbols.__file__).resolve().parents[1]
    assert list(check_symbols.offences(root)) == []
    assert all(check_symbols.kernel_objects(root, "portable").values())
