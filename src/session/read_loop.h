// Reads a session's loop from disk, without a lock: the folder of its run, its request, and its state according to the
// journal.
#pragma once

#include <optional>
#include <string>

#include "journal/run_folder.h"
#include "session/loop_state.h"

namespace ralph {

// The unmasked request, in the run's folder until the loop ends.
inline constexpr std::string_view kRequestFile = "request.json";

// nullopt if there is no such run, or something else is in its place.
std::optional<RunFolder> folder_of_run(const std::string& project, const std::string& id);

// Fails with kNotFound if the loop has ended.
Result<LoopRequest> read_request(const std::string& path);

// The loop's state from its journal; nullopt if the run is not a loop. `tail`: reads only the progress, which the last
// decision contains.
Result<std::optional<LoopState>> read_loop(const RunFolder& folder, bool tail);

}  // namespace ralph
