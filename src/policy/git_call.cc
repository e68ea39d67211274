#include "policy/git_call.h"

#include <algorithm>

#include "base/text.h"
#include "os/files.h"
#include "policy/command_words.h"

namespace ralph {

bool GitCall::flag(char letter) const {
  return std::ranges::any_of(words, [&](const std::string& word) {
    return is_option(word) && word[1] != '-' && word.find(letter, 1) != std::string::npos;
  });
}

bool GitCall::option(std::string_view name) const {
  return std::ranges::any_of(words, [&](const std::string& word) {
    const std::string_view given = std::string_view(word).substr(0, word.find('='));
    return given == name ||
           (given.size() >= 6 && given.starts_with("--") && given.size() < name.size() && name.starts_with(given));
  });
}

std::vector<std::string> GitCall::operands() const {
  std::vector<std::string> found;
  bool all = false;
  for (const std::string& word : words) {
    if (!all && word == "--") {
      all = true;
    } else if (all || !is_option(word)) {
      found.push_back(word);
    }
  }
  return found;
}

std::vector<std::string> GitCall::written(bool certain) const {
  const bool stashes = verb == "stash" && !words.empty() && words[0] == "push";
  if (verb != "checkout" && verb != "restore" && verb != "mv" && !stashes) return {};
  if (const auto dashes = std::find(words.begin(), words.end(), "--"); dashes != words.end())
    return {dashes + 1, words.end()};
  if (stashes) return {};  // it takes everything, but can be undone
  std::vector<std::string> paths = operands();
  if (verb != "checkout" || paths.empty()) return paths;
  if (flag('b') || flag('B') || option("--orphan")) return {};
  const bool may_be_branch = paths.size() > 1 || !paths[0].starts_with('.');
  if (may_be_branch && (certain || paths.size() > 1)) paths.erase(paths.begin());
  return paths;
}

std::vector<std::string> GitCall::cleaned() const {
  const bool only_shows = flag('n') || option("--dry-run") || (!flag('f') && !option("--force"));
  return verb == "clean" && !only_shows ? operands() : std::vector<std::string>();
}

GitCall git_call(const Subject& subject) {
  constexpr size_t kLongestPath = 4096;  // the kernel's limit; without it repeated -C would take quadratic time
  GitCall call;
  call.cwd = subject.command.cwd;
  size_t at = 1;
  while (at < subject.command.words.size() && subject.command.word(at).starts_with('-')) {
    const std::string& word = subject.command.word(at);
    const bool takes_value = is_listed("-c -C --git-dir --work-tree --namespace", word);
    if (word == "-C" && call.cwd.size() < kLongestPath && !subject.command.word(at + 1).starts_with(kUnknownPart))
      call.cwd = absolute_path(subject.command.word(at + 1), call.cwd);
    at += takes_value ? 2 : 1;
  }
  call.verb = subject.command.word(at);
  for (size_t i = at + 1; i < subject.command.words.size(); ++i) call.words.push_back(subject.command.word(i));
  return call;
}

}  // namespace ralph
