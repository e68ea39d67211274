// Finds the commands that a command runs. `sudo -u x env A=1 timeout 5 rm y` runs `env ...`, which runs `timeout ...`,
// which runs `rm y`; this yields the next step of such a chain.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/shell/lexer.h"

namespace ralph {

struct InnerCommands {
  std::vector<std::vector<ShellWord>> commands{};  // words, already expanded
  std::vector<ShellWord> scripts{};                // texts for a shell
  std::vector<std::string> arguments{};            // $1, $2, ... of the scripts
  std::vector<std::string> assignments{};          // NAME=value for what is run (env, sudo)
  bool in_this_shell = false;                      // a script that the shell itself runs (eval)
  bool runs_input = false;                         // a shell whose script is its standard input
  bool elsewhere = false;                          // on another machine
  std::string folder{};                            // working directory, if given (env -C)
};

// `input`: its standard input, if known. `found`: paths that a `find` earlier in the pipe prints.
InnerCommands inner_commands(const ShellCommand& command, const std::optional<std::string>& input,
                             const std::vector<std::string>& found);

// The program's name, without its folder.
std::string program_of(const ShellCommand& command);

bool is_shell(std::string_view program);        // sh, bash, zsh, ...
bool is_interpreter(std::string_view program);  // python3, node, perl, ...

bool is_run_by_others(std::string_view variable);  // GIT_SSH_COMMAND, EDITOR, ...: its value is a command

// The paths that a `find` acts on: its starting points, each with an unknown part below it if a test selects files.
std::vector<std::string> found_by(const ShellCommand& find);

}  // namespace ralph
