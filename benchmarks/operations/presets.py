"""The parameters that whole operations are measured at: a scale of 40 bits on every ring."""

from typing import Final

PRESETS: Final = {
    13: "slots4096_scale40_depth2_int64",
    14: "slots8192_scale40_depth7_int64",
    15: "slots16384_scale40_depth16_int64",
    16: "slots32768_scale40_depth34_int64",
}
