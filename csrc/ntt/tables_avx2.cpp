// Tables of the AVX2 transforms, and their function tables. Where a prime or a ring is left to the
// portable kernels, its row is theirs but for the format.
#include "ntt/arithmetic_avx2.h"
#include "ntt/kernels_simd.h"

namespace fhelium {
namespace {

i64 vector_words(i64 degree, const Modulus<u64>& /*m*/) {
  return NttLayout<4, Doubles4::kWords>(degree).words();
}

void build_vectors(NttTableFormat format, u64* table, i64 degree, u64 root, const Modulus<u64>& m) {
  const auto write = [&](const Place& place, u64 w) {
    const double ratio = centred_ratio(w, m.q);
    __builtin_memcpy(table + place.offset, &ratio, sizeof ratio);
  };
  fill_table(table, format, NttLayout<4, Doubles4::kWords>(degree), root, m, write);
}

i64 table_words(i64 degree, const Modulus<u64>& m) {
  if (path_avx2(degree, m) == PathAvx2::kPortable)
    return kNttKernels64Portable.table_words(degree, m);
  return vector_words(degree, m);
}

void build_table(u64* table, i64 degree, u64 root, const Modulus<u64>& m) {
  if (path_avx2(degree, m) != PathAvx2::kPortable)
    return build_vectors(kFormatAvx2, table, degree, root, m);
  kNttKernels64Portable.build_table(table, degree, root, m);
  table[kTableFormat] = kFormatAvx2;
}

/// The kernels held to one path.
template <PathAvx2 kPath>
struct Held {
  static constexpr int kIndex = static_cast<int>(kPath);
  static constexpr NttTableFormat kFormat = path_format(kFormatAvx2, kIndex);

  static bool admits(i64 degree, const Modulus<u64>& m) { return path_avx2(degree, m) <= kPath; }
  static void build(u64* table, i64 degree, u64 root, const Modulus<u64>& m) {
    build_vectors(kFormat, table, degree, root, m);
  }
  static void forward(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                      const Modulus<u64>& m, const u64* next) {
    kForwardAvx2[kIndex](out, in, step, degree, table, m, next);
  }
  static void inverse(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                      const Modulus<u64>& m, const u64* next) {
    kInverseAvx2[kIndex](out, in, step, degree, table, m, next);
  }
  static constexpr NttPath named(const char* name) {
    return {name, admits, {kFormat, vector_words, build, forward, inverse}};
  }
};

}  // namespace

const NttKernels<u64> kNttKernels64Avx2 = {
    kFormatAvx2, table_words, build_table, forward_avx2, inverse_avx2,
};

const NttPath kNttPathsAvx2[] = {
    Held<PathAvx2::kLazy>::named("lazy"),
    Held<PathAvx2::kPass>::named("pass"),
};

}  // namespace fhelium
