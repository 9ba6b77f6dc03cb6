// A whole key switch in one parallel region: a polynomial d under another secret becomes two
// polynomials under this one (hybrid key switching; Han, Ki, CT-RSA 2020).
//
//   1 decompose   the coefficients of d, limb by limb
//   2 centre      each digit of d as numbers that any prime can take up          (ModUp)
//   3 raise       limb by limb on QP: the digits in the NTT domain, times the key, added up
//   4 centre      the sums modulo P, and where a rescaling follows what it drops  (ModDown)
//   5 divide      limb by limb on Q: (sum - remainder) / P, or / (P q_0)
//
// What a digit is modulo its own primes is known in the NTT domain already, and the sums stay there
// on Q: only their rows modulo P, and modulo q_0 where that is dropped, return to coefficients.
// What is added to the result enters step 3 times P. ModDown and rescaling are one division: with
// r = [x]_P and z = (x - r) / P mod q_0 centred, (x - r - P z) / (P q_0) is what the two steps
// give, bit for bit. A limb is treated whole, so that its tables and its key are read once and its
// rows stay in the second cache.
#pragma once
#include <algorithm>
#include <vector>

#include "ckks/kernels.h"
#include "ckks/switch_tables.h"
#include "common/pool.h"
#include "common/rows.h"
#include "common/stages.h"
#include "ntt/tables.h"

namespace fhelium {

/// Where the rows of an evaluation key begin that are in use at this depth.
template <class Word>
struct KeyRows {
  const Word* data;
  int64_t digit_stride, half_stride, limb_stride;

  const Word* row(int64_t digit, int64_t half, int64_t limb) const {
    return data + digit * digit_stride + half * half_stride + limb * limb_stride;
  }
};

/// One result: the key, the order in which an automorphism reads the digits (null: as they are),
/// and [2, *batch, limb, N].
template <class Word>
struct SwitchResult {
  KeyRows<Word> key;
  const uint32_t* positions;
  ResidueRows<Word> out;
};

/// What a call asks for. Several results share the steps 1 and 2 and the digits of step 3.
template <class Word>
struct SwitchCall {
  SwitchTables<Word> constants;
  NttTables<Word> ntt;
  int64_t degree, batches;
  bool rescale, to_ntt;
  std::vector<SwitchResult<Word>> results;
};

/// The rows that are added to a result, in the NTT domain; null where there are none.
template <class Word>
struct KeptRows {
  const Word *row0, *row1;
};

/// The steps on some neighbouring batch items. A Source says what is switched:
///   decompose(limb, batch, coefficients, values, sum0, sum1)  fills the row of coefficients and
///     returns the row of NTT values: one of its own, or `values`, which it fills. It may use the
///     rows of the first result's sums;
///   keep(result, limb, batch, sum0, sum1)  returns the kept rows, which may be the sums' own.
template <class Word, class Source>
class KeySwitch {
 public:
  KeySwitch(const SwitchCall<Word>& call, const Source& source, int64_t first, int64_t count)
      : call_(call),
        t_(call.constants),
        source_(source),
        n_(call.degree),
        first_(first),
        count_(count),
        together_(digit_rows() * n_ * static_cast<int64_t>(sizeof(Word)) > kManyBytes ? 4 : 1),
        participants_(participants_for(nanoseconds())),
        stride_(n_ + kPadding),
        workspace_(static_cast<size_t>(rows()) * Workspace::room_for<Word>(stride_)) {
    digits_ = take_rows(count * digit_rows());
    values_ = take_rows(count * t_.q_limbs());
    remainders_ = take_rows(2 * results() * count * remainder_rows());
    scratch_ = take_rows(participants_ * scratch_rows());
    values_of_.resize(static_cast<size_t>(count * t_.q_limbs()));
    terms_.resize(static_cast<size_t>(participants_ * t_.digits));
  }

