// What the passes of a key switch read and write: each step between two transforms is done by the
// pass in front of it or behind it, on the way from or to memory.
#pragma once
#include "ckks/automorphism.cuh"
#include "ckks/inner_product.cuh"
#include "ckks/switch_layout.h"
#include "ntt/launch.cuh"
#include "rns/basis.cuh"

namespace fhelium {

/// Rows of the workspace, [item, row, N].
template <class Word>
struct DenseRows {
  Word* data;
  u32 items, rows;
  int log_degree;

  __device__ __forceinline__ Word* at(u32 item, u32 row) const {
    return data + (((i64)item * rows + row) << log_degree);
  }
  DeviceRows as_tensor() const {
    const i64 degree = (i64)1 << log_degree;
    return {data, items, rows, degree, degree, 1, {rows * degree}, {items}, 1};
  }
};

/// Neighbouring limbs, within the primes of Q whatever a device's memory says.
struct LimbSpan {
  u32 first, count;
  __device__ __forceinline__ bool holds(u32 limb) const { return limb - first < count; }
};

template <class Word>
__device__ __forceinline__ LimbSpan span_of_digit(const SwitchTables<Word>& t, u32 digit) {
  const u32 limbs = (u32)(t.limbs - t.specials), first = (u32)t.bounds[digit];
  if (first >= limbs) return {0, 1};
  const u32 count = (u32)t.bounds[digit + 1] - first, room = limbs - first;
  const u32 most = room < (u32)kMaxSourcePrimes ? room : (u32)kMaxSourcePrimes;
  return {first, count < 1 ? 1 : count < most ? count : most};
}

/// A centred value, given by its digits y_i in some rows, as one prime takes it up.
template <class Word>
struct Conversion {
  const Modulus<Word>* primes;  // of the digits
  const double* reciprocals;
  const Word* digits;  // of position 0 of the first row
  i64 stride;          // from row to row
  int count;

  __device__ __forceinline__ Word digit(int i, u32 k) const { return digits[i * stride + k]; }

  __device__ __forceinline__ Word multiple(u32 k) const {
    double sum = 0.0;
    for (int i = 0; i < count; ++i) sum = add_fraction(sum, digit(i, k), reciprocals[i]);
    return centring_multiple<Word>(
        sum, count, [&](int i) { return digit(i, k); }, [&](int i) { return primes[i].q; });
  }

  /// `whole` is the multiple; factors are D / d_i and then -D.
  __device__ __forceinline__ Word value(u32 k, Word whole, const Word* factors, bool wide,
                                        const Modulus<Word>& m) const {
    return take_up(
        count + 1, wide, [&](int i) { return i < count ? digit(i, k) : whole; },
        [&](int i) { return factors[i]; }, m);
  }
};

/// Whether the primes of source number `source` add up beyond R.
template <class Word>
__device__ __forceinline__ bool exceeds_radix(const SwitchTables<Word>& t, i64 source,
                                              const Modulus<Word>& m) {
  return ((u128)t.sums[2 * source + 1] << 64 | t.sums[2 * source]) > (u128)1 << m.bits;
}

/// Write coefficients as digits, times (D / d_i)^-1, from limb `first_scaled` on.
template <class Word>
struct DigitStore {
  static constexpr int kAtOnce = 0;
  SwitchTables<Word> t;
  DenseRows<Word> digits;
  u32 first_scaled;

  __device__ bool skips(NttRow) const { return false; }
  __device__ auto row(NttRow at) const {
    return [to = digits.at(at.item, at.row), scales = at.limb >= first_scaled,
            scale = t.scale[at.limb], m = t.moduli[at.limb]](u32 k, Word x) {
      to[k] = scales ? multiply_shifted(x, scale, m) : x;
    };
  }
};

/// ModUp: item number d batches + b is digit d of batch item b. On its own primes a digit is the
/// switched polynomial itself; where that has NTT values already, these rows are left out.
template <class Word>
struct RaisedLoad {
  static constexpr int kAtOnce = 1;
  SwitchTables<Word> t;
  DenseRows<Word> digits;
  DeviceRows switched;
  bool from_ntt;

