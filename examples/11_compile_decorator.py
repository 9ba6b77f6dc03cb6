"""One decorator: a function of tensors that computes on ciphertexts.

A scoring function is written for torch, as it would be without encryption. The decorator captures
it, places relinearizations, rescales and alignments, links it for inputs of their depth, scale and
domain, and keeps what it linked.
"""

import torch
from common import print_table

from fhelium import Engine
from fhelium import compile as fc

BLOCK = 32
engine = Engine("slots8192_scale40_depth7_int64")
generator = torch.Generator().manual_seed(11)
weights = 0.2 * torch.rand(BLOCK, dtype=torch.float64, generator=generator) - 0.1
largest = float(weights.abs().sum())


@fc.compile(config=engine.config)
def score(x):
    """Return a cubic of the weighted sum of each block of slots."""
    t = x * weights  # the weights repeat until all slots are full
    for k in range(5):  # Python's loops are unrolled
        t = t + torch.roll(t, -(1 << k))
    t = fc.assume_message_bound(t, largest)  # no feature is above 1
    return 0.5 + 1.2 * t - 0.8 * t**3


# ---- The server, before it has met a client ------------------------------------------------------

ready = score.prepare(fc.encrypted(depth=0, polynomial_domain="ntt"))
needed = ready.key_requirements
print("keys that a client has to make:", needed.steps, needed.needs_relinearization)
(output,) = ready.program.outputs
print("a result will be:", output.type)

# ---- The client's keys and samples ---------------------------------------------------------------

secret_key = engine.create_secret_key()
public_key = engine.create_public_key(secret_key)
score.add_keys(engine.create_evaluation_keys(secret_key, steps=needed.steps))
shape = (3, engine.config.num_slots)
samples = 2 * torch.rand(shape, dtype=torch.float64, generator=generator) - 1
encrypted = engine.encrypt_message(samples, public_key, output_domain="ntt")

# ---- The first call compiles, later ones only run ------------------------------------------------

scores = score(encrypted)
print(scores)
print("specialisations:", len(score.specializations))
score(engine.align_to_depth(encrypted, 1))
print("after inputs of another depth:", len(score.specializations))

found = engine.decrypt_message(scores, secret_key, real=True)[..., ::BLOCK]
clear = score.source(samples.reshape(3, -1, BLOCK))[..., 0]
print("largest difference to torch:", f"{float((found - clear).abs().max()):.1e}")

# ---- What a run decides --------------------------------------------------------------------------


@fc.compile(inputs={"rounds": fc.count(), "centred": fc.condition()})
def gathered(x, rounds, centred):
    """Move and add half of the slots before, as often as a run says."""
    previous = 0.5 * torch.roll(x, 1, dims=-1)
    x = fc.repeat(rounds, lambda y: previous + torch.roll(y, -1, dims=-1), x)
    return torch.cond(centred, lambda y: y - 0.5, lambda y: y, (x,))


gathered.add_keys(engine.create_evaluation_keys(secret_key, steps=(1, -1)))
for rounds, centred in ((0, False), (1, True), (3, False)):
    found = engine.decrypt_message(gathered(encrypted, rounds, centred), secret_key, real=True)
    clear = gathered.source(samples, rounds, centred)
    print(f"{rounds} rounds: {float((found - clear).abs().max()):.1e} from torch")
print("specialisations for all of them:", len(gathered.specializations))

# ---- What the passes did -------------------------------------------------------------------------

reports = score.specializations[0].compilation.reports
changed = [report for report in reports if report.operations_before != report.operations_after]
print_table(
    ["pass", "operations before", "after"],
    [[report.name, report.operations_before, report.operations_after] for report in changed],
)
