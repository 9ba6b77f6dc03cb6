"""Another name of `fhelium.runtime` and of the values it handles: the same objects."""

from fhelium.runtime import *  # noqa: F403
from fhelium.values import TensorResident as TensorResident