  __device__ __forceinline__ LimbSpan span(NttRow at) const {
    return span_of_digit(t, at.item / digits.items);
  }
  __device__ bool skips(NttRow at) const { return from_ntt && span(at).holds(at.limb); }
  __device__ auto row(NttRow at) const {
    const u32 digit = at.item / digits.items, batch = at.item % digits.items;
    const LimbSpan own = span(at);
    const bool is_own = own.holds(at.limb);
    const Conversion<Word> conversion = {t.moduli + own.first, t.reciprocals + own.first,
                                         digits.at(batch, own.first), (i64)1 << digits.log_degree,
                                         (int)own.count};
    const Modulus<Word> m = t.moduli[at.limb];
    const Word* factors =
        t.digit_factors + at.limb * (t.limbs - t.specials + t.digits) + own.first + digit;
    return [=, wide = exceeds_radix(t, digit, m), step = switched.step,
            residues = row_at<const Word>(switched, batch, is_own ? at.limb : 0)](u32 k) {
      if (is_own) return residues[k * step];
      return conversion.value(k, conversion.multiple(k), factors, wide, m);
    };
  }
};

/// The rows that RaisedLoad leaves out are left out by the other passes as well.
template <class Word>
struct RaisedStore {
  static constexpr int kAtOnce = 0;
  RaisedLoad<Word> load;
  DeviceRows out;

  __device__ bool skips(NttRow at) const { return load.skips(at); }
  __device__ auto row(NttRow at) const { return PlainStore<Word>{out}.row(at); }
};

/// What is added to a component of the result; no data where there is nothing.
struct KeptRows {
  DeviceRows rows[2];
};

/// sum_d digit_d key_c,d, and P times what is kept, at every position of a row of the NTT domain;
/// digits and kept values are read where the automorphism says.
template <class Word>
struct InnerProduct {
  SwitchTables<Word> t;
  DenseRows<Word> raised;  // [digit, batch] items
  DeviceRows switched, key;
  KeptRows kept;
  u32 batches, galois_element;
  bool from_ntt;

  __device__ __forceinline__ auto row(NttRow at) const {
    const u32 half = at.item / batches, batch = at.item % batches, limb = at.limb;
    const int count = (int)t.digits;
    int own = -1;
    if (from_ntt && limb < t.limbs - t.specials)
      for (int d = 0; d < count; ++d)
        if (span_of_digit(t, (u32)d).holds(limb)) own = d;
    const DeviceRows& added = kept.rows[half];
    const bool adds = from_ntt && limb < t.limbs - t.specials && added.data != nullptr;
    const Word* key_row = row_at<const Word>(key, half, limb);
    const i64 key_stride = count > 1 ? row_at<const Word>(key, 2 + half, limb) - key_row : 0;
    const i64 digit_stride = (i64)batches * raised.rows << raised.log_degree;
    return [=, first = raised.at(batch, limb), m = t.moduli[limb], log_degree = raised.log_degree,
            g = galois_element, own_step = switched.step, added_step = added.step,
            key_step = key.step, product = adds ? t.special_product[limb] : 0,
            own_row = own >= 0 ? row_at<const Word>(switched, batch, limb) : nullptr,
            added_row = adds ? row_at<const Word>(added, batch, limb) : nullptr](u32 k) {
      const u32 source = g == 1 ? k : ntt_source(k, g, log_degree);
      const auto value = [&](int d) {
        if (d == count) return added_row[source * added_step];
        return d == own ? own_row[source * own_step] : first[d * digit_stride + source];
      };
      const auto factor = [&](int d) {
        return d == count ? product : key_row[d * key_stride + k * key_step];
      };
      return sum_of_products(adds ? count + 1 : count, value, factor, m);
    };
  }
};

/// The first pass of the sums' way back to coefficients makes them.
template <class Word>
struct InnerProductLoad {
  static constexpr int kAtOnce = 4;
  InnerProduct<Word> product;
  __device__ bool skips(NttRow) const { return false; }
  __device__ auto row(NttRow at) const { return product.row(at); }
};

/// What ModDown subtracts, modulo a prime of Q: the centred remainder r of the sum modulo P, and
/// where a rescaling follows P z, z the centred remainder of (sum - r) / P modulo q_0. Row i of
/// `sums` holds digit i modulo P; row K the sum modulo q_0.
template <class Word>
struct Remainder {
  SwitchTables<Word> t;
  DenseRows<Word> sums;
  bool rescale;

