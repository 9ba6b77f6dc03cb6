#include "common/cuda_emulator.h"

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "common/cuda_runtime.h"
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace fhelium::emulator {
namespace {

constexpr size_t kStackBytes = 128 << 10, kWallBytes = 1024;
constexpr std::byte kPoison{0xa5}, kWall{0x5a};
constexpr unsigned kMaxThreads = 1024, kMaxBlockDepth = 64;
constexpr unsigned kMaxColumns = 0x7fffffff, kMaxRows = 65535;
constexpr size_t kMaxShared = 163 << 10;  // of compute capability 8.0; 9.0 has more

/// A place to run that can be left and entered again.
struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack{new char[kStackBytes]};
};

enum class State { kReady, kAtBarrier, kAtWarp, kDone };

struct Thread {
  dim3 index;
  State state = State::kReady;
  Fiber* fiber = nullptr;            // none before it starts and after it ends
  Site site;                         // of what it waits for
  unsigned mask = 0, took_part = 0;  // of its last warp operation: named lanes, and those there
  uint64_t value = 0;                // what it put down
  std::array<uint64_t, warpSize> seen{};  // and what the others did
};

/// What runs: a block at a time. A fiber whose thread has ended goes on with the next thread that
/// has not started, so a kernel without barriers never changes fibers.
class Device {
 public:
  int run(dim3 grid, dim3 block, size_t shared_bytes, const std::function<void()>& body);
  void wait(State state, const Site& site);
  [[noreturn]] void fail(const std::string& reason);

  Thread& current() { return *current_; }
  unsigned current_number() const { return static_cast<unsigned>(current_ - threads_.data()); }
  void* shared() { return shared_.data() + kWallBytes; }

  unsigned seed = 0;
  uint64_t launches = 0;
  std::string error;

 private:
  std::string fault_of(dim3 grid, dim3 block, size_t shared_bytes) const;
  void run_block();
  void start_threads();
  void run_ready();
  bool release_warps();
  void release_barrier();
  bool walls_stand() const;
  void add_fiber();
  void enter(Thread& thread);
  void leave();
  bool take_next();
  void shuffle(std::vector<unsigned>& order);
  static void begin_fiber();
  void fiber_loop();

  const std::function<void()>* body_ = nullptr;
  std::vector<Thread> threads_;
  std::vector<unsigned> order_;  // of the threads until the next barrier
  size_t next_ = 0;              // in order_
  Thread* current_ = nullptr;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_;
  ucontext_t scheduler_;
  std::vector<std::byte> shared_;
  std::mt19937 random_;
  bool failed_ = false;
#if defined(__SANITIZE_ADDRESS__)
  const void* scheduler_stack_ = nullptr;
  size_t scheduler_stack_bytes_ = 0;
#endif
};

thread_local Device device;

std::string text(dim3 size) {
  return std::to_string(size.x) + " x " + std::to_string(size.y) + " x " + std::to_string(size.z);
}

std::string text(const Site& site) {
  return std::string(site.file_name()) + ":" + std::to_string(site.line());
}

bool same(const Site& a, const Site& b) { return a.line() == b.line() && a.column() == b.column(); }

std::string Device::fault_of(dim3 grid, dim3 block, size_t shared_bytes) const {
  const uint64_t count = uint64_t{block.x} * block.y * block.z;
  if (count == 0 || count > kMaxThreads || block.z > kMaxBlockDepth)
    return "a block of " + text(block) + " threads; a block has 1 to " +
           std::to_string(kMaxThreads) + ", at most " + std::to_string(kMaxBlockDepth) +
           " along its last axis";
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > kMaxColumns || grid.y > kMaxRows ||
      grid.z > kMaxRows)
    return "a grid of " + text(grid) +
           " blocks; a grid has 1 to 2^31 - 1 along its first axis, 1 to " +
           std::to_string(kMaxRows) + " along the others";
  if (shared_bytes > kMaxShared)
    return std::to_string(shared_bytes) + " bytes of shared memory; a block has at most " +
           std::to_string(kMaxShared);
  return "";
}

