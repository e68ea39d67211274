#include "journal/secret_variables.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "base/utf8.h"
#include "journal/token_shapes.h"
#include "json/writer.h"

namespace ralph {
namespace {

constexpr size_t kShortestSecret = 8;    // shorter values are often ordinary words
constexpr size_t kShortestPassword = 3;  // in a URL, where ':' and '@' make it certain
constexpr size_t kShortestEncoded = 10;

constexpr std::string_view kSecretWords[] = {
    "KEY",    "KEYS",       "APIKEY",      "ACCESSKEY",  "SECRETKEY",    "PRIVATEKEY", "TOKEN",     "TOKENS",
    "PAT",    "AUTHTOKEN",  "ACCESSTOKEN", "SECRET",     "SECRETS",      "PASSWORD",   "PASSWORDS", "PASSWD",
    "PASS",   "PASSPHRASE", "PASSCODE",    "CREDENTIAL", "CREDENTIALS",  "CREDS",      "AUTH",      "AUTHORIZATION",
    "BEARER", "DSN",        "COOKIE",      "PRIVKEY",    "CLIENTSECRET",
};

// SSL_KEY_FILE and SSH_AUTH_SOCK name the location of a secret, not the secret.
constexpr std::string_view kPlaceWords[] = {"FILE", "PATH", "DIR", "SOCK", "SOCKET", "HELPER", "METHOD", "TYPE"};

// Values of settings such as AUTH=disabled. Masking these words would make logs unreadable.
constexpr std::string_view kOrdinaryValues[] = {"disabled",  "optional",  "required",  "automatic",  "keychain",
                                                "anonymous", "undefined", "localhost", "notrequired"};

bool contains(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_one_of_words(std::span<const std::string_view> words, std::string_view word) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view one) {
    return one.size() == word.size() && equals_ignoring_case(one, word);
  });
}

// "/home/me/key.pem": the secret is in the file, not in its name. Keys may begin with '/', but have no such ending.
bool is_path_of_file(std::string_view value) {
  if (!value.starts_with('/') && !value.starts_with("~/") && !value.starts_with("./")) return false;
  const std::string_view name = value.substr(value.rfind('/') + 1);
  const size_t dot = name.rfind('.');
  return dot != std::string_view::npos && name.size() - dot - 1 <= 5;
}

// The text as escaped by JSON writers that emit only ASCII.
std::string in_ascii(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Character character = first_character(text);
    if (character.code < 0x80) {
      out += text[0];
    } else if (character.code < 0x10000) {
      out += fmt::format("\\u{:04x}", character.code);
    } else {
      const auto rest = character.code - 0x10000;
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
    }
    text.remove_prefix(character.bytes);
  }
  return out;
}

// Percent-encoded, except letters, digits and `spared`. Programs differ in what they spare and in the case of the
// digits.
std::string encoded_for_url(std::string_view text, std::string_view spared, bool upper) {
  std::string out;
  for (char c : text) {
    if (is_one_of(Letters::kAlnum, c) || spared.find(c) != std::string_view::npos) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += upper ? fmt::format("%{:02X}", byte) : fmt::format("%{:02x}", byte);
    }
  }
  return out;
}

// The Base64 letters that `text` fully determines when it follows `before` other bytes (0, 1 or 2) in a group.
std::string inside_base64(std::string_view text, size_t before, bool for_urls) {
  const std::string_view letters = for_urls ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
                                            : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  const size_t bits = (before + text.size()) * 8;
  for (size_t bit = (before * 8 + 5) / 6 * 6; bit + 6 <= bits; bit += 6) {
    unsigned letter = 0;
    for (size_t i = bit - before * 8; i < bit - before * 8 + 6; ++i) {
      letter = letter << 1 | (static_cast<unsigned char>(text[i / 8]) >> (7 - i % 8) & 1u);
    }
    out += letters[letter];
  }
  return out;
}

class Collector {
 public:
  void add_value(std::string_view value) {
    add(std::string(value));
    const std::string json = json_escaped(value);
    add(json);
    add(json_escaped(json));  // JSON inside JSON, as in tool results
    // Optional escapes of some writers: PHP, Go, Python.
    add(replace_all(json, "/", "\\/"));
    add(replace_all(replace_all(replace_all(json, "<", "\\u003c"), ">", "\\u003e"), "&", "\\u0026"));
    add(in_ascii(json));
    for (const bool upper : {true, false}) {
      // RFC 3986; JavaScript's encodeURIComponent and encodeURI; Python's quote; forms, which write a space as "+".
      for (const std::string_view spared : {"-_.~", "-_.~!*'()", "-_.~!*'();/?:@&=+$,#", "-_.~/", "-_.*"})
        add(encoded_for_url(value, spared, upper));
      for (const std::string_view spared : {"-_.~ ", "-_.* "})
        add(replace_all(encoded_for_url(value, spared, upper), " ", "+"));
    }
    for (size_t before : {0, 1, 2}) {
      for (bool for_urls : {false, true}) {
        std::string encoded = inside_base64(value, before, for_urls);
        if (encoded.size() >= kShortestEncoded) add(std::move(encoded));
      }
    }
  }

  // scheme://user:password@host, and https://token@host
  void add_url_passwords(std::string_view value) {
    for (size_t at = value.find("://"); at != std::string_view::npos; at = value.find("://", at)) {
      at += 3;
      const std::string_view authority = value.substr(at, value.find_first_of("/?# \t\r\n", at) - at);
      const size_t end = authority.rfind('@');
      if (end == std::string_view::npos) continue;
      const std::string_view user = authority.substr(0, end);
      const size_t colon = user.find(':');
      const std::string_view password = colon == std::string_view::npos ? user : user.substr(colon + 1);
      if (colon != std::string_view::npos && password.size() >= kShortestPassword) {
        add(fmt::format(":{}@", password), 1, 1);
      }
      if (password.size() >= (colon == std::string_view::npos ? 2 * kShortestSecret : kShortestSecret)) {
        add_value(password);
      }
    }
  }

  std::vector<SecretText> take() { return std::move(secrets_); }

 private:
  void add(std::string bytes, size_t front = 0, size_t behind = 0) {
    if (seen_.insert(bytes).second) secrets_.push_back({std::move(bytes), front, behind});
  }

  std::set<std::string> seen_;
  std::vector<SecretText> secrets_;
};

}  // namespace

bool is_secret_name(std::string_view name) {
  bool secret = false;
  std::string_view last;
  for (size_t from = 0, to = 0; from <= name.size(); from = to + 1) {
    for (to = from; to < name.size() && is_one_of(Letters::kAlnum, name[to]);) ++to;
    last = name.substr(from, to - from);
    secret = secret || is_one_of_words(kSecretWords, last);
  }
  return secret && !is_one_of_words(kPlaceWords, last);
}

std::vector<SecretText> secrets_of(std::span<const std::string> environment,
                                   const std::map<std::string, std::string>& more) {
  Collector collector;
  const auto consider = [&](std::string_view name, std::string_view value) {
    collector.add_url_passwords(value);
    if (!is_secret_name(name)) return;
    value = trim(value);  // a final newline from a file is often not printed
    const bool ordinary = contains(kOrdinaryValues, to_lower(value)) || is_path_of_file(value);
    if (value.size() >= kShortestSecret && !ordinary) collector.add_value(value);
  };
  for (const std::string& variable : environment) {
    const size_t equals = variable.find('=');
    if (equals != std::string::npos)
      consider(std::string_view(variable).substr(0, equals), std::string_view(variable).substr(equals + 1));
  }
  for (const auto& [name, value] : more) consider(name, value);
  return collector.take();
}

}  // namespace ralph
