"""The loader takes the right module and refuses a wrong one with found, needed and a command."""

import hashlib
import importlib.machinery
import json
import os
import re
import shutil
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import fhelium
from fhelium.errors import NativeError
from fhelium.native import fake, has_device, native_status, require_native, runtime
from fhelium.native.manifest import (
    MANIFEST_NAME,
    Environment,
    compare_manifest,
    read_manifest,
    running_environment,
)
from tests.programs import run_python

ROOT = Path(__file__).resolve().parents[2]
MESSAGE = re.compile(r"native: [^\n]+\. Run `[^`\n]+`\.")


def message_of(error: pytest.ExceptionInfo[NativeError]) -> str:
    text = str(error.value)
    assert MESSAGE.fullmatch(text), text
    return text


@pytest.fixture
def copy(tmp_path) -> Path:
    """A copy of the compiled module and its manifest in a folder of its own."""
    binary = runtime.find_binary()
    for name in (binary.name, MANIFEST_NAME):
        shutil.copy(binary.with_name(name), tmp_path / name)
    return tmp_path / binary.name


@pytest.fixture
def chosen(monkeypatch, copy) -> Path:
    """The copy, as the module of a process that has loaded nothing."""
    monkeypatch.setattr(runtime, "_ready", False)
    monkeypatch.setattr(runtime, "_loaded", None)
    monkeypatch.setenv("FHELIUM_NATIVE_FOLDER", str(copy.parent))
    return copy


@pytest.fixture
def unloaded(monkeypatch, chosen) -> Path:
    """The same; it must not load now."""

    def never(path: str) -> None:
        raise AssertionError(f"{path} was loaded")

    monkeypatch.setattr(torch.ops, "load_library", never)
    return chosen


def doctor(binary: Path, **changes) -> None:
    """Change fields of the manifest beside a module; None takes the field out."""
    path = binary.with_name(MANIFEST_NAME)
    manifest = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({k: v for k, v in manifest.items() if v is not None}))


MISMATCHES = {
    "project_version": ("0.0.9", "0.0.9", fhelium.__version__),
    "python_floor": ("99.1", "{}.{}.".format(*sys.version_info[:2]), "99.1"),
    "torch_floor": ("99.2", str(torch.__version__), "99.2"),
    "cxx11_abi": (not torch.compiled_with_cxx11_abi(), "on", "off"),
    "backends": (["XPU"], "XPU", "CPU"),
    "sha256": ("00ff", "", "00ff"),
}
RECORDED = ("torch_built_against", "cuda_toolkit", "cuda_architectures", "compiler")


@pytest.mark.parametrize("field", MISMATCHES)
def test_each_field_that_decides_is_compared_before_anything_loads(unloaded, field):
    value, found, needed = MISMATCHES[field]
    doctor(unloaded, **{field: value})
    with pytest.raises(NativeError) as error:
        require_native()
    text = message_of(error)
    assert found in text
    assert needed in text
    assert error.value.field == field
    assert error.value.found != error.value.needed
    status = native_status()
    assert (status.loadable, status.isa, status.path) == (False, None, unloaded)
    assert status.reason == text
    assert not has_device("cpu")


@pytest.mark.parametrize("field", RECORDED)
@pytest.mark.parametrize("value", ["something else", ["sm_90"], None])
def test_recorded_fields_may_differ(unloaded, field, value):
    doctor(unloaded, **{field: value})
    with pytest.raises(AssertionError, match="was loaded"):  # every comparison passed
        require_native()


def test_every_field_of_the_manifest_decides_or_is_only_recorded(copy):
    assert read_manifest(copy).keys() == {*MISMATCHES, *RECORDED}


@pytest.mark.parametrize("field", MISMATCHES)
def test_a_mismatch_is_told_before_an_engine_computes(copy, field):
    doctor(copy, **{field: MISMATCHES[field][0]})
    program = f"""
        import os
        os.environ["FHELIUM_NATIVE_FOLDER"] = {str(copy.parent)!r}
        import torch
        torch.ops.load_library = None
        from fhelium import Engine
        from fhelium.errors import NativeError
        try:
            Engine("slots8192_scale40_depth7_int64").create_secret_key()
        except NativeError as error:
            print(error.field, str(error).count(". Run `"))
    """
    assert run_python(program) == f"{field} 1"


@pytest.mark.parametrize("field", MISMATCHES)
@pytest.mark.parametrize("value", [None, 7, {}])
def test_a_missing_or_mistyped_field_is_refused(unloaded, field, value):
    doctor(unloaded, **{field: value})
    with pytest.raises(NativeError) as error:
        require_native()
    assert field in message_of(error)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\xff"])
def test_a_manifest_that_is_no_object_is_refused(unloaded, text):
    unloaded.with_name(MANIFEST_NAME).write_bytes(text.encode("latin-1"))
    with pytest.raises(NativeError) as error:
        require_native()
    assert MANIFEST_NAME in message_of(error)


