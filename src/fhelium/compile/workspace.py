"""What the passes of a compilation share: parameters, choices and what was found."""

from __future__ import annotations

from typing import Any

from fhelium.config import CkksConfig
from fhelium.errors import CompileError


class CompileWorkspace(dict[Any, Any]):
    """A dict, shared by identity from capture on, whose keys are names or classes.

    Passes read parameters from it and publish results in it, under the class of what they publish.

    Example:
        >>> from fhelium import Preset
        >>> config = CkksConfig.parse(Preset.slots4096_scale40_depth2_int64)
        >>> CompileWorkspace({CkksConfig: config}).config is config
        True
    """

    @property
    def config(self) -> CkksConfig:
        """Return the parameters.

        Raises:
            CompileError: There are none.
        """
        found = self.get(CkksConfig)
        if found is None:
            raise CompileError(
                "compile",
                "the workspace holds no CkksConfig",
                "Steps, depths and scales are those of a parameter set",
                "Make the workspace as CompileWorkspace({CkksConfig: config})",
            )
        return found

    def __repr__(self) -> str:
        names = [key.__name__ if isinstance(key, type) else str(key) for key in self]
        return f"CompileWorkspace({', '.join(names)})"