int Device::run(dim3 grid, dim3 block, size_t shared_bytes, const std::function<void()>& body) {
  ++launches;
  error = fault_of(grid, block, shared_bytes);
  failed_ = !error.empty();
  if (failed_) error = "invalid launch: " + error;
  body_ = &body;
  gridDim = grid;
  blockDim = block;
  random_.seed(seed);
  threads_.assign(failed_ ? 0 : size_t{block.x} * block.y * block.z, Thread{});
  order_.resize(threads_.size());
  shared_.assign(shared_bytes + 2 * kWallBytes, kWall);
  std::vector<unsigned> blocks(failed_ ? 0 : size_t{grid.x} * grid.y * grid.z);
  std::iota(blocks.begin(), blocks.end(), 0u);
  shuffle(blocks);
  for (size_t i = 0; i < blocks.size() && !failed_; ++i) {
    const unsigned number = blocks[i];
    blockIdx = dim3(number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y);
    run_block();
  }
  if (failed_) {  // fibers are half-way
    idle_.clear();
    fibers_.clear();
  }
  return failed_ ? 1 : 0;
}

void Device::run_block() {
  start_threads();
  while (!failed_) {
    run_ready();
    if (failed_) return;
    const auto done = std::count_if(threads_.begin(), threads_.end(),
                                    [](const Thread& t) { return t.state == State::kDone; });
    if (done == static_cast<std::ptrdiff_t>(threads_.size())) break;
    if (!release_warps() && !failed_) release_barrier();
  }
  if (!failed_ && !walls_stand()) {
    failed_ = true;
    error = "block " + text(blockIdx) + " wrote outside its shared memory";
  }
}

void Device::start_threads() {
  std::fill_n(shared_.begin() + kWallBytes, shared_.size() - 2 * kWallBytes, kPoison);
  for (unsigned i = 0; i < threads_.size(); ++i) {
    threads_[i] = Thread{};
    threads_[i].index =
        dim3(i % blockDim.x, i / blockDim.x % blockDim.y, i / (blockDim.x * blockDim.y));
    order_[i] = i;
  }
}

bool Device::walls_stand() const {
  const auto stands = [](std::byte b) { return b == kWall; };
  return std::all_of(shared_.begin(), shared_.begin() + kWallBytes, stands) &&
         std::all_of(shared_.end() - kWallBytes, shared_.end(), stands);
}

/// Seed 0 keeps the order and seed 1 turns it round; any other one draws.
void Device::shuffle(std::vector<unsigned>& order) {
  if (seed == 1)
    std::sort(order.rbegin(), order.rend());
  else if (seed > 1)
    std::shuffle(order.begin(), order.end(), random_);
}

void Device::run_ready() {
  shuffle(order_);
  for (next_ = 0; next_ < order_.size() && !failed_;) {
    Thread& thread = threads_[order_[next_++]];
    if (thread.state == State::kReady) enter(thread);
  }
}

/// Let every warp go on whose named threads have all come. Whether one could.
bool Device::release_warps() {
  bool released = false, waiting = false;
  for (size_t first = 0; first < threads_.size(); first += warpSize) {
    const size_t past = std::min(first + warpSize, threads_.size());
    for (size_t i = first; i < past; ++i) {
      const Thread leader = threads_[i];
      if (leader.state != State::kAtWarp) continue;
      waiting = true;
      unsigned there = 0;
      for (size_t j = first; j < past; ++j) {
        const Thread& t = threads_[j];
        if (t.state == State::kAtWarp && t.mask == leader.mask && same(t.site, leader.site))
          there |= 1u << (j - first);
      }
      const unsigned exist = past - first == warpSize ? ~0u : (1u << (past - first)) - 1;
      if ((there & leader.mask) != (exist & leader.mask)) continue;
      released = true;
      std::array<uint64_t, warpSize> values{};
      for (size_t j = first; j < past; ++j) values[j - first] = threads_[j].value;
      for (size_t j = first; j < past; ++j)
        if (there >> (j - first) & 1) {
          threads_[j].state = State::kReady;
          threads_[j].took_part = there;
          threads_[j].seen = values;
        }
    }
  }
  if (waiting && !released) {
    failed_ = true;
    const auto waiter = std::find_if(threads_.begin(), threads_.end(),
                                     [](const Thread& t) { return t.state == State::kAtWarp; });
    error = "divergent warp operation: part of the threads it names reach " + text(waiter->site);
  }
  return released;
}

