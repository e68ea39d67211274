// Finds the commands that a command runs. `sudo -u x env A=1 timeout 5 rm y` runs `env ...`, which runs `timeout ...`,
// which runs `rm y`; inner_commands() yields the next step of such a chain.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/listing.h"
#include "policy/shell/lexer.h"

namespace ralph {

struct InnerCommands {
  std::vector<std::vector<ShellWord>> commands{};  // words, already expanded
  std::vector<ShellWord> scripts{};                // texts for a shell
  std::vector<std::string> arguments{};            // $1, $2, ... of the scripts
  std::vector<std::string> assignments{};          // NAME=value, for the commands that are run (env, sudo)
  bool in_this_shell = false;                      // the scripts run in the shell itself (eval)
  bool runs_input = false;                         // a shell whose script is its standard input
  bool runs_unknown = false;                       // it runs an unknown text
  bool elsewhere = false;                          // it runs them on another machine
  std::string folder{};                            // working directory, if given (env -C)
  size_t size = 0;                                 // of the text repeated for each file
  bool too_large = false;                          // incomplete: there is more than fits

  // Whether `bytes` more may be added.
  bool grow(size_t bytes) {
    constexpr size_t kMost = 512 * 1024;
    too_large |= (size += bytes) > kMost;
    return !too_large;
  }
};

// `input`: its standard input, if known. `listing`: the files that its standard input names, if any. `file`: the text
// of a process substitution among its words, if known.
InnerCommands inner_commands(const ShellCommand& command, const std::optional<std::string>& input,
                             const std::optional<Listing>& listing, const std::optional<std::string>& file);

// The program's name, without its folder.
std::string program_of(const ShellCommand& command);

bool is_shell(std::string_view program);        // sh, bash, zsh, ...
bool is_interpreter(std::string_view program);  // python3, node, perl, ...

bool is_run_by_others(std::string_view variable);  // GIT_SSH_COMMAND, EDITOR, ...: its value is a command

}  // namespace ralph
