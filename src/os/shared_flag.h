// A flag that only a forked child can raise for its parent: there is no file behind it.
#pragma once

#include <memory>
#include <sys/mman.h>

namespace ralph {

class SharedFlag {
 public:
  SharedFlag() {
    void* const page = ::mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED)
      page_ = {static_cast<volatile char*>(page), [](volatile char* p) { ::munmap(const_cast<char*>(p), 1); }};
  }
  void raise() const {
    if (page_) *page_ = 1;
  }
  // If no memory could be shared, it counts as raised.
  bool is_raised() const { return !page_ || *page_ != 0; }

 private:
  std::shared_ptr<volatile char> page_;
};

}  // namespace ralph
