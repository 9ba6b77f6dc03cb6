// Rescaling in the NTT domain, in one parallel region. Only the row that is dropped returns to
// coefficients: with r its centred representative, (x - NTT(r mod q)) q_0^-1 is the transform of
// (x - r) / q_0, bit for bit.
#pragma once
#include <algorithm>
#include <vector>

#include "ckks/checks.h"
#include "ckks/kernels.h"
#include "common/pool.h"
#include "common/rows.h"
#include "common/stages.h"
#include "ntt/tables.h"

namespace fhelium {

/// Moduli of the limbs and q_0^-1 modulo those that remain, in Montgomery form.
template <class Word>
struct RescaleConstants {
  std::vector<Modulus<Word>> moduli;
  std::vector<Word> inverse;

  RescaleConstants(const char* name, const Tensor& inverse_of, const Tensor& rns_params,
                   int64_t limbs)
      : moduli(check_parameters<Word>(name, rns_params, limbs)),
        inverse(check_constants(name, "inverse", inverse_of, moduli.data() + 1, limbs - 1)) {}
  const Modulus<Word>& modulus(int64_t limb) const { return moduli[static_cast<size_t>(limb)]; }
};

/// Fill `out`, whose limb l is the input's limb l + 1. values(batch, limb, room) gives a row of the
/// input: one that lies somewhere, or `room`, which it fills.
template <class Word, class Values>
void rescale_values(const ResidueRows<Word>& out, const RescaleConstants<Word>& constants,
                    const NttTables<Word>& table, const Values& values) {
  constexpr int64_t kMostBytes = int64_t{64} << 20;
  const auto& ntt = ntt_kernels<Word>();
  const auto& ckks = ckks_kernels<Word>();
  const int64_t n = out.degree, row_bytes = n * static_cast<int64_t>(sizeof(Word));
  const int64_t group = std::max<int64_t>(1, std::min(kMostBytes / row_bytes, out.batches));
  const int64_t participants = participants_for(2.5 * static_cast<double>(out.limbs * group * n));
  Workspace workspace(Workspace::room_for<Word>(group * n) +
                      static_cast<size_t>(participants) * Workspace::room_for<Word>(n));
  Word *dropped = workspace.take<Word>(group * n),
       *scratch = workspace.take<Word>(participants * n);
  for (int64_t first = 0; first < out.batches; first += group) {
    const int64_t count = std::min(group, out.batches - first);
    const auto return_dropped = [&](int64_t item, int64_t) {
      Word* row = dropped + item * n;
      ntt.inverse(row, values(first + item, 0, row), 1, n, table.row(0), constants.modulus(0),
                  nullptr);
    };
    const auto divide = [&](int64_t item, int64_t who) {
      const int64_t limb = item / count + 1, batch = first + item % count;
      const Modulus<Word>& m = constants.modulus(limb);
      Word *remainder = scratch + who * n, *to = out.pointer(batch, limb - 1);
      ckks.centred_remainder(remainder, dropped + item % count * n, n, constants.modulus(0).q, m);
      ntt.forward(remainder, remainder, 1, n, table.row(limb), m, nullptr);
      ckks.subtract_scale(to, values(batch, limb, to), remainder,
                          constants.inverse[static_cast<size_t>(limb - 1)], n, m);
    };
    run_stages(participants, Stage{count, return_dropped}, Stage{out.limbs * count, divide});
  }
}

}  // namespace fhelium
