// Adds ralph's hooks to a host's settings, and removes them: pure functions over JSON text. All other bytes stay as
// they are, and additions follow the surrounding layout. For a host whose hooks are a program, see own_file.h.
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
  std::string text;                 // empty: nothing of the file is left
  std::vector<HookChange> changes;  // none: `text` is unchanged
  std::vector<std::string> left{};  // commands that do more than call ralph, and were not removed
};

// Installs every wire of the host once, calling `program`. A hook that calls another ralph is changed to call this one,
// and a shorter time-out is extended; the rest of the hook, and of a command that does more, is kept. A block cap that
// version 0.1 raised gets its value from `before`, the text before ralph's hooks were installed, if known. No `text`:
// the file does not exist yet.
//
// Fails with kInput and a position if the text is not JSON, or if hooks are where the host would not read them.
Result<MergedSettings> with_hooks(std::optional<std::string_view> text, std::string_view where, const Host& host,
                                  std::string_view program, std::optional<std::string_view> before = {});

// Removes every hook that calls ralph, and everything only these hooks needed; `before` as above.
Result<MergedSettings> without_hooks(std::string_view text, std::string_view where, const Host& host,
                                     std::optional<std::string_view> before);

// What a host's settings contain of ralph.
struct HookSurvey {
  std::vector<std::string> programs;     // called by hooks, in order, without duplicates
  std::vector<std::string> missing;      // events that should call ralph and do not
  std::vector<std::string> faults;       // "Stop calls ralph 2 times"
  std::vector<std::string> choices;      // "PreToolUse is for Bash only": by the user, and kept by install
  bool is_own = false;                   // a hook does nothing but call ralph
  std::optional<std::string> block_cap;  // as set in env
  std::optional<bool> plugin;            // whether this file enables or disables the plugin

  bool has_hooks() const { return !programs.empty(); }
};
Result<HookSurvey> survey_hooks(std::string_view text, std::string_view where, const Host& host);

}  // namespace ralph
