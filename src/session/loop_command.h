// Parses a command line typed into a host agent: /ralph:loop fix the tests --max-iterations 5. No part of it passes
// through a shell.
#pragma once

#include <optional>
#include <string_view>

#include "session/loop_request.h"

namespace ralph {

enum class LoopVerb { kStart, kCancel, kStatus };

struct LoopCommand {
  LoopVerb verb = LoopVerb::kStart;
  LoopRequest request;
};

// nullopt if the line is not one of ralph's commands: /ralph:loop, /ralph:ulw-loop, /ralph:cancel, /ralph:status, and
// the plain names /ralph-loop, /ulw-loop, /cancel-ralph, /ralph-status. An error (kUsage) says what is wrong with it.
// "/ralph:loop --cancel" is a cancel.
//
// The task is the text as typed, including line breaks, without the options. An option is a separate word outside
// quotes, "--name VALUE" or "--name=VALUE"; a value may be quoted. If one pair of quotes encloses the whole task, it is
// removed. Words before the task that begin with @ are the paths that it is about. Everything after a lone "--" before
// the task belongs to the task.
Result<std::optional<LoopCommand>> loop_command_from(std::string_view line);

// Sets one option, named without dashes, in the request.
Status set_loop_option(LoopRequest& request, std::string_view name, std::string_view value);

// Takes the targets from the beginning of a task: "@src/ fix it".
void take_targets(LoopRequest& request);

// Converts the targets, typed relative to `folder`, to paths relative to the project. Fails (kUsage) if one is missing
// or outside.
Status settle_targets(LoopRequest& request, const std::string& folder, const std::string& project);

// Validates a request to start a loop.
Status check_request(const LoopRequest& request);

}  // namespace ralph
