// Encryption in one call: with the secret key (m - a s + e, a), with a public key
// (m, 0) + ModDown(v pk + e). Masks and errors are drawn once, into a workspace that is wiped.
#include "ckks/switch_tables.h"
#include "common/checks.h"
#include "common/pool.h"
#include "common/row_loop.h"
#include "common/stages.h"
#include "ntt/tables.h"
#include "random/small.h"
#include "random/streams.h"

namespace fhelium {
namespace {

/// Coefficients of a pass that stays in the nearest cache.
constexpr int64_t kTile = 1024;

/// [*batch, limb, N] of a plaintext, and the shape of its encryption.
Sizes encrypted_shape(const char* name, const Tensor& plaintext) {
  check_residues(name, "plaintext", plaintext);
  Sizes shape = sizes_of(plaintext);
  shape.insert(shape.begin(), 2);
  return shape;
}

Tensor encrypt_with_secret(const Tensor plaintext, const Tensor secret, const Tensor public_seed,
                           const Tensor error_key, int64_t first_prime_id, const Tensor ntt_tables,
                           const Tensor rns_params, bool to_ntt) {
  constexpr auto kName = "encrypt_with_secret";
  const Sizes shape = encrypted_shape(kName, plaintext);
  const int64_t limbs = shape[shape.size() - 2], degree = shape.back();
  check_shape(kName, "secret", secret, plaintext.scalar_type(), {limbs, degree},
              "The secret has the limbs of the plaintext");
  const StreamKey uniform_key = check_stream_key(kName, "public_seed", public_seed);
  const StreamKey gaussian_key = check_stream_key(kName, "error_key", error_key);
  if (first_prime_id < 0 || first_prime_id >= static_cast<int64_t>(kNoPrime) - limbs)
    refuse(kName, "first_prime_id is " + std::to_string(first_prime_id),
           "It is the number of limb 0 in the modulus chain", "Pass the depth");
  return for_word_of(plaintext, [&](auto word) {
    using Word = decltype(word);
    const auto moduli = check_parameters<Word>(kName, rns_params, limbs);
    const auto table = check_ntt_tables<Word>(kName, ntt_tables, degree, moduli);
    Tensor out = empty_result(plaintext, shape);
    const auto o = rows_of<Word>(out), in = rows_of<Word>(plaintext), s = rows_of<Word>(secret);
    const int64_t batches = in.batches, tiles = draw_tiles(degree);
    Workspace space(Workspace::room_for<int8_t>(batches * degree), Contents::kSecret);
    int8_t* errors = space.take<int8_t>(batches * degree);
    const auto& kernels = rns_kernels<Word>();
    const auto& ntt = ntt_kernels<Word>();
    const auto draw = [&](int64_t task, int64_t) {
      draw_errors(errors, degree, task, gaussian_key);
    };
    const auto encrypt = [&](int64_t item, int64_t) {
      const int64_t limb = item / batches, batch = item % batches;
      const Modulus<Word>& m = moduli[static_cast<size_t>(limb)];
      Word *hidden = o.pointer(batch, limb), *uniform = o.pointer(batches + batch, limb);
      uniform_row<Word>()(uniform, 0, degree, uniform_key,
                          {static_cast<u32>(first_prime_id + limb), static_cast<u32>(batch), 1}, m);
      const int8_t* error = errors + batch * degree;
      const Word *message = in.pointer(batch, limb), *key = s.pointer(0, limb);
      if (to_ntt) {
        copy_row(hidden, 1, message, in.step, degree);
        kernels.add_small(hidden, error, degree, m);
        ntt.forward(hidden, hidden, 1, degree, table.row(limb), m, nullptr);
        for (int64_t k = 0; k < degree; k += kTile) {
          const int64_t n = std::min(kTile, degree - k);
          Word product[kTile];
          kernels.multiply_montgomery(product, 1, uniform + k, 1, key + k * s.step, s.step, n, m);
          kernels.subtract(hidden + k, 1, hidden + k, 1, product, 1, n, m);
        }
        return;
      }
      kernels.multiply_montgomery(hidden, 1, uniform, 1, key, s.step, degree, m);
      ntt.inverse(hidden, hidden, 1, degree, table.row(limb), m, nullptr);
      kernels.subtract(hidden, 1, message, in.step, hidden, 1, degree, m);
      kernels.add_small(hidden, error, degree, m);
      ntt.inverse(uniform, uniform, 1, degree, table.row(limb), m, nullptr);
    };
    const double cost = 12.0 * static_cast<double>(limbs * batches * degree);
    run_stages(participants_for(cost), Stage{batches * tiles, draw},
               Stage{limbs * batches, encrypt});
    return out;
  });
}

/// Encryption of some plaintexts with a public key.
template <class Word>
struct PublicEncryption {
  const SwitchTables<Word>& constants;
  NttTables<Word> ntt;
  ResidueRows<Word> out, plaintext, key;
  int64_t degree, batches;
  bool to_ntt;
  /// Of item i: mask [batch], errors [component, batch]; digits [component, batch, K + 1], whose
  /// rows are first those of the special primes.
  int8_t *masks, *errors;
  Word* digits;

