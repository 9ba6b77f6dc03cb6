"""The compiled operators: loading, typed wrappers, and their shapes for tracing.

Importing this package loads nothing. The first wrapper call does, through `require_native()`;
a module that was not built, or not for this environment, says so there.
"""

from fhelium.native.runtime import NativeStatus, has_device, native_status, require_native

__all__ = ["NativeStatus", "has_device", "native_status", "require_native"]
