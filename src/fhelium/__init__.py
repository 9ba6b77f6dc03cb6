"""CKKS homomorphic encryption for PyTorch: encrypted values are tensors with honest state."""

from fhelium.version import __version__

__all__ = ["__version__"]
