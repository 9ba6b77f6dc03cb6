// A name as a template argument: one function for each operator of a family of one shape.
#pragma once
#include <cstddef>

namespace fhelium {

template <size_t kSize>
struct Name {
  char text[kSize] = {};
  constexpr Name(const char (&name)[kSize]) {
    for (size_t k = 0; k < kSize; ++k) text[k] = name[k];
  }
  constexpr Name() = default;
};

/// The name of the operator that writes its first operand: one underscore more.
template <size_t kSize>
constexpr Name<kSize + 1> in_place(const Name<kSize>& name) {
  Name<kSize + 1> longer;
  for (size_t k = 0; k < kSize; ++k) longer.text[k] = name.text[k];
  longer.text[kSize - 1] = '_';
  longer.text[kSize] = 0;
  return longer;
}

}  // namespace fhelium
