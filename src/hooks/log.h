// The log of hooks: JSON lines in .ralph/loop/hooks.log of the project. Specified in docs/formats/hooks.md.
#pragma once

#include <string>
#include <string_view>

namespace ralph {

struct HookNote {
  std::string_view hook;     // stop, pre-tool, ...
  std::string_view session;  // may be empty
  // "error": the hook failed, and the host continued without it. "denied", "asked": a tool call.
  std::string_view kind;
  std::string_view what;
};

// `cwd` is the host's working folder. The log is in the nearest folder at or above it with .ralph or .git, if that has
// a .ralph; otherwise errors go to the state folder, and other notes nowhere. Secrets of the environment and of known
// shapes are masked. Never fails, creates no .ralph, and follows no symbolic link. A log of more than a megabyte is
// renamed to hooks.log.old.
void log_hook(const std::string& cwd, const HookNote& note);

}  // namespace ralph
