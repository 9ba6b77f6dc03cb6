"""Compilations as folders: what was compiled comes back and runs; no secret key goes along."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from xdsl.dialects.builtin import StringAttr

from fhelium import CkksConfig, save_value
from fhelium import compile as fc
from fhelium.compile.material_operands import materials_of
from fhelium.errors import (
    ContextMismatchError,
    FHEliumError,
    FileAccessError,
    FileFormatError,
    OperandTypeError,
    ProgramError,
    SecretExposureError,
)
from fhelium.serialization import load_compilation, save_compilation
from tests.compile.support import CompileRing


@pytest.fixture(scope="module")
def ring() -> CompileRing:
    return CompileRing.make(steps=(1, 3))


def scored(engine, x, weights):
    product = engine.rescale_to_next_depth(engine.multiply_plaintext(x, weights))
    square = engine.multiply_and_rescale(product, product)
    return engine.add(square, engine.rotate_by_step(engine.conjugate(square), 3))


@pytest.fixture
def compilation(ring: CompileRing) -> fc.Compilation:
    """Compiled for the NTT domain, its keys and weights bound, a secret key in the workspace."""
    weights = ring.engine.prepare_plaintext(torch.linspace(-1, 1, 512), like=ring.encrypt(0.5))
    axes = {"depth": 0, "scale": ring.config.scale_at(0), "polynomial_domain": "ntt"}
    found = ring.capture(
        scored, engine=fc.engine(), x=fc.encrypted(**axes), weights=fc.static(weights)
    )
    found.workspace["mine"] = ring.secret_key
    assert ring.bind(found) == ()
    return found


@pytest.mark.parametrize("lowered", [False, True])
def test_a_loaded_compilation_gives_the_same_bits(
    ring: CompileRing, compilation: fc.Compilation, tmp_path: Path, lowered: bool
) -> None:
    if lowered:
        compilation = fc.Pipeline((fc.LowerCkksToRnsNttPass(),)).run(compilation)
    save_compilation(compilation, tmp_path / "scored")
    loaded = load_compilation(tmp_path / "scored", config=ring.config)
    assert loaded.program.to_text() == compilation.program.to_text()
    assert sorted(loaded.public_values) == [
        "conjugation-key",
        "plaintext:0",
        "relinearization-key",
        "rotation-key:3",
    ]
    unbound = fc.prepare_material_bindings(loaded, resources=ring.resources)
    assert unbound == ()
    x = ring.encrypt(0.25, output_domain="ntt")
    result = ring.link(loaded).run(x)
    expected = scored(ring.engine, x, compilation.public_values["plaintext:0"])
    assert torch.equal(result.data, expected.data)
    assert result.state == expected.state


def test_keys_may_come_later(ring: CompileRing, tmp_path: Path) -> None:
    axes = {"depth": 0, "polynomial_domain": "ntt"}
    found = ring.capture(
        lambda engine, x: engine.rotate_by_step(x, 1), engine=fc.engine(), x=fc.encrypted(**axes)
    )
    save_compilation(found, tmp_path / "rotated")
    loaded = load_compilation(tmp_path / "rotated")
    assert fc.EvaluationKeyRequirements.of(loaded).steps == (1,)
    assert loaded.material_bindings == {}
    assert ring.bind(loaded) == ()


def test_no_secret_key_is_in_the_folder(
    ring: CompileRing, compilation: fc.Compilation, tmp_path: Path
) -> None:
    save_compilation(compilation, tmp_path / "scored")
    files = [path for path in (tmp_path / "scored").rglob("*") if path.is_file()]
    assert {path.name for path in files} == {
        "program.mlir",
        "config.fhelium",
        "conjugation-key.fhelium",
        "plaintext-0.fhelium",
        "relinearization-key.fhelium",
        "rotation-key-3.fhelium",
    }
    row = ring.secret_key.data[0].numpy().tobytes()
    for path in files:
        content = path.read_bytes()
        assert row not in content
        assert b"SecretKey" not in content
        assert path.stat().st_mode & 0o077 == 0


def test_secret_keys_are_refused_by_type(
    ring: CompileRing, compilation: fc.Compilation, tmp_path: Path
) -> None:
    with pytest.raises(SecretExposureError, match="secret key"):
        compilation.bind("rotation-key:3", ring.secret_key)
    compilation.material_bindings["rns_parameters/Q/0"] = ring.secret_key
    with pytest.raises(SecretExposureError, match="secret key"):
        save_compilation(compilation, tmp_path / "scored")
    del compilation.material_bindings["rns_parameters/Q/0"]
    compilation.material_bindings["plaintext:0"] = ring.secret_key.data
    with pytest.raises(OperandTypeError, match="'plaintext:0' is bound to a bare tensor"):
        save_compilation(compilation, tmp_path / "scored")
    assert os.listdir(tmp_path) == []


def test_a_secret_key_in_the_folder_is_refused(
    ring: CompileRing, compilation: fc.Compilation, tmp_path: Path
) -> None:
    folder = tmp_path / "scored"
    save_compilation(compilation, folder)
    file = folder / "values" / "rotation-key-3.fhelium"
    file.unlink()
    save_value(ring.secret_key, file, allow_secret_key=True)
    with pytest.raises(SecretExposureError, match="secret key"):
        load_compilation(folder)


def test_what_does_not_belong_is_refused(
    ring: CompileRing, compilation: fc.Compilation, tmp_path: Path
) -> None:
    with pytest.raises(FileAccessError):
        load_compilation(tmp_path / "absent")
    folder = tmp_path / "scored"
    save_compilation(compilation, folder)
    with pytest.raises(FileAccessError, match="exists already"):
        save_compilation(compilation, folder)
    other = CkksConfig.create(depth=2, scale_bits=40)
    with pytest.raises(ContextMismatchError):
        load_compilation(folder, config=other)
    swapped = folder / "values" / "rotation-key-3.fhelium"
    kept = swapped.read_bytes()
    swapped.write_bytes((folder / "values" / "conjugation-key.fhelium").read_bytes())
    with pytest.raises(FileFormatError, match=r"^load_compilation: .*rotation-key-3.* holds a Con"):
        load_compilation(folder)
    swapped.write_bytes(kept)
    save_value(ring.keys.rotation(1), folder / "values" / "rotation-key-1.fhelium")
    with pytest.raises(FileFormatError, match=r"^load_compilation: .*rotation-key-1.* holds a Rot"):
        load_compilation(folder)


def test_a_compiled_function_is_no_compilation(tmp_path: Path) -> None:
    with pytest.raises(OperandTypeError, match=r"a CompiledFunction.*f.prepare\(...\).comp"):
        save_compilation(fc.compile(lambda x: x), tmp_path / "function")  # type: ignore[arg-type]


@pytest.mark.parametrize("symbol", ["../../beside", "a/b", ".hidden", "", "x\0", "rotation-key-3"])
def test_symbols_that_are_no_file_names_are_refused(
    ring: CompileRing, compilation: fc.Compilation, tmp_path: Path, symbol: str
) -> None:
    """A Program may be somebody else's text: what it names stays inside the folder."""
    material = next(
        operation
        for operation in materials_of(compilation.program)
        if operation.symbol.data == "plaintext:0"
    )
    material.properties["symbol"] = StringAttr(symbol)
    compilation.bind(symbol, compilation.public_values["plaintext:0"])
    with pytest.raises(ProgramError, match="has no file name of its own") as caught:
        save_compilation(compilation, tmp_path / "scored")
    assert caught.value.operation == "save_compilation"
    assert os.listdir(tmp_path) == []


