// Tables of the AVX-512 transforms, and their function table. Where a prime or a ring is left to
// the portable kernels, its row is theirs but for the format.
#include "ntt/arithmetic_avx512.h"
#include "ntt/kernels_simd.h"

namespace fhelium {
namespace {

i64 table_words(i64 degree, const Modulus<u64>& m) {
  const PathAvx512 path = path_avx512(degree, m);
  if (path == PathAvx512::kPortable) return kNttKernels64Portable.table_words(degree, m);
  if (is_wide(path)) return NttLayout<8, Wide::kWords>(degree).words();
  return NttLayout<8, Narrow::kWords>(degree).words();
}

void build_table(u64* table, i64 degree, u64 root, const Modulus<u64>& m) {
  const PathAvx512 path = path_avx512(degree, m);
  if (path == PathAvx512::kPortable) {
    kNttKernels64Portable.build_table(table, degree, root, m);
    table[kTableFormat] = kFormatAvx512;
  } else if (is_wide(path)) {
    const auto write = [&](const Place& place, u64 w) {
      table[place.offset] = shoup_quotient(w, m.q);
      table[place.offset + place.distance] = w;
    };
    fill_table(table, kFormatAvx512, NttLayout<8, Wide::kWords>(degree), root, m, write);
  } else {
    const auto write = [&](const Place& place, u64 w) {
      table[place.offset] = static_cast<u64>((u128{w} << 52) / m.q);
    };
    fill_table(table, kFormatAvx512, NttLayout<8, Narrow::kWords>(degree), root, m, write);
  }
}

}  // namespace

const NttKernels<u64> kNttKernels64Avx512 = {
    kFormatAvx512, table_words, build_table, forward_avx512, inverse_avx512,
};

}  // namespace fhelium
