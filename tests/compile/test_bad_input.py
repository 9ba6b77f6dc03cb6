"""What is wrong is named: the operation, both values, and the way out."""

from __future__ import annotations

import pytest
import torch

from fhelium import CkksConfig
from fhelium import compile as fc
from fhelium.backend import OperationBackend
from fhelium.backend.ckks import CkksDeviceResources
from fhelium.errors import (
    CaptureError,
    CompileError,
    CompileInputError,
    ContextMismatchError,
    DepthExhaustedError,
    ExecutionError,
    ExecutionInputError,
    ImplementationError,
    KeyMismatchError,
    LinkError,
    MessageValueError,
    PassError,
    ProgramError,
    StateError,
)
from tests.compile.support import TO_CKKS, CompileRing

CIPHERTEXT = "!ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2>"


def one_input(body: str, given: str = CIPHERTEXT, result: str = "!ckks.ciphertext") -> str:
    head = f'func.func @f(%x: {given} {{core.name = "x"}}) -> {result}'
    return f"{head} {{\n{body}\n}}"


def negated(given: str = CIPHERTEXT, result: str = "!ckks.ciphertext") -> str:
    body = f'%0 = "ckks.negate"(%x) : ({given}) -> {result}\nfunc.return %0 : {result}'
    return one_input(body, given, result)


