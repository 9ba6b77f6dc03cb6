// A whole operation as one parallel region: stages of equal work items, one stage after the other.
//
// Every participant takes items of the current stage from a counter, and goes on when all of them
// are done, its own and the others'. It waits only for items that somebody has begun, never for a
// participant that has yet to come: one alone does all the work, so a nested call, a serial loop
// and any number of threads give the same result. Items write what no other item of their stage
// reads, so the result does not depend on who took which.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <exception>

#include "common/torch_abi.h"

namespace fhelium {

/// One stage: body(item, participant) for the items 0 .. count - 1. Participants are numbered from
/// 0 on, below `participants_for`, so that each can have scratch of its own.
template <class Body>
struct Stage {
  int64_t count;
  Body body;
};
template <class Body>
Stage(int64_t, Body) -> Stage<Body>;

/// How many participants an operation of so many nanoseconds is worth: one for each 50 us, up to
/// torch's number of threads.
inline int64_t participants_for(double nanoseconds) {
  const auto worth = static_cast<int64_t>(nanoseconds / 50000.0);
  return std::clamp<int64_t>(worth, 1, thread_count());
}

/// What all participants share of a stage.
struct StageProgress {
  alignas(64) std::atomic<int64_t> next{0};
  alignas(64) std::atomic<int64_t> done{0};
};

/// Tell the processor, and after a while the system, that this thread waits.
void wait_a_little(int round);

/// Take part in one stage until all its items are done. After a failure the items that are left
/// are only counted.
template <class Body>
void take_part(const Stage<Body>& stage, StageProgress& progress, int64_t participant,
               std::atomic<bool>& failed, std::exception_ptr& failure) {
  for (;;) {
    const int64_t item = progress.next.fetch_add(1, std::memory_order_relaxed);
    if (item >= stage.count) break;
    try {
      if (!failed.load(std::memory_order_relaxed)) stage.body(item, participant);
    } catch (...) {
      if (!failed.exchange(true)) failure = std::current_exception();
    }
    progress.done.fetch_add(1, std::memory_order_release);
  }
  for (int round = 0; progress.done.load(std::memory_order_acquire) < stage.count; ++round)
    wait_a_little(round);
}

/// Run stages one after the other in one parallel region and raise what an item raised.
template <class... Bodies>
void run_stages(int64_t participants, const Stage<Bodies>&... stages) {
  std::array<StageProgress, sizeof...(Bodies)> progress;
  std::atomic<bool> failed{false};
  std::exception_ptr failure;
  parallel_for(0, participants, 1, [&](int64_t first, int64_t) {
    size_t k = 0;
    (take_part(stages, progress[k++], first, failed, failure), ...);
  });
  if (failed) std::rethrow_exception(failure);
}

}  // namespace fhelium
