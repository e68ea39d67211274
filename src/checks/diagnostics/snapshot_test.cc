#include "checks/diagnostics/snapshot.h"

#include <gtest/gtest.h>

namespace ralph::diagnostics {
namespace {

Finding error(const std::string& file, const std::string& message) {
  return {file, 1, 1, Severity::kError, Category::kError, "R1", message, "ruff"};
}

// A snapshot of errors with these messages.
Snapshot of(std::initializer_list<const char*> messages, int iteration) {
  Report report;
  std::vector<Finding> findings;
  for (const char* message : messages) findings.push_back(error("a.py", message));
  report.add({"ruff", Kind::kErrors, findings.empty() ? CollectorStatus::kClean : CollectorStatus::kFindings},
             findings);
  return snapshot_of(report, Criteria{}, iteration, WallTime{});
}

// A snapshot with a tool that did not finish.
Snapshot unknown(int iteration) {
  Report report;
  report.add({"ruff", Kind::kErrors, CollectorStatus::kFailed, 1, fmt::format("it crashed, pid {}", iteration)}, {});
  return snapshot_of(report, Criteria{}, iteration, WallTime{});
}

std::vector<Snapshot> history(std::initializer_list<std::initializer_list<const char*>> all) {
  std::vector<Snapshot> snapshots;
  for (const auto& messages : all) add_snapshot(snapshots, of(messages, static_cast<int>(snapshots.size()) + 1));
  return snapshots;
}

TEST(Stagnation, TheSameErrorsForAsManySnapshotsAsTheLimit) {
  EXPECT_EQ(stagnation(history({{"a"}, {"a"}, {"a"}}), 3), "");
  EXPECT_EQ(stagnation(history({{"a"}, {"a"}, {"a"}, {"a"}}), 3), "no improvement in 3 snapshots");
  EXPECT_EQ(stagnation(history({{"a"}, {"a"}}), 1), "no improvement in 1 snapshot");
  EXPECT_EQ(stagnation(history({{"a"}, {"a"}, {"a"}, {"a"}, {"a"}}), 0), "");
}

TEST(Stagnation, ATestThatFailsWithOtherTimesAndAddressesIsTheSame) {
  Criteria criteria{false, false, false, true};
  std::vector<Snapshot> snapshots;
  for (int i = 1; i <= 4; ++i) {
    Report report;
    report.add({"pytest", Kind::kTests, CollectorStatus::kFindings},
               {{"test_a.py", i, 0, Severity::kError, Category::kTest, "test_a.test_slow",
                 fmt::format("test_a.test_slow: assert <object at 0x7f{:04}> after {}.3s", i, i), "pytest"}});
    add_snapshot(snapshots, snapshot_of(report, criteria, i, WallTime{}));
  }
  EXPECT_EQ(stagnation(snapshots, 3), "no improvement in 3 snapshots");
}

TEST(Stagnation, FewerErrorsAreProgress) {
  EXPECT_EQ(stagnation(history({{"a", "b", "c"}, {"a", "b", "c"}, {"a", "b"}, {"a", "b"}}), 2), "");
}

TEST(Stagnation, AlwaysNewErrorsUnderAFlatCountAreProgress) {
  EXPECT_EQ(stagnation(history({{"a"}, {"b"}, {"c"}, {"d"}, {"e"}, {"f"}}), 2), "");
}

TEST(Stagnation, MoreErrorsOnTopOfTheOldAreNone) {
  EXPECT_EQ(stagnation(history({{"a"}, {"a", "b"}, {"a", "b", "c"}}), 2), "no improvement in 2 snapshots");
}

TEST(Stagnation, ComingBackIsOscillation) {
  EXPECT_EQ(stagnation(history({{"a"}, {"b"}, {"a"}}), 3), "the same 1 issue as 2 snapshots ago (oscillation)");
  EXPECT_EQ(stagnation(history({{"a"}, {"b"}, {"c"}, {"d"}, {"a"}}), 2),
            "the same 1 issue as 4 snapshots ago (oscillation)");
  EXPECT_EQ(stagnation(history({{"a"}, {"b"}, {"c"}, {"d"}, {"e"}, {"a"}}), 2), "");  // more than 2N ago
}

TEST(Stagnation, NothingFoundIsNever) {
  EXPECT_EQ(stagnation(history({{}, {}, {}, {}}), 2), "");
}

TEST(Stagnation, ErrorsThatOnlyMovedAreTheSame) {
  Report here, there;
  here.add({"ruff", Kind::kErrors, CollectorStatus::kFindings}, {error("a.py", "x")});
  Finding moved = error("a.py", "x");
  moved.line = 90;
  there.add({"ruff", Kind::kErrors, CollectorStatus::kFindings}, {moved});
  EXPECT_EQ(change_between(snapshot_of(here, {}, 1, {}), snapshot_of(there, {}, 2, {})), Change::kSame);
}

TEST(Stagnation, ThousandsOfFindingsAreComparedByASample) {
  const auto many = [](int from, int to) {
    Report report;
    std::vector<Finding> findings;
    for (int i = from; i < to; ++i) findings.push_back(error("a.py", fmt::format("message {}", i)));
    report.add({"ruff", Kind::kErrors, CollectorStatus::kFindings}, std::move(findings));
    return snapshot_of(report, {}, 1, {});
  };
  const Snapshot first = many(0, 10000);
  EXPECT_EQ(first.fingerprints.size(), kMostFingerprints);
  EXPECT_EQ(first.issues, 10000);
  EXPECT_EQ(change_between(first, many(0, 10000)), Change::kSame);
  EXPECT_EQ(change_between(first, many(1000, 11000)), Change::kDifferent);
  EXPECT_EQ(change_between(first, many(0, 10500)), Change::kMore);
  EXPECT_EQ(change_between(first, many(0, 9999)), Change::kFewer);
}

TEST(Criteria, AnUnfinishedCollectorIsUnknownAndNeverClean) {
  Report report;
  report.add({"mypy", Kind::kErrors, CollectorStatus::kTimedOut, 120, "timed out after 2m0s"}, {});
  EXPECT_EQ(unmet({}, snapshot_of(report, {}, 1, {})), std::vector<std::string>{"mypy: timed out after 2m0s"});
  const std::vector<Unjudged> nobody = {{Kind::kTests, "nothing here runs tests"}};
  EXPECT_EQ(unmet({}, snapshot_of({}, {}, 1, {}, nobody)), std::vector<std::string>{"nothing here runs tests"});
  EXPECT_FALSE(snapshot_of({}, {}, 1, {}, nobody).knows(Kind::kTests));
}

TEST(Criteria, EachLooksAtItsOwnFindings) {
  Report report;
  report.add({"x", Kind::kErrors, CollectorStatus::kFindings},
             {error("a.py", "1"),
              {"a.py", 2, 1, Severity::kWarning, Category::kError, "", "2", "x"},
              {"a.py", 3, 1, Severity::kWarning, Category::kSecurity, "", "3", "x"},
              {"a.py", 4, 1, Severity::kError, Category::kTest, "", "4", "x"}});
  const auto missing = [&](Criteria criteria) { return unmet(criteria, snapshot_of(report, criteria, 1, {})); };
  EXPECT_EQ(missing({true, false, false, false}), std::vector<std::string>{"1 error"});
  EXPECT_EQ(missing({false, true, false, false}), std::vector<std::string>{"1 warning"});
  EXPECT_EQ(missing({false, false, true, false}), std::vector<std::string>{"1 security issue"});
  EXPECT_EQ(missing({false, false, false, true}), std::vector<std::string>{"1 failing test"});
}

TEST(Criteria, NoTestsAreNotPassingTests) {
  Report report;
  report.add({"ruff", Kind::kErrors, CollectorStatus::kClean}, {});
  Criteria criteria;
  criteria.tests_pass = true;
  EXPECT_EQ(unmet(criteria, snapshot_of(report, criteria, 1, {})), std::vector<std::string>{"no tests ran"});
  report.add({"pytest", Kind::kTests, CollectorStatus::kClean, 1, "", TestCounts{3, 0, 0}}, {});
  EXPECT_TRUE(unmet(criteria, snapshot_of(report, criteria, 1, {})).empty());
}

TEST(Snapshots, OfOneIterationReplaceEachOther) {
  std::vector<Snapshot> snapshots;
  add_snapshot(snapshots, of({"a", "b"}, 1));
  add_snapshot(snapshots, of({"a"}, 1));
  ASSERT_EQ(snapshots.size(), 1u);
  EXPECT_EQ(snapshots[0].error_count, 1);
  for (int i = 2; i < 200; ++i) add_snapshot(snapshots, of({"a"}, i));
  EXPECT_EQ(snapshots.size(), kMostSnapshots);
  EXPECT_EQ(snapshots.front().iteration, 1);
  EXPECT_EQ(snapshots.back().iteration, 199);
}

TEST(Snapshots, ImprovementIsFromFirstToLast) {
  Snapshot first, last;
  first.error_count = 12, first.warning_count = 28;
  last.warning_count = 22;
  const auto percent = [](std::initializer_list<Snapshot> row) { return improvement_percent(std::vector(row)); };
  EXPECT_EQ(percent({first, last}), 45);
  EXPECT_EQ(percent({last, first}), 0);
  EXPECT_EQ(percent({first, Snapshot{}}), 100);
  EXPECT_EQ(percent({}), std::nullopt);
  EXPECT_EQ(percent({first, unknown(9)}), std::nullopt);
  EXPECT_EQ(percent({unknown(1), first, last}), 45);  // the first in which everything is known
  EXPECT_EQ(percent({unknown(1), first}), 0);
}

TEST(Snapshots, WhatIsUnknownIsNeverZeroAndNeverAnImprovement) {
  std::vector<Snapshot> row = history({{"a", "b"}});
  for (int i = 2; i < 5; ++i) add_snapshot(row, unknown(i));
  EXPECT_EQ(row[1].change, "unknown");
  EXPECT_EQ(row[2].change, "same");
  EXPECT_EQ(stagnation(row, 4), "");
  EXPECT_EQ(stagnation(row, 3), "no improvement in 3 snapshots");
  EXPECT_EQ(trend(row), "2 → ? → ? → ? errors");
  EXPECT_EQ(number_in_words(row[1], Kind::kErrors, 0), "an unknown number of");
  EXPECT_EQ(number_in_words(row[1], Kind::kErrors, 2), "at least 2");
  EXPECT_EQ(number_in_words(row[1], Kind::kTests, 0), "0");
  // A tool that finishes again has made progress, whatever it reports.
  add_snapshot(row, of({"a", "b", "c"}, 5));
  EXPECT_EQ(row.back().change, "different");
  Snapshot some = unknown(6);
  some.error_count = 3;
  EXPECT_EQ(trend(std::vector{some}), "≥3 errors");
}

TEST(Snapshots, FewerOfTheKnownIsProgressWhileAToolStaysSilent) {
  const auto with_mypy = [](std::initializer_list<const char*> messages, std::string_view words, int iteration) {
    Report report;
    std::vector<Finding> findings;
    for (const char* message : messages) findings.push_back(error("a.py", message));
    report.add({"ruff", Kind::kErrors, CollectorStatus::kFindings}, findings);
    report.add({"mypy", Kind::kErrors, CollectorStatus::kFailed, 1, std::string(words)}, {});
    return snapshot_of(report, Criteria{}, iteration, WallTime{});
  };
  EXPECT_EQ(change_between(with_mypy({"a", "b"}, "crashed at 0x1", 1), with_mypy({"a"}, "crashed at 0x2", 2)),
            Change::kFewer);
  EXPECT_EQ(change_between(with_mypy({"a"}, "crashed at 0x1", 1), with_mypy({"a"}, "crashed at 0x2", 2)),
            Change::kSame);
}

TEST(Snapshots, TheTrendLeavesOutTheMiddleOfMany) {
  std::vector<Snapshot> snapshots;
  for (int i = 10; i > 0; --i) {
    Snapshot snapshot;
    snapshot.error_count = i;
    snapshots.push_back(snapshot);
  }
  EXPECT_EQ(trend(snapshots), "10 → 9 → 8 → … → 4 → 3 → 2 → 1 errors");
  EXPECT_EQ(trend(std::span(snapshots).last(1)), "1 error");
  EXPECT_EQ(trend(std::vector<Snapshot>(2)), "no findings");
  EXPECT_EQ(trend({}), "");
}

}  // namespace
}  // namespace ralph::diagnostics
