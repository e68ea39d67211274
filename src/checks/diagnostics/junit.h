// Reads the test cases of a JUnit XML report. Lenient, in linear time: entities are resolved, and everything except
// cases, failures, errors and skips is ignored.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ralph::diagnostics {

struct JunitCase {
  enum class Outcome { kPassed, kFailed, kSkipped } outcome = Outcome::kPassed;
  std::string suite, name, file, message, text;
  int line = -1;  // as written; -1: none
};

// nullopt if there is no report, or it is truncated.
std::optional<std::vector<JunitCase>> parse_junit(std::string_view text);

}  // namespace ralph::diagnostics
