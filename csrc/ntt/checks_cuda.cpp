#include "common/number_theory.h"
#include "ntt/cuda_checks.h"
#include "ntt/cuda_table.h"

namespace fhelium {

int64_t check_degree(const CudaCall& call, const Tensor& input) {
  const int64_t degree = input.size(input.dim() - 1);
  if (degree < 16 || !is_power_of_two(degree))
    refuse(call, "the input's last axis is " + std::to_string(degree),
           "It is the ring degree, a power of two from 16 on", "Check the axis order");
  return degree;
}

void check_twiddle_rows(const CudaCall& call, const char* name, const Tensor& twiddles,
                        const Tensor& input, int64_t limbs) {
  check_shape(call, name, twiddles, input.scalar_type(),
              {limbs, 2 * row_pairs(input.size(input.dim() - 1))},
              "Row j is the table of limb j, as ntt_tables makes it of CUDA tensors");
  const auto pair = static_cast<u64>(2 * twiddles.element_size());
  const auto start = reinterpret_cast<u64>(twiddles.const_data_ptr());
  if (twiddles.stride(1) != 1 || twiddles.stride(0) % 2 != 0 || start % pair != 0)
    refuse(call, std::string(name) + " has strides " + to_string(strides_of(twiddles)),
           "A table's words are contiguous pairs", "Slice the limb axis only");
}

}  // namespace fhelium
