"""The generated wrappers and shapes agree with the operators that the module registers."""

import importlib
import inspect
from pathlib import Path

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from fhelium.native import fake
from fhelium.native.fake import shapes
from fhelium.native.wrapper import rns_ops
from tests.native.rings import PRIMES, TYPES, Ring
from tests.native.samples import CUDA_ONLY, SAMPLES, pair
from tests.programs import run_python
from tools import generate_native

OPERATORS = sorted(SAMPLES)
FUNCTIONAL = [name for name in OPERATORS if name + "_" in SAMPLES]
each_type = pytest.mark.parametrize("dtype", TYPES)


def operator(name: str) -> torch._ops.OpOverload:
    namespace, _, base = name.partition("::")
    return getattr(getattr(torch.ops, namespace), base).default


def wrapper(name: str):
    namespace, _, base = name.partition("::")
    module = importlib.import_module(f"fhelium.native.wrapper.{namespace.removeprefix('fhelium_')}")
    return getattr(module, base)


def returns_tensor(name: str) -> bool:
    return any("Tensor" in str(value.type) for value in operator(name)._schema.returns)


def live_names() -> list[str]:
    return [s.name for schemas in generate_native.live_schemas().values() for s in schemas]


def as_tuple(result) -> tuple:
    return tuple(result) if isinstance(result, tuple | list) else (result,)


def test_committed_files_are_what_the_schemas_give():
    assert generate_native.stale_files(generate_native.generated_files()) == []


def test_check_names_a_changed_a_missing_and_an_orphaned_file(tmp_path):
    files = generate_native.generated_files()
    first, second = list(files)[:2]
    changed = {**files, first: files[first] + "\n"}
    changed[second.with_name("absent_ops.py")] = ""
    del changed[second]
    stale = generate_native.stale_files(changed)
    assert sorted(stale) == sorted([first, second, second.with_name("absent_ops.py")])


def test_an_operator_without_shape_rule_is_an_error_that_names_it(monkeypatch):
    monkeypatch.setitem(generate_native.SHAPE_RULES, "fhelium_rns_ops", {})
    with pytest.raises(generate_native.GenerationError, match=r"fhelium_rns_ops::add_lazy "):
        generate_native.generated_files()


def test_a_shape_rule_that_does_not_fit_is_an_error(monkeypatch):
    for rule in ("like(nothing)", "like(lhs, rhs)", "unknown(lhs)"):
        monkeypatch.setitem(generate_native.SHAPE_RULES["fhelium_rns_ops"], "add_standard", rule)
        with pytest.raises(generate_native.GenerationError, match="add_standard: "):
            generate_native.generated_files()


def has_wrapper(name: str) -> bool:
    try:
        function = wrapper(name)
    except AttributeError:
        return False
    schema = operator(name)._schema
    names = [argument.name for argument in schema.arguments]
    assert list(inspect.signature(function).parameters) == names
    return function.__doc__ == f"``{str(schema).partition('::')[2]}``"


def missing_parts(name: str) -> list[str]:
    """Return what a live operator lacks of all that one needs."""
    faked = [f"{family.NAMESPACE}::{base}" for family in fake._families() for base in family.FAKES]
    page = (Path(generate_native.__file__).parents[1] / "docs" / "operators.md").read_text()
    keys = ("CPU", "CompositeExplicitAutograd")
    parts = {
        "wrapper": has_wrapper(name),
        "fake": name in faked or not (returns_tensor(name) or name.endswith("_")),
        "CPU kernel": any(torch._C._dispatch_has_kernel_for_dispatch_key(name, k) for k in keys),
        "sample": name in SAMPLES or name in CUDA_ONLY,
        "docs row": f"`{str(operator(name)._schema).partition('::')[2]}`" in page,
    }
    return [part for part, is_there in parts.items() if not is_there]


def test_every_operator_has_all_that_an_operator_needs():
    assert {name: missing_parts(name) for name in live_names() if missing_parts(name)} == {}


def test_nothing_is_left_of_an_operator_that_is_gone():
    assert fake.operator_names() == sorted(live_names())
    assert sorted([*SAMPLES, *CUDA_ONLY]) == sorted(live_names())


def test_an_operator_that_is_only_declared_lacks_every_part():
    with torch.library._scoped_library("fhelium_rns_ops", "FRAGMENT") as library:
        library.define("only_declared(Tensor input) -> Tensor")
        assert "fhelium_rns_ops::only_declared" in live_names()
        assert missing_parts("fhelium_rns_ops::only_declared") == [
            "wrapper", "fake", "CPU kernel", "sample", "docs row",
        ]  # fmt: skip
        library.impl("only_declared", torch.clone, "CPU")
        assert "CPU kernel" not in missing_parts("fhelium_rns_ops::only_declared")


@each_type
@pytest.mark.parametrize("name", sorted(CUDA_ONLY))
def test_the_cpu_refuses_transforms_of_cuda_and_names_its_own(name, dtype):
    arguments = CUDA_ONLY[name](Ring(dtype))
    before = arguments[0].clone()
    base = name.partition("::")[2]
    with pytest.raises(
        RuntimeError, match=f"^{base}: input is on the CPU.*ntt_packed and.*radix2_indexed"
    ):
        wrapper(name)(*arguments)
    assert torch.equal(arguments[0], before)
    with FakeTensorMode(shape_env=ShapeEnv()) as mode:
        imitation = wrapper(name)(*map(mode.from_tensor, arguments))
    assert imitation is None if name.endswith("_") else imitation.shape == before.shape


