#include "common/pool.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace fhelium {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

/// Blocks that wait for their next use hold at most this much together.
constexpr size_t kMostIdle = size_t{512} << 20;

struct Block {
  std::byte* begin;
  size_t size;
};

size_t whole_pages(size_t bytes) {
  return std::max<size_t>(1, (bytes + kHugePage - 1) / kHugePage) * kHugePage;
}

/// Ask for huge pages behind memory that begins at one and has not been written.
void advise_huge_pages(void* begin, size_t bytes) {
#if defined(__linux__)
  (void)madvise(begin, bytes, MADV_HUGEPAGE);  // advice only: a refusal costs time, nothing else
#else
  (void)begin;
  (void)bytes;
#endif
}

/// A block of whole huge pages at a multiple of one; null where there is no memory.
std::byte* allocate(size_t size) {
#if defined(__linux__)
  // Reserve one page more and give back what lies outside the aligned block.
  void* found =
      mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (found == MAP_FAILED) return nullptr;
  auto* whole = static_cast<std::byte*>(found);
  const size_t before = kHugePage - reinterpret_cast<uintptr_t>(whole) % kHugePage;
  munmap(whole, before);
  if (before != kHugePage) munmap(whole + before + size, kHugePage - before);
  advise_huge_pages(whole + before, size);
  return whole + before;
#else
  return static_cast<std::byte*>(std::aligned_alloc(kHugePage, size));
#endif
}

void deallocate(Block block) {
#if defined(__linux__)
  munmap(block.begin, block.size);
#else
  std::free(block.begin);
#endif
}

/// The same or OutOfMemory, after a second try behind `make_room`.
template <class MakeRoom>
Block allocated_block(size_t size, const MakeRoom& make_room) {
  std::byte* begin = allocate(size);
  if (begin == nullptr) {
    make_room();
    begin = allocate(size);
  }
  if (begin == nullptr)
    throw OutOfMemory("native operator: there is no memory for " + std::to_string(size) +
                      " bytes. An operator keeps its tables and works in blocks of its own. "
                      "Free memory, or compute on a smaller batch.");
  return {begin, size};
}

class Pool {
 public:
  /// The smallest idle block that has the room, and not more than `most`, or a fresh one.
  Block acquire(size_t bytes, size_t most = SIZE_MAX) {
    const size_t size = whole_pages(bytes);
    {
      const std::lock_guard lock(mutex_);
      auto best = idle_.end();
      for (auto block = idle_.begin(); block != idle_.end(); ++block)
        if (block->size >= size && block->size <= most &&
            (best == idle_.end() || block->size < best->size))
          best = block;
      if (best != idle_.end()) {
        const Block found = *best;
        idle_.erase(best);
        idle_bytes_ -= found.size;
        return found;
      }
    }
    const Block fresh = allocated_block(size, [this] { release(); });
    const std::lock_guard lock(mutex_);
    held_bytes_ += size;
    return fresh;
  }

  /// Keep a block for the next call; what has waited longest makes room for it.
  void give_back(Block block) noexcept {
    std::vector<Block> dropped;
    {
      const std::lock_guard lock(mutex_);
      try {
        dropped.reserve(idle_.size() + 1);
        idle_.push_back(block);
        idle_bytes_ += block.size;
      } catch (const std::bad_alloc&) {
        held_bytes_ -= block.size;
        deallocate(block);
        return;
      }
      while (idle_bytes_ > kMostIdle) {
        dropped.push_back(idle_.front());
        idle_bytes_ -= idle_.front().size;
        held_bytes_ -= idle_.front().size;
        idle_.erase(idle_.begin());
      }
    }
    for (const Block& old : dropped) deallocate(old);
  }

  /// A block of little more than the room for somebody else, who holds it from now on.
  Block lend(size_t bytes) {
    const Block block = acquire(bytes, whole_pages(bytes + bytes / 8));
    const std::lock_guard lock(mutex_);
    held_bytes_ -= block.size;
    return block;
  }

  void take_back(Block block) noexcept {
    {
      const std::lock_guard lock(mutex_);
      held_bytes_ += block.size;
    }
    give_back(block);
  }

  /// Bytes that went back to the system.
  int64_t release() {
    std::vector<Block> dropped;
    size_t bytes = 0;
    {
      const std::lock_guard lock(mutex_);
      dropped.swap(idle_);
      std::swap(bytes, idle_bytes_);
      held_bytes_ -= bytes;
    }
    for (const Block& old : dropped) deallocate(old);
    return static_cast<int64_t>(bytes);
  }

  int64_t held() {
    const std::lock_guard lock(mutex_);
    return static_cast<int64_t>(held_bytes_);
  }

 private:
  std::mutex mutex_;
  std::vector<Block> idle_;  // the one that has waited longest first
  size_t idle_bytes_ = 0, held_bytes_ = 0;
};

/// Never destroyed: threads may still compute while the process ends.
Pool& pool() {
  static Pool& instance = *new Pool;
  return instance;
}

/// At most kNoMemory, which no machine has: an expanded view may have more bytes than can be
/// counted.
size_t bytes_of(const Tensor& like, const Sizes& sizes) {
  constexpr size_t kNoMemory = SIZE_MAX / 4;
  size_t bytes = like.element_size();
  for (int64_t size : sizes)
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(size), &bytes) || bytes > kNoMemory)
      bytes = kNoMemory;
  return bytes;
}

}  // namespace

Tensor empty_result(const Tensor& like, const Sizes& sizes) {
  constexpr size_t kManyBytes = size_t{32} << 20;
  const size_t bytes = bytes_of(like, sizes);
  if (bytes < kManyBytes) return empty_on(like, sizes);
  return allocated(sizes, [&] {
    const Block block = pool().lend(bytes);
    return tensor_over(block.begin, like, sizes, [block](void*) { pool().take_back(block); });
  });
}

Tensor empty_in_huge_pages(const Tensor& like, const Sizes& sizes) {
  const size_t bytes = bytes_of(like, sizes);
  if (bytes < kHugePage) return empty_on(like, sizes);
  const Block block = allocated_block(whole_pages(bytes), release_pool);
  return tensor_over(block.begin, like, sizes, [block](void*) { deallocate(block); });
}

int64_t pool_bytes() { return pool().held(); }

int64_t release_pool() { return pool().release(); }

Workspace::Workspace(size_t bytes, Contents contents) : contents_(contents) {
  const Block block = pool().acquire(bytes);
  block_ = block.begin;
  size_ = block.size;
}

Workspace::~Workspace() {
  if (contents_ == Contents::kSecret) {
    std::memset(block_, 0, used_);
    asm volatile("" : : "r"(block_) : "memory");  // the compiler may not drop the stores
  }
  pool().give_back({block_, size_});
}

void* Workspace::take_bytes(size_t bytes) {
  if (bytes > size_ - used_)
    throw std::logic_error("native operator: a workspace of " + std::to_string(size_) +
                           " bytes was asked for " + std::to_string(bytes) + " more than " +
                           std::to_string(used_) + ". This is a defect of the library.");
  void* piece = block_ + used_;
  used_ += bytes;
  return piece;
}

}  // namespace fhelium
