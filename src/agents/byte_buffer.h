// Bytes to be written: like a string that is only appended to, with the check for room made once for many appends.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

namespace ralph {

class ByteBuffer {
 public:
  std::string_view bytes() const { return {data_.get(), size_}; }
  size_t size() const { return size_; }

  // Empty again. Memory beyond `keep` bytes is given back.
  void clear(size_t keep) {
    size_ = 0;
    if (capacity_ <= keep) return;
    data_.reset();
    capacity_ = 0;
  }

  // Where the next `bytes` bytes may be written; added() tells how many were.
  char* room(size_t bytes) {
    if (capacity_ - size_ < bytes) grow(bytes);
    return data_.get() + size_;
  }
  void added(const char* end) { size_ = static_cast<size_t>(end - data_.get()); }

  void append(std::string_view text) {
    char* const at = room(text.size());
    if (!text.empty()) std::memcpy(at, text.data(), text.size());
    size_ += text.size();
  }

 private:
  void grow(size_t bytes) {
    const size_t capacity = std::max({size_ + bytes, capacity_ * 2, size_t{4096}});
    auto larger = std::make_unique_for_overwrite<char[]>(capacity);
    if (size_ > 0) std::memcpy(larger.get(), data_.get(), size_);
    data_ = std::move(larger);
    capacity_ = capacity;
  }

  std::unique_ptr<char[]> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace ralph
