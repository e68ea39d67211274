#include "sandbox/request_body.h"

#include <algorithm>

#include "base/text.h"

namespace ralph {
namespace {

constexpr size_t kMostDigits = 15, kLongestLine = 8192;

}  // namespace

RequestBody RequestBody::of_length(std::uint64_t bytes) {
  RequestBody body;
  body.left_ = bytes;
  if (bytes > 0) body.state_ = State::kBytes;
  return body;
}

RequestBody RequestBody::chunked() {
  RequestBody body;
  body.state_ = State::kSize;
  return body;
}

size_t RequestBody::take(std::string_view bytes) {
  size_t at = 0;
  while (at < bytes.size() && !over() && !broken()) {
    if (state_ != State::kBytes && state_ != State::kData) {
      step(bytes[at++]);
      continue;
    }
    const auto piece = static_cast<size_t>(std::min<std::uint64_t>(left_, bytes.size() - at));
    at += piece;
    left_ -= piece;
    if (left_ == 0) state_ = state_ == State::kBytes ? State::kOver : State::kDataEnd;
  }
  return at;
}

void RequestBody::end_of_line(char c, State next) {
  if (!return_seen_ && c == '\r') {
    return_seen_ = true;
  } else if (return_seen_ && c == '\n') {
    return_seen_ = false;
    line_ = 0;
    state_ = next;
  } else {
    state_ = State::kBroken;
  }
}

void RequestBody::step(char c) {
  const State after_size = left_ == 0 ? State::kTrailer : State::kData;
  switch (state_) {
    case State::kSize:
      if (const int digit = hex_digit(c); digit >= 0 && digits_ < kMostDigits) {
        left_ = left_ * 16 + static_cast<unsigned>(digit);
        ++digits_;
      } else if (digits_ == 0) {
        state_ = State::kBroken;
      } else if (c == ';') {
        state_ = State::kExtension;
      } else {
        state_ = State::kSizeEnd;
        step(c);
      }
      break;
    case State::kExtension:
      if (c == '\r') {
        state_ = State::kSizeEnd;
        step(c);
      } else if (c == '\n' || ++line_ > kLongestLine) {
        state_ = State::kBroken;
      }
      break;
    case State::kSizeEnd:
      end_of_line(c, after_size);
      digits_ = 0;
      break;
    case State::kDataEnd:
      end_of_line(c, State::kSize);
      break;
    case State::kTrailer:
      // An empty line is the end; other lines are part of the body.
      if (return_seen_ || c == '\r') {
        end_of_line(c, line_ == 0 ? State::kOver : State::kTrailer);
      } else if (c == '\n' || ++line_ > kLongestLine) {
        state_ = State::kBroken;
      }
      break;
    case State::kOver:
    case State::kBroken:
    case State::kBytes:
    case State::kData:
      break;
  }
}

}  // namespace ralph
