// Detects where a request to the proxy ends. Anything after it on the same connection is another, unchecked request and
// is not passed on.
#pragma once

#include <cstdint>
#include <string_view>

namespace ralph {

class RequestBody {
 public:
  static RequestBody none() { return {}; }
  static RequestBody of_length(std::uint64_t bytes);
  static RequestBody chunked();

  // How many of the next `bytes` belong to the request.
  size_t take(std::string_view bytes);

  bool over() const { return state_ == State::kOver; }
  bool broken() const { return state_ == State::kBroken; }  // invalid chunks

 private:
  enum class State { kOver, kBroken, kBytes, kSize, kExtension, kSizeEnd, kData, kDataEnd, kTrailer };
  void step(char c);
  void end_of_line(char c, State next);

  State state_ = State::kOver;
  std::uint64_t left_ = 0;    // of the body, or of its current chunk
  size_t digits_ = 0;         // of the current chunk's size
  size_t line_ = 0;           // bytes of the current line of extensions or trailers
  bool return_seen_ = false;  // after "\r"; "\n" must follow
};

}  // namespace ralph
