"""Write the build manifest that the loader compares with the running environment."""

import json
import pathlib
import sys
import tomllib

target, pyproject, torch_version, backends, compiler = sys.argv[1:]
project = tomllib.loads(pathlib.Path(pyproject).read_text())["project"]
manifest = {
    "project_version": project["version"],
    "python_floor": "3.11",
    "torch_floor": "2.11",
    "torch_built_against": torch_version,
    "cxx11_abi": True,
    "cuda_toolkit": None,
    "cuda_architectures": [],
    "backends": backends.split("+"),
    "compiler": compiler,
}
pathlib.Path(target).write_text(json.dumps(manifest, indent=2) + "\n")
