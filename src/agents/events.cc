#include "agents/events.h"

#include <array>

namespace ralph {

std::string_view to_string(FailureKind kind) {
  static constexpr std::array<std::string_view, 13> kWords = {
      "none",       "usage_limit",       "overloaded",        "authentication",
      "billing",    "context_exhausted", "permission_denied", "max_turns",
      "max_budget", "model_not_found",   "refused",           "aborted",
      "other"};
  static_assert(kWords.size() == static_cast<size_t>(FailureKind::kOther) + 1);
  return kWords.at(static_cast<size_t>(kind));
}

Tokens& Tokens::operator+=(const Tokens& other) {
  input += other.input;
  output += other.output;
  cache_read += other.cache_read;
  cache_write += other.cache_write;
  return *this;
}

Tokens Tokens::operator-(const Tokens& other) const {
  return {input - other.input, output - other.output, cache_read - other.cache_read, cache_write - other.cache_write};
}

}  // namespace ralph
