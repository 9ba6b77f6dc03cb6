"""Simulated Programs: exact values, and the precision that a run then shows."""

from __future__ import annotations

import math
import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from fhelium import CkksConfig, DecryptPolicy, Engine
from fhelium import compile as fc
from fhelium.backend import OperationBackend
from fhelium.backend.ckks import CkksDeviceResources
from fhelium.cli import logistic
from fhelium.errors import FHEliumError, MessageValueError, ProgramError
from tests.compile.support import TO_CKKS, CompileRing


def measured_bits(engine: Engine, value: Any, secret_key: Any, expected: torch.Tensor) -> float:
    found = engine.decrypt_message(value, secret_key, policy=DecryptPolicy.private())
    error = float((found - expected).abs().square().mean().sqrt())
    return -math.log2(error) if error > 0 else math.inf


class RandomCalls:
    """A random function over the Engine: the same calls for the same seed."""

    KINDS = ("add", "subtract", "product", "square", "scalar", "weighted", "rotated", "shifted")

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def __call__(self, engine: Any, x: Any, y: Any, w: Any) -> Any:
        choices, values = random.Random(self.seed), [x, y]
        for _ in range(choices.randint(3, 9)):
            a, b = choices.choice(values), choices.choice(values)
            depth = max(a.depth, b.depth)
            kind = choices.choice(self.KINDS)
            if depth == engine.config.max_depth and kind not in ("rotated", "shifted"):
                continue
            values.append(self.made(engine, kind, a, b, depth, w, choices))
        return values[-1]

    def made(
        self, engine: Any, kind: str, a: Any, b: Any, depth: int, w: Any, choices: random.Random
    ) -> Any:
        rescale = engine.rescale_to_next_depth
        if kind == "subtract" and a is b:  # nothing would be left to be wrong
            return engine.negate(a)
        if kind in ("add", "subtract"):
            return getattr(engine, kind)(*(engine.align_to_depth(v, depth) for v in (a, b)))
        if kind == "product":
            factors = [engine.align_to_depth(v, depth) for v in (a, b)]
            if choices.random() < 0.5:
                return engine.multiply_and_rescale(*factors)
            return engine.relinearize(rescale(engine.multiply(*factors)))
        if kind == "square":
            return rescale(engine.relinearize(engine.square(a)))
        if kind == "scalar":
            scaled = rescale(engine.multiply_scalar(a, choices.uniform(-1, 1)))
            return engine.add_scalar(scaled, choices.uniform(-1, 1))
        if kind == "weighted":
            return rescale(engine.multiply_plaintext(a, w)) if a.depth == 0 else engine.negate(a)
        if kind == "rotated":
            return engine.rotate_by_step(a, choices.choice((1, 3, 511)))
        return engine.add_many(engine.rotate_many_by_steps(engine.conjugate(a), (0, 1, 3)))


def vectors(seed: int, config: CkksConfig) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    shape = (3, config.num_slots)
    return list(2 * torch.rand(shape, dtype=torch.float64, generator=generator) - 1)


def test_precision_of_a_hundred_random_programs_is_known_within_a_bit(ring: CompileRing) -> None:
    engine, off = ring.engine, []
    for seed in range(100):
        x, y, w = vectors(seed, ring.config)
        spec = fc.encrypted(depth=0, scale=ring.config.scale_at(0), polynomial_domain="ntt")
        cx, cy = (ring.encrypt(message, output_domain="ntt") for message in (x, y))
        weights = engine.prepare_plaintext(w, like=cx)
        function = RandomCalls(seed)
        compilation = ring.capture(
            function, engine=fc.engine(), x=spec, y=spec, w=fc.static(weights)
        )
        (predicted,) = compilation.simulate({"x": x, "y": y, "plaintext:0": w})
        result = function(engine, cx, cy, weights)
        found = measured_bits(engine, result, ring.secret_key, predicted.value)
        off.append(0.0 if predicted.bits == found else predicted.bits - found)
        assert predicted.state.replace(key_id=result.key_id) == result.state
        assert predicted.guaranteed_bits <= found
    assert max(map(abs, off)) < 1, off


