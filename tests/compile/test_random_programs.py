"""Random Programs: every route gives the Engine's results bit for bit, and what they mean.

Each result decrypts to the clear meaning of its operations within the noise bound that it states.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fhelium import Ciphertext, CkksConfig, DecryptPolicy
from fhelium import compile as fc
from fhelium.compile.material_operands import ProgramMaterials
from fhelium.errors import FHEliumError
from fhelium.ir.dialects import ckks
from tests.compile.support import CompileRing
from tests.compile.test_routes import require_equal, routes

STEPS = (1, 3, 511)


class Value(NamedTuple):
    """A value three times: in a Program, encrypted, and in the clear; a key has no clear value."""

    written: Any
    found: Any
    clear: torch.Tensor | None = None


@dataclass
class Builder:
    """Compute with an Engine and in the clear, and write the same down as a Program."""

    ring: CompileRing
    program: fc.Program
    values: list[Value] = field(default_factory=list)

    def key(self, symbol: str, kind: Any) -> Value:
        return Value(ProgramMaterials(self.program).value(symbol, kind), self.ring.key(symbol))

    def step(self, kind: str, first: int, second: int) -> None:
        x, y = (self.values[index % len(self.values)] for index in (first, second))
        engine, number = self.ring.engine, (second - 3) / 4
        match kind:
            case "add" | "subtract" | "multiply":
                operation = {
                    "add": ckks.AddOp,
                    "subtract": ckks.SubtractOp,
                    "multiply": ckks.MultiplyOp,
                }[kind]
                self.write(operation, getattr(engine, kind), x, y)
            case "negate":
                self.write(ckks.NegateOp, engine.negate, x)
            case "square":
                self.write(ckks.SquareOp, engine.square, x, output_domain="ntt")
            case "relinearize":
                key = self.key("relinearization-key", ckks.RelinearizationKeyType())
                self.write(ckks.RelinearizeOp, engine.relinearize, x, key)
            case "multiply_rescale":
                key = self.key("relinearization-key", ckks.RelinearizationKeyType())
                self.write(ckks.MultiplyRescaleOp, engine.multiply_and_rescale, x, y, key)
            case "rotate":
                step = STEPS[second % len(STEPS)]
                key = self.key(f"rotation-key:{step}", ckks.RotationKeyType())
                self.write(ckks.RotateOp, engine.rotate_with_key, x, key, hidden={"step": step})
            case "conjugate":
                key = self.key("conjugation-key", ckks.ConjugationKeyType())
                self.write(ckks.ConjugateOp, engine.conjugate, x, key)
            case "rescale":
                self.write(ckks.RescaleOp, engine.rescale_to_next_depth, x)
            case "add_scalar":
                self.write(ckks.AddScalarOp, engine.add_scalar, x, value=number)
            case "multiply_scalar":
                self.write(ckks.MultiplyScalarOp, engine.multiply_scalar, x, value=number)
            case "mod_switch":
                self.write(ckks.ModSwitchOp, engine.mod_switch_to_depth, x, depth=second % 4)
            case "align":
                self.write(ckks.AlignOp, engine.align_to_depth, x, depth=second % 4)
            case "transform":
                if x.found.polynomial_domain == "ntt":
                    method = engine.ntt_domain_to_coefficient_domain
                    self.write(ckks.NttToCoefficientOp, method, x)
                else:
                    method = engine.coefficient_domain_to_ntt_domain
                    self.write(ckks.CoefficientToNttOp, method, x)

    def write(
        self,
        operation: Any,
        method: Any,
        *operands: Value,
        hidden: dict[str, Any] | None = None,
        **attributes: Any,
    ) -> None:
        try:
            found = method(*(value.found for value in operands), **attributes)
        except FHEliumError:
            return  # the Engine refuses it, so no Program has it
        attributes |= hidden or {}
        written = operation.make(
            *(value.written for value in operands),
            result_types=[ckks.CiphertextType.of()],
            **attributes,
        )
        self.program.block.add_op(written)
        vectors = (value.clear for value in operands if value.clear is not None)
        clear = operation.reference(*vectors, **attributes)
        self.values.append(Value(written.results[0], found, clear))


KINDS = (
    "add", "subtract", "multiply", "negate", "square", "relinearize", "rotate", "conjugate",
    "multiply_rescale", "rescale", "add_scalar", "multiply_scalar", "mod_switch", "align",
    "transform",
)  # fmt: skip
CALLS = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=9
)


@pytest.fixture(scope="module")
def messages() -> list[torch.Tensor]:
    parts = torch.rand(2, 2, 512, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    return list(torch.complex(*(parts * 1.4 - 0.7)))


@pytest.fixture(scope="module")
def inputs(ring: CompileRing, messages) -> dict[str, list[Ciphertext]]:
    return {
        domain: [ring.encrypt(message, output_domain=domain) for message in messages]
        for domain in ("coefficient", "ntt")
    }


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(calls=CALLS, domain=st.sampled_from(["coefficient", "ntt"]))
def test_random_programs(ring: CompileRing, inputs, messages, calls: list, domain: str) -> None:
    kind = ckks.CiphertextType.of(depth=0, polynomial_domain=domain, components=2)
    program = fc.Program.create("random", [("x", kind), ("y", kind)])
    given_values = inputs[domain]
    builder = Builder(ring, program)
    builder.values += map(Value, program.block.args, given_values, messages)
    for call in calls:
        builder.step(*call)
    results = builder.values[-2:]
    program.finish([value.written for value in results])
    compilation = fc.Compilation(program, fc.CompileWorkspace({CkksConfig: ring.config}))
    compilation = fc.Pipeline((fc.EliminateDeadValuesPass(), fc.AssignCkksScalesPass())).run(
        compilation
    )
    text = compilation.program.to_text()
    assert fc.Program.parse(text).to_text() == text
    found = routes(ring, compilation, given_values)
    require_equal(found, tuple(value.found for value in results))
    for value in builder.values:
        require_meaning(ring, value)


def require_meaning(ring: CompileRing, value: Value) -> None:
    """The ciphertext decrypts to the clear value within the bounds that it states."""
    policy = DecryptPolicy.private()
    slots = ring.engine.decrypt_message(value.found, ring.secret_key, policy=policy)
    assert float((slots - value.clear).abs().max()) <= value.found.noise_bound
    assert float(value.clear.abs().max()) <= value.found.message_bound
