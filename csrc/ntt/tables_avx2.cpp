// Tables of the AVX2 transforms, and their function table. Where a prime or a ring is left to the
// portable kernels, its row is theirs but for the format.
#include "ntt/arithmetic_avx2.h"
#include "ntt/kernels_simd.h"

namespace fhelium {
namespace {

i64 table_words(i64 degree, const Modulus<u64>& m) {
  if (path_avx2(degree, m) == PathAvx2::kPortable)
    return kNttKernels64Portable.table_words(degree, m);
  return NttLayout<4, Doubles4::kWords>(degree).words();
}

void build_table(u64* table, i64 degree, u64 root, const Modulus<u64>& m) {
  if (path_avx2(degree, m) == PathAvx2::kPortable) {
    kNttKernels64Portable.build_table(table, degree, root, m);
    table[kTableFormat] = kFormatAvx2;
    return;
  }
  const auto write = [&](const Place& place, u64 w) {
    const double ratio = centred_ratio(w, m.q);
    __builtin_memcpy(table + place.offset, &ratio, sizeof ratio);
  };
  fill_table(table, kFormatAvx2, NttLayout<4, Doubles4::kWords>(degree), root, m, write);
}

}  // namespace

const NttKernels<u64> kNttKernels64Avx2 = {
    kFormatAvx2, table_words, build_table, forward_avx2, inverse_avx2,
};

}  // namespace fhelium
