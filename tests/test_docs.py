"""The examples in docstrings run, and importing the package stays light."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import torch

import fhelium
from fhelium import compile, runtime
from fhelium.errors import InsecureWarning
from fhelium.native import has_device
from fhelium.runtime.device import STREAM_DEVICES
from fhelium.values import registry
from tests.runtime.fake_device import FakeDevice

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(fhelium.__path__, "fhelium.")
    # The dialects' examples are the Engine mixins'; the entry point runs on import; compiled
    # modules are no Python modules.
    if ".dialects." not in module.name
    and not module.name.endswith(("__main__", "._cuda_info"))
    and not module.name.startswith("fhelium.native.torchops.")
)


ON_CUDA = {"fhelium.runtime.cuda_graphs"}
"""Modules whose examples need CUDA; where there is none, a device that plays it."""


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name: str, small, monkeypatch) -> None:
    module = importlib.import_module(name)
    engine = fhelium.Engine(small.config)  # examples add keys: not to the engine others share
    engine.add_keys(small.keys)
    generator = torch.Generator().manual_seed(3)
    messages = torch.rand(2, 512, dtype=torch.float64, generator=generator) * 2 - 1
    x, y = (
        engine.encrypt_message(message, small.public_key, output_domain="ntt")
        for message in messages
    )
    if name in ON_CUDA and torch.cuda.is_available() and has_device("cuda"):
        x, y = x.cuda(), y.cuda()
    elif name in ON_CUDA:
        monkeypatch.setitem(STREAM_DEVICES, "cpu", FakeDevice())
    names = {
        "engine": engine,
        "secret_key": small.secret_key,
        "public_key": small.public_key,
        "x": x,
        "y": y,
        "torch": torch,
        "captured": captured_sum(engine) if name.startswith("fhelium.compile.") else None,
    }
    finder = doctest.DocTestFinder(recurse=True)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    report: list[str] = []
    # Examples may register value classes; the list of names is put back afterwards.
    known = dict(registry._TYPES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InsecureWarning)
        for test in finder.find(module, module.__name__, extraglobs=names):
            runner.run(test, out=report.append)
    registry._TYPES.clear()
    registry._TYPES.update(known)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


def captured_sum(engine: fhelium.Engine) -> compile.Compilation:
    """Capture a rotation and a sum, for the examples of Compile."""

    def f(x, y):
        return torch.roll(x, 3) + y

    spec = compile.encrypted(polynomial_domain="ntt")
    workspace = compile.CompileWorkspace({fhelium.CkksConfig: engine.config})
    return compile.capture(f, inputs={"x": spec, "y": spec}, workspace=workspace)


def public_members(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield what a class itself defines for its callers."""
    for name, member in vars(cls).items():
        described = isinstance(member, classmethod | property) or inspect.isfunction(member)
        if described and not name.startswith("_"):
            yield name, member


def test_runtime_examples_exist() -> None:
    """Everything public of the runtime shows how it is used."""
    for name in sorted(set(runtime.__all__) - {"TreeKind"}):  # an alias of a type
        shown = getattr(runtime, name)
        assert ">>> " in (shown.__doc__ or ""), name
        for member, described in public_members(shown) if inspect.isclass(shown) else ():
            assert ">>> " in (described.__doc__ or ""), f"{name}.{member}"


def test_compile_examples_exist() -> None:
    """Everything public of Compile shows how it is used."""
    for name in sorted(set(compile.__all__) - {"PythonCodegenError"}):
        assert ">>> " in (getattr(compile, name).__doc__ or ""), name


def test_engine_examples_exist() -> None:
    """Every public method of the Engine shows how it is called."""
    from fhelium import Engine

    for name in dir(Engine):
        # An in-place form (a trailing underscore) refers to the method it is a form of.
        public = not name.startswith("_") and not name.endswith("_") and name != "dispatcher"
        if public and callable(getattr(Engine, name)):
            assert ">>> " in (getattr(Engine, name).__doc__ or ""), name


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = (
        "import sys, fhelium; heavy = {'torch', 'numpy', 'xdsl', 'click', 'rich', 'sklearn'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stdout.strip() == "[]"


def test_top_level_names_resolve() -> None:
    for name in fhelium.__all__:
        assert getattr(fhelium, name) is not None
    assert set(fhelium.__all__) <= set(dir(fhelium))
    with pytest.raises(AttributeError, match="no attribute 'absent'"):
        _ = fhelium.absent
