// Tables of the AVX-512 transforms, and their function tables. Where a prime or a ring is left to
// the portable kernels, its row is theirs but for the format.
#include "ntt/arithmetic_avx512.h"
#include "ntt/kernels_simd.h"

namespace fhelium {
namespace {

i64 words_on(PathAvx512 path, i64 degree, const Modulus<u64>& m) {
  if (path == PathAvx512::kPortable) return kNttKernels64Portable.table_words(degree, m);
  if (is_wide(path)) return NttLayout<8, Wide::kWords>(degree).words();
  return NttLayout<8, Narrow::kWords>(degree).words();
}

void build_on(PathAvx512 path, NttTableFormat format, u64* table, i64 degree, u64 root,
              const Modulus<u64>& m) {
  if (path == PathAvx512::kPortable) {
    kNttKernels64Portable.build_table(table, degree, root, m);
    table[kTableFormat] = format;
  } else if (is_wide(path)) {
    const auto write = [&](const Place& place, u64 w) {
      table[place.offset] = shoup_quotient(w, m.q);
      table[place.offset + place.distance] = w;
    };
    fill_table(table, format, NttLayout<8, Wide::kWords>(degree), root, m, write);
  } else {
    const auto write = [&](const Place& place, u64 w) {
      table[place.offset] = static_cast<u64>((u128{w} << 52) / m.q);
    };
    fill_table(table, format, NttLayout<8, Narrow::kWords>(degree), root, m, write);
  }
}

i64 table_words(i64 degree, const Modulus<u64>& m) {
  return words_on(path_avx512(degree, m), degree, m);
}

void build_table(u64* table, i64 degree, u64 root, const Modulus<u64>& m) {
  build_on(path_avx512(degree, m), kFormatAvx512, table, degree, root, m);
}

/// The kernels held to one path.
template <PathAvx512 kPath>
struct Held {
  static constexpr int kIndex = static_cast<int>(kPath);
  static constexpr NttTableFormat kFormat = path_format(kFormatAvx512, kIndex);

  static bool admits(i64 degree, const Modulus<u64>& m) { return path_avx512(degree, m) <= kPath; }
  static i64 words(i64 degree, const Modulus<u64>& m) { return words_on(kPath, degree, m); }
  static void build(u64* table, i64 degree, u64 root, const Modulus<u64>& m) {
    build_on(kPath, kFormat, table, degree, root, m);
  }
  static void forward(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                      const Modulus<u64>& m, const u64* next) {
    kForwardAvx512[kIndex](out, in, step, degree, table, m, next);
  }
  static void inverse(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                      const Modulus<u64>& m, const u64* next) {
    kInverseAvx512[kIndex](out, in, step, degree, table, m, next);
  }
  static constexpr NttPath named(const char* name) {
    return {name, admits, {kFormat, words, build, forward, inverse}};
  }
};

}  // namespace

const NttKernels<u64> kNttKernels64Avx512 = {
    kFormatAvx512, table_words, build_table, forward_avx512, inverse_avx512,
};

const NttPath kNttPathsAvx512[] = {
    Held<PathAvx512::kNarrowLazy>::named("narrow_lazy"),
    Held<PathAvx512::kNarrowPass>::named("narrow_pass"),
    Held<PathAvx512::kNarrowLevel>::named("narrow_level"),
    Held<PathAvx512::kWideLazy>::named("wide_lazy"),
    Held<PathAvx512::kWideLevel>::named("wide_level"),
};

}  // namespace fhelium
