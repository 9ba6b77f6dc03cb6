"""The decorator: captured, placed, linked and retained by the facts of the inputs."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fhelium import Ciphertext, DecryptPolicy
from fhelium import compile as fc
from fhelium.backend import OperationBackend
from fhelium.backend.rns.arithmetic import NativeRnsLinearImplementation
from fhelium.errors import (
    BoundError,
    CompileInputError,
    DepthExhaustedError,
    ExecutionInputError,
    LinkError,
    OperandTypeError,
)
from fhelium.ir.dialects import ckks
from tests.compile.support import CompileRing, load

STEPS = (1, 3, -1)
WEIGHTS = torch.linspace(-0.5, 0.5, 512, dtype=torch.float64)


def clear_message(seed: int, *batch: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(*batch, 512, dtype=torch.float64, generator=generator) * 2 - 1


def require_right(ring: CompileRing, found: Ciphertext, expected: torch.Tensor) -> None:
    policy = DecryptPolicy.private()
    clear = ring.engine.decrypt_message(found, ring.secret_key, real=True, policy=policy)
    assert float((clear - expected).abs().max()) <= found.noise_bound
    assert found.noise_bound < 2.0**-6
    assert found.components == 2
    assert found.scale == ring.config.scale_at(found.depth)


def eager_result(ring: CompileRing, ready: fc.Specialization, *values: Any) -> Any:
    """Return what an Engine gives for the calls that the compiled Program consists of."""
    compilation = fc.Pipeline((fc.EmitEagerPythonPass(),)).run(ready.compilation)
    source = compilation.workspace[fc.EagerPythonSource]
    materials = {symbol: ring.key(symbol) for symbol in source.material_symbols}
    return load(source)(ring.engine, *values, materials=materials, resources={})


@pytest.mark.parametrize("domain", ["coefficient", "ntt"])
def test_a_product_and_a_rotation_just_work(ring: CompileRing, domain: str) -> None:
    function = fc.compile(lambda x, y: x * y + torch.roll(x, 1), keys=[ring.keys])
    x, y = clear_message(1), clear_message(2)
    values = [ring.encrypt(message, output_domain=domain) for message in (x, y)]
    found = function(*values)
    require_right(ring, found, x * y + torch.roll(x, 1))
    (ready,) = function.specializations
    assert torch.equal(found.data, eager_result(ring, ready, *values).data)


def test_an_executable_is_kept_for_inputs_of_equal_facts(ring: CompileRing) -> None:
    calls = []

    @fc.compile(keys=[ring.keys])
    def powers(x, n):
        """Multiply x by itself."""
        calls.append(n)
        result = x
        for _ in range(n - 1):
            result = result * x
        return result

    assert powers.__name__ == "powers"
    x = clear_message(3)
    ciphertext = ring.encrypt(x)
    for n, shown in ((2, 1), (2, 1), (3, 2), (2, 2)):
        require_right(ring, powers(ciphertext, n), x**n)
        assert len(powers.specializations) == shown
    deeper = ring.engine.align_to_depth(ciphertext, 1)
    require_right(ring, powers(deeper, n=2), x**2)
    assert calls == [2, 3, 2]


def test_keys_are_known_before_any_exists(ring: CompileRing) -> None:
    function = fc.compile(
        lambda x: torch.roll(x, -3) * x,
        config=ring.config,
        inputs={"x": fc.encrypted(depth=0, polynomial_domain="ntt")},
    )
    ready = function.prepare()
    assert ready.key_requirements.steps == (509,)
    assert ready.key_requirements.needs_relinearization
    x = clear_message(4)
    with pytest.raises(LinkError, match="rotation-key:509"):
        function(ring.encrypt(x, output_domain="ntt"))
    function.add_keys(ring.keys, ring.engine.create_rotation_key(-3, ring.secret_key))
    found = function(ring.encrypt(x, output_domain="ntt"))
    require_right(ring, found, torch.roll(x, -3) * x)
    assert function.specializations == (ready,)


def test_constants_are_encoded_once_and_tensors_at_each_call(ring: CompileRing) -> None:
    array = WEIGHTS.numpy()
    function = fc.compile(
        lambda x, m: (array * x - WEIGHTS + x * m) / 2 + m - torch.ones(16), keys=[ring.keys]
    )
    x = clear_message(5)
    ciphertext = ring.encrypt(x, output_domain="ntt")
    for seed in (6, 7):
        m = clear_message(seed)
        expected = (WEIGHTS * x - WEIGHTS + x * m) / 2 + m - 1
        require_right(ring, function(ciphertext, m), expected)
    (ready,) = function.specializations
    names = [operation.name for operation in ready.program.operations]
    assert names.count("codec.prepare_plaintext") == 5
    bound = ready.compilation.copy()
    ring.bind(bound)
    # Twice for m, which is an input; the constants are encoded by now.
    source = OperationBackend().link(bound).source
    assert len(re.findall(r"prepare_plaintext\w*, =", source)) == 2


def test_encoded_inputs_and_batches(ring: CompileRing) -> None:
    function = fc.compile(lambda x, p: x * p, keys=[ring.keys])
    x = clear_message(8, 3)
    ciphertext = ring.encrypt(x)
    plaintext = ring.engine.prepare_plaintext(WEIGHTS, like=ciphertext)
    require_right(ring, function(ciphertext, plaintext), x * WEIGHTS)


def test_batch_axes_broadcast(ring: CompileRing) -> None:
    function = fc.compile(lambda x, m: x * m + torch.roll(x, 1), keys=[ring.keys])
    x, rows = clear_message(8), clear_message(9, 2, 3)
    for first, second in ((x, rows), (rows, x), (rows[:, :1], rows[:1]), (rows[0], rows)):
        expected = first * second + torch.roll(first, 1, -1)
        one, other = (ring.encrypt(message) for message in (first, second))
        require_right(ring, function(one, other), expected)
        require_right(ring, function(one, second), expected)
    encoded = ring.engine.prepare_plaintext(rows, like=ring.encrypt(x))
    require_right(ring, fc.compile(lambda x, p: x * p)(ring.encrypt(x), encoded), x * rows)
    with pytest.raises(ExecutionInputError, match=r"\(2, 3\) for x, \(2,\) for m.*Batch axes"):
        function(ring.encrypt(rows), clear_message(1, 2))


def test_a_program_is_compiled_like_a_function(ring: CompileRing) -> None:
    captured = ring.capture(lambda x, y: x * y - x, x=fc.encrypted(), y=fc.encrypted())
    function = fc.compile(captured.program, keys=[ring.keys])
    x, y = clear_message(9), clear_message(10)
    require_right(ring, function(ring.encrypt(x), y=ring.encrypt(y)), x * y - x)


class CountedAdd(NativeRnsLinearImplementation):
    """An addition of the caller's own."""

    name = "counted-add"
    operation_types = (ckks.AddOp,)
    calls = 0

    def execute(self, invocation, inputs, resources, *, in_place):
        type(self).calls += 1
        return super().execute(invocation, inputs, resources, in_place=in_place)


