// What the CKKS kernels of every vector instruction set share: which rows go to the vectors, and
// the table. A kernel file includes this at its end, after what it has said of its `Residue` words:
// serves(m), load_permuted(row, source), inner_row, and the kernels that the table names.
#pragma once
#include "ckks/automorphism_source.h"

namespace fhelium {
namespace {

void inner_product(Residue* out0, Residue* out1, const KeySwitchTerm<Residue>* terms, i64 count,
                   i64 digit_step, i64 key_step, i64 n, const Modulus<Residue>& m) {
  if (!serves(m) || digit_step != 1 || key_step != 1)
    portable.inner_product(out0, out1, terms, count, digit_step, key_step, n, m);
  else
    inner_row(out0, out1, nullptr, nullptr, 0, terms, count, InOrder{}, n, m);
}

void add_inner_product(Residue* out0, Residue* out1, const Residue* kept0, const Residue* kept1,
                       Residue factor, const KeySwitchTerm<Residue>* terms, i64 count,
                       const uint32_t* source, i64 n, const Modulus<Residue>& m) {
  if (!serves(m) || n < kLanes)
    portable.add_inner_product(out0, out1, kept0, kept1, factor, terms, count, source, n, m);
  else if (source == nullptr)
    inner_row(out0, out1, kept0, kept1, factor, terms, count, InOrder{}, n, m);
  else
    inner_row(out0, out1, kept0, kept1, factor, terms, count, Permuted{source}, n, m);
}

void permute(Residue* out, const Residue* in, i64 step, const uint32_t* source, i64 n) {
  if (step != 1 || n < kLanes) {
    portable.permute(out, in, step, source, n);
    return;
  }
  for (i64 k = 0; k < n; k += kLanes) store(Whole{}, out + k, load_permuted(in, source + k));
}

constexpr CkksKernels<Residue> kVectorKernels = {
    .inner_product = inner_product,
    .add_inner_product = add_inner_product,
    .subtract_scale = subtract_scale,
    .product = product,
    .square = square,
    .rescale = rescale,
    .centred_remainder = centred_remainder,
    .automorphism_source = automorphism_source_in_eights,
    .permute = permute,
};

}  // namespace
}  // namespace fhelium
