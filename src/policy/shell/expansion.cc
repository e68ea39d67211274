// Words: quotes, substitutions, here-documents.
#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "policy/known_output.h"
#include "policy/listing.h"
#include "policy/shell/characters.h"
#include "policy/shell/reader.h"

namespace ralph {

// The backslash escapes of $'..', echo -e and printf.
std::string with_escapes(std::string_view text) {
  std::string out;
  const auto digits = [&](size_t& i, size_t most, int base) {
    unsigned long value = 0;
    for (size_t n = 0; n < most && i + 1 < text.size(); ++n) {
      const int digit = hex_digit(text[i + 1]);
      if (digit < 0 || digit >= base) break;
      value = value * static_cast<unsigned long>(base) + static_cast<unsigned long>(digit);
      ++i;
    }
    return value;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 >= text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    constexpr std::string_view kLetters = "abefnrtvE", kMeanings = "\a\b\033\f\n\r\t\v\033";
    if (const size_t at = kLetters.find(c); at != std::string_view::npos) {
      out += kMeanings[at];
    } else if (c == 'x') {
      out += static_cast<char>(digits(i, 2, 16));
    } else if (c == 'u') {
      append_utf8(out, digits(i, 4, 16));
    } else if (c == 'U') {
      append_utf8(out, digits(i, 8, 16));
    } else if (c >= '0' && c <= '7') {
      --i;
      out += static_cast<char>(digits(i, c == '0' ? 4 : 3, 8));
    } else if (c == '\\' || c == '\'' || c == '"' || c == '?') {
      out += c;
    } else {
      out += '\\';
      out += c;
    }
  }
  return out;
}

void ShellReader::put(Units& out, std::string_view value, bool quoted) {
  if (!spend(value.size())) return;
  for (const char c : value) {
    out.push_back({c, c == kUnknownPart ? UnitKind::kUnknown : quoted ? UnitKind::kQuoted : UnitKind::kSplit});
  }
}

void ShellReader::put_unknown(Units& out, ShellSpan source) {
  out.push_back({kUnknownPart, UnitKind::kUnknown});
  if (!source.empty() && word_sources_.size() < 8) word_sources_.push_back(source);
}

// The known output of the commands of a span, without trailing newlines.
void ShellReader::put_output(Units& out, ShellSpan span, bool quoted) {
  auto known = known_output(reading_, span);
  if (!known) {
    const auto listing = listing_of(reading_, span);
    if (!listing || listing->is_anything) return put_unknown(out, span);
    if (word_sources_.size() < 8) word_sources_.push_back(span);
    return put(out, quoted ? listing->paths[0] : join(listing->paths, " "), quoted);
  }
  while (known->ends_with('\n')) known->pop_back();
  if (contains(*known, kUnknownPart) && word_sources_.size() < 8) word_sources_.push_back(span);
  put(out, *known, quoted);
}

void ShellReader::read_substitution(Units& out, bool quoted) {
  source_.at += 2;  // $(
  const ShellSpan span = substituted([&] {
    read_list(kAtParen);
    close(')');
  });
  put_output(out, span, quoted);
}

void ShellReader::read_backquoted(Units& out, bool quoted) {
  ++source_.at;
  std::string inner;
  while (!at_end() && peek() != '`') {
    const char next = peek(1);
    if (peek() == '\\' && (next == '`' || next == '\\' || next == '$' || (quoted && next == '"'))) ++source_.at;
    inner += source_.text[source_.at++];
  }
  if (!at_end()) ++source_.at;
  if (spend(inner.size())) put_output(out, substituted([&] { within(inner, [&] { read_list(kAtEnd); }); }), quoted);
}

ShellWord ShellReader::read_process_substitution(std::vector<ShellSpan>* fed) {
  const bool writes = peek() == '>';
  source_.at += 2;
  const ShellSpan input = std::exchange(input_, {});
  const ShellSpan span = substituted([&] {
    read_list(kAtParen);
    close(')');
  });
  input_ = input;
  if (writes && fed) fed->push_back(span);
  return {std::string(kSubstituted), writes ? std::vector<ShellSpan>{} : std::vector<ShellSpan>{span}};
}

void ShellReader::read_single_quoted(Units& out) {
  ++source_.at;
  out.push_back({0, UnitKind::kKeep});
  while (!at_end() && peek() != '\'') out.push_back({source_.text[source_.at++], UnitKind::kQuoted});
  if (!at_end()) ++source_.at;
}

void ShellReader::read_ansi_quoted(Units& out) {
  const size_t begin = ++source_.at;
  while (!at_end() && peek() != '\'') source_.at += peek() == '\\' ? 2 : 1;
  source_.at = std::min(source_.at, source_.text.size());
  out.push_back({0, UnitKind::kKeep});
  for (const char c : with_escapes(source_.text.substr(begin, source_.at - begin))) {
    if (c == '\0') break;  // bash ends the string there
    out.push_back({c, UnitKind::kQuoted});
  }
  if (!at_end()) ++source_.at;
}

void ShellReader::read_backslash(Units& out, Until until, bool quoted) {
  const char next = peek(1);
  if (source_.at + 1 >= source_.text.size()) {
    ++source_.at;
    return;
  }
  source_.at += 2;
  if (next == '\n') return;  // line continuation
  const bool is_special = next == '$' || next == '`' || next == '\\' || (next == '"' && until != Until::kEnd);
  const bool ends_brace = until == Until::kBrace && next == '}';
  if (quoted && !is_special && !ends_brace) out.push_back({'\\', UnitKind::kQuoted});
  out.push_back({next, UnitKind::kQuoted});
}

void ShellReader::read_units(Units& out, Until until, bool quoted) {
  while (!at_end()) {
    const char c = peek();
    if (until == Until::kMeta && is_meta(c)) return;
    if (until == Until::kBrace && c == '}') return;
    if (until == Until::kQuote && c == '"') return;
    if (c == '\\') {
      read_backslash(out, until, quoted);
    } else if (c == '$') {
      read_dollar(out, quoted);
    } else if (c == '`') {
      read_backquoted(out, quoted);
    } else if (c == '\'' && !quoted) {
      read_single_quoted(out);
    } else if (c == '"' && until != Until::kEnd) {
      if (!enter()) return;
      ++source_.at;
      out.push_back({0, UnitKind::kKeep});
      read_units(out, Until::kQuote, true);
      if (!at_end()) ++source_.at;
      --depth_;
    } else {
      out.push_back({c, c == kUnknownPart ? UnitKind::kUnknown : quoted ? UnitKind::kQuoted : UnitKind::kPlain});
      ++source_.at;
    }
  }
}

ShellWord ShellReader::read_one_word() {
  word_sources_.clear();
  separators_ = state_.separators();
  Units units;
  read_units(units, Until::kMeta, false);
  return {text_of(units, around()), std::exchange(word_sources_, {})};
}

void ShellReader::read_words(std::vector<ShellWord>& words) {
  word_sources_.clear();
  Units units;
  read_units(units, Until::kMeta, false);
  separators_ = state_.separators();
  bool overflow = false;
  for (std::string& text : words_of(units, around(), overflow)) words.push_back({std::move(text), word_sources_});
  word_sources_.clear();
  if (overflow) stop_reading();
}

// The body of a here-document. It is below the current line; reading of that line then continues.
std::string ShellReader::read_document(bool strip_tabs) {
  skip_blanks();
  std::string delimiter;
  bool literal = false;
  while (!at_end() && !is_meta(peek())) {
    const char c = source_.text[source_.at++];
    if (c == '\'' || c == '"' || c == '\\') {
      literal = true;
      if (c == '\\' && !at_end()) delimiter += source_.text[source_.at++];
      while (c != '\\' && !at_end() && peek() != c) delimiter += source_.text[source_.at++];
      if (c != '\\' && !at_end()) ++source_.at;
    } else {
      delimiter += c;
    }
  }
  if (source_.documents_newline == std::string_view::npos) {
    size_t at = source_.at;
    for (char quote = 0; at < source_.text.size() && (quote || source_.text[at] != '\n'); ++at) {
      const char c = source_.text[at];
      if (quote ? c == quote : (c == '\'' || c == '"')) quote = quote ? '\0' : c;
      if (c == '\\' && quote != '\'') ++at;
    }
    source_.documents_newline = std::min(at, source_.text.size());
    source_.documents_end = std::min(at + 1, source_.text.size());
  }
  std::string body;
  size_t at = source_.documents_end;
  while (at < source_.text.size()) {
    const size_t end = std::min(source_.text.find('\n', at), source_.text.size());
    std::string_view line = source_.text.substr(at, end - at);
    at = std::min(end + 1, source_.text.size());
    if (strip_tabs) line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
    if (line == delimiter) break;
    body += line;
    body += '\n';
  }
  source_.documents_end = at;
  if (literal || !enter()) return body;
  Units units;
  within(body, [&] { read_units(units, Until::kEnd, true); });
  --depth_;
  return text_of(units, around());
}

}  // namespace ralph