def test_own_pipeline_and_backend(ring: CompileRing) -> None:
    registry = OperationBackend().registry.extended(CountedAdd()).preferring("counted-add")
    passes = fc.default_lower_and_fuse_pipeline().passes
    lowered = fc.Pipeline((*passes, fc.LowerCkksToRnsNttPass()))
    x, y = clear_message(11), clear_message(12)
    values = [ring.encrypt(message) for message in (x, y)]
    own = fc.compile(lambda x, y: x + y, keys=[ring.keys], backend=OperationBackend(registry))
    require_right(ring, own(*values), x + y)
    assert CountedAdd.calls == 1
    plain = fc.compile(lambda x, y: x * y, keys=[ring.keys])
    below = fc.compile(lambda x, y: x * y, keys=[ring.keys], pipeline=lowered)
    assert torch.equal(plain(*values).data, below(*values).data)
    assert "rns." in below.specializations[0].program.to_text()


def test_what_cannot_be_compiled_is_named(ring: CompileRing) -> None:
    ciphertext = ring.encrypt(0.5)
    deep = fc.compile(lambda x: x * x * x * x * x * x * x * x * x, keys=[ring.keys])
    with pytest.raises(DepthExhaustedError, match=r"operation \d+ \(ckks"):
        deep(ciphertext)
    with pytest.raises(CompileInputError, match="no config was given"):
        fc.compile(lambda x: x).prepare(fc.encrypted())
    with pytest.raises(CompileInputError, match="'x' is missing"):
        fc.compile(lambda x: x, config=ring.config).prepare()
    with pytest.raises(CompileInputError, match="'table' is a list"):
        fc.compile(lambda x, table: x)(ciphertext, [1])
    with pytest.raises(CompileInputError, match=r"'w' is a NumPy array.*torch.from_numpy\(w\)"):
        fc.compile(lambda x, w: x * w)(ciphertext, np.ones(512))
    with pytest.raises(OperandTypeError, match=r"'config'.*are \['x'\].*config=, keys="):
        fc.compile(lambda x: x).prepare(fc.encrypted(), config=ring.config)
    with pytest.raises(OperandTypeError, match="too many positional arguments"):
        fc.compile(lambda x: x)(ciphertext, ciphertext)
    with pytest.raises(BoundError):
        fc.compile(lambda x: 1e12 * x * x, keys=[ring.keys])(ciphertext)
    trusted = fc.compile(lambda x: fc.assume_message_bound(2 * x, 0.75))
    assert trusted(ciphertext).message_bound == 0.75


