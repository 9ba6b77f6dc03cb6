"""Values, keys, key sets, parameters and compiled Programs as files."""

from fhelium.serialization.compilations import load_compilation, save_compilation
from fhelium.serialization.container import TensorEntry
from fhelium.serialization.inspection import FileInfo
from fhelium.serialization.reading import inspect_value, load_value
from fhelium.serialization.writing import save_value

__all__ = [
    "FileInfo",
    "TensorEntry",
    "inspect_value",
    "load_compilation",
    "load_value",
    "save_compilation",
    "save_value",
]
