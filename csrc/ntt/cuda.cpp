// Transforms on CUDA tensors. The packed, compact grouped and fixed-radix operators read one table,
// rows of ntt/cuda_table.h; they differ in who chooses the passes over memory.
#include "common/cuda_call.h"
#include "common/names.h"
#include "common/number_theory.h"
#include "ntt/cuda_checks.h"
#include "ntt/cuda_kernels.h"
#include "ntt/schedule.h"
#include "ntt/twiddles.h"

namespace fhelium {
namespace {

// ---- tables: made once for each basis, so they may wait for the device ----

template <Name kName>
Tensor tables(const Tensor roots, int64_t degree, const Tensor rns_params) {
  const CudaCall call(kName.text, "roots", roots);
  return on_device_of(roots,
                      make_compact_twiddles(kName.text, on_cpu(roots), degree, on_cpu(rns_params)));
}

Tensor radix2_twiddles_cuda(const Tensor roots, int64_t degree, const Tensor rns_params) {
  const CudaCall call("radix2_twiddles", "roots", roots);
  return on_device_of(roots, radix2_twiddles(on_cpu(roots), degree, on_cpu(rns_params)));
}

// ---- the transform in passes ----

/// How many levels each pass takes; no passes: as few as there may be.
using Schedule = std::vector<int64_t>;

/// The schedule, read from the CPU. Where kFixed, all passes but the first take the same levels.
template <bool kFixed>
Schedule check_schedule(const CudaCall& call, const Tensor& schedule, int64_t degree) {
  check_axes(call.name, "schedule", schedule, 1, "It is [passes], on the CPU");
  Schedule levels(static_cast<size_t>(schedule.size(0)));
  for (size_t k = 0; k < levels.size(); ++k)
    levels[k] = schedule.const_data_ptr<int64_t>()[static_cast<int64_t>(k) * schedule.stride(0)];
  const int log_degree = exact_log2(degree);
  bool fits = schedule.dim() == 1 && !levels.empty();
  int first = 0;
  for (size_t k = 0; fits && k < levels.size(); ++k) {
    fits = levels[k] <= log_degree && is_pass(log_degree, first, static_cast<int>(levels[k])) &&
           (!kFixed || (k == 0 ? levels[0] <= levels.back() : levels[k] == levels.back()));
    first += static_cast<int>(levels[k]);
  }
  if (!fits || first != log_degree)
    refuse(call,
           "schedule is " + to_string(levels) + ", the degree has " + std::to_string(log_degree) +
               " levels",
           kFixed ? "Passes of one radix take the same number of levels, the first what is left"
                  : "The passes take all levels, at most 9 each and 8 over neighbours",
           kFixed ? "Make it with fixed_radix_schedule" : "Make it with compact_schedule");
  return levels;
}

/// Check what the functional and the in-place operators share, and launch; `twiddles` has a name.
template <bool kInverse>
void transform(const CudaCall& call, const Tensor& out, const Tensor& input, const char* name,
               const Tensor& twiddles, const Tensor& rns_params, const Schedule& levels) {
  const int64_t limbs = input.size(input.dim() - 2);
  check_twiddle_rows(call, name, twiddles, input, limbs);
  check_parameter_shape(call, rns_params, limbs);
  call.launch(fhelium_cuda_ntt, input, int{kInverse}, call.rows(out), call.rows(input),
              twiddles.const_data_ptr(), twiddles.stride(0),
              levels.empty() ? nullptr : levels.data(), static_cast<int64_t>(levels.size()));
}

template <Name kName, bool kInverse>
Tensor packed(const Tensor input, const Tensor tables, const Tensor rns_params) {
  const CudaCall call(kName.text, "input", input);
  check_residues(call, "input", input);
  check_degree(call, input);
  Tensor out = empty_on(input, sizes_of(input));
  transform<kInverse>(call, out, input, "tables", tables, rns_params, {});
  return out;
}

template <Name kName, bool kInverse>
void packed_in_place(Tensor input, const Tensor tables, const Tensor rns_params) {
  const CudaCall call(kName.text, "input", input);
  check_residues(call, "input", input);
  check_degree(call, input);
  check_destination(call, input);
  check_overlap(call, input, tables);
  transform<kInverse>(call, input, input, "tables", tables, rns_params, {});
}

template <Name kName, bool kInverse, bool kFixed>
Tensor scheduled(const Tensor input, const Tensor schedule, const Tensor twiddles,
                 const Tensor rns_params) {
  const CudaCall call(kName.text, "input", input);
  check_residues(call, "input", input);
  const Schedule levels = check_schedule<kFixed>(call, schedule, check_degree(call, input));
  Tensor out = empty_on(input, sizes_of(input));
  transform<kInverse>(call, out, input, "twiddles", twiddles, rns_params, levels);
  return out;
}

template <Name kName, bool kInverse, bool kFixed>
void scheduled_in_place(Tensor input, const Tensor schedule, const Tensor twiddles,
                        const Tensor rns_params) {
  const CudaCall call(kName.text, "input", input);
  check_residues(call, "input", input);
  const Schedule levels = check_schedule<kFixed>(call, schedule, check_degree(call, input));
  check_destination(call, input);
  check_overlap(call, input, twiddles);
  transform<kInverse>(call, input, input, "twiddles", twiddles, rns_params, levels);
}

// ---- the validation path ----

struct IndexTensors {
  const Tensor &even, &odd, &schedule, &twiddles;
};

/// Shapes alone: kernels take indices modulo N.
template <bool kInverse>
void transform_indexed(const CudaCall& call, const Tensor& out, const Tensor& input,
                       const IndexTensors& tensors, const Tensor& rns_params) {
  const int64_t degree = input.size(input.dim() - 1), limbs = input.size(input.dim() - 2);
  if (degree < 2 || !is_power_of_two(degree))
    refuse(call, "input has shape " + to_string(sizes_of(input)),
           "The last axis is the ring degree, a power of two", "Check the axis order");
  const Sizes indices = {exact_log2(degree), degree / 2};
  constexpr auto kRule = "Index tensors are [log2 N, N/2]";
  check_shape(call, "even_indices", tensors.even, kInt64, indices, kRule);
  check_shape(call, "odd_indices", tensors.odd, kInt64, indices, kRule);
  check_shape(call, "schedule", tensors.schedule, kInt64, indices, kRule);
  check_shape(call, "twiddles", tensors.twiddles, input.scalar_type(), {limbs, degree},
              "Row j holds the twiddles of limb j");
  const Tensor even = fhelium::contiguous(tensors.even), odd = fhelium::contiguous(tensors.odd),
               schedule = fhelium::contiguous(tensors.schedule),
               twiddles = fhelium::contiguous(tensors.twiddles);
  call.launch(fhelium_cuda_ntt_indexed, input, int{kInverse}, call.rows(out), call.rows(input),
              even.const_data_ptr<int64_t>(), odd.const_data_ptr<int64_t>(),
              schedule.const_data_ptr<int64_t>(), twiddles.const_data_ptr(),
              call.parameters(rns_params, limbs));
}

template <Name kName, bool kInverse>
Tensor indexed(const Tensor input, const Tensor even, const Tensor odd, const Tensor schedule,
               const Tensor twiddles, const Tensor rns_params) {
  const CudaCall call(kName.text, "input", input);
  check_residues(call, "input", input);
  Tensor out = empty_on(input, sizes_of(input));
  transform_indexed<kInverse>(call, out, input, {even, odd, schedule, twiddles}, rns_params);
  return out;
}

template <Name kName, bool kInverse>
void indexed_in_place(Tensor input, const Tensor even, const Tensor odd, const Tensor schedule,
                      const Tensor twiddles, const Tensor rns_params) {
  const CudaCall call(kName.text, "input", input);
  check_residues(call, "input", input);
  check_destination(call, input);
  for (const Tensor* tensor : {&even, &odd, &schedule, &twiddles})
    check_overlap(call, input, *tensor);
  transform_indexed<kInverse>(call, input, input, {even, odd, schedule, twiddles}, rns_params);
}

/// Both forms of an operator.
template <Name kName, bool kInverse, class Library>
void register_packed(Library& m) {
  m.impl(kName.text, FHELIUM_BOX((&packed<kName, kInverse>)));
  m.impl(in_place(kName).text, FHELIUM_BOX((&packed_in_place<in_place(kName), kInverse>)));
}
template <Name kName, bool kInverse, bool kFixed, class Library>
void register_scheduled(Library& m) {
  m.impl(kName.text, FHELIUM_BOX((&scheduled<kName, kInverse, kFixed>)));
  m.impl(in_place(kName).text,
         FHELIUM_BOX((&scheduled_in_place<in_place(kName), kInverse, kFixed>)));
}
template <Name kName, bool kInverse, class Library>
void register_indexed(Library& m) {
  m.impl(kName.text, FHELIUM_BOX((&indexed<kName, kInverse>)));
  m.impl(in_place(kName).text, FHELIUM_BOX((&indexed_in_place<in_place(kName), kInverse>)));
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_ntt_ops, CUDA, m) {
  using namespace fhelium;
  m.impl("ntt_tables", FHELIUM_BOX(&tables<"ntt_tables">));
  m.impl("compact_twiddles", FHELIUM_BOX(&tables<"compact_twiddles">));
  m.impl("radix2_twiddles", FHELIUM_BOX(&radix2_twiddles_cuda));
  register_packed<"ntt_packed", false>(m);
  register_packed<"intt_packed", true>(m);
  register_scheduled<"ntt_compact", false, false>(m);
  register_scheduled<"intt_compact", true, false>(m);
  register_scheduled<"ntt_fixed_radix", false, true>(m);
  register_scheduled<"intt_fixed_radix", true, true>(m);
  register_indexed<"ntt_radix2_indexed", false>(m);
  register_indexed<"intt_radix2_indexed", true>(m);
}
