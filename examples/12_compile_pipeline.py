"""A pipeline of your own: two public layers on encrypted vectors, with and without some passes.

The layers are products with matrices and an activation that is a polynomial. The default pipeline
is an ordinary tuple of passes; here some are left out, and one gets an option, to see what each is
worth.
"""

import torch
from common import print_table

from fhelium import Engine
from fhelium import compile as fc

PERIOD = 16
generator = torch.Generator().manual_seed(12)
first, second = (
    (torch.rand(PERIOD, columns, dtype=torch.float64, generator=generator) - 0.5) / 4
    for columns in (PERIOD, 2)
)
bias = torch.linspace(-0.2, 0.2, PERIOD, dtype=torch.float64)


def network(x):
    """Return two outputs for a vector of 16 features."""
    hidden = torch.nn.functional.linear(x, first.T, bias)
    return fc.polynomial(hidden, [0.1, 0.5, 0.25]) @ second


engine = Engine("slots8192_scale40_depth7_int64")
inputs = {"x": fc.encrypted(slots=PERIOD, depth=0, polynomial_domain="ntt")}
default = fc.default_lower_and_fuse_pipeline().passes
without_fusion = [
    step
    for step in default
    if not isinstance(step, fc.HoistRotationsPass | fc.CollectSumsPass | fc.FuseOperationsPass)
]
one_row = [
    fc.ExpandMatrixProductsPass(baby_steps=PERIOD)
    if isinstance(step, fc.ExpandMatrixProductsPass)
    else step
    for step in default
]
immediate = [
    type(step)("immediate")
    if isinstance(step, fc.PlaceRelinearizationsPass | fc.PlaceRescalesPass)
    else step
    for step in default
]
pipelines = {
    "default": default,
    "nothing fused": without_fusion,
    "no giant steps": one_row,
    "immediate rescales": immediate,
}

secret_key = engine.create_secret_key()
public_key = engine.create_public_key(secret_key)
features = torch.rand(PERIOD, dtype=torch.float64, generator=generator) * 2 - 1
message = features.repeat(engine.config.num_slots // PERIOD)
encrypted = engine.encrypt_message(message, public_key, output_domain="ntt")
expected = network(features)

rows = []
for name, passes in pipelines.items():
    compiled = fc.compile(
        network, inputs=inputs, config=engine.config, pipeline=fc.Pipeline(passes)
    )
    ready = compiled.prepare()
    needed = ready.key_requirements
    compiled.add_keys(engine.create_evaluation_keys(secret_key, steps=needed.steps))
    found = engine.decrypt_message(compiled(encrypted), secret_key, real=True)[:2]
    counts = [operation.name for operation in ready.program.operations]
    schedule = ready.compilation.workspace[fc.MemorySchedule]
    error = float((found - expected).abs().max())
    rows.append(
        [
            name,
            len(counts),
            sum("rotate" in count for count in counts),
            len(needed.steps),
            counts.count("ckks.rescale"),
            schedule.peak_limbs,
            f"{error:.1e}",
        ]
    )
print_table(
    ["pipeline", "operations", "rotations", "keys", "rescales", "limbs at once", "error"], rows
)
