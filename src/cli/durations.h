// Durations as options: --restart-delay 5s.
#pragma once

#include "base/time.h"
#include "cli/command.h"

namespace ralph::cli {

// The duration given with the option, or `otherwise`. Errors explain the format of durations.
inline Result<Milliseconds> duration_from(const Arguments& arguments, std::string_view option, Milliseconds otherwise) {
  const auto text = arguments.value(option);
  if (!text) return otherwise;
  const auto duration = parse_duration(*text);
  if (!duration)
    return fail(ErrorKind::kUsage, "--{}: \"{}\" is not a duration; write it as 10ms, 5s or 10m", option, *text);
  return *duration;
}

}  // namespace ralph::cli