  int8_t* error(int64_t component, int64_t batch) const {
    return errors + (component * batches + batch) * degree;
  }
  BasisTile<Word> tile(int64_t component, int64_t batch, int64_t first) const {
    const int64_t rows = constants.specials + 1;
    return {digits + (component * batches + batch) * rows * degree + first, degree};
  }

  void draw(const StreamKey& mask_key, const StreamKey& error_key, int64_t item) const {
    const int64_t tiles = draw_tiles(degree), row = item / tiles, batch = row % batches;
    const auto index = static_cast<u32>(batch), component = static_cast<u32>(row / batches - 1);
    int8_t* to = row < batches ? masks + batch * degree : error(component, batch);
    draw_small(to, degree, item % tiles, [&](i64* values, i64 first, i64 n) {
      if (row < batches)
        random_kernels().ternary(values, first, n, mask_key, {kNoPrime, index, 0});
      else
        random_kernels().gaussian(values, first, n, error_key, {kNoPrime, index, component});
    });
  }

  /// The NTT values of v.
  void transform_mask(Word* out, int64_t limb, int64_t batch) const {
    const Modulus<Word>& m = constants.moduli[limb];
    rns_kernels<Word>().reduce_small(out, masks + batch * degree, degree, m);
    ntt_kernels<Word>().forward(out, out, 1, degree, ntt.row(limb), m, nullptr);
  }

  /// v pk_c + e_c, coefficients.
  void mask_row(Word* out, const Word* mask, int64_t component, int64_t limb, int64_t batch) const {
    const Modulus<Word>& m = constants.moduli[limb];
    const auto& kernels = rns_kernels<Word>();
    kernels.multiply_montgomery(out, 1, mask, 1, key.pointer(component, limb), key.step, degree, m);
    ntt_kernels<Word>().inverse(out, out, 1, degree, ntt.row(limb), m, nullptr);
    kernels.add_small(out, error(component, batch), degree, m);
  }

  /// The rows of a special prime, which are digits already but for their scale.
  void special_row(Word* mask, int64_t item) const {
    const int64_t special = item / batches, batch = item % batches;
    const int64_t limb = constants.q_limbs() + special;
    transform_mask(mask, limb, batch);
    for (int64_t c = 0; c < 2; ++c)
      mask_row(tile(c, batch, special * degree).digits, mask, c, limb, batch);
  }

  /// The centred representative modulo P of some coefficients.
  void centre(int64_t item) const {
    const int64_t tiles = (degree + kBasisTile - 1) / kBasisTile;
    const int64_t row = item / tiles, first = item % tiles * kBasisTile;
    const BasisTile<Word> own = tile(row / batches, row % batches, first);
    const Word* rows[kMaxSourcePrimes];
    for (int i = 0; i < constants.specials; ++i) rows[i] = digit_of(own, i);
    rns_kernels<Word>().centre(own, rows, 1, std::min(kBasisTile, degree - first),
                               constants.special_source());
  }

