// Which elements two strided views share: what an in-place operator must know before it writes.
#include <algorithm>

#include "common/checks.h"

namespace fhelium {
namespace {

/// A stride and the interval of multiples of it that the index difference of two views can take.
struct Span {
  int64_t stride, least, most;
};

bool has_no_elements(const Sizes& sizes) {
  return std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
}

void add_spans(std::vector<Span>& spans, const Sizes& sizes, const Sizes& strides, bool negated) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] <= 1 || strides[i] == 0) continue;
    const int64_t reach = sizes[i] - 1;
    spans.push_back({strides[i], negated ? -reach : 0, negated ? 0 : reach});
  }
}

/// Count strides in units of which an element has several: those units are one more axis.
void refine(Sizes& sizes, Sizes& strides, int64_t units) {
  if (units == 1) return;
  for (int64_t& stride : strides) stride *= units;
  sizes.push_back(units);
  strides.push_back(1);
}

/// The axes that move at all, in order: two views with equal ones and one address are one view.
std::vector<std::pair<int64_t, int64_t>> moving_axes(const Sizes& sizes, const Sizes& strides) {
  std::vector<std::pair<int64_t, int64_t>> axes;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] > 1) axes.emplace_back(strides[i], sizes[i]);
  return axes;
}

/// Equal strides of the two views make one axis of the difference.
std::vector<Span> merged(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.stride > b.stride; });
  std::vector<Span> out;
  for (const Span& span : spans) {
    if (!out.empty() && out.back().stride == span.stride) {
      out.back().least += span.least;
      out.back().most += span.most;
    } else {
      out.push_back(span);
    }
  }
  return out;
}

/// Whether `distance` is a sum of one multiple per span. Gives up with "yes" after a bounded
/// search: nested strides, which all ordinary views have, leave one or two choices per axis.
bool reachable(const std::vector<Span>& spans, size_t first, int64_t distance, int& budget) {
  if (first == spans.size()) return distance == 0;
  int64_t least = 0, most = 0;
  for (size_t i = first; i < spans.size(); ++i) {
    least += spans[i].stride * spans[i].least;
    most += spans[i].stride * spans[i].most;
  }
  if (distance < least || distance > most) return false;
  const Span& span = spans[first];
  const int64_t rest_least = least - span.stride * span.least;
  const int64_t rest_most = most - span.stride * span.most;
  for (int64_t multiple = span.least; multiple <= span.most; ++multiple) {
    const int64_t rest = distance - multiple * span.stride;
    if (rest > rest_most) {  // jump to the first multiple that can still work
      multiple += (rest - rest_most - 1) / span.stride;
      continue;
    }
    if (rest < rest_least) return false;
    if (--budget < 0 || reachable(spans, first + 1, rest, budget)) return true;
  }
  return false;
}

}  // namespace

void check_destination(const Operation& operation, const Tensor& tensor) {
  // Sort the axes by stride: each axis must step past everything the faster axes cover.
  const Sizes sizes = sizes_of(tensor), strides = strides_of(tensor);
  if (has_no_elements(sizes)) return;
  auto axes = moving_axes(sizes, strides);
  std::sort(axes.begin(), axes.end());
  int64_t covered = 0;
  for (const auto& [stride, size] : axes) {
    if (stride <= covered)
      refuse(
          operation,
          "the destination has strides " + to_string(strides) + " and two indices share an element",
          "An in-place form writes each element once", "Call .contiguous() on it first");
    covered += stride * (size - 1);
  }
  tensor.mutable_data_ptr();  // a lazily shared copy becomes this tensor's own before it is written
}

void check_overlap(const Operation& operation, const Tensor& destination, const Tensor& source) {
  Sizes to_sizes = sizes_of(destination), to_strides = strides_of(destination);
  Sizes from_sizes = sizes_of(source), from_strides = strides_of(source);
  if (has_no_elements(to_sizes) || has_no_elements(from_sizes)) return;
  const auto to_bytes = static_cast<int64_t>(destination.element_size());
  const auto from_bytes = static_cast<int64_t>(source.element_size());
  const auto* to = static_cast<const char*>(destination.const_data_ptr());
  const auto* from = static_cast<const char*>(source.const_data_ptr());
  if (to == from && to_bytes == from_bytes &&
      moving_axes(to_sizes, to_strides) == moving_axes(from_sizes, from_strides))
    return;
  // Views of two types, such as int32 residues and an int64 table, may lie in one storage.
  const int64_t smaller = std::min(to_bytes, from_bytes);
  const int64_t unit = (from - to) % smaller == 0 ? smaller : 1;
  refine(to_sizes, to_strides, to_bytes / unit);
  refine(from_sizes, from_strides, from_bytes / unit);
  std::vector<Span> spans;
  add_spans(spans, to_sizes, to_strides, false);
  add_spans(spans, from_sizes, from_strides, true);
  int budget = 4096;
  if (!reachable(merged(std::move(spans)), 0, (from - to) / unit, budget)) return;
  refuse(operation,
         "source and destination share part of their storage: shapes " +
             to_string(sizes_of(source)) + " and " + to_string(sizes_of(destination)) +
             " with strides " + to_string(strides_of(source)) + " and " +
             to_string(strides_of(destination)),
         "They are the same view or share no element", "Clone the source first");
}

}  // namespace fhelium
