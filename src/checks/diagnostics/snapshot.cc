#include "checks/diagnostics/snapshot.h"

#include <algorithm>
#include <map>

#include "base/sha256.h"
#include "base/text.h"

namespace ralph::diagnostics {
namespace {

bool is_of(const Finding& finding, Category category, Severity severity) {
  return finding.category == category && finding.severity == severity;
}

int weight(const Snapshot& snapshot) {
  return snapshot.error_count + snapshot.warning_count + snapshot.security_issues + snapshot.tests_failed;
}

std::vector<FileDetail> details_of(const Report& report) {
  std::map<std::string, FileDetail> files;
  for (const Finding& finding : report.findings) {
    if (finding.file.empty() || finding.category == Category::kTest) continue;
    FileDetail& detail = files[finding.file];
    detail.file = finding.file;
    ++(finding.category == Category::kSecurity  ? detail.security
       : finding.severity == Severity::kError   ? detail.errors
       : finding.severity == Severity::kWarning ? detail.warnings
                                                : detail.infos);
  }
  std::vector<FileDetail> details;
  for (auto& [name, detail] : files) details.push_back(std::move(detail));
  const auto badness = [](const FileDetail& d) { return std::tuple(d.errors + d.security, d.warnings, d.infos); };
  std::stable_sort(details.begin(), details.end(),
                   [&](const FileDetail& a, const FileDetail& b) { return badness(a) > badness(b); });
  if (details.size() > kMostFileDetails) details.resize(kMostFileDetails);
  return details;
}

// Whether one of the fingerprints in `before` is missing in `after`, within the range that both samples cover.
bool some_are_gone(const Snapshot& before, const Snapshot& after) {
  const auto reach = [](const Snapshot& snapshot) {
    return snapshot.fingerprints.size() < kMostFingerprints ? std::string("g") : snapshot.fingerprints.back();
  };
  const std::string end = std::min(reach(before), reach(after));
  std::vector<std::string> gone;
  std::set_difference(before.fingerprints.begin(), before.fingerprints.end(), after.fingerprints.begin(),
                      after.fingerprints.end(), std::back_inserter(gone));
  return std::any_of(gone.begin(), gone.end(), [&](const std::string& print) { return print <= end; });
}

// The names of unfinished collectors; their reasons may differ each time.
std::vector<std::string> unfinished_collectors_in(const Snapshot& snapshot) {
  std::vector<std::string> names;
  for (const std::string& one : snapshot.unfinished) names.push_back(one.substr(0, one.find(": ")));
  std::sort(names.begin(), names.end());
  return names;
}

// Whether a collector that finished before did not finish this time.
bool some_no_longer_finished(const Snapshot& before, const Snapshot& after) {
  const std::vector<std::string> was = unfinished_collectors_in(before), is = unfinished_collectors_in(after);
  return !std::includes(was.begin(), was.end(), is.begin(), is.end());
}

// A row of numbers, shortened in the middle if there are many.
std::string row_of(std::span<const Snapshot> snapshots, int Snapshot::* count, Kind kind, std::string_view noun) {
  std::vector<std::string> numbers;
  for (const Snapshot& snapshot : snapshots) {
    const int known = snapshot.*count;
    numbers.push_back(snapshot.knows(kind) ? std::to_string(known) : known > 0 ? fmt::format("≥{}", known) : "?");
  }
  // Errors and warnings are unknown together, and the errors row shows that already.
  const auto is_nothing = [&](const std::string& n) {
    return n == "0" || (n == "?" && count == &Snapshot::warning_count);
  };
  if (std::all_of(numbers.begin(), numbers.end(), is_nothing)) return {};
  if (numbers.size() > 8) {
    std::vector<std::string> ends(numbers.begin(), numbers.begin() + 3);
    ends.emplace_back("…");
    ends.insert(ends.end(), numbers.end() - 4, numbers.end());
    numbers = std::move(ends);
  }
  if (numbers.size() == 1 && numbers.front() == "1") noun.remove_suffix(1);
  return fmt::format("{} {}", join(numbers, " → "), noun);
}

}  // namespace

bool Criteria::concern(const Finding& finding) const {
  return (zero_errors && is_of(finding, Category::kError, Severity::kError)) ||
         (zero_warnings && is_of(finding, Category::kError, Severity::kWarning)) ||
         (zero_security && finding.category == Category::kSecurity) ||
         (tests_pass && finding.category == Category::kTest);
}

bool Snapshot::knows(Kind kind) const {
  return !is_one_of<std::string>(std::string(to_string(kind)), unknown);
}

Snapshot snapshot_of(const Report& report, const Criteria& criteria, int iteration, WallTime now,
                     std::span<const Unjudged> unjudged) {
  Snapshot snapshot;
  snapshot.iteration = iteration;
  snapshot.timestamp = now;
  const Summary sum = report.summary();
  snapshot.error_count = sum.errors;
  snapshot.warning_count = sum.warnings;
  snapshot.info_count = sum.infos;
  snapshot.security_issues = sum.security;
  const TestCounts tests = report.tests();
  snapshot.tests_run = static_cast<int>(tests.executed());
  snapshot.tests_failed = std::max(static_cast<int>(tests.failed), sum.failing_tests);
  // A runner that does not report how many tests it ran (`npm test`) still reports whether they passed.
  const bool uncounted = std::any_of(report.collectors.begin(), report.collectors.end(), [](const CollectorResult& c) {
    return c.kind == Kind::kTests && c.status == CollectorStatus::kClean && !c.tests;
  });
  snapshot.tests_passed = (snapshot.tests_run > 0 || uncounted) && snapshot.tests_failed == 0;
  snapshot.file_details = details_of(report);

  std::map<std::string, int> seen;
  for (const Finding& finding : report.findings) {
    if (!criteria.concern(finding)) continue;
    std::string print = fingerprint_of(finding);
    // A second finding of the same kind in a file is a separate issue.
    if (const int before = seen[print]++; before > 0)
      print = sha256_hex(fmt::format("{}#{}", print, before)).substr(0, 16);
    snapshot.fingerprints.push_back(std::move(print));
  }
  snapshot.issues = static_cast<int>(snapshot.fingerprints.size());
  std::sort(snapshot.fingerprints.begin(), snapshot.fingerprints.end());
  const auto leave_open = [&](Kind kind, std::string why) {
    snapshot.unfinished.push_back(std::move(why));
    if (snapshot.knows(kind)) snapshot.unknown.emplace_back(to_string(kind));
  };
  for (const CollectorResult& result : report.collectors) {
    if (result.finished() || result.status == CollectorStatus::kUnavailable) continue;
    leave_open(result.kind, fmt::format("{}: {}", result.name, result.reason));
  }
  for (const Unjudged& one : unjudged) leave_open(one.kind, one.why);
  snapshot.digest =
      sha256_hex(join(snapshot.fingerprints, "\n") + "\n" + join(unfinished_collectors_in(snapshot), "\n"))
          .substr(0, 32);
  if (snapshot.fingerprints.size() > kMostFingerprints) snapshot.fingerprints.resize(kMostFingerprints);
  return snapshot;
}

std::vector<std::string> unmet(const Criteria& criteria, const Snapshot& snapshot) {
  std::vector<std::string> parts;
  const auto say = [&](bool wanted, int count, std::string_view noun) {
    if (wanted && count > 0) parts.push_back(count_of(count, noun));
  };
  say(criteria.zero_errors, snapshot.error_count, "error");
  say(criteria.zero_warnings, snapshot.warning_count, "warning");
  say(criteria.zero_security, snapshot.security_issues, "security issue");
  say(criteria.tests_pass, snapshot.tests_failed, "failing test");
  if (criteria.tests_pass && !snapshot.tests_passed && snapshot.tests_failed == 0) parts.emplace_back("no tests ran");
  for (const std::string& unknown : snapshot.unfinished) parts.push_back(unknown);
  return parts;
}

Change change_between(const Snapshot& before, const Snapshot& after) {
  if (before.digest == after.digest) return Change::kSame;
  if (some_no_longer_finished(before, after)) return Change::kUnknown;
  if (after.issues < before.issues) return Change::kFewer;
  return some_are_gone(before, after) || some_no_longer_finished(after, before) ? Change::kDifferent : Change::kMore;
}

std::string stagnation(std::span<const Snapshot> snapshots, int limit) {
  if (limit <= 0 || snapshots.size() < 2) return {};
  const Snapshot& last = snapshots.back();
  if (last.issues == 0 && last.unfinished.empty()) return {};
  const size_t newest = snapshots.size() - 1;
  const auto most = static_cast<size_t>(limit);

  size_t unimproved = 0;
  while (unimproved < newest && is_one_of(snapshots[newest - unimproved].change, {"same", "more", "unknown"}))
    ++unimproved;
  if (unimproved >= most) return fmt::format("no improvement in {}", count_of(unimproved, "snapshot"));

  // Back to an earlier state with others in between, so this is not just a lack of change.
  size_t ago = 1;
  while (ago <= newest && snapshots[newest - ago].digest == last.digest) ++ago;
  for (; ago <= std::min(newest, 2 * most); ++ago) {
    if (snapshots[newest - ago].digest != last.digest) continue;
    return fmt::format("the same {} as {} snapshots ago (oscillation)",
                       last.issues > 0 ? count_of(last.issues, "issue") : "state", ago);
  }
  return {};
}

std::optional<int> improvement_percent(std::span<const Snapshot> snapshots) {
  if (snapshots.empty() || !snapshots.back().unfinished.empty()) return std::nullopt;
  const auto first = std::find_if(snapshots.begin(), snapshots.end(),
                                  [](const Snapshot& snapshot) { return snapshot.unfinished.empty(); });
  const int before = weight(*first), after = weight(snapshots.back());
  if (after == 0) return 100;
  if (before <= after) return 0;
  return static_cast<int>(100LL * (before - after) / before);
}

std::string number_in_words(const Snapshot& snapshot, Kind kind, int count) {
  if (snapshot.knows(kind)) return std::to_string(count);
  return count > 0 ? fmt::format("at least {}", count) : "an unknown number of";
}

void add_snapshot(std::vector<Snapshot>& snapshots, Snapshot snapshot) {
  // A replaced snapshot cleared the fingerprints of its predecessor, so it is compared in its place.
  const Snapshot* before = snapshots.empty() ? nullptr : &snapshots.back();
  const bool replaces = before && before->iteration == snapshot.iteration;
  const bool first = !before || (replaces && snapshots.size() == 1);
  if (replaces && snapshot.digest == before->digest) {
    snapshot.change = before->change;
  } else {
    snapshot.change = to_string(first ? Change::kFirst : change_between(*before, snapshot));
  }
  if (replaces) snapshots.pop_back();
  if (!snapshots.empty()) {
    snapshots.back().fingerprints.clear();
    snapshots.back().file_details.clear();
  }
  snapshots.push_back(std::move(snapshot));
  if (snapshots.size() > kMostSnapshots) snapshots.erase(snapshots.begin() + 1);
}

std::string trend(std::span<const Snapshot> snapshots) {
  std::vector<std::string> rows;
  const auto add = [&](std::string row) {
    if (!row.empty()) rows.push_back(std::move(row));
  };
  add(row_of(snapshots, &Snapshot::error_count, Kind::kErrors, "errors"));
  add(row_of(snapshots, &Snapshot::warning_count, Kind::kErrors, "warnings"));
  add(row_of(snapshots, &Snapshot::security_issues, Kind::kSecurity, "security issues"));
  add(row_of(snapshots, &Snapshot::tests_failed, Kind::kTests, "failing tests"));
  if (rows.empty()) return snapshots.empty() ? "" : "no findings";
  return join(rows, ", ");
}

}  // namespace ralph::diagnostics