@each_type
@pytest.mark.parametrize("name", OPERATORS)
def test_opcheck(name, dtype):
    utilities = ["test_schema", "test_faketensor"]
    if returns_tensor(name) or name.endswith("_"):
        utilities += ["test_autograd_registration", "test_aot_dispatch_dynamic"]
    torch.library.opcheck(operator(name), SAMPLES[name](Ring(dtype)), test_utils=utilities)


@each_type
@pytest.mark.parametrize("name", OPERATORS)
def test_fake_outputs_have_shape_type_and_layout_of_the_real_ones(name, dtype):
    arguments = SAMPLES[name](Ring(dtype))
    with FakeTensorMode(shape_env=ShapeEnv()) as mode:
        imitated = torch.utils._pytree.tree_map_only(torch.Tensor, mode.from_tensor, arguments)
        found = wrapper(name)(*imitated)
    for expected, imitation in zip(
        as_tuple(wrapper(name)(*arguments)), as_tuple(found), strict=True
    ):
        if not isinstance(expected, torch.Tensor):
            assert type(imitation) is type(expected)  # asked of the process, also while tracing
            continue
        assert isinstance(imitation, FakeTensor)
        assert imitation.dtype == expected.dtype
        assert imitation.device == expected.device
        assert imitation.dim() == expected.dim()
        assert expected.is_contiguous()
        for size, real in zip(imitation.shape, expected.shape, strict=True):
            assert isinstance(size, torch.SymInt) or size == real  # opaque widths are symbols


@each_type
@pytest.mark.parametrize("name", FUNCTIONAL)
def test_in_place_twin_writes_what_the_functional_form_returns(name, dtype):
    arguments = SAMPLES[name](Ring(dtype))
    before = [a.clone() if isinstance(a, torch.Tensor) else a for a in arguments]
    expected = wrapper(name)(*arguments)
    for argument, copy in zip(arguments, before, strict=True):
        assert not isinstance(argument, torch.Tensor) or torch.equal(argument, copy)
    assert wrapper(name + "_")(*arguments) is None
    assert torch.equal(arguments[0], expected)
    assert not torch.equal(expected, before[0])  # a sample on which nothing happens proves nothing


def test_parameter_rows_of_the_shapes_are_those_of_the_enumeration():
    assert len(rns_ops.parameter_row_names().split(",")) == shapes.PARAMETER_ROWS


class Traced(Exception):  # noqa: N818
    """A backend got its graph."""


def sum_of_three(lhs: torch.Tensor, rhs: torch.Tensor, rns_params: torch.Tensor) -> torch.Tensor:
    result = rns_ops.add_standard(lhs, rhs, rns_params)
    rns_ops.add_standard_(result, rhs, rns_params)
    return result


def test_compiled_function_of_operators_has_no_graph_break():
    lhs, rhs, rns_params = pair(Ring())
    compiled = torch.compile(sum_of_three, fullgraph=True, backend="eager")
    expected = (lhs + 2 * rhs) % torch.tensor(PRIMES)[:, None]
    assert torch.equal(compiled(lhs, rhs, rns_params), expected)
    longer = Ring().residues(5, seed=3)  # another batch, so dynamic shapes are exercised too
    expected = (longer + 2 * rhs) % torch.tensor(PRIMES)[:, None]
    assert torch.equal(compiled(longer, rhs, rns_params), expected)


@pytest.mark.parametrize("name", [name for name in OPERATORS if SAMPLES[name](Ring())])
def test_tracing_runs_no_kernel(name):
    arguments, call = SAMPLES[name](Ring()), wrapper(name)
    before = [a.clone() if isinstance(a, torch.Tensor) else a for a in arguments]

    def stop(graph, example_inputs):
        assert operator(name) in [node.target for node in graph.graph.nodes]
        raise Traced

    torch._dynamo.reset()
    compiled = torch.compile(lambda *given: call(*given), fullgraph=True, backend=stop)
    with (
        torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True),
        pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match="Traced"),
    ):
        compiled(*arguments)
    for argument, copy in zip(arguments, before, strict=True):  # written in place by no kernel
        assert torch.equal(argument, copy) if isinstance(copy, torch.Tensor) else argument == copy


def test_the_first_use_may_be_inside_a_compiled_function():
    # A fresh process: the guard loads the module while torch traces.
    program = """
        import torch
        from fhelium.native import runtime
        from fhelium.native.wrapper import rns_ops

        @torch.compile(fullgraph=True, backend="eager")
        def double(moduli, x):
            return rns_ops.add_standard(x, x, rns_ops.rns_parameters(moduli, 16))

        assert not runtime._ready
        print(double(torch.tensor([97]), torch.full((1, 16), 50)).unique().tolist())
    """
    assert run_python(program) == "[3]"


def test_meta_tensors_give_meta_results():
    result = rns_ops.add_standard(*(tensor.to("meta") for tensor in pair(Ring())))
    assert result.device.type == "meta"
    assert result.shape == (2, len(PRIMES), 16)
    assert Ring().parameters().shape == (shapes.PARAMETER_ROWS, len(PRIMES))
