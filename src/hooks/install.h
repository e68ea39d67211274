// Adds ralph's hooks to a host's settings, and removes them: pure functions over JSON text. Everything else keeps every
// byte and its place; what is added follows the layout around it. A host whose hooks are a program has a file of
// ralph's own instead: own_file.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hooks/host.h"

namespace ralph {

struct HookChange {
  char sign = '+';    // '+' added, '~' changed, '-' removed
  std::string where;  // "Stop", "env.CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"
  std::string what;   // "ralph hooks stop"
};

struct MergedSettings {
  std::string text;                 // empty: nothing is left of the file
  std::vector<HookChange> changes;  // none: `text` is unchanged
  std::vector<std::string> left{};  // commands that call ralph and more, and were not removed
};

// Installs every wire of the host once, calling `program`. A hook that calls another ralph is changed to call this one,
// and a shorter time-out is extended; the rest of such a hook, and of a command that does more, stays the user's. A
// block cap that version 0.1 raised becomes what it was in `before`, the text before ralph's hooks were installed, if
// that is known. No text: the file does not exist yet.
//
// Fails with kInput and a position if the text is not JSON, or if hooks are not where the host would read them.
Result<MergedSettings> with_hooks(std::optional<std::string_view> text, std::string_view where, const Host& host,
                                  std::string_view program, std::optional<std::string_view> before = {});

// Removes every hook that calls ralph, and what only these hooks needed; `before` as above.
Result<MergedSettings> without_hooks(std::string_view text, std::string_view where, const Host& host,
                                     std::optional<std::string_view> before);

// What a host's settings have of ralph.
struct HookSurvey {
  std::vector<std::string> programs;     // that hooks call, in order, without duplicates
  std::vector<std::string> missing;      // events that should call ralph and do not
  std::vector<std::string> faults;       // "Stop calls ralph 2 times"
  std::vector<std::string> choices;      // "PreToolUse is for Bash only": made by the user, and kept by install
  bool is_own = false;                   // a hook does nothing but call ralph
  std::optional<std::string> block_cap;  // as set in env
  std::optional<bool> plugin;            // whether this file enables or disables the plugin

  bool has_hooks() const { return !programs.empty(); }
};
Result<HookSurvey> survey_hooks(std::string_view text, std::string_view where, const Host& host);

}  // namespace ralph
