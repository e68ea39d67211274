// Expansions that begin with a dollar: variables, ${..} and its operators, arithmetic.
#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "base/text.h"
#include "base/wildcard.h"
#include "policy/shell/characters.h"
#include "policy/shell/reader.h"

namespace ralph {
namespace {

constexpr size_t kLongestResult = 256 * 1024;

// ${x%/*}, ${x##*/}: cuts off the shortest (or, if doubled, the longest) matching end or beginning.
std::string cut_by_pattern(const std::string& value, std::string_view op, std::string_view pattern) {
  const bool at_end = op[0] == '%', longest = op.size() > 1 && op[1] == op[0];
  for (size_t n = 0; n <= value.size(); ++n) {
    const size_t length = longest ? value.size() - n : n;
    const std::string_view part =
        at_end ? std::string_view(value).substr(value.size() - length) : std::string_view(value).substr(0, length);
    if (matches_wildcard(pattern, part)) return at_end ? value.substr(0, value.size() - length) : value.substr(length);
  }
  return value;
}

// ${x%suffix}, ${x#prefix}, ${x/a/b}, ${x^^}, ${x:1:2}: applies the operator to a known value; nullopt if the result is
// unknown.
std::optional<std::string> transformed(const std::string& value, std::string_view op) {
  if (contains(value, kUnknownPart) || contains(op, kUnknownPart)) return std::nullopt;
  if (op == "^^") return to_upper(value);
  if (op == ",,") return to_lower(value);
  if (op == "^" && !value.empty()) return to_upper(value.substr(0, 1)) + value.substr(1);
  if (op.starts_with(':')) {
    const std::string spec(op.substr(1));
    char* end = nullptr;
    long from = std::strtol(spec.c_str(), &end, 10);
    const long size = static_cast<long>(value.size());
    if (end == spec.c_str()) return std::nullopt;
    if (from < 0) from += size;
    from = std::clamp(from, 0L, size);
    long count = size - from;
    if (*end == ':') {
      const char* const second = end + 1;
      count = std::strtol(second, &end, 10);
      if (end == second) return std::nullopt;
      if (count < 0) count = std::max(0L, size + count - from);
    }
    return value.substr(static_cast<size_t>(from), static_cast<size_t>(count));
  }
  const std::string_view pattern = op.substr(op.find_first_not_of(op.substr(0, 1)) == std::string_view::npos
                                                 ? op.size()
                                                 : op.find_first_not_of(op.substr(0, 1)));
  if (pattern.find_first_of("*?[") != std::string_view::npos) {
    const bool cuts = op.starts_with('%') || op.starts_with('#');
    return cuts && value.size() <= 1024 && pattern.size() <= 256 ? std::optional(cut_by_pattern(value, op, pattern))
                                                                 : std::nullopt;
  }
  if (op.starts_with('%')) {
    return value.ends_with(pattern) ? value.substr(0, value.size() - pattern.size()) : value;
  }
  if (op.starts_with('#')) return value.starts_with(pattern) ? value.substr(pattern.size()) : value;
  if (op.starts_with('/')) {
    const size_t slash = pattern.find('/');
    const std::string_view from = pattern.substr(0, slash);
    const std::string_view to = slash == std::string_view::npos ? "" : pattern.substr(slash + 1);
    if (from.empty()) return std::nullopt;
    if (op.starts_with("//")) {
      const size_t growth = (value.size() / from.size()) * to.size();
      return growth > kLongestResult ? std::nullopt : std::optional(replace_all(value, from, to));
    }
    const size_t at = value.find(from);
    if (at == std::string::npos) return value;
    return value.substr(0, at) + std::string(to) + value.substr(at + from.size());
  }
  return std::nullopt;
}

}  // namespace

void ShellReader::put_variable(Units& out, std::string_view name, bool quoted, bool all) {
  if (name == "PWD") return put(out, state_.cwd.str(), quoted);
  if (name == "PPID" || name == "CLAUDE_PID")
    return put(out, "$" + std::string(name), quoted);  // kept so that rules can recognise it
  if (name == "IFS" && !state_.find(name)) return put(out, " \t\n", quoted);
  if (name == "@" || name == "*") {
    if (!state_.positional) return put_unknown(out, {});
    for (size_t i = 0; i < state_.positional->size(); ++i) {
      if (i > 0) out.push_back({' ', name == "@" || !quoted ? UnitKind::kBreak : UnitKind::kQuoted});
      put(out, (*state_.positional)[i], quoted);
    }
    return;
  }
  if (!name.empty() && std::isdigit(static_cast<unsigned char>(name[0]))) {
    const auto n = static_cast<size_t>(parse_count(name).value_or(0));
    if (n == 0 && state_.find("0")) return put(out, state_.find("0")->values.front(), quoted);
    if (n == 0 || !state_.positional) return put_unknown(out, {});
    if (n <= state_.positional->size()) put(out, (*state_.positional)[n - 1], quoted);
    return;
  }
  const ShellVariable* variable = state_.find(name);
  if (!variable) return put_unknown(out, {});
  for (const ShellSpan& source : variable->sources) {
    if (word_sources_.size() < 8) word_sources_.push_back(source);
  }
  if (variable->kind == ShellVariable::Kind::kEach && variable->values.size() > 1) {
    for (size_t i = 0; i < variable->values.size(); ++i) {
      out.push_back({0, i == 0 ? UnitKind::kEachOpen : UnitKind::kEachNext});
      put(out, variable->values[i], quoted);
    }
    out.push_back({0, UnitKind::kEachClose});
    return;
  }
  const size_t count = all ? variable->values.size() : 1;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) out.push_back({' ', UnitKind::kBreak});
    put(out, variable->values[i], quoted);
  }
}

