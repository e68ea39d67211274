// Where a request to the proxy ends. What comes behind it on the same connection is another request, which nobody has
// judged: it is not passed on.
#pragma once

#include <cstdint>
#include <string_view>

namespace ralph {

class RequestBody {
 public:
  static RequestBody none() { return {}; }
  static RequestBody of_length(std::uint64_t bytes);
  static RequestBody chunked();

  // How many of `bytes`, which come next, belong to the request.
  size_t take(std::string_view bytes);

  bool over() const { return state_ == State::kOver; }
  bool broken() const { return state_ == State::kBroken; }  // these are no chunks

 private:
  enum class State { kOver, kBroken, kBytes, kSize, kExtension, kSizeEnd, kData, kDataEnd, kTrailer };
  void step(char c);
  void end_of_line(char c, State next);

  State state_ = State::kOver;
  std::uint64_t left_ = 0;    // of the body, or of its chunk
  size_t digits_ = 0;         // of the chunk's size
  size_t line_ = 0;           // bytes of this line of extensions or trailers
  bool return_seen_ = false;  // "\r", whose "\n" must follow
};

}  // namespace ralph
