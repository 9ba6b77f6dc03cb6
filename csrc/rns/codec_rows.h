// Whole polynomials between doubles and residues, for the operators that do no more and for those
// that encode or decode in one call.
#pragma once
#include <algorithm>

#include "common/rows.h"
#include "rns/codec.h"

namespace fhelium {

void check_scale(const char* operation, double scale);

/// rounded[k] = rint(values[k] * scale), which may be in place; whether any is 2^63 or larger.
/// Refuses those that are not finite, naming the index in a tensor of this shape.
bool round_all(const char* operation, double* rounded, const double* values, double scale,
               const Sizes& shape, int64_t count);

/// Integers [batches, degree] as doubles -> residues [batches, limb, degree].
template <class Word>
void reduce_all(Word* out, const double* rounded, bool wide, int64_t batches, int64_t degree,
                const std::vector<Modulus<Word>>& moduli);

/// How many blocks of coefficients a polynomial has.
inline int64_t centring_blocks(int64_t degree) {
  return (degree + kGarnerBlock - 1) / kGarnerBlock;
}

/// Residues -> the nearest doubles of the centred integers, block by block.
template <class Word>
class Centring {
 public:
  /// Refuses moduli that share a factor, and none at all.
  Centring(const char* operation, const std::vector<Modulus<Word>>& moduli);

  /// One block of polynomial `batch`, whose doubles begin at `row`. The workspace holds as many
  /// words as it needs, and afterwards what the block held.
  void block(double* row, const ResidueRows<Word>& rows, int64_t batch, int64_t index,
             u64* workspace) const;
  int64_t workspace_words() const { return garner_workspace(static_cast<int64_t>(moduli_.size())); }

  /// Blocks for one thread: a coefficient takes about limbs (limbs + 20) / 2 multiplications where
  /// it is large.
  int64_t grain() const {
    const auto limbs = static_cast<int64_t>(moduli_.size());
    return std::max<int64_t>(1, 4096 / (limbs * (limbs + 20)));
  }

 private:
  std::vector<Modulus<Word>> moduli_;
  std::vector<u64> garner_;
  Word pair_inverse_ = 0;
  std::vector<Word> pair_;
};

}  // namespace fhelium
