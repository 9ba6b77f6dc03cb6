"""Texts with something changed by chance: read as a Program, or refused by name."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fhelium import CkksConfig
from fhelium import compile as fc
from fhelium.errors import FHEliumError

TEXT = """builtin.module {
  func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1.5e+09, polynomial_domain = ntt> {core.name = "x"}) -> !ckks.ciphertext {
    %0 = "core.material"() <{symbol = "relinearization-key"}> : () -> !ckks.relinearization_key
    %1 = "ckks.square"(%x) <{output_domain = "ntt"}> : (!ckks.ciphertext<depth = 0, scale = 1.5e+09, polynomial_domain = ntt>) -> !ckks.ciphertext
    %2 = "ckks.relinearize"(%1, %0) : (!ckks.ciphertext, !ckks.relinearization_key) -> !ckks.ciphertext
    %3 = "ckks.add_scalar"(%2) <{value = 5.0e-01 : f64}> : (!ckks.ciphertext) -> !ckks.ciphertext
    %4 = "ckks.mod_switch"(%3) <{depth = 1 : i64}> : (!ckks.ciphertext) -> !ckks.ciphertext
    func.return %4 : !ckks.ciphertext
  }
}
"""  # noqa: E501
PIECES = ("0", "9" * 30, "-", "nan", "1.0e+400", "%", "!", '"', "<", ">", "{", "}", "depth = 3", "")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    changes=st.lists(
        st.tuples(
            st.integers(0, len(TEXT)), st.integers(0, 12), st.sampled_from(PIECES) | st.text()
        ),
        min_size=1,
        max_size=3,
    )
)
def test_a_changed_text_is_read_or_refused(small, changes) -> None:
    text = TEXT
    for start, length, piece in changes:
        text = text[:start] + piece + text[start + length :]
    passes = (fc.AssignCkksScalesPass(), fc.LowerCkksToRnsNttPass(), fc.EmitBackendPythonPass())
    workspace = fc.CompileWorkspace({CkksConfig: small.config})
    try:
        program = fc.Program.parse(text)
        assert fc.Program.parse(program.to_text()).to_text() == program.to_text()
        program.draw("dot")
        fc.Pipeline(passes).run(fc.Compilation(program, workspace))
    except FHEliumError as error:
        assert str(error)  # noqa: PT017