def test_a_module_without_manifest_is_refused(unloaded):
    unloaded.with_name(MANIFEST_NAME).unlink()
    with pytest.raises(NativeError) as error:
        require_native()
    assert MANIFEST_NAME in message_of(error)


def test_no_module_names_folder_and_file(unloaded):
    unloaded.unlink()
    with pytest.raises(NativeError) as error:
        require_native()
    text = message_of(error)
    assert str(unloaded.parent) in text
    assert "_ops.abi3.so" in text
    assert native_status().path is None


def test_a_torn_or_changed_file_is_refused_before_it_loads(unloaded):
    whole = unloaded.read_bytes()
    changed = bytearray(whole)
    changed[len(whole) // 2] ^= 1
    for contents in (whole[: len(whole) // 2], whole[:-1], bytes(changed), b""):
        unloaded.write_bytes(contents)
        with pytest.raises(NativeError) as error:
            require_native()
        needed = json.loads(unloaded.with_name(MANIFEST_NAME).read_text())["sha256"]
        assert message_of(error).count(needed) == 1
        assert error.value.found == hashlib.sha256(contents).hexdigest() != needed
    unloaded.write_bytes(whole)
    with pytest.raises(AssertionError, match="was loaded"):
        require_native()


def test_a_file_that_is_no_library_is_refused(chosen):
    chosen.write_bytes(b"not a library")
    doctor(chosen, sha256=hashlib.sha256(b"not a library").hexdigest())
    with pytest.raises(NativeError, match="does not load") as error:
        require_native()
    message_of(error)


def test_a_module_older_than_the_sources_is_refused(monkeypatch):
    names = fake.operator_names()
    monkeypatch.setattr(fake, "operator_names", lambda: [*names, "fhelium_rns_ops::not_yet"])
    monkeypatch.setattr(runtime, "_ready", False)
    with pytest.raises(NativeError, match="fhelium_rns_ops::not_yet") as error:
        require_native()
    message_of(error)


def environment(**changes) -> Environment:
    return replace(running_environment(), **changes)


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"project_version": "9.0.0"}, "9.0.0"),
        ({"python_version": "3.10.14"}, "3.10.14"),
        ({"torch_version": "2.10.2+cu128"}, "2.10.2+cu128"),
        ({"torch_version": "2.9.0"}, "2.9.0"),
        ({"torch_version": "unknown"}, "unknown"),
        ({"cxx11_abi": False}, "off"),
    ],
)
def test_an_environment_below_what_was_built_for_is_refused(copy, changes, found):
    with pytest.raises(NativeError, match=re.escape(found)):
        compare_manifest(read_manifest(copy), environment(**changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"torch_version": "2.11.0"},
        {"torch_version": "2.14.0a0+git1234"},
        {"torch_version": "3.0.1+cu130", "torch_has_cuda": True},
        {"python_version": "3.14.0"},
    ],
)
def test_later_environments_are_served(copy, changes):
    compare_manifest(read_manifest(copy), environment(**changes))


@pytest.mark.parametrize(
    ("backends", "torch_has_cuda", "served"),
    [
        (["CPU"], False, True),
        (["CPU"], True, True),
        (["CPU", "CUDA"], False, True),
        (["CUDA"], True, True),
        (["CUDA"], False, False),
        ([], True, False),
    ],
)
def test_one_compiled_backend_must_be_usable(copy, backends, torch_has_cuda, served):
    doctor(copy, backends=backends)
    needed = environment(torch_has_cuda=torch_has_cuda)
    if served:
        compare_manifest(read_manifest(copy), needed)
    else:
        with pytest.raises(NativeError, match="kernels for"):
            compare_manifest(read_manifest(copy), needed)


@pytest.mark.parametrize(("compiled", "lacking"), [("CPU", "cuda:1"), ("CUDA", "cpu")])
def test_a_device_without_kernels_is_refused_before_anything_computes(copy, compiled, lacking):
    doctor(copy, backends=[compiled])
    program = f"""
        from dataclasses import replace
        import torch
        from fhelium import Engine
        from fhelium.backend.ckks import CkksDeviceResources
        from fhelium.errors import NativeError
        from fhelium.native import has_device, runtime
        with_cuda = replace(runtime.running_environment(), torch_has_cuda=True)
        runtime.running_environment = lambda: with_cuda
        torch.cuda.is_available = lambda: True  # the refusal comes before a device is asked
        engine, device = Engine("slots8192_scale40_depth7_int64"), {lacking!r}
        tables = CkksDeviceResources(config=engine.config, device=device)
        for use in (
            lambda: engine.create_secret_key(device=device),
            lambda: tables.material("rns_parameters/Q/0"),
        ):
            try:
                use()
            except NativeError as error:
                print(has_device("cpu"), has_device("cuda"), *error.found, error.needed, error)
    """
    needed = lacking.partition(":")[0].upper()
    lines = run_python(program, {"FHELIUM_NATIVE_FOLDER": str(copy.parent)}).splitlines()
    assert len(lines) == 2
    for text in lines:
        has, message = text.split(" native: ")
        assert has == f"{compiled == 'CPU'} {compiled == 'CUDA'} {compiled} {needed}"
        assert MESSAGE.fullmatch(f"native: {message}")
        assert message.startswith(
            f"the compiled module has kernels for {compiled}, tensors on {lacking} need {needed}. "
            "Run `FHELIUM_NATIVE_BACKENDS=CPU+CUDA "
        )