  void message_row(Word* mask, int64_t item) const {
    const int64_t limb = item / batches, batch = item % batches;
    const Modulus<Word>& m = constants.moduli[limb];
    const auto& kernels = rns_kernels<Word>();
    const BasisTarget<Word> target = constants.special_target(limb);
    transform_mask(mask, limb, batch);
    for (int64_t c = 0; c < 2; ++c) {
      Word* to = out.pointer(c * batches + batch, limb);
      mask_row(to, mask, c, limb, batch);
      kernels.subtract_divide(to, to, 1, tile(c, batch, 0), degree, target);
      if (c == 0)
        kernels.add(to, 1, to, 1, plaintext.pointer(batch, limb), plaintext.step, degree, m);
      if (to_ntt) ntt_kernels<Word>().forward(to, to, 1, degree, ntt.row(limb), m, nullptr);
    }
  }
};

Tensor encrypt_with_public(const Tensor plaintext, const Tensor public_key, const Tensor mask_key,
                           const Tensor error_key, const Tensor switch_tables,
                           const Tensor ntt_tables, bool to_ntt) {
  constexpr auto kName = "encrypt_with_public";
  const Sizes shape = encrypted_shape(kName, plaintext);
  const int64_t degree = shape.back();
  const StreamKey ternary = check_stream_key(kName, "mask_key", mask_key);
  const StreamKey gaussian = check_stream_key(kName, "error_key", error_key);
  return for_word_of(plaintext, [&](auto word) {
    using Word = decltype(word);
    const auto constants = check_switch_tables<Word>(kName, switch_tables);
    const std::vector<Modulus<Word>> moduli(constants.moduli, constants.moduli + constants.limbs);
    if (shape[shape.size() - 2] != constants.q_limbs())
      refuse(kName,
             "plaintext has " + std::to_string(shape[shape.size() - 2]) + " limbs, the tables " +
                 std::to_string(constants.q_limbs()),
             "Plaintext and tables are of one depth", "Pass the tables of the plaintext's depth");
    check_shape(kName, "public_key", public_key, kTypeOf<Word>, {2, constants.limbs, degree},
                "The public key has the rows of QP at the plaintext's depth");
    const auto table = check_ntt_tables<Word>(kName, ntt_tables, degree, moduli);
    Tensor out = empty_result(plaintext, shape);
    const auto from = rows_of<Word>(plaintext);
    const int64_t batches = from.batches, rows = 2 * batches * (constants.specials + 1);
    const double cost = 30.0 * static_cast<double>(constants.limbs * batches * degree);
    const int64_t participants = participants_for(cost);
    Workspace space(3 * Workspace::room_for<int8_t>(batches * degree) +
                        static_cast<size_t>(participants) * Workspace::room_for<Word>(degree),
                    Contents::kSecret);
    Workspace digits(Workspace::room_for<Word>(rows * degree));  // an encryption of zero on QP
    const PublicEncryption<Word> encryption = {constants,
                                               table,
                                               rows_of<Word>(out),
                                               from,
                                               rows_of<Word>(public_key),
                                               degree,
                                               batches,
                                               to_ntt,
                                               space.take<int8_t>(batches * degree),
                                               space.take<int8_t>(2 * batches * degree),
                                               digits.take<Word>(rows * degree)};
    std::vector<Word*> spare;
    for (int64_t who = 0; who < participants; ++who) spare.push_back(space.take<Word>(degree));
    const auto own = [&](int64_t who) { return spare[static_cast<size_t>(who)]; };
    run_stages(participants,
               Stage{3 * batches * draw_tiles(degree),
                     [&](int64_t item, int64_t) { encryption.draw(ternary, gaussian, item); }},
               Stage{constants.specials * batches,
                     [&](int64_t item, int64_t who) { encryption.special_row(own(who), item); }},
               Stage{2 * batches * ((degree + kBasisTile - 1) / kBasisTile),
                     [&](int64_t item, int64_t) { encryption.centre(item); }},
               Stage{constants.q_limbs() * batches,
                     [&](int64_t item, int64_t who) { encryption.message_row(own(who), item); }});
    return out;
  });
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_ckks_ops, CPU, m) {
  m.impl("encrypt_with_secret", FHELIUM_BOX(&fhelium::encrypt_with_secret));
  m.impl("encrypt_with_public", FHELIUM_BOX(&fhelium::encrypt_with_public));
}
