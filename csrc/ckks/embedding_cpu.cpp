#include <algorithm>

#include "ckks/embedding.h"
#include "common/checks.h"
#include "common/isa.h"
#include "common/number_theory.h"
#include "common/pool.h"
#include "common/stages.h"
#include "rns/codec_rows.h"

namespace fhelium {

const EmbeddingKernels& embedding_kernels() {
  return table_for<kEmbeddingKernelsPortable, kEmbeddingKernelsAvx2, kEmbeddingKernelsAvx512>(
      active_isa());
}

namespace {

constexpr int64_t kLargestDegree = int64_t{1} << 24;

/// log2 of N/2; refuses a degree that is no ring degree.
int log_slots_of(const char* operation, int64_t degree) {
  if (degree < 2 || degree > kLargestDegree || !is_power_of_two(degree))
    refuse(operation, "the degree is " + std::to_string(degree),
           "It is a power of two from 2 to " + std::to_string(kLargestDegree),
           "Pass the ring degree N");
  return exact_log2(degree) - 1;
}

EmbeddingLayout check_table(const char* operation, const Tensor& tables, int64_t degree) {
  const EmbeddingLayout layout = embedding_layout(log_slots_of(operation, degree));
  check_tensor(operation, "tables", tables, kFloat64);
  const Sizes shape = sizes_of(tables), needed = {layout.size};
  if (shape != needed)
    refuse(operation,
           "tables has shape " + to_string(shape) + ", degree " + std::to_string(degree) +
               " needs " + to_string(needed),
           "A table serves one degree", "Make it with fhelium_ckks_ops::embedding_tables");
  return layout;
}

/// Rows for one thread: about 50 us of work.
int64_t grain_of(int64_t degree) { return std::max<int64_t>(1, 8192 / degree); }

/// A table that was tampered with may name a slot twice and another never: that one is zero.
double* cleared(Tensor& slots) {
  double* data = slots.mutable_data_ptr<double>();
  std::fill_n(data, slots.numel(), 0.0);
  return data;
}

Tensor embedding_tables(int64_t degree) {
  const EmbeddingLayout layout = embedding_layout(log_slots_of("embedding_tables", degree));
  Tensor out = empty_cpu({layout.size}, kFloat64);
  fill_embedding_table(out.mutable_data_ptr<double>(), layout);
  return out;
}

/// The shape [*batch, N] of the coefficients of some slots.
Sizes check_slots(const char* operation, const Tensor& slots) {
  check_tensor(operation, "slots", slots, kFloat64);
  Sizes shape = sizes_of(slots);
  if (shape.size() < 2 || shape.back() != 2)
    refuse(operation, "slots has shape " + to_string(shape),
           "It is [*batch, slots, 2], real and imaginary parts in the last axis",
           "Pass torch.view_as_real of complex slots");
  shape.pop_back();
  shape.back() *= 2;
  return shape;
}

void to_coefficients(double* out, const double* slots, int64_t batches, const Tensor& table,
                     const EmbeddingLayout& layout) {
  const int64_t degree = 2 * layout.slots;
  const double* w = table.const_data_ptr<double>();
  parallel_for(0, batches, grain_of(degree), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      embedding_kernels().to_coefficients(out + row * degree, slots + row * degree, w, layout);
  });
}

Tensor slots_to_coefficients(const Tensor slots, const Tensor tables) {
  constexpr auto kName = "slots_to_coefficients";
  Sizes shape = check_slots(kName, slots);
  const int64_t degree = shape.back();
  const EmbeddingLayout layout = check_table(kName, tables, degree);
  Tensor out = empty_on(slots, shape, kFloat64);
  const Tensor in = fhelium::contiguous(slots), table = fhelium::contiguous(tables);
  to_coefficients(out.mutable_data_ptr<double>(), in.const_data_ptr<double>(), out.numel() / degree,
                  table, layout);
  return out;
}

Tensor coefficients_to_slots(const Tensor coefficients, const Tensor tables) {
  constexpr auto kName = "coefficients_to_slots";
  check_tensor(kName, "coefficients", coefficients, kFloat64);
  Sizes shape = sizes_of(coefficients);
  if (shape.empty())
    refuse(kName, "coefficients has shape []", "It is [*batch, N]", "Pass a polynomial");
  const int64_t degree = shape.back();
  const EmbeddingLayout layout = check_table(kName, tables, degree);
  shape.back() /= 2;
  shape.push_back(2);
  Tensor out = empty_on(coefficients, shape, kFloat64);
  const Tensor in = fhelium::contiguous(coefficients), table = fhelium::contiguous(tables);
  const double *from = in.const_data_ptr<double>(), *w = table.const_data_ptr<double>();
  double* to = cleared(out);
  const auto& kernels = embedding_kernels();
  parallel_for(0, out.numel() / degree, grain_of(degree), [&](int64_t begin, int64_t end) {
    std::vector<double> own(static_cast<size_t>(degree));
    for (int64_t row = begin; row < end; ++row) {
      std::copy_n(from + row * degree, degree, own.data());
      kernels.to_slots(to + row * degree, own.data(), 1.0, w, layout);
    }
  });
  return out;
}

Tensor encode_slots(const Tensor slots, const Tensor tables, double scale, const Tensor rns_params,
                    ScalarType dtype) {
  constexpr auto kName = "encode_slots";
  Sizes shape = check_slots(kName, slots);
  const int64_t degree = shape.back();
  const EmbeddingLayout layout = check_table(kName, tables, degree);
  check_residue_type(kName, dtype);
  check_scale(kName, scale);
  const int64_t limbs = rns_params.dim() == 2 ? rns_params.size(1) : 0;
  return for_word_of(dtype, [&](auto word) {
    using Word = decltype(word);
    const auto moduli = check_parameters<Word>(kName, rns_params, limbs);
    const Tensor in = fhelium::contiguous(slots), table = fhelium::contiguous(tables);
    const int64_t count = in.numel(), batches = count / degree;
    Workspace space(Workspace::room_for<double>(count), Contents::kSecret);
    double* coefficients = space.take<double>(count);
    to_coefficients(coefficients, in.const_data_ptr<double>(), batches, table, layout);
    const bool wide = round_all(kName, coefficients, coefficients, scale, shape, count);
    shape.insert(shape.end() - 1, limbs);
    Tensor out = empty_on(in, shape, dtype);
    reduce_all<Word>(mutable_data_of<Word>(out), coefficients, wide, batches, degree, moduli);
    return out;
  });
}

Tensor decode_residues(const Tensor residues, const Tensor tables, double scale,
                       const Tensor rns_params) {
  constexpr auto kName = "decode_residues";
  check_residues(kName, "residues", residues);
  check_scale(kName, scale);
  return for_word_of(residues, [&](auto word) {
    using Word = decltype(word);
    const auto rows = rows_of<Word>(residues);
    const EmbeddingLayout layout = check_table(kName, tables, rows.degree);
    const Centring<Word> centring(kName, check_parameters<Word>(kName, rns_params, rows.limbs));
    Sizes shape = sizes_of(residues);
    shape.erase(shape.end() - 2);
    shape.back() /= 2;
    shape.push_back(2);
    Tensor out = empty_on(residues, shape, kFloat64);
    const Tensor table = fhelium::contiguous(tables);
    const int64_t words = centring.workspace_words();
    const double cost = 5.0 * static_cast<double>(rows.batches * rows.degree);
    const int64_t participants = participants_for(cost);
    Workspace space(Workspace::room_for<double>(out.numel()) +
                        static_cast<size_t>(participants) * Workspace::room_for<u64>(words),
                    Contents::kSecret);
    double *coefficients = space.take<double>(out.numel()), *to = cleared(out);
    std::vector<u64*> own;
    for (int64_t who = 0; who < participants; ++who) own.push_back(space.take<u64>(words));
    const int64_t blocks = centring_blocks(rows.degree);
    const auto centre = [&](int64_t task, int64_t who) {
      centring.block(coefficients + task / blocks * rows.degree, rows, task / blocks, task % blocks,
                     own[static_cast<size_t>(who)]);
    };
    const auto transform = [&](int64_t batch, int64_t) {
      embedding_kernels().to_slots(to + batch * rows.degree, coefficients + batch * rows.degree,
                                   scale, table.const_data_ptr<double>(), layout);
    };
    run_stages(participants, Stage{rows.batches * blocks, centre}, Stage{rows.batches, transform});
    return out;
  });
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_ckks_ops, CompositeExplicitAutograd, m) {
  m.impl("embedding_tables", FHELIUM_BOX(&fhelium::embedding_tables));
}

FHELIUM_LIBRARY_IMPL(fhelium_ckks_ops, CPU, m) {
  m.impl("encode_slots", FHELIUM_BOX(&fhelium::encode_slots));
  m.impl("decode_residues", FHELIUM_BOX(&fhelium::decode_residues));
  m.impl("slots_to_coefficients", FHELIUM_BOX(&fhelium::slots_to_coefficients));
  m.impl("coefficients_to_slots", FHELIUM_BOX(&fhelium::coefficients_to_slots));
}
