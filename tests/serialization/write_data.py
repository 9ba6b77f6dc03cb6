"""Write the files of one format version that every later version must read.

Usage: python -m tests.serialization.write_data FOLDER

It was run once for each version of the format, when that version was new; what it wrote is kept
as it is. `expected.json` beside the files says what they hold, computed without reading them.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from fhelium import CkksConfig, EvaluationKeys
from tests.serialization.conftest import make_ring, write_files


def facts(value: Any) -> dict[str, Any]:
    """Return what a value is, in words and digests that do not depend on this library's files."""
    if isinstance(value, CkksConfig):
        return {"type": "CkksConfig", "context_id": value.context_id, "N": value.N}
    if isinstance(value, EvaluationKeys):
        return {"type": "EvaluationKeys", "keys": [facts(key) for key in value]}
    state, seed = value.state, getattr(value, "public_seed", None)
    return {
        "type": type(value).__name__,
        "context_id": value.context_id,
        "key_id": value.key_id,
        "insecure": value.insecure,
        "shape": list(value.data.shape),
        "sha256": hashlib.sha256(value.data.contiguous().numpy().tobytes()).hexdigest(),
        "depth": state.depth,
        "scale": state.scale and state.scale.hex(),
        "domain": state.polynomial_domain,
        "basis": state.modulus_basis,
        "representation": state.residue_representation,
        "components": state.components,
        "noise_bound": state.noise_bound and state.noise_bound.hex(),
        "message_bound": state.message_bound and state.message_bound.hex(),
        "step": getattr(value, "step", None),
        "source": getattr(value, "source_key_id", None),
        "seed": seed and seed.hex(),
    }


def main(folder: Path) -> None:
    """Write the files and what they hold."""
    ring = make_ring()
    write_files(ring.values, folder)
    expected = {name: facts(value) for name, value in ring.values.items()}
    expected["sealed"] = expected["secret"]
    text = json.dumps(expected, indent=1, sort_keys=True)
    (folder / "expected.json").write_text(text + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
