// Which levels of a transform one pass over memory can take on CUDA.
#pragma once

namespace fhelium {

/// Most levels of a pass over neighbours, which are the last ones, and of a pass in front of them.
inline constexpr int kContiguousLog = 8, kStridedLog = 9;

/// Whether one pass can take these levels of the tree.
inline bool is_pass(int log_degree, int first, int levels) {
  const bool inside = first >= 0 && levels >= 1 && first + levels <= log_degree;
  return inside && (first >= log_degree - kContiguousLog || levels <= kStridedLog);
}

/// How many passes a transform takes with as few as there may be.
inline int compact_passes(int log_degree) {
  return log_degree <= kContiguousLog ? 1 : log_degree <= kContiguousLog + kStridedLog ? 2 : 3;
}

}  // namespace fhelium
