// Key generation in one call: (-a s + e [+ P s'], a) on QP, NTT values in Montgomery form, for
// every digit of a switching key, or once for a public key. Each row is finished while it is in the
// cache; the errors are drawn once, into a workspace that is wiped.
#include <algorithm>

#include "ckks/switch_tables.h"
#include "common/checks.h"
#include "common/pool.h"
#include "common/row_loop.h"
#include "common/stages.h"
#include "ntt/tables.h"
#include "random/small.h"
#include "random/streams.h"
#include "rns/kernels.h"

namespace fhelium {
namespace {

/// Coefficients of one task of drawing, and of the passes that a row stays in the nearest cache
/// for.
constexpr int64_t kTile = 1024;

/// What the rows of one limb are made of.
template <class Word>
struct KeyRow {
  const Modulus<Word>& m;
  const Word *table, *secret, *source;
  i64 secret_step, source_step, degree;
  Word special_product;

  /// errors -> the NTT values of e, in Montgomery form.
  void transform_errors(Word* out, const int8_t* errors) const {
    const auto& kernels = rns_kernels<Word>();
    for (i64 k = 0; k < degree; k += kTile) {
      const i64 n = std::min(kTile, degree - k);
      kernels.reduce_small(out + k, errors + k, n, m);
      kernels.to_montgomery(out + k, 1, out + k, 1, n, m);
    }
    ntt_kernels<Word>().forward(out, out, 1, degree, table, m, nullptr);
  }

  /// The uniform half, and hidden = e - a s (+ P s').
  void finish(Word* hidden, Word* uniform, const StreamKey& key, const StreamPosition& position,
              bool holds_source) const {
    const auto& kernels = rns_kernels<Word>();
    for (i64 k = 0; k < degree; k += kTile) {
      const i64 n = std::min(kTile, degree - k);
      Word product[kTile];
      uniform_row<Word>()(uniform + k, k, n, key, position, m);
      kernels.to_montgomery(uniform + k, 1, uniform + k, 1, n, m);
      kernels.multiply_montgomery(product, 1, uniform + k, 1, secret + k * secret_step, secret_step,
                                  n, m);
      kernels.subtract(hidden + k, 1, hidden + k, 1, product, 1, n, m);
      if (!holds_source) continue;
      kernels.multiply_montgomery(product, 1, source + k * source_step, source_step,
                                  &special_product, 0, n, m);
      kernels.add(hidden + k, 1, hidden + k, 1, product, 1, n, m);
    }
  }
};

/// Where the halves of a key go, and the rows of the source that each digit holds.
template <class Word>
struct KeyHalves {
  ResidueRows<Word> key;  // item 2 d is the hidden half of digit d, item 2 d + 1 the uniform one
  int64_t digits;
  const Word* source = nullptr;
  i64 source_stride = 0, source_step = 1;
  const SwitchTables<Word>* constants = nullptr;  // with a source