@pytest.mark.parametrize("suffix", importlib.machinery.EXTENSION_SUFFIXES)
def test_every_suffix_is_tried_in_every_folder(tmp_path, suffix):
    (tmp_path / "sources").mkdir()
    installed = tmp_path / f"_ops{suffix}"
    installed.touch()
    assert runtime.find_binary([str(tmp_path / "sources"), str(tmp_path)]) == installed


@pytest.mark.parametrize("latest", [0, 1, 2])
def test_of_several_builds_the_latest_is_taken(tmp_path, latest):
    folders = [tmp_path / name for name in "abc"]
    for number, folder in enumerate(folders):
        folder.mkdir()
        path = folder / f"_ops{importlib.machinery.EXTENSION_SUFFIXES[-1]}"
        path.touch()
        os.utime(path, ns=(0, 1_000_000 + (number == latest)))
    assert runtime.find_binary(map(str, folders)).parent == folders[latest]


def test_status_of_the_loaded_module():
    status = native_status()
    assert status.loadable
    assert status.reason == ""
    assert status.path.name.startswith("_ops")
    assert status.isa == os.environ.get("FHELIUM_CPU_ISA", status.isa)
    assert status.isa in {"scalar", "avx2", "avx512"}
    assert has_device("cpu")
    assert has_device("cuda") == ("CUDA" in status.backends)
    assert not has_device("meta")


def test_manifest_says_what_the_project_declares():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    manifest = native_status().manifest
    assert manifest["project_version"] == fhelium.__version__
    assert project["requires-python"] == f">={manifest['python_floor']}"
    assert f"torch>={manifest['torch_floor']}" in project["dependencies"]


def test_an_unbuilt_package_imports_and_says_so_at_first_use(tmp_path):
    source = Path(fhelium.__file__).parent
    shutil.copytree(
        source,
        tmp_path / "fhelium",
        ignore=shutil.ignore_patterns("*.so", MANIFEST_NAME, "__pycache__"),
    )
    program = f"""
        import os, sys
        os.environ.pop("FHELIUM_NATIVE_FOLDER", None)
        sys.meta_path[:] = [f for f in sys.meta_path if "ScikitBuild" not in type(f).__name__]
        sys.path.insert(0, {str(tmp_path)!r})
        import torch
        import fhelium, fhelium.native
        from fhelium.native.wrapper import rns_ops
        assert fhelium.__file__.startswith({str(tmp_path)!r}), fhelium.__file__
        assert not fhelium.native.native_status().loadable
        assert not fhelium.native.has_device("cpu")
        try:
            rns_ops.rns_parameters(torch.tensor([97]), 16)
        except fhelium.native.runtime.NativeError as error:
            print(error)
    """
    text = run_python(program)
    assert MESSAGE.fullmatch(text), text
    assert "no compiled module" in text
    assert "pip install --no-build-isolation" in text  # no checkout around this copy


def test_threads_load_once():
    program = """
        import threading
        import torch
        from fhelium.native import require_native
        loads, load, errors = [], torch.ops.load_library, []
        torch.ops.load_library = lambda path: (loads.append(path), load(path))
        barrier = threading.Barrier(8)

        def use():
            barrier.wait()
            try:
                require_native()
                torch.ops.fhelium_rns_ops.cpu_isa()
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=use) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(len(loads), errors)
    """
    assert run_python(program) == "1 []"


def test_a_child_forked_after_loading_is_refused_randomness():
    program = """
        import os
        from fhelium.errors import RandomnessError
        from fhelium.native import require_native
        from fhelium.rng import fresh_bytes

        def child_exit_code():
            child = os.fork()
            if child:
                return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            try:
                fresh_bytes("test")
            except RandomnessError:
                os._exit(7)
            os._exit(0)

        before = child_exit_code()
        require_native()
        print(before, child_exit_code())
    """
    assert run_python(program) == "0 7"


def test_importing_loads_nothing():
    program = """
        import torch
        torch.ops.load_library = None
        import fhelium, fhelium.native, fhelium.native.wrapper.rns_ops
        from fhelium.native import runtime
        print(runtime._loaded)
    """
    assert run_python(program) == "None"


def test_an_unknown_instruction_set_is_a_reason():
    program = """
        from fhelium.native import native_status
        print(native_status().loadable, native_status().reason)
    """
    text = run_python(program, {"FHELIUM_CPU_ISA": "mmx"})
    assert text.startswith("False FHELIUM_CPU_ISA: the value is 'mmx'")
