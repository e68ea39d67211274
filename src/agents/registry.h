// The table of agents that ralph knows by name. Everything that needs all of them (init, doctor, `ralph stream`,
// completion, the test of the settings schema) reads this table. A new agent is agents/<name>.cc and one row here.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "agents/adapter.h"
#include "os/environment.h"

// A row: the constant that agents/<name>.cc defines, and the agent's name.
#define RALPH_AGENTS(ROW) \
  ROW(kClaude, "claude")  \
  ROW(kCodex, "codex")    \
  ROW(kAmp, "amp")        \
  ROW(kGemini, "gemini")  \
  ROW(kOpencode, "opencode")

namespace ralph {

#define RALPH_DECLARE_AGENT(constant, name) extern const Adapter constant;
RALPH_AGENTS(RALPH_DECLARE_AGENT)
#undef RALPH_DECLARE_AGENT

// "claude|codex|…", for options.
#define RALPH_AGENT_CHOICE(constant, name) "|" name
inline constexpr std::string_view kAgentChoices = std::string_view(RALPH_AGENTS(RALPH_AGENT_CHOICE)).substr(1);
#undef RALPH_AGENT_CHOICE

std::span<const Adapter* const> adapters();
const Adapter* find_adapter(std::string_view name);  // nullptr if there is no such row

// For any other command: it gets its flags, then the prompt, and prints plain text.
const Adapter& custom_adapter();

// A parser for this agent's events; nullptr if there is no such row. The default clock is the system clock.
std::unique_ptr<LineParser> make_line_parser(std::string_view agent, const UsedBefore& before = {},
                                             const Clock* clock = nullptr);

// Removes the variables by which agents recognise their children. An agent that ralph starts is not a child of the
// agent that ralph was started from, and must not mistake itself for one.
void remove_child_variables(Environment& environment);

// Whether the `output` of a failed tool call says that a hook denied it.
bool is_denied_by_hook(std::string_view output);

// Whether this tool needs no permission: it only reads, or maintains the agent's own lists.
bool is_free_tool(std::string_view name);

// Whether everything that the agent would have to ask for will be refused, because its `flags`, as written in settings,
// set no permissions.
bool lacks_permissions(const Adapter& adapter, std::span<const std::string> flags);

// "--permission-mode acceptEdits (it may edit files; …), or …": the flags to choose from; empty if it needs none.
std::string permission_choices(const Adapter& adapter);

}  // namespace ralph
