// Tables of the AVX-512 transforms, and their function tables.
#include "ntt/arithmetic_avx512.h"
#include "ntt/paths_simd.h"

namespace fhelium {
namespace {

struct Avx512 {
  using NarrowLayout = NttLayout<8, Narrow::kWords>;
  using WideLayout = NttLayout<8, Wide::kWords>;
  static constexpr NttTableFormat kFormat = kFormatAvx512;
  static constexpr int kPaths = static_cast<int>(PathAvx512::kPortable);
  static constexpr int kWide = static_cast<int>(PathAvx512::kWideLazy);  // from here on
  static constexpr auto &kForward = kForwardAvx512, &kInverse = kInverseAvx512;

  static int path(i64 degree, const Modulus<u64>& m) {
    return static_cast<int>(path_avx512(degree, m));
  }
  static i64 words(int path, i64 degree) {
    return path < kWide ? NarrowLayout(degree).words() : WideLayout(degree).words();
  }
  static void build(int path, u64* table, i64 degree, u64 root, const Modulus<u64>& m) {
    if (path < kWide)
      fill_table(table, NarrowLayout(degree), root, m, [&](const Place& place, u64 w) {
        table[place.offset] = static_cast<u64>((u128{w} << 52) / m.q);
      });
    else
      fill_table(table, WideLayout(degree), root, m, [&](const Place& place, u64 w) {
        table[place.offset] = shoup_quotient(w, m.q);
        table[place.offset + place.distance] = w;
      });
  }
};

}  // namespace

const NttKernels<u64> kNttKernels64Avx512 = ByPrime<Avx512>::kernels();

const NttPath kNttPathsAvx512[] = {
    Held<Avx512, 0>::named("narrow_lazy"),  Held<Avx512, 1>::named("narrow_pass"),
    Held<Avx512, 2>::named("narrow_level"), Held<Avx512, 3>::named("wide_lazy"),
    Held<Avx512, 4>::named("wide_level"),
};

}  // namespace fhelium
