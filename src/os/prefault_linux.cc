#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

#include "os/prefault.h"

namespace ralph {
namespace {

constexpr std::uintptr_t kPage = 4096;
constexpr std::uintptr_t kMost = 64 * 1024;  // of the heap, and about as much stack as a hook uses

// Takes two addresses; includes the pages that they are in.
[[maybe_unused]] void prefault(std::uintptr_t from, std::uintptr_t to) {
#ifdef MADV_POPULATE_WRITE
  from &= ~(kPage - 1);
  // NOLINTBEGIN(performance-no-int-to-ptr): an address that was a pointer
  if (from < to)
    ::madvise(reinterpret_cast<void*>(from), ((to - from) + kPage - 1) & ~(kPage - 1), MADV_POPULATE_WRITE);
  // NOLINTEND(performance-no-int-to-ptr)
#endif
}

}  // namespace

void prefault_memory() {
  void* const next = std::malloc(1);
  const auto heap = reinterpret_cast<std::uintptr_t>(next);
  std::free(next);
  const auto heap_end = reinterpret_cast<std::uintptr_t>(::sbrk(0));
  if (heap < heap_end) prefault(heap, heap_end - heap < kMost ? heap_end : heap + kMost);
  const char here = 0;
  const auto stack = reinterpret_cast<std::uintptr_t>(&here);
  prefault(stack - kMost, stack);
}

}  // namespace ralph
