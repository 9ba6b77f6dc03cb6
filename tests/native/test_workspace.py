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
