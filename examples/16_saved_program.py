"""Compile on one machine, save, and run on another: a folder of text, parameters and public keys.

Run: python examples/16_saved_program.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import torch

from fhelium import CkksConfig, Engine, Preset
from fhelium import compile as fc
from fhelium.backend import OperationBackend
from fhelium.backend.ckks import CkksDeviceResources
from fhelium.errors import SecretExposureError
from fhelium.serialization import load_compilation, save_compilation


def smoothed(x):
    """Return the mean of each slot and its neighbours, doubled."""
    return x + (torch.roll(x, 1) + torch.roll(x, -1)) / 2


def author(folder: Path) -> None:
    """Write the Program for its parameters; no key exists yet."""
    config = CkksConfig.parse(Preset.slots4096_scale40_depth2_int64)
    workspace = fc.CompileWorkspace({CkksConfig: config})
    spec = fc.encrypted(depth=0, scale=config.scale_at(0), polynomial_domain="ntt")
    captured = fc.capture(smoothed, inputs={"x": spec}, workspace=workspace)
    save_compilation(fc.default_lower_and_fuse_pipeline().run(captured), folder)


def client(program: Path, bound: Path) -> tuple[Engine, object]:
    """Make the keys that the Program asks for, and hand it on with them."""
    compilation = load_compilation(program)
    engine = Engine(compilation.workspace.config)
    secret_key = engine.create_secret_key()
    needed = fc.EvaluationKeyRequirements.of(compilation)
    keys = engine.create_evaluation_keys(secret_key, steps=needed.steps)
    try:
        compilation.bind("rotation-key:1", secret_key)
    except SecretExposureError as error:
        print(f"refused: {error.rule}.")
    for step in needed.steps:
        compilation.bind(f"rotation-key:{step}", keys.rotation(step))
    save_compilation(compilation, bound)
    return engine, secret_key


def server(folder: Path, x):
    """Load the Program with its keys, make the tables, and run."""
    compilation = load_compilation(folder)
    tables = CkksDeviceResources(config=compilation.workspace.config)
    unbound = fc.prepare_material_bindings(compilation, resources=tables)
    assert unbound == ()
    return OperationBackend().link(compilation).run(x)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        author(folder / "program")
        engine, secret_key = client(folder / "program", folder / "bound")
        for path in sorted((folder / "bound").rglob("*")):
            print(f"  {path.relative_to(folder)}")
        public_key = engine.create_public_key(secret_key)
        message = torch.linspace(-1, 1, engine.config.num_slots, dtype=torch.float64)
        x = engine.encrypt_message(message, public_key, output_domain="ntt")
        found = engine.decrypt_message(server(folder / "bound", x), secret_key, real=True)
        print(f"largest error: {float((found - smoothed(message)).abs().max()):.1e}")


if __name__ == "__main__":
    main()
