// The loop over limbs and batch items that every transform shares.
#pragma once
#include <algorithm>
#include <vector>

#include "common/row_loop.h"

namespace fhelium {

/// Call transform(destination, source, step, limb, next) for every row, one task per row, limb
/// outermost so that a limb's table is read once. The destination is contiguous: a buffer stands in
/// for the rows of a tensor that is not. `next` is the contiguous source that follows, or null.
template <class Word, class Transform>
void for_each_row(const ResidueRows<Word>& out, const ResidueRows<Word>& in,
                  const Transform& transform) {
  const int64_t grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(1, out.degree));
  parallel_for(0, out.limbs * out.batches, grain, [&](int64_t begin, int64_t end) {
    std::vector<Word> buffer(out.step == 1 ? 0 : static_cast<size_t>(out.degree));
    for (int64_t row = begin; row < end; ++row) {
      const int64_t limb = row / out.batches, batch = row % out.batches;
      Word* target = out.pointer(batch, limb);
      Word* work = out.step == 1 ? target : buffer.data();
      const bool follows = row + 1 < end && in.step == 1;
      const Word* next =
          follows ? in.pointer((row + 1) % out.batches, (row + 1) / out.batches) : nullptr;
      transform(work, static_cast<const Word*>(in.pointer(batch, limb)), in.step, limb, next);
      if (work == target) continue;
      copy_row(target, out.step, work, 1, out.degree);
    }
  });
}

}  // namespace fhelium
