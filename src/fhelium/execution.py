"""Another name of `fhelium.runtime`: the same objects."""

from fhelium.runtime import *  # noqa: F403
from fhelium.runtime import __all__ as __all__
