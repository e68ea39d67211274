// A session's loop as it stands on the disk, without a lock: the folder of its run, what was asked for, and how it
// stands by its journal.
#pragma once

#include <optional>
#include <string>

#include "journal/run_folder.h"
#include "session/loop_state.h"

namespace ralph {

// In the folder of the run until the loop ends: what was asked for, unmasked.
inline constexpr std::string_view kRequestFile = "request.json";

// nullopt: there is no such run, or something else stands in its place.
std::optional<RunFolder> folder_of_run(const std::string& project, const std::string& id);

// kNotFound: the loop has ended.
Result<LoopRequest> read_request(const std::string& path);

// The loop's state from its journal; nullopt: the run is no loop. `tail`: only the progress is needed, which the last
// decision carries.
Result<std::optional<LoopState>> read_loop(const RunFolder& folder, bool tail);

}  // namespace ralph