TEXTS = {
    "no MLIR": ("once upon a time", "once"),
    "cut short": (negated()[:-9], "cannot be read"),
    "a string without an end": (
        negated().replace('"x"', '"x' + "a" * 60),
        "line 1 of <text> holds a string without an end",
    ),
    "memory without end": (
        "builtin.module attributes {a = dense<1.0> : tensor<4000000000000xf64>} {}",
        "line 1 of <text> holds a dense attribute",
    ),
    "nesting without end": ("builtin.module {" * 3000, "cannot be read"),
    "a number without end": (negated().replace("depth = 0", f"depth = {'9' * 5000}"), "cannot be"),
    "unknown operation": (negated().replace("ckks.negate", "ckks.sine"), "ckks.sine"),
    "unknown dialect": (negated().replace("ckks.negate", "tfhe.negate"), "tfhe.negate"),
    "undefined value": (negated().replace("(%x)", "(%y)"), "%y"),
    "unknown axis": (negated().replace("depth", "level"), "has no axis 'level', it has depth"),
    "unknown word": (
        negated().replace("coefficient", "wavelet"),
        "polynomial_domain is 'wavelet', it can be coefficient or ntt",
    ),
    "an axis twice": (negated().replace("depth = 0", "depth = 0, depth = 1"), "depth twice"),
    "a negative depth": (negated().replace("depth = 0", "depth = -1"), "integer"),
    "operand count": (
        negated()
        .replace("(%x)", "(%x, %x)")
        .replace(f"({CIPHERTEXT})", f"({CIPHERTEXT}, {CIPHERTEXT})"),
        "operation 0 (ckks.negate)",
    ),
    "operand type": (negated(given="!ckks.plaintext"), "ckks.plaintext"),
    "no function": ("builtin.module {}", "0 operations"),
    "two functions": (f"{negated()}\n{negated().replace('@f', '@g')}", "2 operations"),
    "no return": (
        one_input('%0 = "ckks.negate"(%x) : (' + CIPHERTEXT + ") -> !ckks.ciphertext"),
        "",
    ),
    "missing property": (
        one_input(
            f'%0 = "ckks.mod_switch"(%x) : ({CIPHERTEXT}) -> !ckks.ciphertext\n'
            "func.return %0 : !ckks.ciphertext"
        ),
        "depth",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_malformed_text(name: str) -> None:
    text, shown = TEXTS[name]
    with pytest.raises(ProgramError) as found:
        fc.Program.parse(text)
    assert shown in str(found.value)


def test_use_before_definition() -> None:
    body = (
        '%1 = "ckks.negate"(%0) : (!ckks.ciphertext) -> !ckks.ciphertext\n'
        f'%0 = "ckks.negate"(%x) : ({CIPHERTEXT}) -> !ckks.ciphertext\n'
        "func.return %1 : !ckks.ciphertext"
    )
    with pytest.raises(
        ProgramError, match=r"operation 0 \(ckks.negate\): operand 0 is used before"
    ):
        fc.Program.parse(one_input(body))


def test_a_type_that_contradicts_its_operation(ring: CompileRing) -> None:
    text = negated(result="!ckks.ciphertext<depth = 1>")
    with pytest.raises(PassError, match=r"operation 0 \(ckks.negate\): .* depth is 1, .* give 0"):
        fc.Pipeline((fc.AssignCkksDepthsPass(),)).run(ring.parse(text))


def test_states_that_do_not_fit_give_the_text_of_the_engine(ring: CompileRing) -> None:
    other = CIPHERTEXT.replace("depth = 0", "depth = 1")
    text = (
        f'func.func @f(%x: {CIPHERTEXT} {{core.name = "x"}}, %y: {other} {{core.name = "y"}}) -> '
        f'!ckks.ciphertext {{\n%0 = "ckks.add"(%x, %y) : ({CIPHERTEXT}, {other}) -> '
        "!ckks.ciphertext\nfunc.return %0 : !ckks.ciphertext\n}"
    )
    engine = ring.engine
    x = ring.encrypt(0.5)
    with pytest.raises(StateError) as eager:
        engine.add(x, engine.mod_switch_to_depth(x, 1))
    with pytest.raises(StateError) as compiled:
        fc.Pipeline((fc.EliminateDeadValuesPass(),)).run(ring.parse(text))
    assert compiled.value.fact == eager.value.fact
    assert compiled.value.remedy == eager.value.remedy
    assert compiled.value.operation == "operation 0 (ckks.add)"


def test_depth_exhaustion_names_the_operation(ring: CompileRing) -> None:
    lines, value = [], f"%x : {CIPHERTEXT}"
    for index in range(4):
        name, _, kind = value.partition(" : ")
        lines.append(
            f'%s{index} = "ckks.multiply_scalar"({name}) <{{value = 0.5 : f64}}> : ({kind}) -> '
            "!ckks.ciphertext"
        )
        lines.append(
            f'%r{index} = "ckks.rescale"(%s{index}) : (!ckks.ciphertext) -> !ckks.ciphertext'
        )
        value = f"%r{index} : !ckks.ciphertext"
    text = one_input("\n".join([*lines, f"func.return {value}"]))
    with pytest.raises(DepthExhaustedError) as found:
        fc.Pipeline((fc.AssignCkksScalesPass(),)).run(ring.parse(text))
    assert found.value.operation == "operation 7 (ckks.rescale)"
    assert (found.value.depth, found.value.max_depth) == (3, 3)


def test_inputs_must_be_the_parameters(ring: CompileRing) -> None:
    with pytest.raises(CompileInputError, match=r"inputs are \['y'\], .* parameters are \['x'\]"):
        ring.capture(lambda x: x, y=fc.encrypted())
    with pytest.raises(CompileInputError, match="spec of 'x' is a int"):
        ring.capture(lambda x: x, x=3)

    def variadic(*x):
        return x[0]

    with pytest.raises(CompileInputError, match=r"\*x"):
        ring.capture(variadic, x=fc.encrypted())


FUNCTIONS = {
    "torch.sin is called": lambda x: torch.sin(x),
    "torch.nn.functional.relu is called": lambda x: torch.nn.functional.relu(x),
    "prod is called": lambda x: x.prod(),
    "a matrix product without a public matrix": lambda x: x @ x,
    "torch.sum has dim 0": lambda x: torch.sum(x, 0),
    "a polynomial has 1 coefficients": lambda x: fc.polynomial(x, [1.0]),
    "operator.getitem is called": lambda x: x[0],
    "a power has the exponent -1": lambda x: x**-1,
    "a vector meets a str": lambda x: x + "a",
    "a vector meets a Tensor of shape (2, 3)": lambda x: x + torch.ones(2, 3),
    "a vector meets a Tensor of torch.bool": lambda x: x + torch.ones(3, dtype=torch.bool),
    "a vector meets a Tensor of torch.complex64": lambda x: x * torch.tensor([1j]),
    "holds a number that is not finite": lambda x: x * torch.tensor([1.0, float("inf")]),
    "divided by a Tensor that holds a 0": lambda x: x / torch.tensor([1.0, 0.0]),
    "a vector meets the number nan": lambda x: x * float("nan"),
    "a vector meets a bool": lambda x: x + True,
    "a vector meets the number inf": lambda x: torch.add(x, x, alpha=float("inf")),
    "divided by a vector": lambda x: 1 / x,
    "divided by 0": lambda x: x / 0,
    "shifts 0.5": lambda x: x.roll(0.5),
    "dims 0": lambda x: torch.roll(x, 1, dims=0),
    "values of a vector": lambda x: x if x > 0 else -x,
    "converted to a number": lambda x: x * float(x),
}


@pytest.mark.parametrize("shown", FUNCTIONS)
def test_unsupported_functions_are_named_with_their_line(ring: CompileRing, shown: str) -> None:
    with pytest.raises(CaptureError) as found:
        ring.capture(FUNCTIONS[shown], x=fc.encrypted())
    assert shown in str(found.value)
    assert f"{__file__}, line " in found.value.operation
    assert "lambda x" in found.value.operation


def test_in_place_operators_and_foreign_results_are_refused(ring: CompileRing) -> None:
    def grown(x):
        x += 1
        return x

    with pytest.raises(CaptureError, match=r"x \+= 1.*Write x = x \+ y"):
        ring.capture(grown, x=fc.encrypted())
    with pytest.raises(CaptureError, match="returns a int"):
        ring.capture(lambda x: 3, x=fc.encrypted())


def test_parameters_are_needed() -> None:
    captured = fc.capture(
        lambda x: -x, inputs={"x": fc.encrypted()}, workspace=fc.CompileWorkspace()
    )
    with pytest.raises(CompileError, match="holds no CkksConfig"):
        fc.Pipeline(TO_CKKS).run(captured)


def test_public_operands_alone_are_refused(ring: CompileRing) -> None:
    captured = ring.capture(lambda p, q: p + q, p=fc.plaintext(), q=fc.plaintext())
    with pytest.raises(PassError, match=r"operation 0 \(logical.add\): both operands"):
        fc.Pipeline(TO_CKKS).run(captured)


def test_lowering_says_what_it_lacks(ring: CompileRing) -> None:
    captured = ring.capture(lambda x: torch.roll(x, 3), x=fc.encrypted(depth=0))
    ckks = fc.Pipeline(TO_CKKS[:2]).run(captured)
    lower = fc.LowerCkksToRnsNttPass()
    with pytest.raises(PassError, match=r"ckks.rotate\): its key operand is open"):
        fc.Pipeline((lower,)).run(ckks)
    with pytest.raises(PassError, match=r"ckks.rotate\): the polynomial_domain"):
        fc.Pipeline((TO_CKKS[2], lower)).run(ckks)
    with pytest.raises(LinkError, match=r"semantic\.roll"):
        OperationBackend().link(captured)


def test_entry_values_are_checked(ring: CompileRing) -> None:
    captured = ring.capture(lambda x: -x, x=fc.encrypted())
    with pytest.raises(PassError, match="entry_depth is 9, max_depth is 3"):
        fc.Pipeline((fc.AssignCkksDepthsPass(entry_depth=9),)).run(captured)
    with pytest.raises(PassError, match=r"entry_scale is 0\.5"):
        fc.Pipeline((fc.AssignCkksScalesPass(entry_scale=0.5),)).run(captured)
    with pytest.raises(ImplementationError, match="'radix3'"):
        fc.Pipeline((fc.AssignNttImplementationPass(ntt_backend="radix3"),)).run(captured)


def test_an_implementation_that_is_not_there(ring: CompileRing) -> None:
    captured = ring.capture(
        lambda x: torch.roll(x, 3), x=fc.encrypted(polynomial_domain="coefficient")
    )
    registry = OperationBackend().registry
    steps = (
        *TO_CKKS,
        fc.AssignNttImplementationPass("other-ntt"),
        fc.LowerCkksToRnsNttPass(),
        fc.SelectNttImplementationsPass(registry),
    )
    with pytest.raises(ImplementationError, match="no implementation named 'other-ntt'"):
        fc.Pipeline(steps).run(captured)


@pytest.fixture(scope="module")
def rotated(ring: CompileRing) -> fc.Compilation:
    captured = ring.capture(
        lambda x: torch.roll(x, 3), x=fc.encrypted(polynomial_domain="coefficient")
    )
    return fc.Pipeline(TO_CKKS).run(captured)


def test_materials_and_keys(ring: CompileRing, rotated: fc.Compilation) -> None:
    bound = rotated.copy()
    with pytest.raises(LinkError, match=r"14 of 14|not bound.*rotation-key:3"):
        OperationBackend().link(bound)
    unbound = fc.prepare_material_bindings(bound, resources=ring.resources)
    assert unbound == ("rotation-key:3",)
    other = ring.engine.create_rotation_key(5, ring.secret_key)
    unbound = fc.prepare_material_bindings(bound, resources=ring.resources, keys=[other])
    assert unbound == ("rotation-key:3",)
    with pytest.raises(LinkError, match=r"1 of \d+ materials are not bound: \['rotation-key:3'\]"):
        OperationBackend().link(bound)
    strange = ring.engine.create_rotation_key(3, ring.engine.create_secret_key())
    with pytest.raises(KeyMismatchError):
        fc.prepare_material_bindings(
            bound.copy(), resources=ring.resources, keys=[strange, ring.keys.conjugation()]
        )
    assert fc.prepare_material_bindings(bound, resources=ring.resources, keys=[strange]) == ()
    with pytest.raises(KeyMismatchError):
        OperationBackend().link(bound).run(ring.encrypt(0.5))


def test_tables_of_other_parameters(ring: CompileRing, rotated: fc.Compilation) -> None:
    with pytest.warns():
        config = CkksConfig.create(depth=2, scale_bits=30, N=1024, allow_insecure=True)
    with pytest.raises(ContextMismatchError):
        fc.prepare_material_bindings(rotated.copy(), resources=CkksDeviceResources(config=config))


def test_inputs_of_a_run(ring: CompileRing, rotated: fc.Compilation) -> None:
    executable = ring.link(rotated)
    x, engine = ring.encrypt(0.5), ring.engine
    with pytest.raises(ExecutionInputError, match=r"needed are \['x'\]"):
        executable.run()
    with pytest.raises(ExecutionInputError, match=r"needed are \['x'\]"):
        executable.run(x, x)
    with pytest.raises(ExecutionInputError, match=r"needed are \['x'\]"):
        executable.run(x, x=x)
    with pytest.raises(ExecutionInputError, match="x is a Tensor, needed is a Ciphertext"):
        executable.run(x.data)
    with pytest.raises(ExecutionInputError, match="depth of x is 1, the Program is made for 0"):
        executable.run(engine.mod_switch_to_depth(x, 1))
    with pytest.raises(ExecutionInputError, match="polynomial_domain of x is ntt"):
        executable.run(engine.coefficient_domain_to_ntt_domain(x))
    with pytest.raises(ExecutionInputError, match="components of x is 3"):
        executable.run(engine.reinterpret_at_scale(engine.square(x), x.scale))
    assert torch.equal(executable.run(x=x).data, executable.run(x).data)


def test_incomplete_output_states_are_named_at_the_run(ring: CompileRing) -> None:
    text = one_input(
        f'%r = "core.cast"(%x) : ({CIPHERTEXT}) -> !rns.residues\n'
        '%0 = "core.cast"(%r) : (!rns.residues) -> !ckks.ciphertext\n'
        "func.return %0 : !ckks.ciphertext"
    )
    executable = ring.link(ring.parse(text))
    with pytest.raises(ExecutionError, match="the scale of output 0 is not known"):
        executable.run(ring.encrypt(0.5))


def test_constants_fill_the_slots_evenly(ring: CompileRing) -> None:
    captured = ring.capture(lambda x: x + torch.ones(3), x=fc.encrypted())
    with pytest.raises(MessageValueError, match="has 3 values, the number of slots is 512"):
        fc.Pipeline(TO_CKKS).run(captured)


def test_a_captured_function_that_is_too_deep_is_refused_before_a_key_exists(
    ring: CompileRing,
) -> None:
    def power(x):
        for _ in range(4):
            x = x * x
        return x

    captured = ring.capture(power, x=fc.encrypted(polynomial_domain="ntt"))
    with pytest.raises(DepthExhaustedError) as found:
        fc.default_lower_and_fuse_pipeline().run(captured)
    assert found.value.name == "ckks.rescale"
    assert found.value.operation == f"operation {found.value.index} (ckks.rescale)"
    assert (found.value.depth, found.value.max_depth) == (3, 3)
