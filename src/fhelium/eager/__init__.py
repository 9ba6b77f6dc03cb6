"""Eager: encrypted computation one call at a time, through ``Engine``."""

from fhelium.eager.engine import Engine
from fhelium.eager.policy import DecryptPolicy
from fhelium.eager.precision import AxisPrecision, PrecisionStats

__all__ = ["AxisPrecision", "DecryptPolicy", "Engine", "PrecisionStats"]