def test_the_demo_is_captured_as_it_is_and_its_precision_known_within_a_bit() -> None:
    study = logistic.train()
    model, config = study.model, CkksConfig.parse(logistic.PRESET)
    samples = torch.tensor(logistic.pack(study.features, config))

    def score(engine, x):
        evaluator: Any = SimpleNamespace(engine=engine, model=model)
        return logistic.Evaluator.sigmoid(evaluator, logistic.Evaluator.linear_score(evaluator, x))

    axes = {"polynomial_domain": "ntt", "scale": config.scale_at(0), "depth": 0}
    compilation = fc.capture(
        score,
        inputs={"engine": fc.engine(), "x": fc.encrypted(**axes)},
        workspace=fc.CompileWorkspace({CkksConfig: config}),
    )
    (predicted,) = compilation.simulate({"x": samples})
    needed = fc.EvaluationKeyRequirements.of(compilation)
    owner = logistic.DataOwner(config)
    keys = owner.evaluation_keys()
    assert set(needed.steps) == set(keys.steps)
    evaluator = logistic.Evaluator(config, keys, model)
    encrypted = owner.encrypt(study.features)
    scores = evaluator.sigmoid(evaluator.linear_score(encrypted))
    found = measured_bits(owner.engine, scores, owner.secret_key, predicted.value)
    assert abs(predicted.bits - found) < 1
    clear = model.polynomial_score(study.features)
    assert np.allclose(logistic.unpack(predicted.value.real, len(clear)), clear, atol=1e-12)
    fc.prepare_material_bindings(
        compilation, resources=CkksDeviceResources(config=config), keys=[keys]
    )
    linked = OperationBackend().link(compilation).run(encrypted)
    assert torch.equal(linked.data, scores.data)


def test_a_semantic_program_is_simulated_without_errors(ring: CompileRing) -> None:
    captured = ring.capture(lambda x, y: x * y + torch.roll(x, 1), x=fc.encrypted(), y=fc.message())
    x, y, _ = vectors(1, ring.config)
    (found,) = captured.program.simulate({"x": x, "y": y})
    assert torch.equal(found.value.real, x * y + torch.roll(x, 1))
    assert (found.bits, found.guaranteed_bits) == (math.inf, None)


def test_the_default_pipeline_rounds_no_third_component(ring: CompileRing) -> None:
    """Rescaled before it is relinearized, a product loses log2(sqrt(2N/3)) bits, here 4.7."""

    def compiled(x, y):
        return x * y * 0.5 + torch.roll(x, 1)

    def by_hand(engine, x, y):
        half = engine.multiply_scalar(engine.multiply_and_rescale(x, y), 0.5)
        half = engine.rescale_to_next_depth(half)
        return engine.add(half, engine.align_to_depth(engine.rotate_by_step(x, 1), half.depth))

    axes = {"depth": 0, "scale": ring.config.scale_at(0), "polynomial_domain": "ntt"}
    specs = {"x": fc.encrypted(**axes), "y": fc.encrypted(**axes)}
    pipeline = fc.default_lower_and_fuse_pipeline()
    stages = (
        pipeline.run(ring.capture(compiled, **specs)),
        ring.capture(by_hand, engine=fc.engine(), **specs),
    )
    x, y, _ = vectors(6, ring.config)
    found = [stage.simulate({"x": x, "y": y})[0].bits for stage in stages]
    assert abs(found[0] - found[1]) < 0.5


def test_constants_and_periods_fill_all_slots(ring: CompileRing) -> None:
    constant = torch.tensor([0.5, -1.0], dtype=torch.float64)
    captured = ring.capture(lambda x: x * constant, x=fc.encrypted(slots=4))
    x = torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float64)
    (found,) = captured.simulate({"x": x})
    assert torch.equal(found.value.real, x.repeat(128) * constant.repeat(256))


