// Tables of the AVX2 transforms, and their function tables.
#include "ntt/arithmetic_avx2.h"
#include "ntt/paths_simd.h"

namespace fhelium {
namespace {

struct Avx2 {
  using Layout = NttLayout<4, Doubles4::kWords>;
  static constexpr NttTableFormat kFormat = kFormatAvx2;
  static constexpr int kPaths = static_cast<int>(PathAvx2::kPortable);
  static constexpr auto &kForward = kForwardAvx2, &kInverse = kInverseAvx2;

  static int path(i64 degree, const Modulus<u64>& m) {
    return static_cast<int>(path_avx2(degree, m));
  }
  static i64 words(int /*path*/, i64 degree) { return Layout(degree).words(); }
  static void build(int /*path*/, u64* table, i64 degree, u64 root, const Modulus<u64>& m) {
    fill_table(table, Layout(degree), root, m, [&](const Place& place, u64 w) {
      const double ratio = centred_ratio(w, m.q);
      __builtin_memcpy(table + place.offset, &ratio, sizeof ratio);
    });
  }
};

}  // namespace

const NttKernels<u64> kNttKernels64Avx2 = ByPrime<Avx2>::kernels();

const NttPath kNttPathsAvx2[] = {
    Held<Avx2, 0>::named("lazy"),
    Held<Avx2, 1>::named("pass"),
};

}  // namespace fhelium
