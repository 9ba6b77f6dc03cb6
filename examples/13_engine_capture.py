"""Capture a function that is written against the Engine: the same calls, at once or as a Program.

The function is the energy of a signal in a sliding window: products, rotations and sums of
ciphertexts, with public weights.

Run: python examples/13_engine_capture.py
"""

from __future__ import annotations

import torch

from fhelium import CkksConfig, Engine, Preset
from fhelium import compile as fc
from fhelium.backend import OperationBackend
from fhelium.backend.ckks import CkksDeviceResources
from fhelium.errors import CaptureError

WINDOW = 4


def energy(engine, signal, weights):
    """Return the weighted squares of the signal, summed over windows of slots."""
    weighted = engine.rescale_to_next_depth(engine.multiply_plaintext(signal, weights))
    square = engine.multiply_and_rescale(weighted, weighted)
    assert square.depth == 2, "states are known while a function is captured"
    return engine.sum_slots(square, WINDOW)


def peeking(engine, signal):
    """Try to read what only a run knows."""
    return signal if signal.data.sum() > 0 else engine.negate(signal)


def main() -> None:
    config = CkksConfig.parse(Preset.slots4096_scale40_depth2_int64)
    workspace = fc.CompileWorkspace({CkksConfig: config})
    canonical = {"depth": 0, "scale": config.scale_at(0), "polynomial_domain": "ntt"}
    compilation = fc.capture(
        energy,
        inputs={
            "engine": fc.engine(),
            "signal": fc.encrypted(**canonical),
            "weights": fc.plaintext(residue_representation="montgomery", **canonical),
        },
        workspace=workspace,
    )
    for operation in compilation.program.operations:
        print(f"  {operation.name}")

    # The Program says which keys its owner has to make.
    needed = fc.EvaluationKeyRequirements.of(compilation)
    print(f"keys: {len(needed.steps)} rotations, relinearization {needed.needs_relinearization}")
    engine = Engine(config)
    secret_key = engine.create_secret_key()
    public_key = engine.create_public_key(secret_key)
    engine.add_keys(engine.create_evaluation_keys(secret_key, steps=needed.steps))

    message = torch.sin(torch.arange(config.num_slots) / 40)
    signal = engine.encrypt_message(message, public_key, output_domain="ntt")
    weights = engine.prepare_plaintext(torch.linspace(0, 1, config.num_slots), like=signal)

    tables = CkksDeviceResources(config=config)
    fc.prepare_material_bindings(compilation, resources=tables, keys=[engine.keys])
    linked = OperationBackend().link(compilation).run(signal, weights)
    at_once = energy(engine, signal, weights)
    print(f"same residues as the Engine's: {torch.equal(linked.data, at_once.data)}")

    clear = (message * torch.linspace(0, 1, config.num_slots)).square()
    expected = sum(torch.roll(clear, -step) for step in range(WINDOW))
    found = engine.decrypt_message(linked, secret_key, real=True)
    print(f"largest error: {float((found - expected).abs().max()):.1e}")

    try:
        inputs = {"engine": fc.engine(), "signal": fc.encrypted(**canonical)}
        fc.capture(peeking, inputs=inputs, workspace=workspace)
    except CaptureError as error:
        print(f"refused: {error.fact}. {error.remedy}.")


if __name__ == "__main__":
    main()