void ShellReader::read_braced_parameter(Units& out, bool quoted) {
  source_.at += 2;  // ${
  if (!enter()) return;
  const bool indirect = peek() == '!';
  const bool length = peek() == '#' && peek(1) != '}';
  if (indirect || length) ++source_.at;
  std::string name = take_name();
  if (name.empty() && !at_end() && peek() != '}') name = std::string(1, source_.text[source_.at++]);
  bool all = false;
  if (peek() == '[') {
    const size_t close = source_.text.find(']', source_.at);
    reading_.effort->spend_bytes(std::min(close, source_.text.size()) - source_.at);
    const std::string_view index =
        source_.text.substr(source_.at + 1, close == std::string_view::npos ? 0 : close - source_.at - 1);
    all = index == "@" || index == "*";
    if (close != std::string_view::npos && close - source_.at < 64) source_.at = close + 1;
  }
  Units value;
  const ShellVariable* variable = state_.find(name);
  if (indirect && variable) {
    const std::string other = variable->values.front();
    put_variable(value, other, quoted, false);
  } else if (length || indirect) {
    put_unknown(value, {});
  } else {
    put_variable(value, name, quoted, all);
  }
  if (peek() == ':' && peek(1) != '\0' && contains("-=+?", peek(1))) ++source_.at;
  const char kind = peek();
  if (contains("-=+?", kind) && !at_end()) {
    ++source_.at;
    Units other;
    read_units(other, Until::kBrace, quoted);
    for (Unit& unit : other) {
      if (unit.kind == UnitKind::kPlain)
        unit.kind = quoted ? UnitKind::kQuoted : unit.c == '~' ? UnitKind::kPlain : UnitKind::kSplit;
    }
    const bool is_known = variable || name == "PWD";
    // A variable that is not set here expands to the given word; with +, every variable does.
    if (kind == '+' || (kind != '?' && !is_known)) value = std::move(other);
    // ${x:?} cannot be empty: two unknown parts, so that "${x:?}/" is not mistaken for the root.
    if (kind == '?' && !is_known) put_unknown(value, {});
    if (kind == '=' && !is_known) set_variable(name, ShellVariable::of(text_of(value, around())));
  } else if (peek() != '}' && !at_end()) {
    Units operation;
    read_units(operation, Until::kBrace, true);
    const auto changed = transformed(text_of(value, around()), text_of(operation, around()));
    value.clear();
    if (changed) {
      put(value, *changed, quoted);
    } else {
      put_unknown(value, {});
    }
  }
  close('}');
  out.insert(out.end(), value.begin(), value.end());
  --depth_;
}

void ShellReader::read_dollar(Units& out, bool quoted) {
  const char next = peek(1);
  if (next == '(' && peek(2) == '(') return read_arithmetic(out, quoted);
  if (next == '(') return read_substitution(out, quoted);
  if (next == '{') return read_braced_parameter(out, quoted);
  if (next == '\'' && !quoted) {
    ++source_.at;
    return read_ansi_quoted(out);
  }
  if (next == '"' && !quoted) {  // $"..": a translated string
    ++source_.at;
    return;
  }
  if (next == '[') {  // $[1+1]
    const size_t close = source_.text.find(']', source_.at);
    source_.at = close == std::string_view::npos ? source_.text.size() : close + 1;
    return put_unknown(out, {});
  }
  if (next != '\0' && contains("@*#?$!-0123456789", next)) {
    source_.at += 2;
    return put_variable(out, std::string_view(&next, 1), quoted, true);
  }
  if (!is_name_part(next)) {
    out.push_back({'$', UnitKind::kQuoted});
    ++source_.at;
    return;
  }
  ++source_.at;
  put_variable(out, take_name(), quoted, false);
}

void ShellReader::read_arithmetic(Units& out, bool quoted) {
  // $(( up to the matching )); without one, it is a substitution that begins with a subshell.
  int open = 2;
  size_t at = source_.at + 3;
  for (; at < source_.text.size() && open > 0; ++at) {
    if (source_.text[at] == '(') ++open;
    if (source_.text[at] == ')') --open;
    if (open == 1 && source_.text[at] == ')' && (at + 1 >= source_.text.size() || source_.text[at + 1] != ')')) break;
  }
  reading_.effort->spend_bytes(at - source_.at);
  if (open != 0) return read_substitution(out, quoted);
  const std::string_view inner = source_.text.substr(source_.at + 3, at - source_.at - 5);
  source_.at = at;
  if (!enter()) return;
  Units units;
  within(inner, [&] { read_units(units, Until::kEnd, true); });
  --depth_;
  const std::string text = text_of(units, around());
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos) return put(out, text, true);
  put_unknown(out, {});
}

std::string ShellReader::take_name() {
  std::string name;
  while (!at_end() && is_name_part(peek())) name += source_.text[source_.at++];
  return name;
}

}  // namespace ralph
