"""The diagnostic transforms: every instruction set of the machine, in one process."""

import pytest
import torch

from fhelium.native.wrapper import ntt_diagnostic_ops as diagnostic
from fhelium.native.wrapper import ntt_ops, rns_ops
from tests.native import ntt_cases


def names() -> list[str]:
    return diagnostic.variant_names().split(", ")


def test_the_active_instruction_set_is_a_variant():
    assert names()[0] == "scalar"
    assert rns_ops.cpu_isa() in names()


@pytest.mark.parametrize("log_degree", [4, 5, 8, 13])
def test_every_variant_gives_the_bits_of_the_production_operator(log_degree):
    roots, parameters, tables = ntt_cases.ring(log_degree)
    x = ntt_cases.inputs(log_degree)
    forward = ntt_ops.ntt_packed(x, tables, parameters)
    for name in names():
        own = diagnostic.variant_tables(name, torch.tensor(roots), 1 << log_degree, parameters)
        assert torch.equal(diagnostic.variant_ntt(name, x, own, parameters), forward)
        assert torch.equal(diagnostic.variant_intt(name, forward, own, parameters), x)
        assert (name == rns_ops.cpu_isa()) == torch.equal(own, tables)


def test_a_variant_refuses_the_tables_of_another():
    roots, parameters, _ = ntt_cases.ring(8)
    x = ntt_cases.inputs(8)
    for maker in names():
        tables = diagnostic.variant_tables(maker, torch.tensor(roots), 256, parameters)
        for name in set(names()) - {maker}:
            with pytest.raises(RuntimeError, match=f"of other kernels, the .* set is {name}"):
                diagnostic.variant_ntt(name, x, tables, parameters)


def test_an_unknown_variant_and_32_bits_are_refused():
    roots, parameters, tables = ntt_cases.ring(8)
    x = ntt_cases.inputs(8)
    with pytest.raises(RuntimeError, match=r"variant_ntt: variant is 'sse', .* can run scalar"):
        diagnostic.variant_ntt("sse", x, tables, parameters)
    with pytest.raises(RuntimeError, match=r"variant_tables: variant is '', .* can run scalar"):
        diagnostic.variant_tables("", torch.tensor(roots), 256, parameters)
    with pytest.raises(RuntimeError, match="variant_intt: input holds int32, needed is int64"):
        diagnostic.variant_intt("scalar", x.int(), tables, parameters)
