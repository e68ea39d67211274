#include "policy/command_terminals.h"

#include <algorithm>
#include <array>

namespace ralph {
namespace {

// A tmux subcommand that ends with a shell command, and its options that take a value.
struct Opening {
  std::string_view name, short_name, valued;
};
constexpr std::array kOpenings = {Opening{"new-session", "new", "ceFfnstxy"},
                                  Opening{"new-window", "neww", "ceFnt"},
                                  Opening{"split-window", "splitw", "ceFlpt"},
                                  Opening{"respawn-pane", "respawnp", "cet"},
                                  Opening{"respawn-window", "respawnw", "cet"},
                                  Opening{"run-shell", "run", "cdt"},
                                  Opening{"display-popup", "popup", "bcdehsStTwxy"},
                                  Opening{"if-shell", "if", "t"},
                                  Opening{"pipe-pane", "pipep", "t"}};

// A single word is a shell script; several are a command.
void add_rest(Words rest, InnerCommands& inner) {
  if (rest.size() == 1) inner.scripts.push_back(rest[0]);
  if (rest.size() > 1) inner.commands.push_back(copy(rest));
}

// Adds the typed text: words literally, Enter and the like as the end of a line.
void add_typed(Words keys, InnerCommands& inner) {
  ShellWord typed;
  for (const ShellWord& key : keys) {
    const bool is_enter = key.text == "Enter" || key.text == "C-m" || key.text == "KPEnter" || key.text == "C-j";
    typed.text += is_enter ? "\n" : key.text.starts_with("C-") ? "" : key.text;
    typed.sources.insert(typed.sources.end(), key.sources.begin(), key.sources.end());
  }
  inner.scripts.push_back(std::move(typed));
}

void look_into_tmux(Words words, InnerCommands& inner) {
  const size_t at = skip_options(words, 1, "cfLST");
  if (at >= words.size()) return;
  const std::string& verb = words[at].text;
  if (verb == "send-keys" || verb == "send") {
    const size_t keys = skip_options(words, at + 1, "cNt");
    if (keys < words.size()) add_typed(words.subspan(keys), inner);
  }
  for (const Opening& one : kOpenings) {
    if (verb != one.name && verb != one.short_name) continue;
    const size_t rest = skip_options(words, at + 1, one.valued);
    if (rest < words.size()) add_rest(words.subspan(rest), inner);
  }
}

void look_into_screen(Words words, InnerCommands& inner) {
  const auto stuff =
      std::find_if(words.begin(), words.end(), [](const ShellWord& word) { return word.text == "stuff"; });
  if (stuff != words.end()) return add_typed(words.subspan(static_cast<size_t>(stuff - words.begin()) + 1), inner);
  const size_t at = skip_options(words, 1, "ceLhpsStT");
  if (at < words.size()) inner.commands.push_back(copy(words.subspan(at)));
}

}  // namespace

void look_into_terminal(std::string_view program, Words words, InnerCommands& inner) {
  program == "tmux" ? look_into_tmux(words, inner) : look_into_screen(words, inner);
}

}  // namespace ralph
