// A host's settings with ralph's hooks in them, and without: pure functions over JSON text. Whatever is not ralph's
// keeps every byte, in its place; what is new follows the layout around it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hooks/host.h"

namespace ralph {

struct HookChange {
  char sign = '+';    // '+' new, '~' changed, '-' taken away
  std::string where;  // "Stop", "env.CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"
  std::string what;   // "ralph hooks stop"
};

struct MergedSettings {
  std::string text;
  std::vector<HookChange> changes;  // none: `text` is as it was
  std::vector<std::string> left{};  // what calls ralph and was not taken away, because it is not ralph's alone
};

// Every wire of the host in its place, once, calling `program`; for Claude Code also the block cap. What calls another
// ralph is changed to call this one, and a shorter time-out is made longer; all else about it stays the user's, and so
// does the rest of a line that does more. No text: the file is not there yet.
//
// Fails with kInput and a place if the text is not JSON, or hooks are not where the host would read them.
Result<MergedSettings> with_hooks(std::optional<std::string_view> text, std::string_view where, Host host,
                                  std::string_view program);

// Without any hook that calls ralph, and without what was there for them alone. `before` is the text before they were
// installed, if it is known: a block cap that was the user's own comes back from there.
Result<MergedSettings> without_hooks(std::string_view text, std::string_view where, Host host,
                                     std::optional<std::string_view> before);

// What stands there of ralph's.
struct HookSurvey {
  std::vector<std::string> programs;     // that hooks call, each once, in their order
  std::vector<std::string> missing;      // events that should call ralph and don't
  std::vector<std::string> faults;       // "Stop calls ralph 2 times"
  std::vector<std::string> choices;      // "PreToolUse is for Bash only": the user's own, and install leaves it
  bool is_own = false;                   // there is a hook that is ralph's alone
  std::optional<std::string> block_cap;  // as it is set in env
  std::optional<bool> plugin;            // whether the plugin is switched on or off in this file

  bool has_hooks() const { return !programs.empty(); }
};
Result<HookSurvey> survey_hooks(std::string_view text, std::string_view where, Host host);

}  // namespace ralph
