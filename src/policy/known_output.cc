#include "policy/known_output.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr int kLongestPipe = 12;
constexpr size_t kLongestText = 256 * 1024;

std::optional<std::string> input_of(const ShellReading& reading, const ShellCommand& command, int depth);
std::optional<std::string> output_of(const ShellReading& reading, const ShellCommand& command, int depth);

bool has_word(const ShellCommand& command, std::initializer_list<std::string_view> any) {
  return std::ranges::any_of(command.words, [&](const ShellWord& word) { return is_one_of(word.text, any); });
}

std::string echoed(const ShellCommand& command) {
  bool escapes = false, newline = true;
  size_t i = 1;
  for (; i < command.words.size(); ++i) {
    const std::string& word = command.words[i].text;
    if (word.size() < 2 || word[0] != '-' || word.find_first_not_of("neE", 1) != std::string::npos) break;
    if (contains(word, 'e')) escapes = true;
    if (contains(word, 'n')) newline = false;
  }
  std::string text;
  for (size_t n = i; n < command.words.size(); ++n) text += (n > i ? " " : "") + command.words[n].text;
  if (escapes) text = with_escapes(text);
  return newline ? text + "\n" : text;
}

std::string printed(const ShellCommand& command) {
  size_t at = 1;
  if (command.word(at) == "--") ++at;
  if (command.word(at) == "-v") at += 2;
  const std::string format = with_escapes(command.word(at++));
  std::string text;
  bool consumed = true;
  for (bool first = true; first || (consumed && at < command.words.size()); first = false) {
    consumed = false;
    for (size_t i = 0; i < format.size() && text.size() < kLongestText; ++i) {
      if (format[i] != '%' || i + 1 >= format.size()) {
        text += format[i];
        continue;
      }
      if (format[i + 1] == '%') {
        text += '%';
        ++i;
        continue;
      }
      const size_t kind = format.find_first_not_of("-+ #0123456789.'", i + 1);
      if (kind == std::string::npos) break;
      const std::string& argument = command.word(at);
      if (at < command.words.size()) {
        ++at;
        consumed = true;
      }
      text += format[kind] == 'b' ? with_escapes(argument) : format[kind] == 'c' ? argument.substr(0, 1) : argument;
      i = kind;
    }
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0, value = 0;
  for (const char c : text) {
    if (c == '=' || std::isspace(static_cast<unsigned char>(c))) continue;
    const size_t digit = kDigits.find(c == '-' ? '+' : c == '_' ? '/' : c);
    if (digit == std::string_view::npos) return std::nullopt;
    value = (value << 6 | static_cast<unsigned>(digit)) & 0xFFFFFF;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out += static_cast<char>(value >> bits & 0xFF);
    }
  }
  return out;
}

std::optional<std::string> from_hex(std::string_view text) {
  std::string out;
  int high = -1;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c))) continue;
    const int digit = hex_digit(c);
    if (digit < 0) return std::nullopt;
    if (high >= 0) out += static_cast<char>(high << 4 | digit);
    high = high < 0 ? digit : -1;
  }
  return out;
}

std::string reversed_lines(const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  for (std::string& line : lines) std::reverse(line.begin(), line.end());
  return join(lines, "\n");
}

std::string set_of(std::string_view spec) {
  const std::string text = with_escapes(spec);
  std::string set;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i + 2 < text.size() && text[i + 1] == '-' && text[i] <= text[i + 2]) {
      for (int c = static_cast<unsigned char>(text[i]); c <= static_cast<unsigned char>(text[i + 2]); ++c)
        set += static_cast<char>(c);
      i += 2;
    } else {
      set += text[i];
    }
  }
  return set;
}

std::optional<std::string> translated(const ShellCommand& command, const std::string& input) {
  const bool deletes = command.word(1) == "-d";
  const std::string from = set_of(command.word(deletes ? 2 : 1)), to = set_of(command.word(2));
  if ((!deletes && command.words.size() != 3) || from.starts_with('-') || (!deletes && to.empty())) return std::nullopt;
  std::string out;
  for (const char c : input) {
    const size_t at = from.find(c);
    if (at == std::string::npos) {
      out += c;
    } else if (!deletes) {
      out += to[std::min(at, to.size() - 1)];
    }
  }
  return out;
}

// realpath FILE, readlink -f FILE: the path without . and ..; symlinks are not followed here.
std::optional<std::string> resolved(const ShellCommand& command) {
  const std::string& path = command.words.back().text;
  const bool follows = base_name(command.word(0)) == "realpath";
  const size_t before = command.words.size() - 1;
  const bool plain = before == 1 || (before == 2 && has_word(command, {"-f", "-e", "-m", "-s", "--"}));
  if (!plain || (!follows && before == 1) || path.empty() || path[0] == kUnknownPart || path[0] == '-') return {};
  if (path[0] != '/' && contains(command.cwd.str(), kUnknownPart)) return {};
  return absolute_path(path, command.cwd.str()) + "\n";
}