def test_damaged_texts_are_refused(compilation: fc.Compilation, tmp_path: Path) -> None:
    folder = tmp_path / "scored"
    save_compilation(compilation, folder)
    text = (folder / "program.mlir").read_text()
    for broken, error in (
        (text.replace("ckks.conjugate", "ckks.unknown"), ProgramError),
        (text.replace("depth = 2", "depth = 1"), FHEliumError),
        (text[: len(text) // 2], ProgramError),
    ):
        (folder / "program.mlir").write_text(broken)
        with pytest.raises(error):
            load_compilation(folder)
    (folder / "program.mlir").write_bytes(b"\xff\xfe")
    with pytest.raises(FileFormatError, match=r"^load_compilation: '.*program\.mlir' .*UTF-8"):
        load_compilation(folder)


def looped(x, rounds, flip):
    moved = fc.repeat(rounds + 1, lambda a: torch.roll(a, 1) + x, x)
    return torch.cond(flip & (rounds > 2), lambda: moved * moved, lambda: moved)


@pytest.mark.parametrize("form", ["ckks", "residues", "loops"])
def test_the_real_xdsl_opt_reads_the_generic_text(
    compilation: fc.Compilation, ring: CompileRing, tmp_path: Path, form: str
) -> None:
    """A tool that knows none of our dialects parses and prints every operation."""
    if form == "loops":
        numbers = {"rounds": fc.count(), "flip": fc.condition()}
        captured = ring.capture(looped, x=fc.encrypted(polynomial_domain="ntt"), **numbers)
        compilation = fc.default_lower_and_fuse_pipeline().run(captured)
    if form != "ckks":
        compilation = fc.Pipeline((fc.LowerCkksToRnsNttPass(),)).run(compilation)
    path = tmp_path / "program.mlir"
    path.write_text(compilation.program.to_text(generic=True))
    command = [str(Path(sys.executable).with_name("xdsl-opt")), "--allow-unregistered-dialect"]
    found = subprocess.run(
        [*command, "--print-op-generic", str(path)], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    for operation in compilation.program.operations:
        assert f'"{operation.name}"' in found.stdout
    again = fc.Program.parse(found.stdout)
    assert again.to_text() == compilation.program.to_text()
