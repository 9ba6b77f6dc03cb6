"""The registry, the workspace, and the residue implementations against their declarations."""

from __future__ import annotations

import pytest
import torch

from fhelium import Engine
from fhelium.backend import (
    BackendWorkspace,
    BoundResource,
    OperationBackend,
    OperationImplementation,
    OperationImplementationRegistry,
    OperationInvocation,
    ResourceRequirement,
)
from fhelium.backend.ckks import CkksDeviceResources
from fhelium.backend.ntt import NTT_BACKENDS, Transform, transform_symbols
from fhelium.backend.rns import NativeRnsLinearImplementation
from fhelium.config import CkksConfig
from fhelium.errors import ImplementationError, InsecureWarning, StateError
from fhelium.ir.dialects import ckks, ntt, rns
from fhelium.ir.dialects.rns import exact
from fhelium.values import CkksState


@pytest.fixture(scope="module", params=["int64", "int32"])
def resources(request: pytest.FixtureRequest) -> CkksDeviceResources:
    with pytest.warns(InsecureWarning):
        config = CkksConfig.create(
            depth=3, scale_bits=25, N=32, allow_insecure=True, dtype_name=request.param
        )
    return CkksDeviceResources(config=config)


def residues(resources: CkksDeviceResources, basis: str, depth: int, *batch: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(depth + 1)
    rows = [
        torch.randint(0, resources.config.primes[i], (*batch, 32), generator=generator)
        for i in resources.config.prime_ids(basis, depth)
    ]
    return torch.stack(rows, dim=-2).to(resources.config.dtype)


def execute(operation, *inputs: torch.Tensor, in_place: bool = False, **attributes):
    invocation = OperationInvocation(
        operation_type=operation, operand_count=len(inputs), attributes=attributes
    )
    backend = OperationBackend()
    implementation = backend.registry.resolve(invocation)
    assert implementation.material_symbols(invocation) == ()
    (result,) = implementation.execute(invocation, inputs, (), in_place=in_place)
    return result


@pytest.mark.parametrize("depth", [0, 1, 3])
@pytest.mark.parametrize(
    ("operation", "count"),
    [
        (rns.AddStandardOp, 2),
        (rns.SubtractStandardOp, 2),
        (rns.NegateStandardOp, 1),
        (rns.MultiplyMontgomeryOp, 2),
        (rns.ToMontgomeryOp, 1),
        (rns.FromMontgomeryOp, 1),
    ],
)
def test_coefficient_wise_operations(resources, operation, count: int, depth: int) -> None:
    params = resources.material(f"rns_parameters/QP/{depth}")
    operands = [residues(resources, "QP", depth, 2, 3)] + [residues(resources, "QP", depth, 3)] * (
        count - 1
    )
    expected = operation.reference(*operands, params)
    assert torch.equal(execute(operation, *operands, params), expected)
    target = operands[0].clone()
    written = execute(operation, target, *operands[1:], params, in_place=True)
    assert written is target
    assert torch.equal(target, expected)


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_basis_conversion(resources, depth: int) -> None:
    qp = resources.material(f"rns_parameters/QP/{depth}")
    names = ("digit_bounds", "digit_scale", "matrix", "correction")
    tables = [resources.material(f"mod_up/{depth}/{name}") for name in names]
    operand = residues(resources, "Q", depth, 2)
    raised = execute(rns.ModUpOp, operand, *tables, qp)
    assert torch.equal(raised, rns.ModUpOp.reference(operand, *tables, qp))
    names = ("special_scale", "matrix", "correction", "special_inverse")
    tables = [resources.material(f"mod_down/{depth}/{name}") for name in names]
    operand = residues(resources, "QP", depth, 2)
    lowered = execute(rns.ModDownOp, operand, *tables, qp)
    assert torch.equal(lowered, rns.ModDownOp.reference(operand, *tables, qp))


@pytest.mark.parametrize("depth", [0, 2])
@pytest.mark.parametrize("domain", ["coefficient", "ntt"])
def test_parts_and_products_of_ciphertexts(resources, domain: str, depth: int) -> None:
    params = resources.material(f"rns_parameters/Q/{depth}")
    x, y = (residues(resources, "Q", depth, 2, batch) for batch in (3, 3))
    y = y.flip(-1).contiguous()
    three = residues(resources, "Q", depth, 3, 3)
    standard = resources.material(f"scalar/{(0.5).hex()}/{(2.0**20).hex()}/{depth}/standard")
    factor = resources.material(f"scalar/{(0.5).hex()}/{(2.0**20).hex()}/{depth}/montgomery")
    facts = {"depth": depth, "polynomial_domain": domain}
    calls = [
        (rns.ComponentOp, (three,), {"index": 2}),
        (rns.FirstComponentsOp, (three,), {"count": 2}),
        (rns.AddToFirstComponentOp, (x, y[1], params), {}),
        (rns.AddConstantOp, (x, standard, params), {"polynomial_domain": domain}),
        (rns.MultiplyConstantOp, (x, factor, params), {}),
        (rns.AutomorphismOp, (x, params), {"galois_element": 5, "polynomial_domain": domain}),
        (rns.AutomorphismOp, (x, params), {"galois_element": 63, "polynomial_domain": domain}),
        (rns.DropLimbsOp, (x,), {"target_depth": depth + 1, "depth": depth}),
    ]
    if domain == "ntt":
        calls += [
            (rns.CiphertextProductOp, (x, y, params), {}),
            (rns.CiphertextSquareOp, (x, params), {}),
        ]
    else:
        inverse = resources.material(f"rescale/{depth}/inverse")
        calls += [
            (rns.RescaleOp, (x, inverse, params), {}),
            (rns.RescaleOp, (x, inverse, params), {"rounding": "truncate"}),
        ]
    for operation, inputs, attributes in calls:
        before = [tensor.clone() for tensor in inputs]
        found = execute(operation, *inputs, **{**facts, **attributes})
        assert torch.equal(found, operation.reference(*inputs, **attributes)), operation.name
        assert all(map(torch.equal, inputs, before))


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_inner_products_with_a_key(resources, depth: int) -> None:
    params = resources.material(f"rns_parameters/QP/{depth}")
    config = resources.config
    digits = residues(resources, "QP", depth, len(config.digits(depth)), 3)
    key = residues(resources, "QP", 0, config.dnum, 2)
    found = execute(rns.KeySwitchInnerProductOp, digits, key, params, depth=depth)
    assert torch.equal(found, rns.KeySwitchInnerProductOp.reference(digits, key, params))


@pytest.mark.parametrize("depth", [0, 3])
@pytest.mark.parametrize("backend", NTT_BACKENDS)
def test_transforms(resources, backend: str, depth: int) -> None:
    params = resources.material(f"rns_parameters/QP/{depth}")
    config = resources.config
    roots = torch.tensor(
        [config.root(i) for i in config.prime_ids("QP", depth)], dtype=config.dtype
    )
    operand = residues(resources, "QP", depth, 2)
    for operation, direction in ((ntt.ForwardOp, "forward"), (ntt.InverseOp, "inverse")):
        if backend == "packed":
            symbols = [f"ntt_tables/packed/QP/{depth}"]
        else:
            parts = ("even", "odd", "schedule")
            symbols = [f"ntt_indices/{direction}/{part}" for part in parts]
            symbols.append(f"ntt_twiddles/{direction}/QP/{depth}")
        tables = resources.materials(tuple(symbols))
        found = execute(operation, operand, *tables, params, ntt_backend=backend)
        assert torch.equal(found, operation.reference(operand, roots, params))


def test_every_operation_has_exactly_one_default() -> None:
    registry = OperationBackend().registry
    for dialect in (ckks.CKKS, rns.RNS, ntt.NTT):
        for operation in dialect.operations:
            invocation = OperationInvocation(operation_type=operation, operand_count=1)
            assert registry.resolve(invocation).name in registry.names


class Doubled(NativeRnsLinearImplementation):
    """A caller's own addition, wrong on purpose: it shows that it was the one that ran."""

    name = "doubled"
    operation_types = (ckks.AddOp,)

    def execute(self, invocation, inputs, resources, *, in_place):
        return (inputs[0] + inputs[0],)


def test_registry_refuses_ambiguity_and_takes_names() -> None:
    registry = OperationBackend().registry.extended(Doubled())
    invocation = OperationInvocation(operation_type=ckks.AddOp, operand_count=2)
    with pytest.raises(ImplementationError, match=r"2 implementations serve it.*'doubled'") as info:
        registry.resolve(invocation)
    assert info.value.candidates == ("native-rns-linear", "doubled")
    assert isinstance(registry.resolve(invocation, name="doubled"), Doubled)
    with pytest.raises(ImplementationError, match="no implementation named 'absent'"):
        registry.resolve(invocation, name="absent")
    with pytest.raises(ImplementationError, match="no implementation serves it"):
        OperationImplementationRegistry().resolve(invocation)
    with pytest.raises(ImplementationError, match="two implementations are named 'doubled'"):
        registry.extended(Doubled())
    assert [d.name for d in OperationBackend(registry).diagnostics(ckks.AddOp)] == [
        "native-rns-linear",
        "doubled",
    ]


def test_preference_decides_between_several_matches(small) -> None:
    registry = OperationBackend().registry.extended(Doubled())
    invocation = OperationInvocation(operation_type=ckks.AddOp, operand_count=2)
    preferring = registry.preferring("doubled")
    assert isinstance(preferring.resolve(invocation), Doubled)
    assert preferring.resolve(invocation, name="native-rns-linear").name == "native-rns-linear"
    assert preferring.preferring("native-rns-linear").preference[:2] == (
        "native-rns-linear",
        "doubled",
    )
    assert preferring.extended().preference == preferring.preference
    assert registry.preference == OperationBackend().registry.preference
    places = [d.preference for d in OperationBackend(preferring).diagnostics(ckks.AddOp)]
    assert places == [None, 0]
    with pytest.raises(ImplementationError, match="'absent' is preferred, registered are"):
        registry.preferring("absent")

    x = small.engine.encrypt_message(0.25, small.public_key)
    y = small.engine.encrypt_message(0.5, small.public_key)
    own = Engine(small.config, backend=OperationBackend(preferring))
    assert torch.equal(own.add(x, y).data, x.data + x.data)


class Functional(NativeRnsLinearImplementation):
    """A caller's own arithmetic that has no in-place form."""

    name = "functional"
    operation_types = (ckks.AddOp, ckks.SubtractOp, ckks.NegateOp)
    supports_in_place = False

    def execute(self, invocation, inputs, resources, *, in_place):
        assert not in_place
        return super().execute(invocation, inputs, resources, in_place=False)


def test_in_place_forms_work_with_any_implementation(small) -> None:
    registry = OperationBackend().registry.extended(Functional()).preferring("functional")
    own = Engine(small.config, backend=OperationBackend(registry))
    for call, mutating in (
        (own.add, own.add_),
        (own.subtract, own.subtract_),
        (lambda x, _: own.negate(x), lambda x, _: own.negate_(x)),
    ):
        x, y = (small.engine.encrypt_message(m, small.public_key) for m in (0.25, 0.5))
        expected, address = call(x, y), x.data.data_ptr()
        assert mutating(x, y) is x
        assert torch.equal(x.data, expected.data)
        assert x.state == expected.state
        assert x.data.data_ptr() == address


def test_interface_is_abstract() -> None:
    with pytest.raises(TypeError):
        OperationImplementation()  # pyright: ignore[reportAbstractUsage]


def test_workspace_binds_and_materializes() -> None:
    made: list[str] = []

    def make() -> str:
        made.append("x")
        return "handle"

    workspace = BackendWorkspace({"there": 1}, {"made": make})
    needed = (ResourceRequirement("made"), ResourceRequirement("there"))
    expected = (BoundResource("made", "handle"), BoundResource("there", 1))
    assert workspace.bind(needed) == workspace.bind(needed) == expected
    assert made == ["x"]
    assert set(workspace.names) == {"there", "made"}
    with pytest.raises(ImplementationError, match=r"'absent' is missing, there are \['there'"):
        workspace.bind((ResourceRequirement("absent"),))
    workspace.put("absent", 3)
    assert workspace.bind((ResourceRequirement("absent"),))[0].handle == 3


def test_link_asks_the_compilation() -> None:
    class Compilation:
        def link(self, backend: OperationBackend) -> tuple[str, OperationBackend]:
            return "linked", backend

    backend = OperationBackend()
    assert backend.link(Compilation()) == ("linked", backend)


def test_unknown_material_is_named(resources) -> None:
    with pytest.raises(ImplementationError, match=r"'rotation-key:3', families are"):
        resources.material("rotation-key:3")


@pytest.mark.parametrize(
    "symbol",
    [
        "rns_parameters/Q/4", "rns_parameters/Q/-1", "rns_parameters/Q/01", "rns_parameters/Q",
        "rns_parameters/P/0", "rns_parameters/Q/0/0", "rns_parameters/Q/x", "rns_parameters",
        "ntt_tables/radix2_indexed/Q/0", "ntt_tables/packed/Q/9", "ntt_tables/Q/0",
        "ntt_indices/backward/even", "ntt_indices/forward/all", "ntt_twiddles/up/Q/0",
        "key_switch_tables/7", "key_switch_tables", "mod_up/0/special_scale", "mod_up/5/matrix",
        "mod_down/0/digit_scale", "rescale/3/inverse", "rescale/0/forward", "embedding/0",
        "scalar/one/0x1.0p+4/0/standard", "scalar/0x1.0p+0/0x1.0p+4/0/lazy",
        "scalar/0x1.0p+0/0x1.0p+4/9/standard", "", "/", "material", "parsed/0",
        "rns_parameters/full", "ntt_tables/packed/full", "ntt_twiddles/full",
    ],
)  # fmt: skip
def test_symbols_of_no_table_are_refused(resources, symbol: str) -> None:
    """Nothing that merely looks like a symbol gives a table of another one, or an empty one."""
    resources.transform("radix2_indexed", "Q", 0)
    resources.transform("packed", "Q", 0)
    before = set(resources._tables)
    with pytest.raises(ImplementationError, match=r"^material: the symbol is '.*depths are 0 to 3"):
        resources.material(symbol)
    assert set(resources._tables) == before


def test_tables_of_deeper_values_are_views(resources) -> None:
    full = resources.material("ntt_tables/packed/QP/0")
    deeper = resources.material("ntt_tables/packed/QP/2")
    assert deeper.untyped_storage().data_ptr() == full.untyped_storage().data_ptr()
    assert deeper.shape[0] == full.shape[0] - 2


@pytest.mark.parametrize("domain", ["coefficient", "ntt"])
@pytest.mark.parametrize("rounding", ["nearest", "truncate"])
def test_rescale_rounds_as_asked(resources, rounding: str, domain: str) -> None:
    """Both roundings against Python integers; the IR's option reaches the native operator."""
    residue = residues(resources, "Q", 1, 2, 2)
    moduli = resources.config.q_primes[1:]
    whole = exact.centred(exact.integers(residue), list(moduli))
    dropped = moduli[0]
    half = (dropped - 1) // 2 if rounding == "nearest" else 0
    expected = exact.residues((whole + half) // dropped, list(moduli[1:]), torch.int64)

    facts = {"depth": 1, "polynomial_domain": domain, "rounding": rounding}
    invocation = OperationInvocation(
        operation_type=ckks.RescaleOp, operand_count=1, attributes=facts
    )
    implementation = OperationBackend().registry.resolve(invocation)
    materials = resources.materials(implementation.material_symbols(invocation))
    if domain == "ntt":
        before = Transform.of("packed", "Q", 1, tables(resources, 1))
        residue = before.forward(residue)
    (found,) = implementation.execute(invocation, (residue, *materials), (), in_place=False)
    if domain == "ntt":
        found = Transform.of("packed", "Q", 2, tables(resources, 2)).inverse(found)
    assert torch.equal(found, expected)


def tables(resources: CkksDeviceResources, depth: int) -> dict[str, torch.Tensor]:
    symbols = transform_symbols("packed", "Q", depth)
    return dict(zip(symbols, resources.materials(symbols), strict=True))


def test_truncation_has_a_larger_bound(resources) -> None:
    fresh = CkksState.fresh(resources.config, noise_bound=0.0, message_bound=1e-3)
    state = fresh.replace(scale=fresh.scale * resources.config.scale_at(0))
    nearest = ckks.RescaleOp.transfer(state)
    truncated = ckks.RescaleOp.transfer(state, rounding="truncate")
    assert truncated.noise_bound > nearest.noise_bound
    assert truncated.replace(noise_bound=nearest.noise_bound) == nearest
    with pytest.raises(StateError, match="rounding is 'up', needed is"):
        ckks.RescaleOp.transfer(state, rounding="up")
