// A whole operation as one parallel region: stages of equal work items, one stage after the other.
//
// Every participant takes items of the current stage from a counter until none is left, and before
// the next stage waits until those that it needs are done, by whomever: all before it, unless it
// says less. It waits only for items that somebody has begun, never for a participant that has yet
// to come: one alone does all the work, so a nested call, a serial loop and any number of threads
// give the same result. Items write what no other item reads that may run beside them, so the
// result does not depend on who took which.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <exception>

#include "common/torch_abi.h"

namespace fhelium {

/// One stage: body(item, participant) for the items 0 .. count - 1. Participants are numbered from
/// 0 on, below `participants_for`, so that each can have scratch of its own. It needs the first
/// `needs` stages of the region; those between may still run.
template <class Body>
struct Stage {
  int64_t count;
  Body body;
  size_t needs = SIZE_MAX;
};
template <class Body>
Stage(int64_t, Body) -> Stage<Body>;
template <class Body>
Stage(int64_t, Body, int) -> Stage<Body>;

/// How many participants an operation of so many nanoseconds is worth: one for each 50 us, up to
/// torch's number of threads.
inline int64_t participants_for(double nanoseconds) {
  const auto worth = static_cast<int64_t>(nanoseconds / 50000.0);
  return std::clamp<int64_t>(worth, 1, thread_count());
}

/// What all participants share of a stage.
struct StageProgress {
  alignas(64) std::atomic<int64_t> next{0};
  alignas(64) std::atomic<int64_t> left{0};
};

/// Wait until nothing of a stage is left to do.
void wait_for(const StageProgress& stage);

/// Run stages one after the other in one parallel region and raise what an item raised. After a
/// failure the items that are left are only counted.
template <class... Bodies>
void run_stages(int64_t participants, const Stage<Bodies>&... stages) {
  std::array<StageProgress, sizeof...(Bodies)> progress;
  size_t count = 0;
  (progress[count++].left.store(stages.count, std::memory_order_relaxed), ...);
  std::atomic<bool> failed{false};
  std::exception_ptr failure;
  const auto take_part = [&](const auto& stage, size_t index, int64_t participant) {
    for (size_t k = 0; k < std::min(stage.needs, index); ++k) wait_for(progress[k]);
    StageProgress& own = progress[index];
    for (int64_t item; (item = own.next.fetch_add(1, std::memory_order_relaxed)) < stage.count;
         own.left.fetch_sub(1, std::memory_order_release)) {
      try {
        if (!failed.load(std::memory_order_relaxed)) stage.body(item, participant);
      } catch (...) {
        if (!failed.exchange(true)) failure = std::current_exception();
      }
    }
  };
  parallel_for(0, participants, 1, [&](int64_t first, int64_t) {
    size_t index = 0;
    (take_part(stages, index++, first), ...);
  });
  if (failed) std::rethrow_exception(failure);
}

}  // namespace fhelium
