// The effects of a command on its shell, and the commands that it runs in turn.
#include <algorithm>

#include "base/text.h"
#include "os/files.h"
#include "policy/command_view.h"
#include "policy/known_output.h"
#include "policy/shell/characters.h"
#include "policy/shell/reader.h"

namespace ralph {
namespace {

constexpr size_t kMostCommands = 5000;

std::shared_ptr<const std::vector<std::string>> texts_of(const std::vector<ShellWord>& words, size_t from) {
  auto texts = std::make_shared<std::vector<std::string>>();
  for (size_t i = from; i < words.size(); ++i) texts->push_back(words[i].text);
  return texts;
}

// The output of this command by itself, without the rest of the command line.
std::optional<std::string> output_alone(ShellCommand command) {
  command.level = 0;
  command.piped_to = command.via = -1;
  return known_output({{std::move(command)}, false}, {0, 1, 0});
}

// The nonempty lines, at most as many as a variable may hold.
std::vector<std::string> lines_of(std::string_view text) {
  constexpr size_t kMostLines = 64;
  std::vector<std::string> lines;
  for (const std::string& line : split(text, '\n')) {
    if (!trim(line).empty() && lines.size() < kMostLines) lines.emplace_back(trim(line));
  }
  return lines;
}

}  // namespace

void ShellReader::add(ShellCommand command, const std::vector<ShellSpan>& fed) {
  constexpr size_t kUnitsPerCommand = 8;
  reading_.effort->spend(kUnitsPerCommand + command.words.size());
  if (reading_.commands.size() >= kMostCommands || reading_.effort->is_over()) return stop_reading();
  const int index = size();
  command.cwd = state_.cwd;
  command.level = level_;
  command.input = input_;
  command.via = via_;
  command.in_definition = definition_ > 0;
  if (!function_.empty() && command.word(0) == function_ && !command.input.empty()) command.calls_itself = true;
  reading_.commands.push_back(std::move(command));
  // `>(sh)` reads what this command prints.
  for (const ShellSpan& span : fed) {
    for (int i = span.first; i < span.last; ++i) {
      ShellCommand& reader = command_at(i);
      if (reader.level == span.level && reader.input.empty()) reader.input = {index, index + 1, level_};
    }
  }
  run(index);
  for (const ShellSpan& span : fed) {
    for (int i = span.first; i < span.last && !reading_.cut_short; ++i) {
      if (command_at(i).level == span.level) look_through(i);
    }
  }
}

void ShellReader::set_variable(const std::string& name, ShellVariable value) {
  if (conditional_ > 0) {
    state_.set_maybe(name, std::move(value));
  } else {
    state_.set(name, std::move(value));
  }
  if (name == "IFS") separators_ = state_.separators();
}

// Several assignments to one name in one command are alternative values.
void ShellReader::assign(const ShellCommand& command) {
  for (size_t i = 0; i < command.assignments.size();) {
    const std::string& name = command.assignments[i].name;
    const ShellVariable* old = state_.find(name);
    ShellVariable value;
    for (; i < command.assignments.size() && command.assignments[i].name == name; ++i) {
      value.values.push_back(command.assignments[i].value.text);
      value.sources = command.assignments[i].value.sources;
    }
    if (value.values.size() > 1) value.kind = ShellVariable::Kind::kEach;
    const bool is_array_already = old && old->kind == ShellVariable::Kind::kArray && value.values.size() == 1 &&
                                  join(old->values, " ") == value.values[0];
    if (!is_array_already) set_variable(name, std::move(value));
  }
}

void ShellReader::run(int index) {
  if (command_at(index).words.empty()) return assign(command_at(index));
  const ShellState::Mark mark = state_.mark();
  assign(command_at(index));  // for the commands that it runs; undone below
  // These are copies because the list grows below. Copying all words would keep them once per nesting level.
  const std::string name = command_at(index).word(0);
  const bool assigns = !command_at(index).assignments.empty();
  const auto function = state_.functions.find(name);
  if (function != state_.functions.end() && !active_.contains(name)) {
    call_function(index, std::string(function->second));
  } else if (!apply_builtin(index)) {
    look_through(index);
  } else {
    return;  // a builtin's effects persist
  }
  if (assigns) state_.undo_to(mark);
}

void ShellReader::call_function(int index, const std::string& body) {
  const ShellCommand& command = command_at(index);
  const std::string name = command.word(0);
  const std::string outer = std::exchange(function_, name);
  const auto positional = std::exchange(state_.positional, texts_of(command.words, 1));
  const int definition = std::exchange(definition_, 0);
  const ShellSpan input = std::exchange(input_, command.input);
  active_.insert(name);
  run_script(body, index, true, nullptr);
  active_.erase(name);
  input_ = input;
  definition_ = definition;
  state_.positional = positional;
  function_ = outer;
}

void ShellReader::read_into_variables(const ShellCommand& command, int index) {
  const auto input = known_input(reading_, command_at(index));
  std::vector<std::string> names;
  for (size_t i = 1; i < command.words.size(); ++i) {
    const std::string& word = command.words[i].text;
    if (word.size() == 2 && word[0] == '-' && contains("dnptuN", word[1])) {
      ++i;
    } else if (is_name(word)) {
      names.push_back(word);
    }
  }
  std::vector<std::string> fields;
  if (input) {
    for (const std::string& part : split(replace_all(first_line(*input), "\t", " "), ' ')) {
      if (!part.empty()) fields.push_back(part);
    }
  }
  const auto listing = listing_for(reading_, command_at(index));
  if (listing && !listing->paths.empty() && names.size() == 1) {
    const auto kind = listing->paths.size() > 1 ? ShellVariable::Kind::kEach : ShellVariable::Kind::kText;
    return set_variable(names[0], {listing->paths, kind, {}});
  }
  if (input && names.size() == 1) {  // in a loop, one line at a time
    std::vector<std::string> lines = lines_of(*input);
    if (lines.size() > 1) return set_variable(names[0], {std::move(lines), ShellVariable::Kind::kEach, {}});
  }
  for (size_t i = 0; i < names.size(); ++i) {
    std::string value(1, kUnknownPart);
    if (input) {
      const bool last = i + 1 == names.size();
      const auto begin = fields.begin() + static_cast<long>(std::min(i, fields.size()));
      value = last ? join(std::vector<std::string>(begin, fields.end()), " ") : begin == fields.end() ? "" : *begin;
    }
    std::vector<ShellSpan> sources;
    if (!input) sources.push_back({index, index + 1, command.level});
    set_variable(names[i], {{std::move(value)}, ShellVariable::Kind::kText, std::move(sources)});
  }
}

// True if the command is a builtin that is fully handled here.
bool ShellReader::apply_builtin(int index) {
  constexpr std::string_view kBuiltins =
      "cd pushd chdir popd export declare local readonly typeset unset set shift read mapfile readarray printf";
  if (!is_listed(kBuiltins, command_at(index).word(0))) return false;
  const ShellCommand command = command_at(index);  // a copy: the list may grow below
  const std::string& name = command.word(0);
  if (name == "cd" || name == "pushd" || name == "chdir") {
    size_t at = 1;
    while (command.word(at).size() > 1 && command.word(at)[0] == '-') ++at;
    const std::string& to = command.word(at);
    state_.set("OLDPWD", ShellVariable::of(state_.cwd.str()));
    state_.change_folder(at >= command.words.size() ? state_.home : to == "-" ? std::string(1, kUnknownPart) : to);
    spend(state_.cwd.str().size());
    return true;
  }
  if (name == "popd") {
    state_.change_folder(std::string(1, kUnknownPart));
    return true;
  }
  if (is_listed("export declare local readonly typeset", name)) {
    for (size_t i = 1; i < command.words.size(); ++i) {
      const std::string& word = command.words[i].text;
      const size_t equals = word.find('=');
      if (equals == std::string::npos || !is_name(std::string_view(word).substr(0, equals))) continue;
      std::string value = word.substr(equals + 1);
      if (value == "~" || value.starts_with("~/")) value.replace(0, 1, state_.home);
      const std::string variable = word.substr(0, equals);
      if (is_run_by_others(variable)) run_script(value, index, false, nullptr);
      set_variable(variable, {{std::move(value)}, ShellVariable::Kind::kText, command.words[i].sources});
    }
    return true;
  }
  if (name == "unset") {
    for (size_t i = 1; i < command.words.size(); ++i) state_.unset(command.words[i].text);
    return true;
  }
  if (name == "set") {
    const auto dashes = std::find_if(command.words.begin(), command.words.end(),
                                     [](const ShellWord& word) { return word.text == "--"; });
    if (dashes != command.words.end()) {
      state_.positional = texts_of(command.words, static_cast<size_t>(dashes - command.words.begin()) + 1);
    } else if (command.words.size() > 1 && command.word(1).find_first_of("-+") != 0) {
      state_.positional = texts_of(command.words, 1);
    }
    return true;
  }
  if (name == "shift") {
    if (state_.positional && !state_.positional->empty() && spend(16 * state_.positional->size())) {
      state_.positional =
          std::make_shared<const std::vector<std::string>>(state_.positional->begin() + 1, state_.positional->end());
    }
    return true;
  }
  if (name == "read") {
    read_into_variables(command, index);
    return true;
  }
  if (name == "mapfile" || name == "readarray") {
    const std::string& variable = command.words.back().text;
    const auto input = known_input(reading_, command);
    if (input && is_name(variable)) {
      set_variable(variable, {lines_of(*input), ShellVariable::Kind::kArray, {}});
    } else {
      set_variable(variable,
                   {{std::string(1, kUnknownPart)}, ShellVariable::Kind::kText, {{index, index + 1, level_}}});
    }
    return true;
  }
  if (name == "printf" && command.word(1) == "-v") {
    set_variable(command.word(2), ShellVariable::of(output_alone(command).value_or(std::string(1, kUnknownPart))));
    return true;
  }
  return false;
}

// `echo "..." > x.sh`, `cat > x.sh <<EOF`, `| tee x.sh`: records the file's content, in case the command line runs it.
void ShellReader::note_written(int index) {
  const ShellCommand& command = command_at(index);
  std::vector<std::pair<std::string, bool>> files;  // true: appends
  for (const ShellRedirection& one : command.redirections) {
    const bool is_output = (one.op == ">" || one.op == ">>" || one.op == ">|") && one.fd <= 1;
    if (is_output && !one.target.unknown()) files.emplace_back(one.target.text, one.op == ">>");
  }
  if (program_of(command) == "tee" && command.words.size() == 2) files.emplace_back(command.word(1), false);
  if (files.empty() || written_.size() > 64 || contains(command.cwd.str(), kUnknownPart)) return;
  ShellCommand fed = command;
  fed.fed = known_input(reading_, command);
  fed.input = {};
  const auto output = output_alone(std::move(fed));
  if (!output || !spend(output->size())) return;
  for (const auto& [name, appends] : files) {
    std::string& content = written_[absolute_path(name, command.cwd.str())];
    content = appends && content.size() < 64 * 1024 ? content + *output : *output;
  }
}

// The text of the file that a command runs (./x.sh, sh x.sh, . x.sh), if this command line wrote it.
const std::string* ShellReader::written_file(const ShellCommand& command) const {
  if (written_.empty()) return nullptr;
  const bool runs_file = is_shell(program_of(command)) || command.word(0) == "source" || command.word(0) == ".";
  std::string name = runs_file ? "" : command.word(0);
  for (size_t i = 1; runs_file && i < command.words.size() && name.empty(); ++i) {
    if (!command.word(i).starts_with('-')) name = command.word(i);
  }
  for (const ShellRedirection& one : command.redirections) {
    if (runs_file && name.empty() && one.op == "<") name = one.target.text;
  }
  if (name.empty() || (!runs_file && !contains(name, '/'))) return nullptr;
  const auto found = written_.find(absolute_path(name, command.cwd.str()));
  return found == written_.end() ? nullptr : &found->second;
}

// The text of the first process substitution among its words, if known.
std::optional<std::string> ShellReader::substituted_file(const ShellCommand& command) const {
  for (const ShellWord& word : command.words) {
    if (word.text == kSubstituted && word.sources.size() == 1) return known_output(reading_, word.sources[0]);
  }
  return std::nullopt;
}

void ShellReader::look_through(int index) {
  const auto input = known_input(reading_, command_at(index));
  note_written(index);
  InnerCommands inner;
  std::string name, file;
  std::shared_ptr<const std::vector<std::string>> file_arguments;  // nullptr: it runs no file written by the line
  {
    const ShellCommand& command = command_at(index);  // valid until the list grows
    name = program_of(command);
    inner = inner_commands(command, input, listing_for(reading_, command), substituted_file(command));
    if (const std::string* text = written_file(command)) {
      file = *text;
      file_arguments = texts_of(command.words, is_shell(name) ? 2 : 1);
    }
  }
  if (inner.too_large) return stop_reading();
  const ShellState::Mark mark = state_.mark();
  if (inner.elsewhere) state_.cwd = std::string(1, kUnknownPart);
  if (!inner.folder.empty()) state_.change_folder(inner.folder);
  for (const std::string& assignment : inner.assignments) {
    const size_t equals = assignment.find('=');
    state_.set(assignment.substr(0, equals), ShellVariable::of(assignment.substr(equals + 1)));
  }
  const ShellSpan outer = std::exchange(input_, command_at(index).input);
  for (auto& words : inner.commands) run_words(std::move(words), index);
  if (file_arguments) run_script(file, index, false, file_arguments);
  bool unknown = inner.runs_unknown;
  const auto arguments = std::make_shared<const std::vector<std::string>>(std::move(inner.arguments));
  for (const ShellWord& script : inner.scripts) {
    if (trim(script.text) == std::string_view(&kUnknownPart, 1)) unknown = true;
    run_script(script.text, index, inner.in_this_shell, arguments);
  }
  if (inner.runs_input) {
    if (input && trim(*input) != std::string_view(&kUnknownPart, 1)) {
      run_script(*input, index, false, arguments);
    } else {
      unknown = true;
    }
  }
  command_at(index).unknown_script = unknown;
  input_ = outer;
  // Changes of variables and folders in a separate process don't affect the shell; `command cd` and `eval` run in the
  // shell.
  if (!inner.in_this_shell && name != "command" && name != "builtin") state_.undo_to(mark);
}

void ShellReader::run_words(std::vector<ShellWord> words, int via) {
  if (words.empty() || !enter()) return;
  size_t size = words.size() * sizeof(ShellWord);
  for (const ShellWord& word : words) size += word.text.size();
  ShellCommand command;
  command.words = std::move(words);
  command.fed = command_at(via).fed;
  if (!command.fed) {
    // The here-document of `sudo sh <<EOF` is read by sh.
    ShellCommand only_redirections;
    only_redirections.redirections = command_at(via).redirections;
    if (!only_redirections.redirections.empty()) command.fed = known_input(reading_, only_redirections);
  }
  const int outer_via = std::exchange(via_, via);
  const int outer_level = std::exchange(level_, command_at(via).level);
  if (spend(size)) add(std::move(command));
  level_ = outer_level;
  via_ = outer_via;
  --depth_;
}

void ShellReader::run_script(const std::string& text, int via, bool in_this_shell,
                             std::shared_ptr<const std::vector<std::string>> args) {
  if (!enter()) return;
  const ShellState::Mark mark = state_.mark();
  if (args) state_.positional = std::move(args);
  const int outer_via = std::exchange(via_, via);
  const int outer_level = std::exchange(level_, command_at(via).level);
  const std::vector<ShellSpan> sources = std::exchange(word_sources_, {});
  if (spend(text.size())) within(text, [&] { read_list(kAtEnd); });
  word_sources_ = sources;
  level_ = outer_level;
  via_ = outer_via;
  if (!in_this_shell) state_.undo_to(mark);
  --depth_;
}

std::string readable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == kUnknownPart) {
      out += "…";
    } else {
      out += static_cast<unsigned char>(c) < ' ' || c == 127 ? ' ' : c;
    }
  }
  return out;
}

std::string readable(const ShellCommand& command) {
  std::vector<std::string> words;
  for (const ShellWord& word : command.words) words.push_back(word.text);
  std::string text = quote_shell_words(words);
  for (const ShellRedirection& one : command.redirections) {
    if (one.op.starts_with("<<")) continue;
    const bool is_descriptor = one.op.ends_with('&');
    text += (text.empty() ? "" : " ") + (one.fd < 0 ? std::string() : std::to_string(one.fd)) + one.op +
            (is_descriptor ? "" : " ") + one.target.text;
  }
  return readable(text);
}

}  // namespace ralph
