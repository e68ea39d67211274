// Judges a host's tool call: the command of a shell tool, the files of tools that write or read. Hosts name their tools
// and inputs differently; an unknown tool is allowed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "policy/command_policy.h"

namespace ralph {

struct ToolUse {
  std::optional<std::string> command{};  // for a shell
  std::string folder{};                  // the shell's working folder, as written; empty: the host's folder
  std::vector<std::string> writes{}, reads{};
};

ToolUse tool_use_of(std::string_view tool, const json::value& input);

// The files named in a patch for `apply_patch`.
std::vector<std::string> files_of_patch(std::string_view patch);

std::optional<Objection> judge_tool(std::string_view tool, const ToolUse& use, const CommandLists& lists,
                                    const PolicyPlace& place, const ShellSetting& setting);

}  // namespace ralph
