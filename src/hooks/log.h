// What hooks have to tell besides their answer: a JSON line each in .ralph/loop/hooks.log of the project. Specified in
// docs/formats/hooks.md.
#pragma once

#include <string>
#include <string_view>

namespace ralph {

struct HookNote {
  std::string_view hook;     // stop, pre-tool, ...
  std::string_view session;  // may be empty
  std::string_view kind;     // error: it failed, and the host went on without it; denied: a tool call was not made
  std::string_view what;
};

// `cwd`: the folder that the host works in; the log is that of the nearest folder upward with .ralph or .git, if it has
// a .ralph. Secrets of the environment and of known shape are masked. It never fails, makes no .ralph, and goes through
// no symbolic link. A log of a megabyte becomes hooks.log.old, and a new one is begun.
void log_hook(const std::string& cwd, const HookNote& note);

}  // namespace ralph
