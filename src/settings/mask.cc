#include "settings/mask.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace ralph {
namespace {

// Whole words of the name, so that MAX_OUTPUT_TOKENS and KEYBOARD stay readable.
constexpr std::array<std::string_view, 17> kSecretWords = {
    "KEY",        "APIKEY",      "TOKEN", "AUTHTOKEN", "SECRET", "SECRETS", "PASSWORD", "PASSWD",    "PASS",
    "PASSPHRASE", "CREDENTIALS", "PWD",   "AUTH",      "COOKIE", "PRIVATE", "DSN",      "CREDENTIAL"};

constexpr std::array<std::string_view, 12> kSecretBeginnings = {
    "sk-", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "AKIA", "AIza", "eyJ", "-----BEGIN"};

}  // namespace

bool looks_secret(std::string_view name, std::string_view value) {
  const std::string upper = to_upper(name);
  const std::vector<std::string> words = split(upper, '_');
  const bool by_name = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return std::find(kSecretWords.begin(), kSecretWords.end(), word) != kSecretWords.end();
  });
  // A URL may carry its password before the @.
  const size_t scheme = value.find("://");
  const bool has_login = scheme != std::string_view::npos && value.find('@', scheme) != std::string_view::npos;
  return by_name || has_login || std::any_of(kSecretBeginnings.begin(), kSecretBeginnings.end(), [&](auto beginning) {
           return value.starts_with(beginning);
         });
}

json::value masked_settings(const json::value& settings) {
  json::value masked = settings;
  json::object* root = masked.if_object();
  json::value* agent = root ? root->if_contains("agent") : nullptr;
  json::value* env = agent && agent->is_object() ? agent->get_object().if_contains("env") : nullptr;
  if (!env || !env->is_object()) return masked;
  for (auto& variable : env->get_object()) {
    const json::string* value = variable.value().if_string();
    if (!value || looks_secret(variable.key(), std::string_view(*value))) variable.value() = kMasked;
  }
  return masked;
}

}  // namespace ralph
