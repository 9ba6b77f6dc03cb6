// The kernels of a vector instruction set: by a prime's size, and held to one of its paths. A Set
// says
//   kFormat, kPaths                             the format of its tables, the number of its paths
//   path(degree, m)                             the fastest that serves; kPaths: the portable
//   kernels words(path, degree), build(path, table, degree, root, m)   a table but for the format
//   kForward, kInverse                          by path
#pragma once
#include "ntt/kernels_simd.h"

namespace fhelium {
namespace {

template <class Set>
struct ByPrime {
  static constexpr const NttKernels<u64>& kPortable = kNttKernels64Portable;

  static i64 words(i64 degree, const Modulus<u64>& m) {
    const int path = Set::path(degree, m);
    return path == Set::kPaths ? kPortable.table_words(degree, m) : Set::words(path, degree);
  }
  static void build(u64* table, i64 degree, u64 root, const Modulus<u64>& m) {
    const int path = Set::path(degree, m);
    if (path == Set::kPaths)
      kPortable.build_table(table, degree, root, m);
    else
      Set::build(path, table, degree, root, m);
    table[kTableFormat] = Set::kFormat;
  }
  static void forward(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                      const Modulus<u64>& m, const u64* next) {
    const int path = Set::path(degree, m);
    const auto row = path == Set::kPaths ? kPortable.forward : Set::kForward[path];
    row(out, in, step, degree, table, m, next);
  }
  static void inverse(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                      const Modulus<u64>& m, const u64* next) {
    const int path = Set::path(degree, m);
    const auto row = path == Set::kPaths ? kPortable.inverse : Set::kInverse[path];
    row(out, in, step, degree, table, m, next);
  }
  static constexpr NttKernels<u64> kernels() {
    return {Set::kFormat, words, build, forward, inverse};
  }
};

template <class Set, int kPath>
struct Held {
  static constexpr NttTableFormat kFormat = path_format(Set::kFormat, kPath);

  static bool admits(i64 degree, const Modulus<u64>& m) { return Set::path(degree, m) <= kPath; }
  static i64 words(i64 degree, const Modulus<u64>& /*m*/) { return Set::words(kPath, degree); }
  static void build(u64* table, i64 degree, u64 root, const Modulus<u64>& m) {
    Set::build(kPath, table, degree, root, m);
    table[kTableFormat] = kFormat;
  }
  static void forward(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                      const Modulus<u64>& m, const u64* next) {
    Set::kForward[kPath](out, in, step, degree, table, m, next);
  }
  static void inverse(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                      const Modulus<u64>& m, const u64* next) {
    Set::kInverse[kPath](out, in, step, degree, table, m, next);
  }
  static constexpr NttPath named(const char* name) {
    return {name, admits, {kFormat, words, build, forward, inverse}};
  }
};

}  // namespace
}  // namespace fhelium
