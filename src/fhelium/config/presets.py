"""The presets: names that say slots, bits of scale, maximum depth and residue dtype."""

from __future__ import annotations

import math
import re
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from fhelium.config.ckks_config import CkksConfig

_FORM: Final = re.compile(r"slots(\d+)_scale(\d+)_depth(\d+)_(int\d+)")


class PresetRecipe(NamedTuple):
    """What a preset's name says.

    Args:
        slots: Complex numbers in one message; the ring degree is twice as large.
        scale_bits: log2 of the default scale.
        depth: Number of rescalings.
        dtype_name: Residue dtype.
    """

    slots: int
    scale_bits: int
    depth: int
    dtype_name: str


# What the search finds for each (a test holds the table to it). All stay within the 128-bit
# classical row; "drift" is the largest |log2(D_d / D_0)| over the depths.
#
#   N     scale/depth  base  special     alpha  dnum  log2 QP   limit  drift
#   2^13  30/4         40    1 x 46.00   1      5      206.00    214   2.2e-04
#   2^13  40/2         50    2 x 28.00   1      3      186.00    214   1.9e-07
#   2^14  30/9         40    2 x 48.00   3      4      406.00    430   1.3e-03
#   2^14  40/7         50    2 x 48.00   2      4      426.00    430   1.8e-06
#   2^14  50/5         60    2 x 58.00   2      3      426.00    430   2.3e-09
#   2^15  30/21        40    4 x 46.51   6      4      856.07    868   9.1e-03
#   2^15  40/16        50    4 x 41.50   4      5      856.00    868   8.6e-06
#   2^15  50/12        60    4 x 51.50   4      4      866.00    868   9.6e-09
#   2^16  30/45        40    7 x 43.73   10     5     1696.05   1747   2.8e-02
#   2^16  40/34        50    6 x 49.33   7      5     1706.00   1747   3.5e-05
#   2^16  50/27        60    6 x 51.00   6      5     1716.00   1747   4.2e-08
#   2^17  30/95        40    10 x 49.54  16     6     3384.35   3523   1.1e-01
#   2^17  40/72        50    11 x 47.82  13     6     3456.00   3523   1.2e-04
#   2^17  50/58        60    9 x 56.22   10     6     3466.00   3523   1.1e-07
#   int32 residues, a base of two primes:
#   2^14  25/12        54    2 x 29.99   2      7      414.03    430   6.9e-02
#   2^15  25/28        54    4 x 26.54   4      8      860.21    868   2.2e-01
#   2^16  25/24        54    12 x 27.88  13     2      988.50   1747   5.5e-01
class Preset(StrEnum):
    """Parameter sets with 128-bit classical security, ready for CkksConfig.parse.

    More slots cost more time for each operation and allow more depth. A scale of 40 bits gives
    about 27 right bits, 30 about 17 and 50 about 37. Residues of int32 halve the memory at a scale
    of 25 bits, which gives 8 to 11.

    Example:
        >>> Preset.slots8192_scale40_depth7_int64.recipe.depth
        7
    """

    slots4096_scale30_depth4_int64 = "slots4096_scale30_depth4_int64"
    slots4096_scale40_depth2_int64 = "slots4096_scale40_depth2_int64"
    slots8192_scale30_depth9_int64 = "slots8192_scale30_depth9_int64"
    slots8192_scale40_depth7_int64 = "slots8192_scale40_depth7_int64"
    slots8192_scale50_depth5_int64 = "slots8192_scale50_depth5_int64"
    slots16384_scale30_depth21_int64 = "slots16384_scale30_depth21_int64"
    slots16384_scale40_depth16_int64 = "slots16384_scale40_depth16_int64"
    slots16384_scale50_depth12_int64 = "slots16384_scale50_depth12_int64"
    slots32768_scale30_depth45_int64 = "slots32768_scale30_depth45_int64"
    slots32768_scale40_depth34_int64 = "slots32768_scale40_depth34_int64"
    slots32768_scale50_depth27_int64 = "slots32768_scale50_depth27_int64"
    slots65536_scale30_depth95_int64 = "slots65536_scale30_depth95_int64"
    slots65536_scale40_depth72_int64 = "slots65536_scale40_depth72_int64"
    slots65536_scale50_depth58_int64 = "slots65536_scale50_depth58_int64"
    slots8192_scale25_depth12_int32 = "slots8192_scale25_depth12_int32"
    slots16384_scale25_depth28_int32 = "slots16384_scale25_depth28_int32"
    slots32768_scale25_depth24_int32 = "slots32768_scale25_depth24_int32"

    @property
    def recipe(self) -> PresetRecipe:
        """Return slots, scale bits, depth and dtype as the name says them."""
        match = _FORM.fullmatch(self.value)
        assert match is not None, f"preset name {self.value} breaks the form"
        slots, scale_bits, depth = map(int, match.group(1, 2, 3))
        return PresetRecipe(slots, scale_bits, depth, match.group(4))


DEFAULT_PRESET: Final = Preset.slots8192_scale40_depth7_int64


def choose_more_depth(config: CkksConfig) -> str:
    """Return the advice to whom depth runs out: the smallest preset that has more, at this scale.

    Example:
        >>> from fhelium.config import CkksConfig
        >>> choose_more_depth(CkksConfig.parse("slots4096_scale40_depth2_int64"))
        'Choose a preset with more depth, such as slots8192_scale40_depth7_int64'
    """
    kind = round(math.log2(config.default_scale)), config.dtype_name
    for preset in Preset:
        slots, scale_bits, depth, dtype_name = preset.recipe
        if (
            slots >= config.num_slots
            and depth > config.max_depth
            and kind == (scale_bits, dtype_name)
        ):
            return f"Choose a preset with more depth, such as {preset}"
    return "Choose parameters with more depth"
