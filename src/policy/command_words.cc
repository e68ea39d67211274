#include "policy/command_words.h"

#include "base/text.h"

namespace ralph {

std::vector<ShellWord> copy(Words words) {
  return {words.begin(), words.end()};
}

ShellWord joined(Words words) {
  ShellWord all;
  for (const ShellWord& word : words) {
    if (!all.text.empty()) all.text += ' ';
    all.text += word.text;
    all.sources.insert(all.sources.end(), word.sources.begin(), word.sources.end());
  }
  return all;
}

size_t option_length(const std::string& word, std::string_view valued, std::string_view valued_long) {
  if (word.starts_with("--")) {
    return !contains(word, '=') && is_listed(valued_long, std::string_view(word).substr(2)) ? 2 : 1;
  }
  for (size_t i = 1; i < word.size(); ++i) {
    if (contains(valued, word[i])) return i + 1 == word.size() ? 2 : 1;
  }
  return 1;
}

bool is_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-';
}

bool is_assignment(const std::string& word) {
  const size_t equals = word.find('=');
  return equals != std::string::npos && equals > 0;
}

size_t skip_options(Words words, size_t at, std::string_view valued, std::string_view valued_long) {
  while (at < words.size() && is_option(words[at].text)) {
    if (words[at].text == "--") return at + 1;
    at += option_length(words[at].text, valued, valued_long);
  }
  return std::min(at, words.size());
}

std::optional<ShellWord> option_value(Words words, std::string_view letter, std::string_view name) {
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i].text;
    if ((word == letter || word == name) && i + 1 < words.size()) return words[i + 1];
    if (!name.empty() && word.starts_with(std::string(name) + "=")) return ShellWord{word.substr(name.size() + 1), {}};
    if (!letter.empty() && word.size() > 2 && word.starts_with(letter) && !word.starts_with("--"))
      return ShellWord{word.substr(2), {}};
  }
  return std::nullopt;
}

}  // namespace ralph