def test_the_default_pipeline_is_simulated(ring: CompileRing) -> None:
    weights = torch.linspace(-1, 1, 8, dtype=torch.float64)

    def function(x, y, m):
        return x * y + torch.roll(x, 1) * weights - 0.5 * (y + m)

    x, y, m = vectors(5, ring.config)
    axes = {"polynomial_domain": "ntt"}
    specs = {"x": fc.encrypted(**axes), "y": fc.encrypted(**axes), "m": fc.message()}
    compilation = fc.default_lower_and_fuse_pipeline().run(ring.capture(function, **specs))
    (predicted,) = compilation.simulate({"x": x, "y": y, "m": m})
    clear = x * y + torch.roll(x, 1) * weights.repeat(64) - 0.5 * (y + m)
    assert torch.allclose(predicted.value.real, clear)
    cx, cy = (ring.encrypt(message, output_domain="ntt") for message in (x, y))
    result = ring.link(compilation).run(cx, cy, m)
    found = measured_bits(ring.engine, result, ring.secret_key, predicted.value)
    assert abs(predicted.bits - found) < 1


def test_every_stage_of_a_compilation_says_the_same(ring: CompileRing) -> None:
    captured = ring.capture(lambda x: 1 - torch.roll(x, 3), x=fc.encrypted(polynomial_domain="ntt"))
    on_ciphertexts = fc.Pipeline(TO_CKKS).run(captured)
    on_residues = fc.Pipeline((fc.LowerCkksToRnsNttPass(),)).run(on_ciphertexts)
    found = [stage.simulate({"x": 0.25})[0] for stage in (on_ciphertexts, on_residues)]
    assert repr(found[0]) == repr(found[1])
    assert found[0].bits == found[1].bits
    with pytest.raises(ProgramError, match=r"operation \d+ \(rns\..*has no meaning"):
        on_residues.program.simulate({"x": 0.25}, config=ring.config)


def test_errors_are_named(ring: CompileRing) -> None:
    text = """func.func @f(%x : !ckks.ciphertext<depth = 3> {core.name = "x"}) -> !ckks.ciphertext {
      %0 = "ckks.rescale"(%x) : (!ckks.ciphertext<depth = 3>) -> !ckks.ciphertext
      func.return %0 : !ckks.ciphertext
    }"""
    compilation = ring.parse(text)
    with pytest.raises(FHEliumError, match="largest depth is 3"):
        compilation.simulate({"x": 0.5})
    with pytest.raises(ProgramError, match="x is missing"):
        compilation.simulate({})
    with pytest.raises(ProgramError, match="no parameters"):
        compilation.program.simulate({"x": torch.zeros(512)})
    with pytest.raises(MessageValueError, match="shape"):
        compilation.simulate({"x": torch.zeros(7)})
    with pytest.raises(MessageValueError, match="beyond message_bound"):
        compilation.simulate({"x": 1.5})
    with pytest.raises(MessageValueError, match="x holds NaN or infinity"):
        compilation.simulate({"x": math.nan})


@pytest.mark.parametrize("bits", [50, 55.5, 58.3])
def test_an_alignment_by_a_small_factor_is_as_coarse_as_in_a_run(ring, bits) -> None:
    clear, scale = torch.full((512,), 0.5, dtype=torch.float64), 2.0**bits
    given = ring.engine.encrypt_message(clear, ring.public_key, scale=scale)
    aligned = ring.engine.align_to_depth(given, 2)
    kind = f"!ckks.ciphertext<depth = 0, scale = {scale!r}>"
    text = f"""func.func @f(%x: {kind} {{core.name = "x"}}) -> !ckks.ciphertext {{
      %0 = "ckks.align"(%x) <{{depth = 2 : i64}}> : ({kind}) -> !ckks.ciphertext
      func.return %0 : !ckks.ciphertext
    }}"""
    (found,) = fc.Program.parse(text).simulate({"x": clear}, config=ring.config)
    assert abs(measured_bits(ring.engine, aligned, ring.secret_key, clear) - found.bits) < 2
    assert found.guaranteed_bits < found.bits
