// The grammar: lists, pipelines, compound commands, redirections, assignments. Lenient: where a shell rejects a syntax
// error, this continues reading.
#include "policy/shell/reader.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "policy/shell/characters.h"

namespace ralph {
namespace {

constexpr int kDeepest = 60;

struct Closer {
  std::string_view word;
  unsigned stop;
};
constexpr std::array kClosers = {Closer{"then", 8}, Closer{"elif", 16}, Closer{"else", 16}, Closer{"fi", 16},
                                 Closer{"do", 32},  Closer{"done", 64}, Closer{"}", 2},     Closer{"esac", 4}};

}  // namespace

const std::string& ShellCommand::word(size_t i) const {
  static const std::string kNone;
  return i < words.size() ? words[i].text : kNone;
}

ShellReading read_shell(std::string_view text, const ShellSetting& setting) {
  return ShellReader(setting).read(text);
}

ShellReading ShellReader::read(std::string_view text) {
  budget_ = 1024 * 1024 + text.size() * 8;
  reading_.effort->spend_bytes(text.size());
  source_ = Source{text};
  read_list(kAtEnd);
  return std::move(reading_);
}

bool ShellReader::enter() {
  if (depth_ < kDeepest && !reading_.cut_short) {
    ++depth_;
    return true;
  }
  stop_reading();
  return false;
}

void ShellReader::stop_reading() {
  reading_.cut_short = true;
  source_.at = source_.text.size();
}

bool ShellReader::spend(size_t bytes) {
  if (bytes > budget_) {
    stop_reading();
    return false;
  }
  budget_ -= bytes;
  reading_.effort->spend_bytes(bytes);
  return true;
}

void ShellReader::skip_blanks() {
  while (!at_end()) {
    if (peek() == ' ' || peek() == '\t' || peek() == '\r') {
      ++source_.at;
    } else if (peek() == '\\' && peek(1) == '\n') {
      source_.at += 2;
    } else if (peek() == '#') {
      while (!at_end() && peek() != '\n') ++source_.at;
    } else {
      return;
    }
  }
}

void ShellReader::newline() {
  if (source_.at == source_.documents_newline) {
    source_.at = std::max(source_.documents_end, source_.at + 1);
    source_.documents_newline = std::string_view::npos;
  } else {
    ++source_.at;
  }
}

void ShellReader::skip_blanks_and_newlines() {
  for (skip_blanks(); peek() == '\n' && !at_end(); skip_blanks()) newline();
}

// The unquoted word at this position, if it consists of letters, braces and the like: reserved words are never quoted.
std::string_view ShellReader::peek_reserved() const {
  size_t end = source_.at;
  while (end < source_.text.size() && end - source_.at < 16 && !is_meta(source_.text[end])) {
    const char c = source_.text[end];
    if (c == '"' || c == '\'' || c == '\\' || c == '$' || c == '`') return {};
    ++end;
  }
  return source_.text.substr(source_.at, end - source_.at);
}

bool ShellReader::take_reserved(std::string_view word) {
  if (peek_reserved() != word) return false;
  source_.at += word.size();
  return true;
}

void ShellReader::read_list(unsigned stops) {
  if (!enter()) return;
  for (;;) {
    skip_blanks_and_newlines();
    if (at_end()) break;
    if (peek() == ')') {
      if (stops & kAtParen) break;
      ++source_.at;
      continue;
    }
    if (peek() == ';' && (peek(1) == ';' || peek(1) == '&') && (stops & kAtCaseEnd)) break;
    if (peek() == ';' || peek() == '&' || peek() == '|') {
      ++source_.at;
      continue;
    }
    const std::string_view word = peek_reserved();
    const auto* const closer =
        std::find_if(kClosers.begin(), kClosers.end(), [&](const Closer& one) { return one.word == word; });
    if (closer != kClosers.end()) {
      if (stops & closer->stop) break;
      source_.at += word.size();  // it closes nothing
      continue;
    }
    read_and_or();
  }
  --depth_;
}

void ShellReader::read_and_or() {
  const int first = size();
  const int before = conditional_;
  for (;;) {
    read_pipeline();
    skip_blanks();
    if (!looking_at("&&") && !looking_at("||")) break;
    source_.at += 2;
    skip_blanks_and_newlines();
    ++conditional_;
  }
  conditional_ = before;
  if (peek() != '&') return;
  ++source_.at;
  for (int i = first; i < size(); ++i) {
    ShellCommand& command = command_at(i);
    if (forever_ > 0) command.spawned_forever = true;
    if (!function_.empty() && command.word(0) == function_) command.calls_itself = true;
  }
}

void ShellReader::read_pipeline() {
  while (take_reserved("!") || take_reserved("time") || take_reserved("coproc")) {
    skip_blanks();
    if (take_reserved("-p")) skip_blanks();
  }
  const ShellSpan outer = input_;
  int first = size();
  read_command();
  for (skip_blanks(); peek() == '|' && peek(1) != '|'; skip_blanks()) {
    source_.at += peek(1) == '&' ? 2 : 1;
    for (int i = first; i < size(); ++i) {
      ShellCommand& command = command_at(i);
      if (command.level == level_ && command.piped_to < 0) command.piped_to = size();
      if (!function_.empty() && command.word(0) == function_) command.calls_itself = true;
    }
    input_ = {first, size(), level_};
    skip_blanks_and_newlines();
    first = size();
    read_command();
  }
  input_ = outer;
}

void ShellReader::read_command() {
  if (!enter()) return;
  skip_blanks();
  const std::string_view word = peek_reserved();
  const size_t first = reading_.commands.size(), begin = source_.at;
  bool compound = true;
  if (peek() == '(' && peek(1) == '(') {
    read_double_paren();
  } else if (peek() == '(') {
    read_subshell();
  } else if (word == "{") {
    ++source_.at;
    read_list(kAtBrace);
    take_reserved("}");
  } else if (word == "if") {
    read_if();
  } else if (word == "while" || word == "until") {
    source_.at += word.size();
    read_while(word == "until");
  } else if (word == "for" || word == "select") {
    source_.at += word.size();
    read_for();
  } else if (word == "case") {
    read_case();
  } else if (word == "[[") {
    read_test();
  } else if (word == "function") {
    source_.at += word.size();
    skip_blanks();
    std::string name;
    while (!at_end() && !is_meta(peek())) name += source_.text[source_.at++];
    skip_blanks();
    if (looking_at("()")) source_.at += 2;
    read_function(name);
    compound = false;
  } else {
    read_simple();
    compound = false;
  }
  const size_t end = source_.at;
  if (compound) finish_compound(first);
  if (compound) read_again_with_input(source_.text.substr(begin, end - begin), first);
  --depth_;
}

bool ShellReader::read_redirection(ShellCommand& command, std::vector<ShellSpan>& fed) {
  size_t at = source_.at;
  int fd = -1;
  while (at < source_.text.size() && at - source_.at < 4 && std::isdigit(static_cast<unsigned char>(source_.text[at])))
    ++at;
  const std::string_view rest = source_.text.substr(at);
  if (at > source_.at) {
    if (!rest.starts_with('<') && !rest.starts_with('>')) return false;
    fd = 0;
    for (size_t i = source_.at; i < at; ++i) fd = fd * 10 + (source_.text[i] - '0');
  }
  constexpr std::array<std::string_view, 12> kOperators = {"<<<", "<<-", "<<", "<>", "<&", "&>>",
                                                           "&>",  ">>",  ">&", ">|", "<",  ">"};
  const auto* const op =
      std::find_if(kOperators.begin(), kOperators.end(), [&](std::string_view one) { return rest.starts_with(one); });
  if (op == kOperators.end()) return false;
  if ((*op == "<" || *op == ">") && rest.substr(1).starts_with('(')) return false;  // process substitution: a word
  source_.at = at + op->size();
  if (*op == "<<" || *op == "<<-") {
    command.redirections.push_back({"<<", fd, {}});
    word_sources_.clear();
    command.redirections.back().target.text = read_document(*op == "<<-");
    command.redirections.back().target.sources = std::move(word_sources_);
    word_sources_.clear();
    return true;
  }
  skip_blanks();
  ShellWord target = (looking_at("<(") || looking_at(">(")) ? read_process_substitution(&fed) : read_one_word();
  command.redirections.push_back({std::string(*op), fd, std::move(target)});
  return true;
}

bool ShellReader::read_assignment(ShellCommand& command) {
  size_t at = source_.at;
  if (at >= source_.text.size() || !is_name_start(source_.text[at])) return false;
  while (at < source_.text.size() && is_name_part(source_.text[at])) ++at;
  const std::string name(source_.text.substr(source_.at, at - source_.at));
  std::string_view rest = source_.text.substr(at, 64);
  if (rest.starts_with('[')) {  // a[0]=x
    const size_t close = rest.find("]=");
    if (close == std::string_view::npos || rest.substr(0, close).find_first_of(" \t\n") != std::string_view::npos)
      return false;
    at += close + 1;
    rest = source_.text.substr(at, 2);
  }
  const bool append = rest.starts_with("+=");
  if (!append && !rest.starts_with('=')) return false;
  source_.at = at + (append ? 2 : 1);
  if (peek() == '(') {
    read_array(command, name, append);
    return true;
  }
  word_sources_.clear();
  Units units;
  if (const ShellVariable* old = append ? state_.find(name) : nullptr) put(units, old->values.front(), true);
  read_units(units, Until::kMeta, false);
  bool overflow = false;
  ShellVariable value;
  value.values = choices_of(units, around(), overflow);
  if (overflow) stop_reading();
  if (value.values.size() > 1) value.kind = ShellVariable::Kind::kEach;
  value.sources = std::exchange(word_sources_, {});
  for (const std::string& one : value.values) command.assignments.push_back({name, {one, value.sources}});
  return true;
}

void ShellReader::read_array(ShellCommand& command, const std::string& name, bool append) {
  ++source_.at;
  std::vector<ShellWord> words;
  if (const ShellVariable* old = append ? state_.find(name) : nullptr) {
    for (const std::string& one : old->values) words.push_back({one, {}});
  }
  while (!at_end()) {
    skip_blanks_and_newlines();
    if (peek() == ')') break;
    const size_t before = source_.at;
    if (!is_meta(peek())) read_words(words);
    if (source_.at == before && !at_end()) ++source_.at;
  }
  close(')');
  ShellVariable value{{}, ShellVariable::Kind::kArray, {}};
  for (ShellWord& word : words) value.values.push_back(std::move(word.text));
  if (value.values.empty()) value.values.emplace_back();
  command.assignments.push_back({name, {join(value.values, " "), {}}});
  state_.set(name, std::move(value));
}

void ShellReader::read_simple() {
  ShellCommand command;
  std::vector<ShellSpan> fed;
  const size_t begin = source_.at;
  for (skip_blanks(); !at_end(); skip_blanks()) {
    if (looking_at("<(") || looking_at(">(")) {
      command.words.push_back(read_process_substitution(&fed));
      continue;
    }
    if (read_redirection(command, fed)) continue;
    if (peek() == '(' && command.words.size() == 1 && command.assignments.empty()) {  // name ()
      ++source_.at;
      skip_blanks();
      close(')');
      read_function(command.word(0));
      return;
    }
    if (is_meta(peek())) break;
    if (command.words.empty() && read_assignment(command)) continue;
    read_words(command.words);
  }
  if (source_.at == begin && !at_end()) ++source_.at;  // invalid: always advance
  if (command.words.empty() && command.assignments.empty() && command.redirections.empty()) return;
  // Words take far more memory than their text. For the command line itself that is linear, but each level of `eval
  // eval ...` repeats all of them.
  constexpr size_t kFewWords = 256;
  const size_t many = via_ >= 0 && command.words.size() > kFewWords ? command.words.size() : 0;
  if (many > 0 && !spend(many * sizeof(ShellWord))) return;
  add(std::move(command), fed);
}

}  // namespace ralph
