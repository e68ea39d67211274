// Determines which environment variables hold secrets, and how their values may look when printed.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ralph {

// ANTHROPIC_API_KEY, DB_PASSWORD, apiKey; not PWD, KEYBOARD or SSH_AUTH_SOCK.
bool is_secret_name(std::string_view name);

// Bytes that are a secret wherever they occur. The edges only locate it and are not masked: ':' and '@' in ":hunter2@".
struct SecretText {
  std::string bytes;
  size_t shown_in_front = 0;
  size_t shown_behind = 0;
};

// The values of secret-looking variables, if they have at least eight bytes, and the passwords in URLs of any variable;
// each verbatim and as encoded in JSON, URLs and Base64.
std::vector<SecretText> secrets_of(std::span<const std::string> environment,
                                   const std::map<std::string, std::string>& more);

}  // namespace ralph