  bool holds_source(int64_t limb, int64_t digit) const {
    return constants != nullptr && limb >= constants->digit_begin(digit) &&
           limb < constants->digit_begin(digit + 1);
  }
};

template <class Word>
void fill_key(const KeyHalves<Word>& rows, const Tensor& secret, const StreamKey& uniform_key,
              const StreamKey& error_key, const Modulus<Word>* moduli,
              const NttTables<Word>& table) {
  const auto s = rows_of<Word>(secret);
  const int64_t degree = s.degree, tiles = draw_tiles(degree);
  Workspace space(Workspace::room_for<int8_t>(rows.digits * degree), Contents::kSecret);
  int8_t* errors = space.take<int8_t>(rows.digits * degree);
  const auto draw = [&](int64_t task, int64_t) { draw_errors(errors, degree, task, error_key); };
  const auto fill = [&](int64_t item, int64_t) {
    const int64_t limb = item / rows.digits, digit = item % rows.digits;
    const bool holds_source = rows.holds_source(limb, digit);
    const KeyRow<Word> row = {moduli[limb],
                              table.row(limb),
                              s.pointer(0, limb),
                              rows.source + limb * rows.source_stride,
                              s.step,
                              rows.source_step,
                              degree,
                              holds_source ? rows.constants->special_product[limb] : Word{0}};
    Word* hidden = rows.key.pointer(2 * digit, limb);
    row.transform_errors(hidden, errors + digit * degree);
    row.finish(hidden, rows.key.pointer(2 * digit + 1, limb), uniform_key,
               {static_cast<u32>(limb), static_cast<u32>(digit), 1}, holds_source);
  };
  const double cost = 8.0 * static_cast<double>(s.limbs * rows.digits * degree);
  run_stages(participants_for(cost), Stage{rows.digits * tiles, draw},
             Stage{s.limbs * rows.digits, fill});
}

Tensor make_public_key(const Tensor secret, const Tensor public_seed, const Tensor error_key,
                       const Tensor ntt_tables, const Tensor rns_params) {
  constexpr auto kName = "make_public_key";
  check_residues(kName, "secret", secret);
  const Sizes shape = sizes_of(secret);
  check_shape(kName, "secret", secret, secret.scalar_type(), {shape[0], shape[1]},
              "A secret is one polynomial, [limb, N]");
  const StreamKey uniform = check_stream_key(kName, "public_seed", public_seed);
  const StreamKey gaussian = check_stream_key(kName, "error_key", error_key);
  return for_word_of(secret, [&](auto word) {
    using Word = decltype(word);
    const auto moduli = check_parameters<Word>(kName, rns_params, shape[0]);
    const auto table = check_ntt_tables<Word>(kName, ntt_tables, shape[1], moduli);
    Tensor out = empty_on(secret, {2, shape[0], shape[1]});
    fill_key<Word>({rows_of<Word>(out), 1}, secret, uniform, gaussian, moduli.data(), table);
    return out;
  });
}

void make_switching_key_(Tensor key, const Tensor source, const Tensor secret,
                         const Tensor public_seed, const Tensor error_key,
                         const Tensor switch_tables, const Tensor ntt_tables) {
  constexpr auto kName = "make_switching_key_";
  check_residues(kName, "key", key, 4, "A switching key is [digit, 2, limb, N]");
  check_destination(kName, key);
  const StreamKey uniform = check_stream_key(kName, "public_seed", public_seed);
  const StreamKey gaussian = check_stream_key(kName, "error_key", error_key);
  for_word_of(key, [&](auto word) {
    using Word = decltype(word);
    const auto constants = check_switch_tables<Word>(kName, switch_tables);
    const std::vector<Modulus<Word>> moduli(constants.moduli, constants.moduli + constants.limbs);
    const int64_t degree = key.size(key.dim() - 1);
    const Sizes polynomial = {constants.limbs, degree};
    check_shape(kName, "key", key, kTypeOf<Word>, {constants.digits, 2, constants.limbs, degree},
                "A switching key has the digits and the limbs of its tables");
    check_shape(kName, "secret", secret, kTypeOf<Word>, polynomial, "A secret is [limb, N] on QP");
    check_shape(kName, "source", source, kTypeOf<Word>, polynomial, "A secret is [limb, N] on QP");
    // The tables are read while rows are written.
    for (const Tensor& input : {source, secret, switch_tables, ntt_tables})
      check_overlap(kName, key, input);
    const auto table = check_ntt_tables<Word>(kName, ntt_tables, degree, moduli);
    // Rows that are not contiguous are filled apart.
    const bool apart = key.stride(3) != 1;
    const Tensor own = apart ? empty_on(key, sizes_of(key)) : key;
    const auto rows = rows_of<Word>(own);
    const auto from = rows_of<Word>(source);
    fill_key<Word>({rows, constants.digits, from.data, from.limb_stride, from.step, &constants},
                   secret, uniform, gaussian, moduli.data(), table);
    const auto to = rows_of<Word>(key);
    for (int64_t row = 0; apart && row < rows.batches * rows.limbs; ++row)
      copy_row(to.pointer(row / rows.limbs, row % rows.limbs), to.step,
               rows.pointer(row / rows.limbs, row % rows.limbs), 1, degree);
  });
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_ckks_ops, CPU, m) {
  m.impl("make_public_key", FHELIUM_BOX(&fhelium::make_public_key));
  m.impl("make_switching_key_", FHELIUM_BOX(&fhelium::make_switching_key_));
}
