#include "common/stages.h"

#include <thread>

namespace fhelium {

void wait_a_little(int round) {
  constexpr int kSpins = 4096;  // about as long as a thread takes to be woken
  if (round >= kSpins) {
    std::this_thread::yield();
    return;
  }
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace fhelium
