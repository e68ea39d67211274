// One finding of a linter, compiler, type checker, test run or rule scan, and the outcome of the tool that reported it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/words.h"
#include "checks/test_counts.h"

namespace ralph::diagnostics {

enum class Severity { kError, kWarning, kInfo };
enum class Category { kError, kSecurity, kTest };  // kError: anything a linter, compiler or type checker reports
enum class Kind { kErrors, kSecurity, kTests };    // of a collector
enum class CollectorStatus { kClean, kFindings, kUnavailable, kFailed, kTimedOut };

}  // namespace ralph::diagnostics

namespace ralph {
template <>
inline constexpr auto kWords<diagnostics::Severity> = words({"error", "warning", "info"});
template <>
inline constexpr auto kWords<diagnostics::Category> = words({"error", "security", "test"});
template <>
inline constexpr auto kWords<diagnostics::Kind> = words({"errors", "security", "tests"});
template <>
inline constexpr auto kWords<diagnostics::CollectorStatus> =
    words({"clean", "findings", "unavailable", "failed", "timed_out"});
}  // namespace ralph

namespace ralph::diagnostics {

struct Finding {
  std::string file;          // relative to the project, with '/'; empty: the whole project
  int line = 0, column = 0;  // from 1; 0: unknown
  Severity severity = Severity::kError;
  Category category = Category::kError;
  std::string rule;     // may be empty
  std::string message;  // one line, valid UTF-8
  std::string tool;
  std::vector<std::string> also{};  // other tools that reported the same

  bool operator==(const Finding&) const = default;

  template <class V>
  void fields(V&& v) {
    v("file", file), v("line", line), v("column", column), v("severity", severity), v("category", category);
    v("rule", rule), v("message", message), v("tool", tool), v("also", also);
  }
};

// Identifies a finding independently of its position: file, rule and message, but no line, so that an error that only
// moved stays the same; for a failing test, its file and name. 16 hexadecimal digits.
std::string fingerprint_of(const Finding& finding);

// Worst first: errors and failing tests, security, warnings, infos; then by file and line.
bool is_worse(const Finding& a, const Finding& b);

// "src/a.py:3:5", "src/a.py:3", "src/a.py"; empty for the whole project.
std::string place_of(const Finding& finding);

// The outcome of a collector. Only kClean means clean.
struct CollectorResult {
  std::string name;
  Kind kind = Kind::kErrors;
  CollectorStatus status = CollectorStatus::kClean;
  double seconds = 0;
  std::string reason{};               // why it is unavailable, failed or timed out; a sentence without a period
  std::optional<TestCounts> tests{};  // of a test runner that reported them

  bool finished() const { return status == CollectorStatus::kClean || status == CollectorStatus::kFindings; }
  bool operator==(const CollectorResult&) const = default;

  template <class V>
  void fields(V&& v) {
    v("name", name), v("status", status), v("seconds", seconds), v("reason", reason), v("tests", tests);
  }
};

}  // namespace ralph::diagnostics
