// Scratch memory of operators, and that of large results, from blocks that the library keeps
// between calls: a fresh block of 32 MiB costs more page faults than a key switch costs arithmetic.
// Blocks begin at multiples of a huge page and ask for huge pages, as memory pages decide what a
// transform costs.
#pragma once
#include <cstddef>
#include <cstdint>

#include "common/torch_abi.h"

namespace fhelium {

/// Bytes that the pool holds, in use or kept for the next call; the results that live hold their
/// own.
int64_t pool_bytes();

/// Give what is not in use back to the system; returns how many bytes that was.
int64_t release_pool();

/// Whether a block held what must not stay in memory: it is then overwritten before it goes back.
enum class Contents { kPublic, kSecret };

/// One block of the pool, handed out piece by piece until it ends with the scope. The memory is not
/// cleared. Different workspaces may be made and ended from any threads; one belongs to one call.
class Workspace {
 public:
  /// Room for so many bytes, over all pieces: see `room_for`. Throws OutOfMemory.
  explicit Workspace(size_t bytes, Contents contents = Contents::kPublic);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  /// What a piece of `count` elements takes: pieces begin on cache lines.
  template <class T>
  static constexpr size_t room_for(int64_t count) {
    return (static_cast<size_t>(count) * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
  }

  /// The next piece.
  template <class T>
  T* take(int64_t count) {
    return static_cast<T*>(take_bytes(room_for<T>(count)));
  }

 private:
  static constexpr size_t kAlignment = 64;
  void* take_bytes(size_t bytes);

  Contents contents_;
  std::byte* block_;
  size_t size_, used_ = 0;
};

/// A fresh contiguous CPU tensor of the type of `like` for a result: from torch's allocator, or a
/// block of the pool where the C library would map memory anew for every result (from 32 MiB on),
/// whose pages the system clears for longer than an addition takes.
Tensor empty_result(const Tensor& like, const Sizes& sizes);

/// A fresh contiguous CPU tensor of the type of `like`, for tables that every call reads: in huge
/// pages where it fills one.
Tensor empty_in_huge_pages(const Tensor& like, const Sizes& sizes);

}  // namespace fhelium