  void run() {
    const int64_t q_limbs = t_.q_limbs(), dropped = call_.rescale ? 1 : 0, sums = 2 * results();
    const int64_t chunks = (n_ + kChunk - 1) / kChunk;
    const auto item = [this](int64_t i) { return first_ + i % count_; };
    const auto chunk = [=](int64_t i) { return i % chunks * kChunk; };
    const auto groups = [this](int64_t limbs) { return (limbs + together_ - 1) / together_; };
    const auto decompose_limb = [&](int64_t i, int64_t) { decompose(i / count_, item(i)); };
    const auto centre_digits = [&](int64_t i, int64_t) {
      centre_digit(i / chunks / count_, item(i / chunks), chunk(i));
    };
    const auto raise_divided = [&](int64_t i, int64_t who) {
      const int64_t group = i / count_ - dropped;
      if (group < 0) return raise(0, 1, item(i), who);
      raise(q_limbs + group * together_, t_.limbs, item(i), who);
    };
    const auto raise_kept = [&](int64_t i, int64_t who) {
      raise(dropped + i / count_ * together_, q_limbs, item(i), who);
    };
    const auto centre_sums = [&](int64_t i, int64_t) {
      centre_sum(i / chunks / count_, item(i / chunks), chunk(i));
    };
    const auto divide_limb = [&](int64_t i, int64_t who) {
      divide(dropped + i / (sums * count_), i / count_ % sums, item(i), who);
    };
    run_stages(participants_, Stage{q_limbs * count_, decompose_limb},
               Stage{t_.digits * count_ * chunks, centre_digits},
               // What the division takes away comes first: step 4 then fills the end of step 3.
               Stage{(dropped + groups(t_.specials)) * count_, raise_divided},
               Stage{groups(q_limbs - dropped) * count_, raise_kept, 2},
               Stage{sums * count_ * chunks, centre_sums, 3},
               Stage{(q_limbs - dropped) * sums * count_, divide_limb});
  }

 private:
  /// Rows a power of two apart would share the sets of a cache.
  static constexpr int64_t kPadding = 5 * 64 / sizeof(Word);
  /// Digits of more bytes than stay in a cache are read for several limbs at once.
  static constexpr int64_t kManyBytes = int64_t{8} << 20;
  static constexpr int64_t kChunk = 4096;  // coefficients of a work item of the steps 2 and 4

  // ---- the steps ----

  void decompose(int64_t limb, int64_t batch) {
    values_of(limb, batch) =
        source_.decompose(limb, batch, digit_row(limb, batch),
                          values_ + ((batch - first_) * t_.q_limbs() + limb) * stride_,
                          sum_row(0, limb, batch), sum_row(1, limb, batch));
  }

  void centre_digit(int64_t digit, int64_t batch, int64_t begin) {
    centre(t_.digit_source(digit), digit_tile(digit, batch), begin);
  }

  /// Some limbs together, those before `end`, so that a digit is read once for all of them.
  void raise(int64_t first, int64_t end, int64_t batch, int64_t participant) {
    const int64_t past = std::min(first + together_, end);
    for (int64_t d = 0; d < t_.digits; ++d) {
      for (int64_t k = 0; k < n_; k += kChunk) {
        const BasisTile<Word> tile = {digit_tile(d, batch).digits + k, stride_};
        for (int64_t limb = first; limb < past; ++limb)
          if (!is_own(d, limb))
            rns_.convert(scratch(participant, d, limb - first) + k, tile, std::min(kChunk, n_ - k),
                         t_.digit_target(d, limb));
      }
      for (int64_t limb = first; limb < past; ++limb) {
        if (is_own(d, limb)) continue;
        Word* raised = scratch(participant, d, limb - first);
        // The key comes from memory meanwhile.
        const Word* next = call_.results[0].key.row(d, 0, limb);
        ntt_.forward(raised, raised, 1, n_, call_.ntt.row(limb), t_.moduli[limb], next);
      }
    }
    for (int64_t limb = first; limb < past; ++limb)
      multiply(limb, batch, participant, limb - first);
  }