void Device::release_barrier() {
  const Thread* first = nullptr;
  size_t there = 0;
  bool agree = true;
  for (const Thread& t : threads_) {
    if (t.state != State::kAtBarrier) continue;
    ++there;
    if (first == nullptr) first = &t;
    agree = agree && same(t.site, first->site);
  }
  if (there != threads_.size() || !agree) {
    failed_ = true;
    error = "divergent barrier: " + std::to_string(there) + " of " +
            std::to_string(threads_.size()) + " threads reach a __syncthreads, one of them at " +
            text(first->site) + (agree ? "" : ", others at another");
    return;
  }
  for (Thread& t : threads_) t.state = State::kReady;
}

// ---- fibers
// --------------------------------------------------------------------------------------

void Device::add_fiber() {
  fibers_.push_back(std::make_unique<Fiber>());
  idle_.push_back(fibers_.back().get());
  ucontext_t& context = idle_.back()->context;
  getcontext(&context);
  context.uc_stack.ss_sp = idle_.back()->stack.get();
  context.uc_stack.ss_size = kStackBytes;
  context.uc_link = nullptr;
  makecontext(&context, &Device::begin_fiber, 0);
}

void Device::enter(Thread& thread) {
  current_ = &thread;
  threadIdx = thread.index;
  if (thread.fiber == nullptr) {
    if (idle_.empty()) add_fiber();
    thread.fiber = idle_.back();
    idle_.pop_back();
  }
#if defined(__SANITIZE_ADDRESS__)
  void* kept = nullptr;
  __sanitizer_start_switch_fiber(&kept, thread.fiber->stack.get(), kStackBytes);
#endif
  swapcontext(&scheduler_, &thread.fiber->context);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(kept, nullptr, nullptr);
#endif
}

/// Back to the scheduler, until it enters the current thread's fiber again.
void Device::leave() {
  Fiber* const fiber = current_->fiber;
#if defined(__SANITIZE_ADDRESS__)
  void* kept = nullptr;
  __sanitizer_start_switch_fiber(&kept, scheduler_stack_, scheduler_stack_bytes_);
#endif
  if (current_->state == State::kDone) {
    idle_.push_back(fiber);
    current_->fiber = nullptr;
  }
  swapcontext(&fiber->context, &scheduler_);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(kept, &scheduler_stack_, &scheduler_stack_bytes_);
#endif
}

void Device::begin_fiber() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &device.scheduler_stack_,
                                  &device.scheduler_stack_bytes_);
#endif
  device.fiber_loop();
}

void Device::fiber_loop() {
  for (;;) {
    (*body_)();
    current_->state = State::kDone;
    if (!take_next()) leave();
  }
}

/// Go on with the next thread where that one has not started.
bool Device::take_next() {
  if (next_ == order_.size()) return false;
  Thread& next = threads_[order_[next_]];
  if (next.state != State::kReady || next.fiber != nullptr) return false;
  ++next_;
  next.fiber = current_->fiber;
  current_->fiber = nullptr;
  current_ = &next;
  threadIdx = next.index;
  return true;
}

void Device::wait(State state, const Site& site) {
  current_->state = state;
  current_->site = site;
  leave();
}

void Device::fail(const std::string& reason) {
  failed_ = true;
  error = reason;
  for (;;) leave();  // never entered again
}

}  // namespace

int run(dim3 grid, dim3 block, size_t shared_bytes, const std::function<void()>& body) {
  return device.run(grid, block, shared_bytes, body);
}

void* shared_memory() { return device.shared(); }

void wait_for_block(const Site& site) { device.wait(State::kAtBarrier, site); }

void wait_for_warp(unsigned mask, uint64_t value, const Site& site) {
  if ((mask >> lane() & 1) == 0)
    device.fail("a warp operation whose mask does not name its thread, at " + text(site));
  device.current().mask = mask;
  device.current().value = value;
  device.wait(State::kAtWarp, site);
}

uint64_t lane_value(unsigned lane) { return device.current().seen[lane]; }
bool lane_took_part(unsigned lane) { return device.current().took_part >> lane & 1; }
unsigned lane() { return device.current_number() % warpSize; }
void fail(const char* reason) { device.fail(reason); }

}  // namespace fhelium::emulator

// ---- what the runtime is to adapters, and the emulator's own switches for tests
// --------------------

extern "C" {

const char* fhelium_cuda_error_text(int) { return fhelium::emulator::device.error.c_str(); }
int fhelium_cuda_set_device(int) { return 0; }

void fhelium_emulator_seed(unsigned seed) { fhelium::emulator::device.seed = seed; }
uint64_t fhelium_emulator_launches() { return fhelium::emulator::device.launches; }
}
