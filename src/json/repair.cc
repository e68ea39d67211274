#include "json/repair.h"

#include <charconv>

#include "base/text.h"
#include "base/utf8.h"
#include "json/scan.h"
#include "json/writer.h"

namespace ralph {
namespace {

constexpr std::string_view kReplacement = "\\ufffd";

// The value of the escape "\uXXXX" at the start of `text`; -1 if there is none.
int unit_of(std::string_view text) {
  return text.size() < 6 || !text.starts_with("\\u") ? -1 : json_scan::hex4(text.data() + 2);
}

bool is_high(int unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}
bool is_low(int unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

// Repairs the escape at the beginning of `text`; returns its original length.
size_t put_repaired(std::string& out, std::string_view text) {
  if (const int unit = unit_of(text); unit >= 0) {
    const bool pair = is_high(unit) && is_low(unit_of(text.substr(6)));
    const bool half = !pair && (is_high(unit) || is_low(unit));
    const size_t length = pair ? 12 : 6;
    out += half ? kReplacement : text.substr(0, length);
    return length;
  }
  if (text.size() > 1 && contains("\"\\/bfnrt", text[1])) {
    out += text.substr(0, 2);
    return 2;
  }
  out += "\\\\";
  return 1;
}

// Repairs the string at the beginning of `text`, with its quotes; returns its original length.
size_t put_string(std::string& out, std::string_view text) {
  out += '"';
  size_t at = 1;
  while (at < text.size() && text[at] != '"') {
    if (text[at] == '\\') {
      at += put_repaired(out, text.substr(at));
    } else if (static_cast<unsigned char>(text[at]) < ' ') {
      out += json_escaped(text.substr(at++, 1));
    } else {
      out += text[at++];
    }
  }
  if (at == text.size()) return at;
  out += '"';
  return at + 1;
}

size_t put_number(std::string& out, std::string_view text) {
  const size_t length = std::min(text.find_first_not_of("+-.0123456789eE"), text.size());
  const std::string_view number = text.substr(0, length);
  double value = 0;
  const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  const bool too_much = error == std::errc::result_out_of_range && stop == number.data() + number.size();
  if (!too_much) {
    out += number;
  } else if (contains(number, "e-") || contains(number, "E-")) {
    out += '0';
  } else {
    out += number.starts_with('-') ? "-1e308" : "1e308";
  }
  return length;
}

}  // namespace

std::string repair_json(std::string_view text) {
  std::string valid;
  if (find_invalid_utf8(text) != std::string_view::npos) {
    valid = to_valid_utf8(text);
    text = valid;
  }
  std::string out;
  out.reserve(text.size() + 64);
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      at += put_string(out, text.substr(at));
    } else if (text[at] == '-' || (text[at] >= '0' && text[at] <= '9')) {
      at += put_number(out, text.substr(at));
    } else {
      out += text[at++];
    }
  }
  return out;
}

}  // namespace ralph
