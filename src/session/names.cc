#include "session/names.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/hash.h"

namespace ralph {
namespace {

bool is_harmless(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

}  // namespace

std::string file_name_of_session(const std::string& session) {
  const bool plain =
      !session.empty() && session.size() <= 80 && std::all_of(session.begin(), session.end(), is_harmless);
  return plain && !session.starts_with("hash-") ? session : fmt::format("hash-{:016x}", stable_hash(session));
}

}  // namespace ralph
