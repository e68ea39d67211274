// Reads the test cases of a JUnit XML report. Lenient, and linear in its length: entities are resolved, everything that
// is not a case, failure, error or skip is passed over.
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

// nullopt: there is no report, or it is broken off.
std::optional<std::vector<JunitCase>> parse_junit(std::string_view text);

}  // namespace ralph::diagnostics
