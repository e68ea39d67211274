// The counts of a report at one iteration, the criteria over them, and what the latest snapshots say about progress.
// Pure. JSON names follow the format's first description (snake_case); see docs/formats/diagnostics.md.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "checks/diagnostics/report.h"

namespace ralph::diagnostics {

struct Criteria {
  bool zero_errors = true, zero_warnings = false, zero_security = false, tests_pass = false;
  int stagnation_limit = 3;  // snapshots without improvement; 0: never stagnant

  bool any() const { return zero_errors || zero_warnings || zero_security || tests_pass; }
  // Whether a finding violates them.
  bool concern(const Finding& finding) const;
  bool operator==(const Criteria&) const = default;
  template <class V>
  void fields(V&& v) {
    v("zero_errors", zero_errors), v("zero_warnings", zero_warnings), v("zero_security", zero_security);
    v("tests_pass", tests_pass), v("stagnation_limit", stagnation_limit);
  }
};

struct FileDetail {
  std::string file;
  int errors = 0, warnings = 0, infos = 0, security = 0;
  bool operator==(const FileDetail&) const = default;
  template <class V>
  void fields(V&& v) {
    v("file", file), v("errors", errors), v("warnings", warnings), v("infos", infos), v("security", security);
  }
};

struct Snapshot {
  int iteration = 0;
  WallTime timestamp{};
  int error_count = 0, warning_count = 0, info_count = 0;
  int security_issues = 0;
  bool tests_passed = false;  // some ran, and none failed
  int tests_run = 0, tests_failed = 0;
  std::vector<FileDetail> file_details;  // the files with the most findings, at most kMostFileDetails

  // About the findings that violate the criteria:
  int issues = 0;
  std::string digest;                     // of all their fingerprints; equal digests mean the same set
  std::vector<std::string> fingerprints;  // sorted; if there are more than kMostFingerprints, the
                                          // smallest, a fair sample; only in the latest snapshot
  std::string change;                     // a word of Change, relative to the previous one; set by add_snapshot()
  std::vector<std::string> unfinished;    // "mypy: timed out after 2m0s": unknown, so its criteria are not met
  std::vector<std::string> unknown;       // "errors", "security", "tests": kinds that are partly
                                          // unfinished, so their counts are only lower bounds

  bool knows(Kind kind) const;
  bool operator==(const Snapshot&) const = default;
  template <class V>
  void fields(V&& v) {
    v("iteration", iteration), v("timestamp", timestamp), v("error_count", error_count);
    v("warning_count", warning_count), v("info_count", info_count), v("security_issues", security_issues);
    v("tests_passed", tests_passed), v("tests_run", tests_run), v("tests_failed", tests_failed);
    v("file_details", file_details), v("issues", issues), v("digest", digest), v("fingerprints", fingerprints);
    v("change", change), v("unfinished", unfinished), v("unknown", unknown);
  }
};

inline constexpr size_t kMostFileDetails = 50, kMostFingerprints = 256, kMostSnapshots = 64;

// A kind about which something is unknown, and why: "the criterion zeroErrors can't be judged: ruff: ruff is not
// installed".
struct Unjudged {
  Kind kind = Kind::kErrors;
  std::string why;
};

// `unjudged`: what no collector could check. Other unavailable collectors do not appear in snapshots.
Snapshot snapshot_of(const Report& report, const Criteria& criteria, int iteration, WallTime now,
                     std::span<const Unjudged> unjudged = {});

// The criteria that are not met: "3 errors", "tests: no tests ran", "mypy timed out after 2m0s". Empty if all are met.
std::vector<std::string> unmet(const Criteria& criteria, const Snapshot& snapshot);

// How a snapshot differs from the previous one.
enum class Change {
  kFirst,
  kFewer,      // fewer issues
  kDifferent,  // not fewer, but some of the old ones are gone: progress despite a flat count
  kSame,       // the same issues
  kMore,       // all of the old ones, plus new ones
  kUnknown,    // a tool that finished before did not finish now: what seems gone may still be there
};
}  // namespace ralph::diagnostics

namespace ralph {
template <>
inline constexpr auto kWords<diagnostics::Change> =
    words({"first", "fewer", "different", "same", "more", "unknown"});
}  // namespace ralph

namespace ralph::diagnostics {

Change change_between(const Snapshot& before, const Snapshot& after);  // both with their fingerprints

// Why the latest snapshots stagnate, as a sentence: "the same 3 issues as 2 snapshots ago (oscillation)", "no
// improvement in 3 snapshots". Empty if they don't. A snapshot without issues stagnates only if a tool did not finish.
// `snapshots` must have been built with add_snapshot().
std::string stagnation(std::span<const Snapshot> snapshots, int limit);

// The improvement from the first snapshot in which everything is known to the last one, over errors, warnings, security
// issues and failed tests: 45. Never below 0; 100 if nothing is left. nullopt if something is unknown in the last one.
std::optional<int> improvement_percent(std::span<const Snapshot> snapshots);

// "5"; if something is unknown, "at least 5" or "an unknown number of".
std::string number_in_words(const Snapshot& snapshot, Kind kind, int count);

// Adds a snapshot, and drops old ones from the middle: the first and the last kMostSnapshots - 1 are kept. A snapshot
// of the same iteration is replaced.
void add_snapshot(std::vector<Snapshot>& snapshots, Snapshot snapshot);

// "12 → 5 → 0 errors, 28 → 9 → 8 warnings": the trend for a summary; empty without snapshots. Long rows are shortened
// in the middle. Unknown counts are "?", or "≥3" if partly known.
std::string trend(std::span<const Snapshot> snapshots);

}  // namespace ralph::diagnostics
