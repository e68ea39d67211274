// An append-only byte buffer that can check for room once for many appends.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

namespace ralph {

// Copies `text` and returns the end of the copy.
inline char* put_bytes(char* out, std::string_view text) {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

class ByteBuffer {
 public:
  using Write = std::function<void(std::string_view)>;

  // Keeps everything.
  ByteBuffer() = default;
  // Flushes to `write` whenever it holds `piece` bytes or more.
  ByteBuffer(size_t piece, Write write) : piece_(piece), write_(std::move(write)) {}

  std::string_view bytes() const { return {data_.get(), size_}; }

  void flush() {
    if (size_ > 0) write_(bytes());
    size_ = 0;
  }

  // Where the next `bytes` bytes may be written; then call added() with the end of the bytes written.
  char* room(size_t bytes) {
    if (capacity_ - size_ < bytes) make_room(bytes);
    return data_.get() + size_;
  }
  void added(const char* end) { size_ = static_cast<size_t>(end - data_.get()); }

  void append(std::string_view text) {
    if (capacity_ - size_ < text.size()) [[unlikely]] {
      if (write_ && text.size() >= piece_) {  // too long to be worth a copy
        flush();
        write_(text);
        return;
      }
      make_room(text.size());
    }
    if (!text.empty()) std::memcpy(data_.get() + size_, text.data(), text.size());
    size_ += text.size();
  }

 private:
  [[gnu::noinline]] void make_room(size_t bytes) {
    if (write_ && size_ >= piece_) flush();
    if (capacity_ - size_ >= bytes) return;
    const size_t capacity = std::max({size_ + bytes, capacity_ * 2, size_t{4096}});
    auto larger = std::make_unique_for_overwrite<char[]>(capacity);
    if (size_ > 0) std::memcpy(larger.get(), data_.get(), size_);
    data_ = std::move(larger);
    capacity_ = capacity;
  }

  size_t piece_ = 0;
  Write write_;
  std::unique_ptr<char[]> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace ralph