// git rev-parse --show-toplevel and the like.
std::optional<std::string> top_of(const ShellReading& reading, const ShellCommand& command) {
  const std::string& folder = command.cwd.str();
  const bool is_below = !reading.project.empty() && (folder + "/").starts_with(reading.project + "/");
  if (!is_below) return std::nullopt;
  const std::string& what = command.word(2);
  if (what == "--show-toplevel") return reading.project + "\n";
  if (what == "--show-cdup") return reading.project + "/\n";  // as "../" from below
  if (what == "--git-dir" || what == "--absolute-git-dir" || what == "--git-common-dir")
    return join_path(reading.project, ".git") + "\n";
  return std::nullopt;
}

// The output of eval and the like: that of the commands that they run, which follow them in the list.
std::optional<std::string> output_of_run(const ShellReading& reading, const ShellCommand& command, int depth) {
  const auto index = static_cast<size_t>(&command - reading.commands.data());
  if (depth > kLongestPipe || index >= reading.commands.size()) return std::nullopt;
  std::optional<std::string> text;
  for (size_t i = index + 1; i < reading.commands.size(); ++i) {
    const ShellCommand& one = reading.commands[i];
    reading.pay(1);
    if (one.via < static_cast<int>(index)) break;
    if (one.via != static_cast<int>(index) || one.piped_to >= 0) continue;
    auto output = output_of(reading, one, depth + 1);
    if (!output || text.value_or("").size() + output->size() > kLongestText) return std::nullopt;
    text = text.value_or("") + *output;
  }
  return text;
}

std::optional<std::string> output_of(const ShellReading& reading, const ShellCommand& command, int depth) {
  if (command.words.empty()) return command.assignments.empty() ? input_of(reading, command, depth) : "";
  const std::string name = base_name(command.word(0));
  const std::string& first = command.word(1);
  if (name == "echo") return echoed(command);
  if (name == "printf") return printed(command);
  if (name == "git" && first == "rev-parse" && command.words.size() == 3) return top_of(reading, command);
  if (name == "pwd") return command.cwd.str() + "\n";
  if (is_listed("true : cd set export", name)) return "";
  if (name == "which") return command.words.size() == 2 ? std::optional(first + "\n") : std::nullopt;
  if (name == "command" || name == "type") {
    return first.starts_with("-") && command.words.size() == 3 ? std::optional(command.word(2) + "\n") : std::nullopt;
  }
  if (name == "eval" || name == "builtin") return output_of_run(reading, command, depth);
  if (name == "basename") return base_name(first) + "\n";
  if (name == "dirname") return parent_path(first) + "\n";
  if (name == "realpath" || name == "readlink") return resolved(command);
  const bool plain_cat = name == "cat" && (command.words.size() == 1 || (command.words.size() == 2 && first == "-"));
  const bool passes_on = plain_cat || name == "tee" || (name == "xargs" && command.words.size() == 1);
  const bool from_64 =
      (name == "base64" && has_word(command, {"-d", "-D", "--decode", "-di", "-id"})) ||
      (name == "openssl" && has_word(command, {"base64", "-base64", "-a"}) && has_word(command, {"-d"}));
  const bool from_16 =
      name == "xxd" && has_word(command, {"-r", "-rp", "-pr", "-ps", "-p"}) && has_word(command, {"-r", "-rp", "-pr"});
  if (!passes_on && !from_64 && !from_16 && name != "rev" && name != "tr") return std::nullopt;
  const auto input = input_of(reading, command, depth);
  if (!input) return std::nullopt;
  if (passes_on) return input;
  if (contains(*input, kUnknownPart)) return std::nullopt;
  if (from_64) return from_base64(*input);
  if (from_16) return from_hex(*input);
  if (name == "rev") return reversed_lines(*input);
  return translated(command, *input);
}

std::optional<std::string> output_of(const ShellReading& reading, ShellSpan span, int depth) {
  if (depth > kLongestPipe || span.empty() || (reading.effort && reading.effort->is_over())) return std::nullopt;
  std::string text;
  for (const ShellCommand& command : reading.in(span)) {
    // A command that another command of the span runs is skipped: the other's output includes its own.
    const bool goes_on = command.piped_to >= 0 && command.piped_to < span.last;  // into another command of the span
    if (command.level != span.level || goes_on || command.via >= span.first) continue;
    auto output = output_of(reading, command, depth + 1);
    if (!output || text.size() + output->size() > kLongestText) return std::nullopt;
    reading.pay(output->size() / 8);
    text += *output;
  }
  return text;
}

std::optional<std::string> input_of(const ShellReading& reading, const ShellCommand& command, int depth) {
  if (command.fed) return command.fed;
  for (auto one = command.redirections.rbegin(); one != command.redirections.rend(); ++one) {
    if (one->fd > 0) continue;
    if (one->op == "<<") return one->target.text;
    if (one->op == "<<<") return one->target.text + "\n";
    if (one->op == "<" && one->target.sources.size() == 1) return output_of(reading, one->target.sources[0], depth + 1);
    if (one->op == "<") return std::nullopt;
  }
  return output_of(reading, command.input, depth + 1);
}

}  // namespace

std::optional<std::string> known_output(const ShellReading& reading, ShellSpan span) {
  return output_of(reading, span, 0);
}

std::optional<std::string> known_input(const ShellReading& reading, const ShellCommand& command) {
  auto input = input_of(reading, command, 0);
  if (input) reading.pay(input->size() / 8);
  return input;
}

}  // namespace ralph
