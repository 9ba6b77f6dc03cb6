// What is switched to another key, and what is added to the result: the sources of a KeySwitch.
#pragma once
#include "ckks/key_switch.h"
#include "ckks/permute_signed.h"

namespace fhelium {

/// What every source needs to bring a row to the other domain.
template <class Word>
struct SourceRows {
  const SwitchTables<Word>& constants;
  NttTables<Word> ntt;
  int64_t degree, batches;
  bool from_ntt;

  void forward(Word* out, const Word* in, int64_t limb) const {
    ntt_kernels<Word>().forward(out, in, 1, degree, ntt.row(limb), constants.moduli[limb], nullptr);
  }
  void inverse(Word* out, const Word* in, int64_t limb) const {
    ntt_kernels<Word>().inverse(out, in, 1, degree, ntt.row(limb), constants.moduli[limb], nullptr);
  }
  /// Coefficients of a row in either domain, and its NTT values.
  const Word* both(const Word* row, int64_t limb, Word* coefficients, Word* values) const {
    if (from_ntt) {
      inverse(coefficients, row, limb);
      return row;
    }
    forward(values, row, limb);
    std::copy(row, row + degree, coefficients);
    return values;
  }
  /// NTT values of a row in either domain: itself, or `values`.
  const Word* in_ntt(const Word* row, int64_t limb, Word* values) const {
    if (from_ntt) return row;
    forward(values, row, limb);
    return values;
  }
};

/// Component 2 of three; components 0 and 1 are kept.
template <class Word>
struct ThirdComponent {
  SourceRows<Word> rows;
  ResidueRows<Word> in;

  const Word* decompose(int64_t limb, int64_t batch, Word* coefficients, Word* values, Word*,
                        Word*) const {
    return rows.both(in.pointer(2 * rows.batches + batch, limb), limb, coefficients, values);
  }
  KeptRows<Word> keep(int64_t, int64_t limb, int64_t batch, Word* sum0, Word* sum1) const {
    return {rows.in_ntt(in.pointer(batch, limb), limb, sum0),
            rows.in_ntt(in.pointer(rows.batches + batch, limb), limb, sum1)};
  }
};

/// An automorphism, by both of its forms: where NTT values come from, and the inverse of the Galois
/// element modulo 2 N for coefficients.
struct Automorphism {
  u64 element, inverse;
  const uint32_t* positions;
};

template <class Word>
const Word* permuted(const SourceRows<Word>& rows, const Automorphism& by, const Word* row,
                     int64_t limb, Word* out) {
  if (by.element == 1) return row;
  if (rows.from_ntt)
    ckks_kernels<Word>().permute(out, row, 1, by.positions, rows.degree);
  else
    permute_signed(out, row, 1, rows.degree, by.inverse, rows.constants.moduli[limb]);
  return out;
}

/// The automorphism's component 1 of two; its component 0 is kept.
template <class Word>
struct MovedComponent {
  SourceRows<Word> rows;
  ResidueRows<Word> in;
  Automorphism by;

  const Word* decompose(int64_t limb, int64_t batch, Word* coefficients, Word* values, Word* sum0,
                        Word*) const {
    const Word* row = in.pointer(rows.batches + batch, limb);
    // In the coefficient domain `values` is still to be filled: the first sum has room.
    return rows.both(permuted(rows, by, row, limb, rows.from_ntt ? values : sum0), limb,
                     coefficients, values);
  }
  KeptRows<Word> keep(int64_t, int64_t limb, int64_t batch, Word* sum0, Word*) const {
    const Word* row = permuted(rows, by, in.pointer(batch, limb), limb, sum0);
    return {rows.in_ntt(row, limb, sum0), nullptr};
  }
};

/// Component 1 as it is, for several automorphisms of its digits; each keeps its component 0.
template <class Word>
struct HoistedComponent {
  SourceRows<Word> rows;
  ResidueRows<Word> in;
  const Automorphism* by;

  const Word* decompose(int64_t limb, int64_t batch, Word* coefficients, Word* values, Word*,
                        Word*) const {
    return rows.both(in.pointer(rows.batches + batch, limb), limb, coefficients, values);
  }
  KeptRows<Word> keep(int64_t result, int64_t limb, int64_t batch, Word* sum0, Word*) const {
    const Word* row = permuted(rows, by[result], in.pointer(batch, limb), limb, sum0);
    return {rows.in_ntt(row, limb, sum0), nullptr};
  }
};

/// The third component of a product of two ciphertexts in the NTT domain; the others are kept.
template <class Word>
struct ProductComponent {
  SourceRows<Word> rows;
  ResidueRows<Word> lhs, rhs;
  bool is_square;

  const Word* decompose(int64_t limb, int64_t batch, Word* coefficients, Word* values, Word* sum0,
                        Word* sum1) const {
    const CkksKernels<Word>& kernels = ckks_kernels<Word>();
    const Modulus<Word>& m = rows.constants.moduli[limb];
    Word* const out[3] = {sum0, sum1, values};
    const Word* const a[2] = {lhs.pointer(batch, limb), lhs.pointer(rows.batches + batch, limb)};
    const Word* const b[2] = {rhs.pointer(batch, limb), rhs.pointer(rows.batches + batch, limb)};
    if (is_square)
      kernels.square(out, a, 1, rows.degree, m);
    else
      kernels.product(out, a, 1, b, 1, rows.degree, m);
    rows.inverse(coefficients, values, limb);
    return values;
  }
  KeptRows<Word> keep(int64_t, int64_t, int64_t, Word* sum0, Word* sum1) const {
    return {sum0, sum1};
  }
};

}  // namespace fhelium
