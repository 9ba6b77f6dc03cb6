"""Print where torch is installed, its version and its CUDA version or none, as a CMake list."""

import importlib.util
import pathlib

specification = importlib.util.find_spec("torch")
assert specification is not None
assert specification.origin is not None
root = pathlib.Path(specification.origin).parent
namespace: dict[str, object] = {}
exec((root / "version.py").read_text(), namespace)  # importing torch itself takes seconds
print(f"{root};{namespace['__version__']};{namespace.get('cuda') or 'none'}")
