#include "common/stages.h"

#include <thread>

namespace fhelium {

void wait_for(const StageProgress& stage) {
  constexpr int kSpins = 4096;  // about as long as a thread takes to be woken
  for (int round = 0; stage.left.load(std::memory_order_acquire) > 0; ++round) {
    if (round >= kSpins) {
      std::this_thread::yield();
      continue;
    }
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
}

}  // namespace fhelium
