// --agent and --model: another agent or model than that of the settings, the same for every command that runs agents.
#pragma once

#include "cli/command.h"
#include "settings/settings.h"

namespace ralph::cli {

inline constexpr Option kAgentOption = {"agent", 0, "NAME",
                                        "The agent, such as codex or one from the settings (default: agent.command)."};

// -m means the model where seed 003 says so; in the commands of seed 001 it means the iterations.
inline constexpr Option kModelOption = {"model", 'm', "MODEL", "The agent's model, such as opus."};
inline constexpr Option kModelOptionWithoutLetter = {"model", 0, "MODEL", "The agent's model, such as opus."};

// Sets /agent/command and /agent/model in `overrides` to what was given. The path of a program begins where the command
// was typed.
Status set_agent(const Arguments& arguments, const std::string& typed_in, Overrides& overrides);
Status set_model(const Arguments& arguments, Overrides& overrides);

}  // namespace ralph::cli
