// Lines out of bytes that come in pieces of any size, in memory that does not grow with them.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace ralph {

class LineSink {
 public:
  virtual ~LineSink() = default;
  // Without its end and without blanks and NULs around it; never empty. Valid during the call.
  virtual void on_line(std::string_view line) = 0;
  // A line that is too long to be kept: its beginning.
  virtual void on_oversized_line(std::string_view head) = 0;
};

// Lines end in LF or CRLF; the last one may have no end. A byte order mark at the very beginning is passed over, and so
// are lines that hold nothing. A line that lies whole in one piece is handed on where it lies.
class LineSplitter {
 public:
  static constexpr size_t kHead = 64 << 10;  // what is kept of a line that is too long

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
  bool oversized_ = false;  // the line under way; only its head is kept
  // The beginning of the line under way. Grown by realloc, which moves large blocks without touching their pages:
  // memory that was not written to is not used.
  std::unique_ptr<char, Free> kept_;
  size_t kept_size_ = 0;
  size_t kept_capacity_ = 0;
};

}  // namespace ralph
