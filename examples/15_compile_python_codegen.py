"""Write one Program as Python twice: as calls of an Engine, and as calls of implementations.

The function is the slope of a closed curve: the neighbour on the right minus the one on the left.

Run: python examples/15_compile_python_codegen.py
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from common import print_table

from fhelium import CkksConfig, Engine, Preset
from fhelium import compile as fc
from fhelium.backend import OperationBackend
from fhelium.backend.ckks import CkksDeviceResources

POINTS = 32


def slope(curve: torch.Tensor, reach: int) -> torch.Tensor:
    """Return the neighbour on the right minus the one on the left."""
    return torch.roll(curve, -reach) - torch.roll(curve, reach)


def compile_to_ciphertext_operations(config: CkksConfig) -> fc.Compilation:
    """Capture the function and bring it to operations on ciphertexts, the Eager emitter last."""
    captured = fc.capture(
        slope,
        inputs={
            "curve": fc.encrypted(slots=POINTS, polynomial_domain="coefficient"),
            "reach": fc.static(1),
        },
        workspace=fc.CompileWorkspace({CkksConfig: config}),
    )
    passes = (
        fc.LowerSemanticToLogicalPass(),
        fc.LowerLogicalToCkksPass(),
        fc.ResolveRotationKeyOperandsPass(),
        fc.AssignCkksDepthsPass(),
        fc.AssignCkksScalesPass(),
        fc.EmitEagerPythonPass(),
    )
    return fc.Pipeline(passes).run(captured)


def compile_to_residue_operations(compilation: fc.Compilation) -> fc.Compilation:
    """Go on to operations on residues, the Backend emitter last."""
    registry = OperationBackend().registry
    passes = (
        fc.LowerCkksToRnsNttPass(),
        fc.PrepareOperationOperandsPass(registry),
        fc.EmitBackendPythonPass(),
    )
    return fc.Pipeline(passes).run(compilation)


def function_of(source: fc.GeneratedPythonSource) -> Callable[..., Any]:
    """Execute a source that this program has just made, and return its function."""
    namespace: dict[str, Any] = {}
    exec(source.source, namespace)
    return namespace[source.entry_point]


def main() -> None:
    config = CkksConfig.parse(Preset.slots4096_scale40_depth2_int64)
    on_ciphertexts = compile_to_ciphertext_operations(config)
    on_residues = compile_to_residue_operations(on_ciphertexts)
    eager_source = on_residues.workspace[fc.EagerPythonSource]
    backend_source = on_residues.workspace[fc.BackendPythonSource]
    print(eager_source.source)
    print(backend_source.source)

    # The client learns from the Program which keys to make, before any exists.
    needed = fc.EvaluationKeyRequirements.of(on_ciphertexts)
    engine = Engine(config)
    secret_key = engine.create_secret_key()
    keys = engine.create_evaluation_keys(secret_key, steps=needed.steps)
    public_key = engine.create_public_key(secret_key)

    angles = torch.arange(config.num_slots, dtype=torch.float64) * (2 * math.pi / POINTS)
    curve = engine.encrypt_message(torch.sin(angles), public_key)

    rotation_keys = {f"rotation-key:{step}": keys.rotation(step) for step in needed.steps}
    from_engine = function_of(eager_source)(engine, curve, materials=rotation_keys, resources={})

    tables = CkksDeviceResources(config=config)
    fc.prepare_material_bindings(on_residues, resources=tables, keys=[keys])
    materials = on_residues.material_bindings
    from_backend = function_of(backend_source)(curve.data, materials=materials, resources={})
    linked = OperationBackend().link(on_residues).run(curve)

    found = engine.decrypt_message(linked, secret_key, real=True)
    expected = 2 * math.sin(2 * math.pi / POINTS) * torch.cos(angles)
    print_table(
        ["source", "calls", "materials", "same residues as the linked Program"],
        [
            ["Eager", eager_source.operation_count, len(eager_source.material_symbols),
             torch.equal(from_engine.data, linked.data)],
            ["Backend", backend_source.operation_count, len(backend_source.material_symbols),
             torch.equal(from_backend, linked.data)],
        ],
    )  # fmt: skip
    print(f"rotation keys that the Program asked for: {list(needed.steps)}")
    print(f"largest error of the slope: {float((found - expected).abs().max()):.1e}")


if __name__ == "__main__":
    main()
