#include "json/splitter.h"

#include <cstring>
#include <new>

#include "base/utf8.h"

namespace ralph {
namespace {

constexpr size_t kFirstCapacity = 64 << 10;
constexpr size_t kKeptCapacity = 1 << 20;  // a larger buffer is freed after the line that needed it

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\0';
}

}  // namespace

void LineSplitter::feed(std::string_view bytes, LineSink& sink) {
  while (!bytes.empty()) {
    const auto* const end = static_cast<const char*>(std::memchr(bytes.data(), '\n', bytes.size()));
    if (!end) {
      keep(bytes);
      return;
    }
    const std::string_view line = bytes.substr(0, static_cast<size_t>(end - bytes.data()));
    bytes.remove_prefix(line.size() + 1);
    if (kept_size_ == 0 && !oversized_) {
      const bool too_long = line.size() > longest_;
      hand_on(too_long ? line.substr(0, head()) : line, too_long, sink);
    } else {
      keep(line);
      end_kept_line(sink);
    }
  }
}

void LineSplitter::finish(LineSink& sink) {
  if (kept_size_ > 0 || oversized_) end_kept_line(sink);
}

void LineSplitter::keep(std::string_view bytes) {
  if (oversized_) return;
  if (kept_size_ + bytes.size() > longest_) {
    oversized_ = true;
    kept_size_ = std::min(kept_size_, head());
    bytes = bytes.substr(0, head() - kept_size_);
    if (kept_capacity_ > kKeptCapacity) set_capacity(head());  // the rest may be endless, so free what is not needed
  }
  const size_t needed = kept_size_ + bytes.size();
  if (needed > kept_capacity_) {
    set_capacity(std::max({needed, kFirstCapacity, std::min(kept_capacity_ * 2, longest_)}));
  }
  if (!bytes.empty()) std::memcpy(kept_.get() + kept_size_, bytes.data(), bytes.size());
  kept_size_ = needed;
}

void LineSplitter::set_capacity(size_t capacity) {
  char* const old = kept_.release();  // realloc frees it, or leaves it unchanged
  char* const moved = static_cast<char*>(std::realloc(old, capacity));
  kept_.reset(moved ? moved : old);
  if (!moved) throw std::bad_alloc();
  kept_capacity_ = capacity;
}

void LineSplitter::end_kept_line(LineSink& sink) {
  const std::string_view line(kept_.get(), kept_size_);
  hand_on(line, oversized_, sink);
  oversized_ = false;
  kept_size_ = 0;
  if (kept_capacity_ > kKeptCapacity) {
    kept_.reset();
    kept_capacity_ = 0;
  }
}

void LineSplitter::hand_on(std::string_view line, bool oversized, LineSink& sink) {
  if (at_beginning_ && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  at_beginning_ = false;
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  if (oversized) {
    sink.on_oversized_line(line);
    return;
  }
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  if (!line.empty()) sink.on_line(line);
}

}  // namespace ralph
