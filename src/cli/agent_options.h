// --agent and --model override the agent and model of the settings. Shared by all commands that run agents.
#pragma once

#include "cli/command.h"
#include "settings/settings.h"

namespace ralph::cli {

inline constexpr Option kAgentOption = {"agent", 0, "NAME",
                                        "The agent, such as codex or one from the settings (default: agent.command)."};

// -m is --model in `plan` and `loop run`, and --max-iterations in `run` and `init`.
inline constexpr Option kModelOption = {"model", 'm', "MODEL", "The agent's model, such as opus."};
inline constexpr Option kModelOptionWithoutLetter = {"model", 0, "MODEL", "The agent's model, such as opus."};

// Sets /agent/command and /agent/model in `overrides` to what was given. A relative path of a program starts at
// `typed_in`, where the command was typed.
Status set_agent(const Arguments& arguments, const std::string& typed_in, Overrides& overrides);
Status set_model(const Arguments& arguments, Overrides& overrides);

}  // namespace ralph::cli
