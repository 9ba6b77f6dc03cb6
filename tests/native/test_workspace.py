"""The pool of scratch memory, and tables in huge pages."""

from __future__ import annotations

import torch

from fhelium import CkksConfig
from fhelium.backend.ckks import CkksDeviceResources
from fhelium.native.wrapper import rns_ops


def test_what_is_idle_goes_back_to_the_system() -> None:
    rns_ops.release_workspace()
    assert rns_ops.workspace_bytes() == 0
    assert rns_ops.release_workspace() == 0


def test_a_large_table_begins_at_a_huge_page() -> None:
    config = CkksConfig.parse("slots16384_scale40_depth16_int64")
    tables = CkksDeviceResources(config=config).material("ntt_tables/packed/QP/0")
    assert tables.is_contiguous()
    assert tables.data_ptr() % 2**21 == 0
    copied = tables.clone()
    assert torch.equal(copied, tables)


def test_a_large_result_leaves_its_memory_to_the_next() -> None:
    params = rns_ops.rns_parameters(torch.tensor([(1 << 40) - 87]), 64)
    x = torch.ones(1, 5 << 20, dtype=torch.int64)  # 40 MiB
    rns_ops.release_workspace()
    result = rns_ops.add_standard(x, x, params)
    assert (result == 2).all()
    assert rns_ops.workspace_bytes() == 0  # a result that lives is its owner's
    view, where = result[:, 1:3], result.data_ptr()
    del result
    assert rns_ops.workspace_bytes() == 0
    assert view.tolist() == [[2, 2]]
    del view
    assert rns_ops.workspace_bytes() == 40 << 20
    again = rns_ops.negate_standard(x, params)
    assert again.data_ptr() == where
    smaller = rns_ops.negate_standard(x[:, : 9 << 19], params)  # 36 MiB
    del again, smaller
    assert rns_ops.release_workspace() == (40 << 20) + (36 << 20)
    assert rns_ops.workspace_bytes() == 0


def test_a_large_result_does_not_take_a_much_larger_block() -> None:
    params = rns_ops.rns_parameters(torch.tensor([(1 << 40) - 87]), 64)
    x = torch.ones(1, 8 << 20, dtype=torch.int64)  # 64 MiB
    rns_ops.release_workspace()
    wide = rns_ops.negate_standard(x, params)
    del wide
    narrow = rns_ops.negate_standard(x[:, : 9 << 19], params)  # 36 MiB
    assert rns_ops.workspace_bytes() == 64 << 20
    del narrow
    assert rns_ops.release_workspace() == 100 << 20
