// Times the NTT kernels of one instruction set, without torch: hot (one row again and again) and as
// a sweep over 24 limbs, each with its own row and table on huge pages. Prints one line per case:
//   name log2(N) prime-bits, then median and lower decile of hot and of sweep, microseconds
// All candidates of a case take turns in each round, so a busy neighbour disturbs them alike.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "../rows.h"
#include "ntt/kernels.h"
#ifdef WITH_PROTOTYPE
#include "ntt512_v3p.hpp"
#endif

namespace {

using namespace fhelium;

constexpr int kLimbs = 24;

bool is_prime(u64 n) {
  u64 odd = n - 1;
  const int twos = __builtin_ctzll(odd);
  odd >>= twos;
  for (u64 base : {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37}) {
    u64 x = power_modular(base, odd, n);
    bool witness = x != 1 && x != n - 1;
    for (int i = 1; i < twos && witness; ++i) {
      x = multiply_modular(x, x, n);
      witness = x != n - 1;
    }
    if (witness) return false;
  }
  return true;
}

/// The largest prime below 2^bits that serves every degree up to 2^16.
u64 prime_below(int bits) {
  const u64 step = u64{1} << 17;
  u64 q = ((u64{1} << bits) - 1) / step * step + 1;
  while (q >= u64{1} << bits || !is_prime(q)) q -= step;
  return q;
}

u64 root_of(u64 q, u64 degree) {
  for (u64 g = 2;; ++g) {
    const u64 psi = power_modular(g, (q - 1) / (2 * degree), q);
    if (power_modular(psi, degree, q) == q - 1) return psi;
  }
}

struct Candidate {
  std::string name;
  std::function<void(int limb, u64* row, const u64* next)> call;
  std::vector<double> hot = {}, sweep = {};
};

/// CPU time of this thread: a neighbour that takes the processor is not counted.
double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

double microseconds(const std::function<void()>& body) {
  const double start = now();
  body();
  return now() - start;
}

/// The given share of the values is smaller.
double quantile(std::vector<double>& values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size()))];
}

void run(std::vector<Candidate>& candidates, const std::vector<u64*>& rows, int log_degree,
         int bits, int rounds) {
  for (int round = 0; round < rounds; ++round)
    for (Candidate& candidate : candidates) {
      candidate.call(0, rows[0], nullptr);
      candidate.hot.push_back(microseconds([&] {
        for (int i = 0; i < kLimbs; ++i) candidate.call(0, rows[0], nullptr);
      }));
      const auto sweep = [&] {
        for (int i = 0; i < kLimbs; ++i)
          candidate.call(i, rows[static_cast<size_t>(i)],
                         rows[static_cast<size_t>((i + 1) % kLimbs)]);
      };
      sweep();  // what the other candidates left in the caches is not this one's business
      candidate.sweep.push_back(microseconds(sweep));
    }
  for (Candidate& candidate : candidates)
    std::printf("%s %d %d %.3f %.3f %.3f %.3f\n", candidate.name.c_str(), log_degree, bits,
                quantile(candidate.hot, 0.5) / kLimbs, quantile(candidate.hot, 0.1) / kLimbs,
                quantile(candidate.sweep, 0.5) / kLimbs, quantile(candidate.sweep, 0.1) / kLimbs);
  std::fflush(stdout);
}

struct NamedKernels {
  std::string name;
  const NttKernels<u64>* kernels;
};

void time_case(const std::vector<NamedKernels>& all, int log_degree, int bits, int rounds) {
  const i64 degree = i64{1} << log_degree;
  const u64 q = prime_below(bits), psi = root_of(q, static_cast<u64>(degree));
  const Modulus<u64> m = modulus_of(q, static_cast<u64>(degree));
  std::vector<u64*> rows;
  u64 state = 1;
  for (int limb = 0; limb < kLimbs; ++limb) {
    rows.push_back(huge_block(degree));
    for (i64 k = 0; k < degree; ++k) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      rows.back()[k] = (state >> 2) % q;
    }
  }
  std::vector<Candidate> forward, inverse;
  for (const NamedKernels& named : all) {
    const NttKernels<u64>* kernels = named.kernels;
    const i64 words = (kernels->table_words(degree, m) + 7) / 8 * 8;
    u64* tables = huge_block(words * kLimbs);
    for (int limb = 0; limb < kLimbs; ++limb)
      kernels->build_table(tables + words * limb, degree, psi, m);
    const auto call = [=](const auto transform) {
      return [=](int limb, u64* row, const u64* next) {
        transform(row, row, 1, degree, tables + words * limb, m, next);
      };
    };
    forward.push_back({named.name + "-forward", call(kernels->forward)});
    inverse.push_back({named.name + "-inverse", call(kernels->inverse)});
  }
#ifdef WITH_PROTOTYPE
  if (bits <= 45) {
    const std::vector<int> plan = log_degree == 13   ? std::vector<int>{3, 4}
                                  : log_degree == 14 ? std::vector<int>{3, 2, 3}
                                  : log_degree == 15 ? std::vector<int>{3, 3, 3}
                                                     : std::vector<int>{3, 3, 4};
    static std::vector<Tables> tables;
    static std::vector<TabC> packed;
    tables.clear(), packed.clear();
    for (int limb = 0; limb < kLimbs; ++limb) {
      tables.push_back(mk(log_degree, q, psi, 52, plan));
      packed.push_back(mkc(tables.back()));
    }
    forward.push_back({"prototype-forward", [](int limb, u64* row, const u64* next) {
                         g_pd = reinterpret_cast<const char*>(next);
                         const auto i = static_cast<size_t>(limb);
                         fwd3<1, true>(tables[i], packed[i], row, row);
                       }});
    inverse.push_back({"prototype-inverse", [](int limb, u64* row, const u64*) {
                         const auto i = static_cast<size_t>(limb);
                         inv3<true>(tables[i], packed[i], row, row);
                       }});
  }
#endif
  run(forward, rows, log_degree, bits, rounds);
  run(inverse, rows, log_degree, bits, rounds);
}

}  // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 31;
  std::vector<NamedKernels> all;
  const std::string wanted = count > 2 ? arguments[2] : "portable,avx512";
  if (wanted.find("portable") != std::string::npos)
    all.push_back({"portable", &kNttKernels64Portable});
  if (wanted.find("avx2") != std::string::npos) all.push_back({"avx2", &kNttKernels64Avx2});
  if (wanted.find("avx512") != std::string::npos) all.push_back({"avx512", &kNttKernels64Avx512});
  std::vector<int> sizes;
  for (int i = 3; i < count; ++i) sizes.push_back(std::atoi(arguments[i]));
  if (sizes.empty()) sizes = {45, 48, 50, 56, 60};
  for (int bits : sizes)
    for (int log_degree = 13; log_degree <= 16; ++log_degree)
      time_case(all, log_degree, bits, rounds);
}
