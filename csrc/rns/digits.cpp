#include "rns/digits.h"

namespace fhelium {

void check_source_count(const Operation& operation, const char* what, int64_t count) {
  if (count >= 1 && count <= kMaxSourcePrimes) return;
  refuse(operation,
         std::string(what) + " has " + std::to_string(count) + " primes, the limit is " +
             std::to_string(kMaxSourcePrimes),
         "One conversion starts from at least one prime and at most that many",
         "Use fewer limbs per digit or fewer special primes");
}

int64_t check_specials(const Operation& operation, const Tensor& residues,
                       const Tensor& special_scale) {
  check_tensor(operation, "special_scale", special_scale, residues.scalar_type());
  const int64_t limbs = residues.size(residues.dim() - 2);
  const int64_t specials = special_scale.dim() == 0 ? 0 : special_scale.size(0);
  check_source_count(operation, "special_scale", specials);
  if (limbs <= specials)
    refuse(operation,
           "the input has " + std::to_string(limbs) + " limbs, " + std::to_string(specials) +
               " of them special",
           "At least one limb remains", "Pass residues on basis QP");
  return specials;
}

std::vector<int64_t> check_bounds(const char* name, const Tensor& bounds, int64_t q_limbs) {
  check_axes(name, "digit_bounds", bounds, 1, "It is [D + 1]");
  const int64_t count = bounds.size(0);
  const auto rows = check_integers(name, "digit_bounds", bounds, count, "It is [D + 1]");
  bool fits = count >= 2 && rows.front() == 0 && rows.back() == q_limbs;
  for (size_t j = 1; fits && j < rows.size(); ++j) fits = rows[j - 1] < rows[j];
  if (!fits)
    refuse(name,
           "digit_bounds is " + to_string(rows) + ", the input has " + std::to_string(q_limbs) +
               " rows",
           "The borders rise strictly from 0 to the number of rows",
           "Drop empty digits and pass the borders of this depth");
  for (size_t j = 1; j < rows.size(); ++j)
    check_source_count(name, "a digit", rows[j] - rows[j - 1]);
  return rows;
}

}  // namespace fhelium
