"""The diagnostic transforms: every instruction set of the machine and each path, in one process."""

from itertools import pairwise

import pytest
import torch

from fhelium.native.wrapper import ntt_diagnostic_ops as diagnostic
from fhelium.native.wrapper import ntt_ops, rns_ops
from tests.native import ntt_cases

ISAS = ("scalar", "avx2", "avx512")
PATHS = {
    "scalar": ("lazy", "doubled"),
    "avx2": ("lazy", "pass"),
    "avx512": ("narrow_lazy", "narrow_pass", "narrow_level", "wide_lazy", "wide_level"),
}


def names() -> list[str]:
    return diagnostic.variant_names().split(", ")


def sets() -> list[str]:
    return [name for name in names() if name in ISAS]


def chain(log_degree: int, limbs: slice) -> tuple[torch.Tensor, ...]:
    """Return roots, parameters and residues of some limbs of the ring."""
    roots, parameters, _ = ntt_cases.ring(log_degree)
    x = ntt_cases.inputs(log_degree)
    return torch.tensor(roots)[limbs], parameters[:, limbs], x[..., limbs, :]


def tables_unless_refused(name: str, *ring) -> torch.Tensor | None:
    try:
        return diagnostic.variant_tables(name, *ring)
    except RuntimeError:
        with pytest.raises(RuntimeError, match="A path takes primes below a bound"):
            diagnostic.variant_tables(name, *ring)
        return None


def test_every_instruction_set_and_each_of_its_paths_is_a_variant():
    assert names()[0] == "scalar"
    assert rns_ops.cpu_isa() in sets()
    assert names() == [
        name for isa in sets() for name in (isa, *(f"{isa}_{path}" for path in PATHS[isa]))
    ]


@pytest.mark.parametrize("log_degree", [4, 5, 8, 13])
def test_every_instruction_set_gives_the_bits_of_the_production_operator(log_degree):
    roots, parameters, x = chain(log_degree, slice(None))
    tables = ntt_ops.ntt_tables(roots, 1 << log_degree, parameters)
    forward = ntt_ops.ntt_packed(x, tables, parameters)
    for name in sets():
        own = diagnostic.variant_tables(name, roots, 1 << log_degree, parameters)
        assert torch.equal(diagnostic.variant_ntt(name, x, own, parameters), forward)
        assert torch.equal(diagnostic.variant_intt(name, forward, own, parameters), x)
        assert (name == rns_ops.cpu_isa()) == torch.equal(own, tables)


@pytest.mark.parametrize("log_degree", [5, 7, 8, 13])
def test_every_path_gives_those_bits_for_all_primes_that_it_takes(log_degree):
    degree, taken = 1 << log_degree, {}
    for limb in range(len(ntt_cases.primes(log_degree))):
        roots, parameters, x = chain(log_degree, slice(limb, limb + 1))
        tables = ntt_ops.ntt_tables(roots, degree, parameters)
        forward = ntt_ops.ntt_packed(x, tables, parameters)
        for name in set(names()) - set(sets()):
            own = tables_unless_refused(name, roots, degree, parameters)
            if own is None:
                continue
            assert torch.equal(diagnostic.variant_ntt(name, x, own, parameters), forward)
            assert torch.equal(diagnostic.variant_intt(name, forward, own, parameters), x)
            taken.setdefault(name, []).append(limb)
    for isa in sets():
        # What is fast takes small primes; a slower path takes all of those, and larger ones.
        limbs = [taken.get(f"{isa}_{path}", []) for path in PATHS[isa]]
        small = degree < {"scalar": 16, "avx2": 64, "avx512": 128}[isa]
        assert all(limbs) != small
        for fast, slow in pairwise(limbs):
            assert slow[: len(fast)] == fast
            assert len(slow) > len(fast) or small


@pytest.mark.parametrize(("log_degree", "limbs"), [(8, slice(-1, None)), (4, slice(0, 1))])
def test_a_path_refuses_a_prime_that_is_too_large_and_a_ring_that_is_too_small(log_degree, limbs):
    roots, parameters, x = chain(log_degree, limbs)
    name = f"{sets()[-1]}_{PATHS[sets()[-1]][0]}"
    for call, arguments in (
        (diagnostic.variant_tables, (roots, 1 << log_degree)),
        (diagnostic.variant_ntt, (x, x[0])),
        (diagnostic.variant_intt, (x, x[0])),
    ):
        with pytest.raises(RuntimeError, match=rf"variant is '{name}', .* q = \d+ and N = "):
            call(name, *arguments, parameters)


def test_a_variant_refuses_the_tables_of_another():
    roots, parameters, x = chain(8, slice(0, 2))
    tables = {name: diagnostic.variant_tables(name, roots, 256, parameters) for name in names()}
    for maker, made in tables.items():
        for name in set(names()) - {maker}:
            with pytest.raises(RuntimeError, match=f"of other kernels, needed is {name}. A table"):
                diagnostic.variant_ntt(name, x, made, parameters)


def test_an_unknown_variant_and_32_bits_are_refused():
    roots, parameters, tables = ntt_cases.ring(8)
    x = ntt_cases.inputs(8)
    with pytest.raises(RuntimeError, match=r"variant_ntt: variant is 'sse', .* can run scalar"):
        diagnostic.variant_ntt("sse", x, tables, parameters)
    with pytest.raises(RuntimeError, match=r"variant_tables: variant is '', .* can run scalar"):
        diagnostic.variant_tables("", torch.tensor(roots), 256, parameters)
    with pytest.raises(RuntimeError, match="variant_intt: input holds int32, needed is int64"):
        diagnostic.variant_intt("scalar", x.int(), tables, parameters)
