// A name as a template argument: one function for each operator of a family of one shape.
#pragma once
#include <cstddef>

namespace fhelium {

template <size_t kSize>
struct Name {
  char text[kSize];
  constexpr Name(const char (&name)[kSize]) {
    for (size_t k = 0; k < kSize; ++k) text[k] = name[k];
  }
};

}  // namespace fhelium
