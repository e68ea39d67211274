// Which variables of an environment hold secrets, and how their values may look when somebody prints them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ralph {

// ANTHROPIC_API_KEY, DB_PASSWORD, apiKey; not PWD, KEYBOARD or SSH_AUTH_SOCK.
bool is_secret_name(std::string_view name);

// Bytes that are a secret wherever they stand. The edges only tell where it is: ":hunter2@" shows ':' and '@'.
struct SecretText {
  std::string bytes;
  size_t shown_in_front = 0;
  size_t shown_behind = 0;
};

// The values of secret-looking variables of at least eight bytes, and passwords inside URLs of any variable; each as it
// is and as JSON, URLs and Base64 write it.
std::vector<SecretText> secrets_of(std::span<const std::string> environment,
                                   const std::map<std::string, std::string>& more);

}  // namespace ralph
