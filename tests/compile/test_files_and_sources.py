"""A Program in a file, and the function that linking writes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from fhelium import compile as fc
from fhelium.errors import ProgramError
from tests.compile.support import TO_CKKS, CompileRing


@pytest.fixture(scope="module")
def chain(ring: CompileRing) -> fc.Compilation:
    def function(x, y):
        low = x - y
        return torch.roll(low, 3) + low

    spec = fc.encrypted(polynomial_domain="ntt")
    return fc.Pipeline(TO_CKKS).run(ring.capture(function, x=spec, y=spec))


def test_a_program_is_the_same_after_its_way_through_a_file(chain, tmp_path: Path) -> None:
    path = tmp_path / "chain.mlir"
    chain.program.save(path)
    assert path.read_text() == chain.program.to_text()
    assert fc.Program.load(path).to_text() == chain.program.to_text()
    generic = tmp_path / "generic.mlir"
    generic.write_text(chain.program.to_text(generic=True))
    assert fc.Program.load(str(generic)).to_text() == chain.program.to_text()


def test_errors_of_a_file_name_it(chain, tmp_path: Path) -> None:
    path = tmp_path / "cut.mlir"
    path.write_text(chain.program.to_text()[:-20])
    with pytest.raises(ProgramError, match=r"the text of .*cut.mlir cannot be read"):
        fc.Program.load(path)
    path.write_bytes(b"func\xff")
    with pytest.raises(ProgramError, match=r"byte 4 of .*cut.mlir is no text"):
        fc.Program.load(path)


def test_the_host_function_releases_each_value_after_its_last_use(ring, chain) -> None:
    source = ring.link(chain).source
    assert source.startswith("def host_function(x, y):\n")
    calls, releases = source.index("execute_1("), source.index("del x, y")
    assert source.index("execute_0(") < releases < calls  # the difference is needed once more
    assert source.rstrip().endswith("return (add,)")
