// Every constant of key switching at one depth, made once and read as it lies in a tensor, by the
// CPU or by a device.
#pragma once
#include <cstddef>

#include "rns/kernels.h"

namespace fhelium {

/// Words in front of a table.
enum SwitchTableHeader : int {
  kSwitchFormat,    // kSwitchTableMark + the bits of a residue word
  kSwitchLimbs,     // L + K
  kSwitchSpecials,  // K
  kSwitchDigits,    // D
  kSwitchDigest,    // of the words behind the header: a table is used as it was made
  kSwitchHeaderWords,
};
inline constexpr u64 kSwitchTableMark = 0x5317'0000;

/// Primes q_0 .. q_{L-1} of Q at this depth, cut into D digits, then the K special primes whose
/// product is P. "Source" number D is the special basis, number D + 1 the prime q_0 that a
/// rescaling drops. Constants are in Montgomery form.
template <class Word>
struct SwitchTables {
  int64_t limbs = 0, specials = 0, digits = 0;
  const u64* bounds = nullptr;  // D + 1 borders of the digits
  const Modulus<Word>* moduli = nullptr;
  const double* reciprocals = nullptr;     // by limb: 1 / q
  const Word* scale = nullptr;             // by limb: (D / d_i)^-1 mod d_i of its own source
  const Word* digit_factors = nullptr;     // by target, by digit: D / d_i, then -D
  const Word* special_factors = nullptr;   // by target in Q: P / p_i, -P, and then P, -P q_0
  const Word* special_product = nullptr;   // by target in Q: P
  const Word* special_inverse = nullptr;   // by target in Q: P^-1
  const Word* rescaled_inverse = nullptr;  // by target in Q but q_0: (P q_0)^-1
  const Word* one = nullptr;               // (q_0 / q_0)^-1 mod q_0
  const u64* sums = nullptr;               // by source: sum_i d_i, in two words

  int64_t q_limbs() const { return limbs - specials; }
  int64_t digit_begin(int64_t digit) const { return static_cast<int64_t>(bounds[digit]); }
  int64_t digit_size(int64_t digit) const { return digit_begin(digit + 1) - digit_begin(digit); }
  /// Rows of the digits of all ModUp tiles in front of this one's: each has one for its multiple.
  int64_t first_row(int64_t digit) const { return digit_begin(digit) + digit; }

  BasisSource<Word> digit_source(int64_t digit) const;
  BasisSource<Word> special_source() const;
  BasisSource<Word> dropped_source() const;

  BasisTarget<Word> digit_target(int64_t digit, int64_t limb) const;
  /// x mod P taken up by a prime of Q, and the division by P.
  BasisTarget<Word> special_target(int64_t limb) const;
  /// P times the dropped value taken up by a prime of Q.
  BasisTarget<Word> dropped_target(int64_t limb) const;
  /// Both at once: their tiles one behind the other. Only where `joins()`.
  BasisTarget<Word> joined_target(int64_t limb) const;
  /// Whether one conversion takes both: not more terms than it has room for, and of one form.
  bool joins() const;

 private:
  bool is_narrow(int64_t first, int64_t past) const;
  bool exceeds_radix(u128 sum, int64_t limb) const;
  u128 sum_of(int64_t source) const;
};

/// Hand out the parts of a table, in order, each on whole 64-bit words.
class TableParts {
 public:
  explicit TableParts(u64* begin) : next_(begin), begin_(begin) {}

  template <class T>
  T* take(int64_t count) {
    T* part = reinterpret_cast<T*>(next_);
    next_ += (static_cast<size_t>(count) * sizeof(T) + sizeof(u64) - 1) / sizeof(u64);
    return part;
  }
  int64_t words() const { return next_ - begin_; }

 private:
  u64 *next_, *begin_;
};

/// The parts of a table of these sizes; only the distances count where `begin` is null.
template <class Word>
inline int64_t lay_out(SwitchTables<Word>& t, u64* begin) {
  TableParts parts(begin);
  const int64_t q_limbs = t.q_limbs();
  parts.take<u64>(kSwitchHeaderWords);
  t.bounds = parts.take<u64>(t.digits + 1);
  t.sums = parts.take<u64>(2 * (t.digits + 1));
  t.moduli = parts.take<Modulus<Word>>(t.limbs);
  t.reciprocals = parts.take<double>(t.limbs);
  t.scale = parts.take<Word>(t.limbs);
  t.digit_factors = parts.take<Word>(t.limbs * (q_limbs + t.digits));
  t.special_factors = parts.take<Word>(q_limbs * (t.specials + 3));
  t.special_product = parts.take<Word>(q_limbs);
  t.special_inverse = parts.take<Word>(q_limbs);
  t.rescaled_inverse = parts.take<Word>(q_limbs);
  t.one = parts.take<Word>(1);
  return parts.words();
}

}  // namespace fhelium
