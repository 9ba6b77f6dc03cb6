"""Know precision, cost and keys of a computation before a key exists, then see that it holds.

One function is looked at under two parameter sets. The cheaper one that is precise enough is run.

Run: python examples/14_simulation_and_cost.py
"""

from __future__ import annotations

import torch
from common import print_table

from fhelium import CkksConfig, DecryptPolicy, Engine, Preset
from fhelium import compile as fc

WANTED_BITS = 20
PRESETS = (Preset.slots8192_scale30_depth9_int64, Preset.slots8192_scale40_depth7_int64)


def polynomial(engine, x):
    """Return x^4 - x / 2, averaged over two neighbours."""
    square = engine.multiply_and_rescale(x, x)
    fourth = engine.multiply_and_rescale(square, square)
    half = engine.rescale_to_next_depth(engine.multiply_scalar(x, 0.5))
    total = engine.subtract(fourth, engine.align_to_depth(half, fourth.depth))
    return engine.add(total, engine.rotate_by_step(total, 1))


def captured(config: CkksConfig) -> fc.Compilation:
    """Write the function down for a parameter set."""
    axes = {"depth": 0, "scale": config.scale_at(0), "polynomial_domain": "ntt"}
    return fc.capture(
        polynomial,
        inputs={"engine": fc.engine(), "x": fc.encrypted(**axes)},
        workspace=fc.CompileWorkspace({CkksConfig: config}),
    )


def main() -> None:
    rows, chosen = [], None
    for preset in PRESETS:
        config = CkksConfig.parse(preset)
        compilation = captured(config)
        message = torch.linspace(-1, 1, config.num_slots, dtype=torch.float64)
        (prediction,) = compilation.simulate({"x": message})
        cost = compilation.cost()
        rows.append([preset.value, f"{prediction.bits:.1f}", f"{prediction.guaranteed_bits:.1f}",
                     cost.total.transforms, cost.total.key_switches])  # fmt: skip
        if chosen is None and prediction.bits >= WANTED_BITS:
            chosen = config, message, compilation, prediction
    print_table(["preset", "bits", "guaranteed", "NTTs", "key switches"], rows)

    assert chosen is not None
    config, message, compilation, prediction = chosen
    # With times of this machine the table has milliseconds as well; `fhelium profile` keeps them.
    profile = fc.measure_profile(config, repetitions=1)
    cost = compilation.cost(profile)
    print(cost)

    engine = Engine(config)
    secret_key = engine.create_secret_key()
    engine.add_keys(engine.create_evaluation_keys(secret_key, steps=cost.keys.steps))
    public_key = engine.create_public_key(secret_key)
    result = polynomial(engine, engine.encrypt_message(message, public_key, output_domain="ntt"))
    found = engine.decrypt_message(result, secret_key, policy=DecryptPolicy.private())
    error = (found - prediction.value).abs()
    measured = -float(error.square().mean().sqrt().log2())
    print(f"predicted {prediction.bits:.1f} bits, measured {measured:.1f}")
    print(f"within the bound: {bool(error.max() <= prediction.error_bound)}")


if __name__ == "__main__":
    main()
