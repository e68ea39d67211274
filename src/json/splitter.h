// Splits a byte stream that arrives in chunks of any size into lines, in bounded memory.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace ralph {

class LineSink {
 public:
  virtual ~LineSink() = default;
  // Without its line ending and surrounding blanks and NULs; never empty. Valid during the call.
  virtual void on_line(std::string_view line) = 0;
  // The beginning of a line that is too long to be kept.
  virtual void on_oversized_line(std::string_view head) = 0;
};

// Lines end in LF or CRLF; the last one may have no ending. A byte order mark at the very beginning and empty lines are
// skipped. A line that lies within one chunk is passed on without a copy.
class LineSplitter {
 public:
  static constexpr size_t kHead = 64 << 10;  // bytes kept of a line that is too long

  explicit LineSplitter(size_t longest) : longest_(longest) {}

  void feed(std::string_view bytes, LineSink& sink);
  void finish(LineSink& sink);

 private:
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };

  size_t head() const { return std::min(kHead, longest_); }
  void keep(std::string_view bytes);
  void set_capacity(size_t capacity);
  void end_kept_line(LineSink& sink);
  void hand_on(std::string_view line, bool oversized, LineSink& sink);

  size_t longest_;
  bool at_beginning_ = true;
  bool oversized_ = false;  // of the current line; only its head is kept
  // The beginning of the current line. Grown by realloc, which moves large blocks without touching their pages:
  // unwritten memory costs nothing.
  std::unique_ptr<char, Free> kept_;
  size_t kept_size_ = 0;
  size_t kept_capacity_ = 0;
};

}  // namespace ralph
