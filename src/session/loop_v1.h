// Loops as version 0.1 kept them: .ralph/loop/<session>.json with a log of decisions beside it, ended ones below
// history/. They are read only: one that is active during an upgrade goes on as a run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "session/loop_state.h"

namespace ralph {

// The loop of a session, by the file name of its id; nothing if there is none, or none that can be read. Also for the
// history, whose files have their log inside.
std::optional<LoopState> read_loop_v1(const std::string& path);

std::string loop_file_v1(const std::string& project, const std::string& session_file);
std::vector<LoopState> loop_history_v1(const std::string& project);  // the oldest first

// The active loop that was there goes on elsewhere: its files go.
void forget_loop_v1(const std::string& project, const std::string& session_file);

}  // namespace ralph
