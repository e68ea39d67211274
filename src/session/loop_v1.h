// Loops in the format of version 0.1: .ralph/loop/<session>.json and a log of decisions next to it; ended loops are in
// history/. Read-only: a loop that is active during an upgrade continues as a run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "session/loop_state.h"

namespace ralph {

// Reads a session's loop; nullopt if there is none or it is unreadable. Also reads history files, which include their
// log.
std::optional<LoopState> read_loop_v1(const std::string& path);

std::string loop_file_v1(const std::string& project, const std::string& session_file);
std::vector<LoopState> loop_history_v1(const std::string& project);  // oldest first

// Removes the files of an active loop that continues as a run.
void forget_loop_v1(const std::string& project, const std::string& session_file);

}  // namespace ralph
