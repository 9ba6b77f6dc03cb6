"""Parameters of CKKS: presets, the validated config, the prime search and the security table."""

from fhelium.config.ckks_config import CkksConfig
from fhelium.config.presets import DEFAULT_PRESET, Preset, choose_more_depth
from fhelium.config.security import SECURITY_LEVELS, SECURITY_MODELS, SecurityLevel, max_log2_qp

__all__ = [
    "DEFAULT_PRESET",
    "SECURITY_LEVELS",
    "SECURITY_MODELS",
    "CkksConfig",
    "Preset",
    "SecurityLevel",
    "choose_more_depth",
    "max_log2_qp",
]
