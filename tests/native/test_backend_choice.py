"""FHELIUM_NATIVE_BACKENDS: what CMake decides to compile, and how it says what it cannot."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CMAKE = shutil.which("cmake", path=os.pathsep.join([str(Path(sys.executable).parent), os.defpath]))
PLACES = "/usr/local/bin;/usr/local/cuda/bin"  # where a toolkit of this machine would be found


def toolkit(folder: Path, version: str | None) -> Path:
    """Make an nvcc that tells this version, or nothing, and leaves a trace of having been asked."""
    compiler = folder / "bin" / "nvcc"
    compiler.parent.mkdir(parents=True)
    release = version and version.rpartition(".")[0]
    says = f"echo 'Cuda compilation tools, release {release}, V{version}'" if version else ":"
    compiler.write_text(f"#!/bin/sh\n: > '{folder}/asked'\n{says}\n")
    compiler.chmod(0o755)
    return compiler


def decide(
    folder: Path, asked: str, torch_cuda: str = "13.0", *options: str, **variables: str
) -> tuple[str, str]:
    """Run the decision as a script; return backends and toolkit, or "", and what it said."""
    script = folder / "decide.cmake"
    script.write_text(
        f"set(torch_version 2.14.0)\nset(torch_cuda {torch_cuda})\n"
        f'include("{ROOT}/cmake/backends.cmake")\n'
        'message(STATUS "${FHELIUM_BACKENDS} ${FHELIUM_CUDA_TOOLKIT}")\n'
    )
    assert CMAKE is not None
    settings = [f"-DFHELIUM_NATIVE_BACKENDS={asked}", f"-DCMAKE_IGNORE_PATH={PLACES}", *options]
    done = subprocess.run(
        [CMAKE, *settings, "-P", str(script)],
        env={"PATH": os.defpath, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    chosen = "" if done.returncode else done.stdout.removeprefix("-- ").strip()
    return chosen, " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("asked", "torch_cuda", "version", "chosen"),
    [
        ("AUTO", "13.0", "13.0.88", "CPU+CUDA 13.0.88"),
        ("AUTO", "13.0", "13.2.1", "CPU+CUDA 13.2.1"),  # one major version is one
        ("CUDA", "13.0", "13.0.88", "CUDA 13.0.88"),
        ("CPU+CUDA", "12.9", "12.4.99", "CPU+CUDA 12.4.99"),
        # The module carries its own runtime: a torch without CUDA compiles and loads any.
        ("CUDA", "none", "12.9.86", "CUDA 12.9.86"),
        ("CPU+CUDA", "none", "13.0.88", "CPU+CUDA 13.0.88"),
    ],
)
def test_torch_and_toolkit_decide(tmp_path, asked, torch_cuda, version, chosen):
    compiler = toolkit(tmp_path / "cuda", version)
    assert decide(tmp_path, asked, torch_cuda, CUDACXX=str(compiler)) == (chosen, "")


@pytest.mark.parametrize(("asked", "torch_cuda"), [("CPU", "13.0"), ("AUTO", "none")])
def test_a_cpu_build_never_looks_for_a_toolkit(tmp_path, asked, torch_cuda):
    compiler = toolkit(tmp_path / "cuda", None)
    home, path = str(tmp_path / "cuda"), f"{compiler.parent}{os.pathsep}{os.defpath}"
    variables = {"CUDACXX": str(compiler), "CUDA_HOME": home, "CUDA_PATH": home, "PATH": path}
    assert decide(tmp_path, asked, torch_cuda, **variables) == ("CPU", "")
    assert not (tmp_path / "cuda" / "asked").exists()


def test_auto_without_a_compiler_is_a_cpu_build_with_a_warning(tmp_path):
    chosen, said = decide(tmp_path, "AUTO")
    assert chosen == "CPU"
    assert said.startswith("CMake Warning")
    for part in ("torch 2.14.0 has CUDA 13.0, but no nvcc was found", "CUDA 13 toolkit", "CUDACXX"):
        assert part in said


@pytest.mark.parametrize("asked", ["CUDA", "CPU+CUDA"])
@pytest.mark.parametrize("torch_cuda", ["13.0", "none"])
def test_cuda_asked_for_by_name_needs_a_compiler(tmp_path, asked, torch_cuda):
    chosen, said = decide(tmp_path, asked, torch_cuda)
    assert chosen == ""
    assert f"FHELIUM_NATIVE_BACKENDS is {asked}, but no nvcc was found. Install" in said
    assert "or set FHELIUM_NATIVE_BACKENDS=CPU." in said


@pytest.mark.parametrize("asked", ["AUTO", "CUDA", "CPU+CUDA"])
@pytest.mark.parametrize(("torch_cuda", "version"), [("13.0", "12.9.86"), ("12.8", "13.0.88")])
def test_major_versions_must_agree(tmp_path, asked, torch_cuda, version):
    compiler = toolkit(tmp_path / "cuda", version)
    chosen, said = decide(tmp_path, asked, torch_cuda, CUDACXX=str(compiler))
    assert chosen == ""
    major = torch_cuda.partition(".")[0]
    for part in (version, str(compiler), f"CUDA {torch_cuda}.", f"CUDA {major} toolkit in CUDACXX"):
        assert part in said


@pytest.mark.parametrize("asked", ["AUTO", "CUDA"])
@pytest.mark.parametrize("exists", [True, False])
def test_a_compiler_that_does_not_answer_is_none(tmp_path, asked, exists):
    compiler = toolkit(tmp_path / "cuda", None) if exists else tmp_path / "nvcc"
    chosen, said = decide(tmp_path, asked, CUDACXX=str(compiler))
    assert chosen == ("CPU" if asked == "AUTO" else "")
    assert f"but {compiler} does not tell a version of CUDA" in said


def test_the_nearest_word_names_the_compiler(tmp_path):
    names = ("on the path", "CUDA_PATH", "CUDA_HOME", "CUDACXX", "CMAKE_CUDA_COMPILER")
    found = {name: toolkit(tmp_path / name, f"13.{i}.1") for i, name in enumerate(names)}
    options, variables = [], {}
    for i, (name, compiler) in enumerate(found.items()):
        if name == "on the path":
            variables["PATH"] = f"{compiler.parent}{os.pathsep}{os.defpath}"
        elif name == "CMAKE_CUDA_COMPILER":
            options.append(f"-D{name}={compiler}")
        elif name == "CUDACXX":
            variables[name] = f"'{compiler}' -ccbin g++"  # options may follow
        else:
            variables[name] = str(compiler.parents[1])
        assert decide(tmp_path, "CUDA", "13.0", *options, **variables) == (f"CUDA 13.{i}.1", "")


@pytest.mark.parametrize("asked", ["cuda", "CUDA+CPU", "CPU+CUDA+ROCM", "GPU"])
def test_another_name_is_refused(tmp_path, asked):
    chosen, said = decide(tmp_path, asked)
    assert chosen == ""
    assert f"is '{asked}', needed is AUTO, CPU, CUDA or CPU+CUDA." in said
