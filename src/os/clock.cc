#include "os/clock.h"

#include <atomic>
#include <new>
#include <sys/mman.h>

namespace ralph {
namespace {

std::atomic<long long>* pauses = nullptr;  // milliseconds

}  // namespace

void share_pauses() {
  if (pauses) return;
  void* memory =
      ::mmap(nullptr, sizeof(std::atomic<long long>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) pauses = new (memory) std::atomic<long long>(0);
}

void add_pause(Milliseconds length) {
  if (pauses) pauses->fetch_add(length.count());
}

Milliseconds paused_so_far() {
  return Milliseconds(pauses ? pauses->load() : 0);
}

}  // namespace ralph