  void multiply(int64_t limb, int64_t batch, int64_t participant, int64_t slot) {
    const Modulus<Word>& m = t_.moduli[limb];
    const bool on_q = limb < t_.q_limbs();
    KeySwitchTerm<Word>* terms = terms_.data() + participant * t_.digits;
    for (int64_t d = 0; d < t_.digits; ++d)
      terms[d].digit = is_own(d, limb) ? values_of(limb, batch) : scratch(participant, d, slot);
    for (int64_t r = 0; r < results(); ++r) {
      const SwitchResult<Word>& result = call_.results[static_cast<size_t>(r)];
      Word *sum0 = sum_row(2 * r, limb, batch), *sum1 = sum_row(2 * r + 1, limb, batch);
      KeptRows<Word> kept = {nullptr, nullptr};
      if (on_q) kept = source_.keep(r, limb, batch, sum0, sum1);
      for (int64_t d = 0; d < t_.digits; ++d) {
        terms[d].key0 = result.key.row(d, 0, limb);
        terms[d].key1 = result.key.row(d, 1, limb);
      }
      ckks_.add_inner_product(sum0, sum1, kept.row0, kept.row1, on_q ? t_.special_product[limb] : 0,
                              terms, t_.digits, result.positions, n_, m);
      if (on_q && call_.to_ntt && !is_dropped(limb)) continue;
      ntt_.inverse(sum0, sum0, 1, n_, call_.ntt.row(limb), m, nullptr);
      ntt_.inverse(sum1, sum1, 1, n_, call_.ntt.row(limb), m, nullptr);
    }
  }

  void centre_sum(int64_t sum, int64_t batch, int64_t begin) {
    const BasisTile<Word> special = remainder_tile(sum, batch);
    centre(t_.special_source(), special, begin);
    if (!call_.rescale) return;
    const BasisTile<Word> dropped = dropped_tile(sum, batch);
    const int64_t width = std::min(kChunk, n_ - begin);
    rns_.subtract_divide(dropped.digits + begin, dropped.digits + begin, 1,
                         {special.digits + begin, stride_}, width, t_.special_target(0));
    centre(t_.dropped_source(), dropped, begin);
  }

  void divide(int64_t limb, int64_t sum, int64_t batch, int64_t participant) {
    const Modulus<Word>& m = t_.moduli[limb];
    Word *out = sum_row(sum, limb, batch), *remainder = scratch(participant, 0, 0);
    if (!call_.rescale || t_.joins()) {
      rns_.convert(remainder, remainder_tile(sum, batch), n_,
                   call_.rescale ? t_.joined_target(limb) : t_.special_target(limb));
    } else {
      Word* second = scratch(participant, 0, 0) + stride_;
      rns_.convert(remainder, remainder_tile(sum, batch), n_, t_.special_target(limb));
      rns_.convert(second, dropped_tile(sum, batch), n_, t_.dropped_target(limb));
      rns_.add(remainder, 1, remainder, 1, second, 1, n_, m);
    }
    if (call_.to_ntt) ntt_.forward(remainder, remainder, 1, n_, call_.ntt.row(limb), m, nullptr);
    ckks_.subtract_scale(out, out, remainder,
                         call_.rescale ? t_.rescaled_inverse[limb] : t_.special_inverse[limb], n_,
                         m);
  }

  /// Rows become the digits of their centred value, in place.
  void centre(const BasisSource<Word>& from, const BasisTile<Word>& rows, int64_t begin) {
    for (int64_t k = begin; k < std::min(begin + kChunk, n_); k += kBasisTile) {
      const BasisTile<Word> tile = {rows.digits + k, stride_};
      const Word* own[kMaxSourcePrimes];
      for (int i = 0; i < from.count; ++i) own[i] = digit_of(tile, i);
      rns_.centre(tile, own, 1, std::min(kBasisTile, n_ - k), from);
    }
  }

  // ---- where rows lie ----

  int64_t results() const { return static_cast<int64_t>(call_.results.size()); }
  bool is_dropped(int64_t limb) const { return call_.rescale && limb == 0; }
  int64_t digit_rows() const { return t_.q_limbs() + t_.digits; }
  /// The special rows and their multiple of P; the dropped row and its multiple of q_0.
  int64_t remainder_rows() const { return t_.specials + (call_.rescale ? 3 : 1); }
  int64_t rows_per_item() const {
    return digit_rows() + t_.q_limbs() + 2 * results() * remainder_rows();
  }
  int64_t rows() const { return count_ * rows_per_item() + participants_ * scratch_rows(); }

