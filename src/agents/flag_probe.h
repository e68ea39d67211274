// Which flags the installed version of an agent has, according to its help. The answer is cached until the agent's file
// changes, because asking the agent takes a fraction of a second.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "os/environment.h"

namespace ralph {

class FlagProbe {
 public:
  // `program` is the agent's file. The cache is $XDG_CACHE_HOME/ralph/agent-flags.json (or ~/.cache/…); without a home
  // folder, only this object caches.
  FlagProbe(std::string program, Environment environment);

  // `help_command`: "--help" or "exec --help". False if the program does not answer.
  bool has(std::string_view help_command, std::string_view flag);

 private:
  const std::set<std::string>& flags_of(const std::string& help_command);

  std::string program_;
  Environment environment_;
  std::map<std::string, std::set<std::string>> known_;  // by help command
};

// The words in a help text that begin with "--".
std::set<std::string> flags_in(std::string_view help);

}  // namespace ralph
