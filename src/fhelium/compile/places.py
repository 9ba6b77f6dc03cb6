"""Places in the user's source, for the errors of capture."""

from __future__ import annotations

import linecache
import sys
from types import FrameType

_INSIDE = ("torch.", "fhelium.compile.", "fhelium.ir.", "fhelium.values.")


def user_frame() -> FrameType | None:
    """Return the innermost frame that is the user's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and inside(frame):
        frame = frame.f_back
    return frame


def raising_frame(error: BaseException) -> FrameType | None:
    found, trace = None, error.__traceback__
    while trace is not None:
        if not inside(trace.tb_frame):
            found = trace.tb_frame
        trace = trace.tb_next
    return found


def inside(frame: FrameType) -> bool:
    """Say whether a frame is torch's or ours."""
    return frame.f_globals.get("__name__", "").startswith(_INSIDE)


def place(frame: FrameType | None) -> str:
    """Name a source line as an error text begins: file, line and the line itself."""
    if frame is None:
        return "capture"
    file, line = frame.f_code.co_filename, frame.f_lineno
    source = linecache.getline(file, line).strip()
    return f"{file}, line {line}" + (f" ({source})" if source else "")
