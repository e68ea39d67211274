// The grammar of compound commands: subshells, if, loops, case, tests, functions.
#include <algorithm>

#include "base/text.h"
#include "policy/command_view.h"
#include "policy/known_output.h"
#include "policy/shell/characters.h"
#include "policy/shell/reader.h"

namespace ralph {
namespace {

bool never_fails(const ShellCommand& command, bool until) {
  const std::string& name = command.word(0);
  if (until) return name == "false";
  return name == "true" || name == ":" || (name == "[" && command.word(1) == "1") ||
         (name == "((" && (command.word(1) == "1" || command.word(1).empty()));
}

}  // namespace

// Records the redirections after a compound command as a command without words, whose input feeds the commands inside.
void ShellReader::finish_compound(size_t first) {
  ShellCommand command;
  std::vector<ShellSpan> fed;
  for (skip_blanks(); read_redirection(command, fed); skip_blanks()) {
  }
  if (command.redirections.empty()) return;
  const bool gives_input =
      std::ranges::any_of(command.redirections, [](const ShellRedirection& one) { return one.op.starts_with("<"); });
  const size_t last = reading_.commands.size();
  add(std::move(command), fed);
  if (!gives_input) return;
  for (size_t i = first; i < last; ++i) {
    ShellCommand& inner = reading_.commands[i];
    if (inner.level != level_ || !inner.input.empty()) continue;
    inner.input = {static_cast<int>(last), static_cast<int>(last) + 1, level_};
    if (!inner.fed) inner.fed = reading_.commands[last].fed;
  }
}

// The input of a compound command is written after it: `while read d; do rm -r "$d"; done <<< x`. If a command inside
// (from `first` on) reads it, the compound command is read again with that input.
void ShellReader::read_again_with_input(std::string_view text, size_t first) {
  if (reading_.commands.size() <= first || reading_.cut_short) return;
  const ShellCommand& last = reading_.commands.back();
  const bool gives_input = std::ranges::any_of(last.redirections, [](const auto& one) {
    return one.op.starts_with("<<") || (one.op == "<" && !one.target.sources.empty());
  });
  if (!last.words.empty() || last.level != level_ || !gives_input) return;
  const ShellSpan input = {size() - 1, size(), level_};
  const bool is_read =
      std::any_of(reading_.commands.begin() + static_cast<long>(first), reading_.commands.end(),
                  [](const ShellCommand& one) { return is_listed("read mapfile readarray xargs", program_of(one)); });
  if (!is_read || !known_output(reading_, input) || !spend(text.size())) return;
  for (size_t i = first; i < reading_.commands.size(); ++i) reading_.commands[i].read_again = true;
  const ShellSpan outer = std::exchange(input_, input);
  within(text, [&] { read_command(); });
  input_ = outer;
}

void ShellReader::read_subshell() {
  ++source_.at;
  const ShellState::Mark mark = state_.mark();
  read_list(kAtParen);
  close(')');
  state_.undo_to(mark);
}

void ShellReader::read_if() {
  source_.at += 2;
  read_list(kAtThen | kAtFi);
  ++conditional_;
  for (;;) {
    if (take_reserved("then") || take_reserved("else")) {
      read_list(kAtFi);
    } else if (take_reserved("elif")) {
      read_list(kAtThen | kAtFi);
    } else {
      break;
    }
  }
  take_reserved("fi");
  --conditional_;
}

void ShellReader::read_while(bool until) {
  const size_t first = reading_.commands.size();
  read_list(kAtDo | kAtDone);
  const size_t body = reading_.commands.size();
  const bool forever = body == first + 1 && never_fails(reading_.commands[first], until);
  if (forever) ++forever_;
  ++conditional_;
  if (take_reserved("do")) read_list(kAtDone);
  take_reserved("done");
  --conditional_;
  if (!forever) return;
  --forever_;
  forever_loop(first, body);
}

// Background commands in an endless loop are harmless if the loop waits in between.
void ShellReader::forever_loop(size_t first, size_t body) {
  const auto begin = reading_.commands.begin();
  const bool waits = std::any_of(
      begin + static_cast<long>(body), reading_.commands.end(),
      [&](const ShellCommand& one) { return is_listed("sleep wait read inotifywait usleep break", one.word(0)); });
  if (!waits) return;
  for (auto one = begin + static_cast<long>(first); one != reading_.commands.end(); ++one) one->spawned_forever = false;
}

void ShellReader::read_for() {
  skip_blanks();
  bool forever = false;
  std::string name;
  ShellVariable values{{}, ShellVariable::Kind::kEach, {}};
  if (looking_at("((")) {
    const size_t begin = source_.at;
    read_double_paren();
    forever = source_.text.substr(begin, source_.at - begin).find(";;") != std::string_view::npos;
  } else {
    name = take_name();
    skip_blanks_and_newlines();
    if (take_reserved("in")) {
      std::vector<ShellWord> words;
      for (skip_blanks(); !at_end() && !is_meta(peek()); skip_blanks()) read_words(words);
      for (ShellWord& word : words) {
        values.values.push_back(std::move(word.text));
        values.sources.insert(values.sources.end(), word.sources.begin(), word.sources.end());
      }
    } else {
      values.values.emplace_back(1, kUnknownPart);
    }
  }
  if (!name.empty() && !values.values.empty()) state_.set(name, std::move(values));
  skip_blanks_and_newlines();
  while (peek() == ';' && !at_end()) {
    ++source_.at;
    skip_blanks_and_newlines();
  }
  const size_t first = reading_.commands.size();
  forever_ += forever ? 1 : 0;
  ++conditional_;
  if (take_reserved("do")) {
    read_list(kAtDone);
    take_reserved("done");
  } else if (take_reserved("{")) {
    read_list(kAtBrace);
    take_reserved("}");
  }
  --conditional_;
  forever_ -= forever ? 1 : 0;
  if (forever) forever_loop(first, first);
}

void ShellReader::read_case() {
  source_.at += 4;
  skip_blanks_and_newlines();
  read_one_word();
  skip_blanks_and_newlines();
  if (!take_reserved("in")) return;
  ++conditional_;
  for (;;) {
    skip_blanks_and_newlines();
    if (at_end() || take_reserved("esac")) break;
    if (peek() == '(') ++source_.at;
    while (!at_end() && peek() != ')') {  // the patterns
      skip_blanks_and_newlines();
      const size_t before = source_.at;
      if (!at_end() && !is_meta(peek())) read_one_word();
      if (source_.at == before && !at_end() && peek() != ')') ++source_.at;
    }
    close(')');
    read_list(kAtCaseEnd);
    while (peek() == ';' || peek() == '&') ++source_.at;
  }
  --conditional_;
}

void ShellReader::read_test() {
  source_.at += 2;
  while (!at_end()) {
    skip_blanks_and_newlines();
    if (looking_at("]]")) {
      source_.at += 2;
      return;
    }
    const size_t before = source_.at;
    if (!is_meta(peek())) read_one_word();
    if (source_.at == before && !at_end()) ++source_.at;
  }
}

// (( arithmetic )), recorded as a command "((" with its text, so that `while ((1))` is recognised.
void ShellReader::read_double_paren() {
  const size_t end = source_.text.find("))", source_.at);
  reading_.effort->spend_bytes(std::min(end, source_.text.size()) - source_.at);
  const std::string_view inner =
      source_.text.substr(source_.at + 2, end == std::string_view::npos ? 0 : end - source_.at - 2);
  if (end == std::string_view::npos || contains(inner, '(') || contains(inner, ')')) {
    read_subshell();  // two subshells, or arithmetic with parentheses, whose words match no rule
    return;
  }
  ShellCommand command;
  command.words = {ShellWord{"((", {}}, ShellWord{std::string(trim(inner)), {}}};
  within(inner, [&] {
    Units units;
    read_units(units, Until::kEnd, true);
  });
  source_.at = reading_.cut_short ? source_.text.size() : end + 2;
  add(std::move(command));
}

// The body is read here once, so that its commands are judged even without a call.
void ShellReader::read_function(const std::string& name) {
  skip_blanks_and_newlines();
  const size_t begin = source_.at;
  const ShellState::Mark mark = state_.mark();
  state_.positional = nullptr;
  const std::string outer = std::exchange(function_, name);
  ++definition_;
  const bool is_new = active_.insert(name).second;
  read_command();
  if (is_new) active_.erase(name);
  --definition_;
  function_ = outer;
  state_.undo_to(mark);
  const std::string_view body = source_.text.substr(begin, source_.at - begin);
  if (spend(body.size())) state_.functions[name] = std::string(body);
}

}  // namespace ralph
