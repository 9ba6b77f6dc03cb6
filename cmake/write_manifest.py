"""Write the build manifest that the loader compares with the running environment.

Usage: write_manifest.py MODULE SOURCE_FOLDER NAME=VALUE ...
It stands beside the module. The values are what only the build knows; versions and floors come from
the source folder.
"""

import hashlib
import json
import pathlib
import re
import sys
import tomllib

module, source = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
built = dict(argument.split("=", 1) for argument in sys.argv[3:])
project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
version = re.search(r'__version__ = "(.+)"', (source / "src/fhelium/version.py").read_text())
assert version is not None
manifest = {
    # Compared by the loader.
    "project_version": version.group(1),
    "python_floor": project["requires-python"].removeprefix(">="),
    "torch_floor": built["torch_floor"],
    "cxx11_abi": built["cxx11_abi"] == "1",
    "backends": built["backends"].split("+"),
    "sha256": hashlib.sha256(module.read_bytes()).hexdigest(),
    # Recorded only.
    "torch_built_against": built["torch_built_against"],
    "cuda_toolkit": built.get("cuda_toolkit") or None,
    "cuda_architectures": [name for name in built.get("cuda_architectures", "").split(",") if name],
    "compiler": built["compiler"],
}
module.with_name("build_manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
