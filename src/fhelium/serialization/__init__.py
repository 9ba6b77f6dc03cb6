"""Values, keys, key sets and parameters as files: save_value, load_value, inspect_value."""

from fhelium.serialization.container import TensorEntry
from fhelium.serialization.inspection import FileInfo
from fhelium.serialization.reading import inspect_value, load_value
from fhelium.serialization.writing import save_value

__all__ = ["FileInfo", "TensorEntry", "inspect_value", "load_value", "save_value"]
