// The validation transform: plain radix-2 butterflies whose operands are named by index tensors.
#include "common/checks.h"
#include "common/names.h"
#include "common/number_theory.h"
#include "ntt/rows.h"

namespace fhelium {
namespace {

/// [log2 N, N / 2] with every index in [0, degree); checked again on every call, as nothing
/// keeps the caller from writing to the tensor in between.
Tensor check_indices(const char* operation, const char* name, const Tensor& indices, int64_t stages,
                     int64_t degree) {
  check_shape(operation, name, indices, kInt64, {stages, degree / 2},
              "Index tensors are [log2 N, N/2]");
  Tensor dense = fhelium::contiguous(indices);
  const int64_t* data = dense.const_data_ptr<int64_t>();
  bool inside = true;
  for (int64_t k = 0; k < stages * (degree / 2); ++k)
    inside &= static_cast<u64>(data[k]) < static_cast<u64>(degree);
  if (!inside)
    refuse(operation,
           std::string(name) + " holds an index outside [0, " + std::to_string(degree) + ")",
           "Indices are positions of one limb", "Make them for this ring degree");
  return dense;
}

template <class Word>
void check_degree_inverse(const char* operation, int64_t degree,
                          const std::vector<Modulus<Word>>& moduli) {
  for (const Modulus<Word>& m : moduli)
    if (montgomery_multiply(reduce_word(static_cast<u64>(degree), m), m.degree_inverse, m) != 1)
      refuse(operation, "rns_params is not for degree " + std::to_string(degree),
             "The inverse transform divides by N", "Make the parameters with this ring degree");
}

struct IndexTensors {
  const Tensor &even, &odd, &schedule, &twiddles;
};

/// Where the operands and the twiddle of each butterfly stand, stage by stage.
struct Butterflies {
  int64_t count;
  const int64_t *even, *odd, *schedule;
};

/// Plain radix-2 butterflies in place on a contiguous row, the same on every instruction set.
/// Twiddles are in Montgomery form.
template <class Word>
void forward_row(Word* row, const Butterflies& at, const Word* twiddles, const Modulus<Word>& m) {
  for (int64_t k = 0; k < at.count; ++k) {
    const Word a = row[at.even[k]];
    const Word b = montgomery_multiply(row[at.odd[k]], twiddles[at.schedule[k]], m);
    row[at.even[k]] = add_modular(a, b, m.q);
    row[at.odd[k]] = subtract_modular(a, b, m.q);
  }
}

template <class Word>
void inverse_row(Word* row, const Butterflies& at, const Word* twiddles, const Modulus<Word>& m,
                 int64_t degree) {
  for (int64_t k = 0; k < at.count; ++k) {
    const Word a = row[at.even[k]], b = row[at.odd[k]];
    row[at.even[k]] = add_modular(a, b, m.q);
    row[at.odd[k]] = montgomery_multiply(subtract_modular(a, b, m.q), twiddles[at.schedule[k]], m);
  }
  for (int64_t k = 0; k < degree; ++k) row[k] = montgomery_multiply(row[k], m.degree_inverse, m);
}

void transform_indexed(const char* name, bool inverse, const Tensor& out, const Tensor& input,
                       const IndexTensors& tensors, const Tensor& rns_params) {
  const int64_t degree = input.size(input.dim() - 1);
  if (degree < 2 || !is_power_of_two(degree))
    refuse(name, "input has shape " + to_string(sizes_of(input)),
           "The last axis is the ring degree, a power of two", "Check the axis order");
  const int64_t stages = exact_log2(degree);
  const Tensor even = check_indices(name, "even_indices", tensors.even, stages, degree);
  const Tensor odd = check_indices(name, "odd_indices", tensors.odd, stages, degree);
  const Tensor schedule = check_indices(name, "schedule", tensors.schedule, stages, degree);
  const Tensor dense = fhelium::contiguous(tensors.twiddles);
  const Butterflies at = {stages * (degree / 2), even.const_data_ptr<int64_t>(),
                          odd.const_data_ptr<int64_t>(), schedule.const_data_ptr<int64_t>()};
  for_word_of(input, [&](auto word) {
    using Word = decltype(word);
    const auto o = rows_of<Word>(out), in = rows_of<Word>(input);
    const auto moduli = check_parameters<Word>(name, rns_params, o.limbs);
    if (inverse) check_degree_inverse(name, degree, moduli);
    check_shape(name, "twiddles", dense, kTypeOf<Word>, {o.limbs, degree},
                "Row j holds the twiddles of limb j, in one direction");
    const Word* twiddles = data_of<Word>(dense);
    for_each_row(o, in,
                 [&](Word* row, const Word* source, int64_t step, int64_t limb, const Word*) {
                   const Modulus<Word>& m = moduli[static_cast<size_t>(limb)];
                   const Word* own = twiddles + limb * degree;
                   if (row != source) copy_row(row, 1, source, step, degree);
                   if (inverse)
                     inverse_row(row, at, own, m, degree);
                   else
                     forward_row(row, at, own, m);
                 });
  });
}

template <Name kName, bool kInverse>
Tensor indexed(const Tensor input, const Tensor even, const Tensor odd, const Tensor schedule,
               const Tensor twiddles, const Tensor rns_params) {
  check_residues(kName.text, "input", input);
  Tensor out = empty_on(input, sizes_of(input));
  transform_indexed(kName.text, kInverse, out, input, {even, odd, schedule, twiddles}, rns_params);
  return out;
}

template <Name kName, bool kInverse>
void indexed_in_place(Tensor input, const Tensor even, const Tensor odd, const Tensor schedule,
                      const Tensor twiddles, const Tensor rns_params) {
  constexpr auto name = kName.text;
  check_residues(name, "input", input);
  check_destination(name, input);
  // The indices are read after their check: writing to them through `input` would undo it.
  for (const Tensor& tensor : {even, odd, schedule, twiddles}) check_overlap(name, input, tensor);
  if (input.numel() > 0 && input.const_data_ptr() == twiddles.const_data_ptr())
    refuse(name, "input and twiddles are the same view", "The twiddles outlive the call",
           "Pass the residues as input");
  transform_indexed(name, kInverse, input, input, {even, odd, schedule, twiddles}, rns_params);
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_ntt_ops, CPU, m) {
  using namespace fhelium;
  m.impl("ntt_radix2_indexed", FHELIUM_BOX((&indexed<"ntt_radix2_indexed", false>)));
  m.impl("ntt_radix2_indexed_", FHELIUM_BOX((&indexed_in_place<"ntt_radix2_indexed_", false>)));
  m.impl("intt_radix2_indexed", FHELIUM_BOX((&indexed<"intt_radix2_indexed", true>)));
  m.impl("intt_radix2_indexed_", FHELIUM_BOX((&indexed_in_place<"intt_radix2_indexed_", true>)));
}