  Word* take_rows(int64_t rows) { return workspace_.template take<Word>(rows * stride_); }
  BasisTile<Word> digit_tile(int64_t digit, int64_t batch) const {
    return {digits_ + ((batch - first_) * digit_rows() + t_.first_row(digit)) * stride_, stride_};
  }
  Word* digit_row(int64_t limb, int64_t batch) const {
    int64_t digit = 0;
    while (t_.digit_begin(digit + 1) <= limb) ++digit;
    return digit_of(digit_tile(digit, batch), static_cast<int>(limb - t_.digit_begin(digit)));
  }
  const Word*& values_of(int64_t limb, int64_t batch) {
    return values_of_[static_cast<size_t>((batch - first_) * t_.q_limbs() + limb)];
  }
  BasisTile<Word> remainder_tile(int64_t sum, int64_t batch) const {
    return {remainders_ + (sum * count_ + batch - first_) * remainder_rows() * stride_, stride_};
  }
  BasisTile<Word> dropped_tile(int64_t sum, int64_t batch) const {
    return {remainder_tile(sum, batch).digits + (t_.specials + 1) * stride_, stride_};
  }
  /// Sum number 2 r + c is component c of result r.
  Word* sum_row(int64_t sum, int64_t limb, int64_t batch) const {
    if (is_dropped(limb)) return dropped_tile(sum, batch).digits;
    if (limb >= t_.q_limbs())
      return digit_of(remainder_tile(sum, batch), static_cast<int>(limb - t_.q_limbs()));
    const ResidueRows<Word>& out = call_.results[static_cast<size_t>(sum / 2)].out;
    return out.pointer(sum % 2 * call_.batches + batch, limb - (call_.rescale ? 1 : 0));
  }
  Word* scratch(int64_t participant, int64_t digit, int64_t slot) const {
    return scratch_ + (participant * scratch_rows() + slot * t_.digits + digit) * stride_;
  }
  bool is_own(int64_t digit, int64_t limb) const {
    return t_.digit_begin(digit) <= limb && limb < t_.digit_begin(digit + 1);
  }
  int64_t scratch_rows() const { return std::max<int64_t>(2, together_ * t_.digits); }

  double nanoseconds() const {
    const auto transforms = static_cast<double>(t_.digits * t_.limbs + 4 * t_.limbs * results());
    return static_cast<double>(count_ * n_) * transforms;
  }

  const SwitchCall<Word>& call_;
  const SwitchTables<Word>& t_;
  const Source& source_;
  const RnsKernels<Word>& rns_ = rns_kernels<Word>();
  const NttKernels<Word>& ntt_ = ntt_kernels<Word>();
  const CkksKernels<Word>& ckks_ = ckks_kernels<Word>();
  int64_t n_, first_, count_, together_, participants_, stride_;
  Workspace workspace_;
  Word *digits_, *values_, *remainders_, *scratch_;
  std::vector<const Word*> values_of_;      // by batch item and limb
  std::vector<KeySwitchTerm<Word>> terms_;  // by participant and digit
};

/// The whole call, in groups of batch items whose workspace stays bounded.
template <class Word, class Source>
void switch_keys(const SwitchCall<Word>& call, const Source& source) {
  constexpr int64_t kMostBytes = int64_t{256} << 20;
  const SwitchTables<Word>& t = call.constants;
  const int64_t rows =
      2 * t.q_limbs() + t.digits + 2 * static_cast<int64_t>(call.results.size()) * (t.specials + 3);
  const int64_t bytes = rows * call.degree * static_cast<int64_t>(sizeof(Word));
  const int64_t group = std::max<int64_t>(1, kMostBytes / bytes);
  for (int64_t first = 0; first < call.batches; first += group)
    KeySwitch(call, source, first, std::min(group, call.batches - first)).run();
}

}  // namespace fhelium
