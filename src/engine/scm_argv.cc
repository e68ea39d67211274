#include "engine/scm_argv.h"

#include "base/text.h"

namespace ralph {
namespace {

Argv words_of(const std::string& text) {
  auto words = split_shell_words(text);
  return words ? *words : Argv{text};  // settings were checked; an unsplittable task is passed as one word
}

}  // namespace

bool is_commit(std::string_view task) {
  const Argv words = words_of(std::string(task));
  return !words.empty() && words[0] == "commit";
}

std::optional<Argv> words_of_push(std::string_view task) {
  const Argv words = words_of(std::string(task));
  if (words.empty() || words[0] != "push") return std::nullopt;
  return Argv(words.begin() + 1, words.end());
}

std::vector<Argv> scm_commands(const std::string& scm, const std::string& task, const std::string& message,
                               bool add_all) {
  const Argv base = words_of(scm);
  Argv command = base;
  const Argv words = words_of(task);
  command.insert(command.end(), words.begin(), words.end());
  if (!is_commit(task)) return {command};
  command.insert(command.end(), {"-am", message});
  if (!add_all) return {command};
  Argv add = base;
  add.insert(add.end(), {"add", "-A"});
  return {add, command};
}

bool says_nothing_to_commit(std::string_view output) {
  const std::string text = to_lower(output);
  return text.find("nothing to commit") != std::string::npos ||
         text.find("nothing added to commit") != std::string::npos ||
         text.find("no changes added to commit") != std::string::npos ||
         text.find("nothing changed") != std::string::npos;
}

}  // namespace ralph