LEAVES = st.sampled_from(["x", "y"])
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["add", "subtract", "multiply"]), inner, inner),
        st.tuples(st.sampled_from(["roll"]), inner, st.sampled_from(STEPS)),
        st.tuples(st.sampled_from(["scale", "shift"]), inner, st.sampled_from([0.5, -0.25, 2])),
        st.tuples(st.sampled_from(["weigh", "offset"]), inner),
    ),
    max_leaves=6,
)


def value_of(expression: Any, x: Any, y: Any) -> Any:
    """Compute an expression on tensors or on what stands for them."""
    if isinstance(expression, str):
        return x if expression == "x" else y
    kind, first, *rest = expression
    vector = value_of(first, x, y)
    match kind:
        case "add" | "subtract" | "multiply":
            return getattr(torch, kind)(vector, value_of(rest[0], x, y))
        case "roll":
            return torch.roll(vector, rest[0])
        case "scale":
            return rest[0] * vector
        case "shift":
            return vector + rest[0]
        case "weigh":
            return vector * WEIGHTS
    return WEIGHTS - vector


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(expression=EXPRESSIONS, domains=st.tuples(*2 * [st.sampled_from(["coefficient", "ntt"])]))
def test_random_functions(ring: CompileRing, expression: Any, domains: Any) -> None:
    """Compiled is what an Engine gives for the same calls, bit for bit, and what it means."""
    clear = [clear_message(13), clear_message(14)]
    values = [
        ring.encrypt(message, output_domain=domain)
        for message, domain in zip(clear, domains, strict=True)
    ]
    function = fc.compile(lambda x, y: value_of(expression, x, y), keys=[ring.keys])
    try:
        ready = function.prepare(*values)
        found = function(*values)
    except (DepthExhaustedError, BoundError):
        return  # the ring is small; the errors are tested above
    text = ready.program.to_text()
    assert fc.Program.parse(text).to_text() == text
    require_right(ring, found, value_of(expression, *clear))
    assert torch.equal(found.data, eager_result(ring, ready, *values).data)
    assert np.isfinite(found.noise_bound)