  __device__ __forceinline__ auto row(u32 item, u32 limb) const {
    const int specials = (int)t.specials;
    const i64 q_limbs = t.limbs - t.specials;
    const Conversion<Word> conversion = {t.moduli + q_limbs, t.reciprocals + q_limbs,
                                         sums.at(item, 0), (i64)1 << sums.log_degree, specials};
    const Modulus<Word> m = t.moduli[limb], m0 = t.moduli[0];
    const Word* factors0 = t.special_factors;
    const Word* factors = factors0 + (i64)limb * (specials + 3);
    const bool wide = exceeds_radix(t, t.digits, m), wide0 = exceeds_radix(t, t.digits, m0);
    return [=, rescales = rescale, inverse0 = t.special_inverse[0]](u32 k) {
      const Word whole = conversion.multiple(k);
      const Word r = conversion.value(k, whole, factors, wide, m);
      if (!rescales) return r;
      const Word r0 = conversion.value(k, whole, factors0, wide0, m0);
      const Word x0 = conversion.digit(specials, k);
      const Word z = multiply_shifted(subtract_modular(x0, r0, m0.q), inverse0, m0);
      const Word dropped = take_up<Word>(
          2, m0.q > (u128)1 << m.bits, [&](int i) { return i == 0 ? z : (Word)(z > m0.q / 2); },
          [&](int i) { return factors[specials + 1 + i]; }, m);
      return add_modular(r, dropped, m.q);
    };
  }
};

/// Coefficient k of what is kept under the automorphism, of a row in the coefficient domain.
template <class Word>
struct KeptCoefficient {
  const Word* row;
  i64 step;
  u32 inverse;
  int log_degree;
  Word q;

  __device__ __forceinline__ Word operator()(u32 k) const {
    return moved_coefficient(k, inverse, log_degree, q, [&](u32 j) { return row[j * step]; });
  }
};

/// The remainder goes to the NTT domain, and with it what is kept, if it is not there yet: minus P
/// times that, as (sum - (r - P kept)) / P.
template <class Word>
struct RemainderLoad {
  static constexpr int kAtOnce = 1;
  Remainder<Word> remainder;
  KeptRows kept;
  u32 batches, inverse;
  bool adds_kept;

  __device__ bool skips(NttRow) const { return false; }
  __device__ auto row(NttRow at) const {
    const SwitchTables<Word>& t = remainder.t;
    const DeviceRows& added = kept.rows[at.item / batches];
    const bool adds = adds_kept && added.data != nullptr;
    const Modulus<Word> m = t.moduli[at.limb];
    const KeptCoefficient<Word> coefficient = {
        adds ? row_at<const Word>(added, at.item % batches, at.limb) : nullptr, added.step, inverse,
        remainder.sums.log_degree, m.q};
    return
        [=, value = remainder.row(at.item, at.limb), product = t.special_product[at.limb]](u32 k) {
          const Word r = value(k);
          if (!adds) return r;
          return subtract_modular(r, multiply_shifted(coefficient(k), product, m), m.q);
        };
  }
};

/// The last pass of the remainder's transform divides: (sum - remainder) / P, or / (P q_0).
template <class Word>
struct DividedStore {
  static constexpr int kAtOnce = 4;
  InnerProduct<Word> product;
  DeviceRows out;
  const Word* inverse;  // by limb

  __device__ bool skips(NttRow) const { return false; }
  __device__ auto row(NttRow at) const {
    return [sum = product.row(at), to = row_at<Word>(out, at.item, at.row), step = out.step,
            factor = inverse[at.limb], m = product.t.moduli[at.limb]](u32 k, Word x) {
      to[k * step] = multiply_shifted(subtract_modular(sum(k), x, m.q), factor, m);
    };
  }
};

}  // namespace fhelium
