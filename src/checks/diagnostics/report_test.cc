#include "checks/diagnostics/report.h"

#include <gtest/gtest.h>

namespace ralph::diagnostics {
namespace {

TEST(Report, MergesTheSameRuleOrMessageAtTheSameLine) {
  Report report;
  report.add({"gcc", Kind::kErrors, CollectorStatus::kFindings},
             {{"a.c", 3, 5, Severity::kWarning, Category::kError, "-Wunused", "unused variable 'x'", "gcc"}});
  report.add({"clang-tidy", Kind::kErrors, CollectorStatus::kFindings},
             {{"a.c", 3, 5, Severity::kError, Category::kError, "clang-unused", "unused variable 'x'", "clang-tidy"},
              {"a.c", 3, 5, Severity::kError, Category::kError, "other", "something else", "clang-tidy"},
              {"a.c", 4, 5, Severity::kError, Category::kError, "-Wunused", "unused variable 'x'", "clang-tidy"}});
  report.merge();
  ASSERT_EQ(report.findings.size(), 3u);
  const Finding& merged = report.findings[1];
  EXPECT_EQ(merged.tool, "gcc");
  EXPECT_EQ(merged.also, std::vector<std::string>{"clang-tidy"});
  EXPECT_EQ(merged.severity, Severity::kError);
}

TEST(Report, OneToolMaySayTheSameTwiceInALine) {
  Report report;
  report.add({"ruff", Kind::kErrors, CollectorStatus::kFindings},
             {{"a.py", 3, 1, Severity::kError, Category::kError, "F821", "undefined x", "ruff"},
              {"a.py", 3, 9, Severity::kError, Category::kError, "F821", "undefined x", "ruff"}});
  report.merge();
  EXPECT_EQ(report.findings.size(), 2u);
}

TEST(Report, TheWorstComeFirst) {
  Report report;
  report.add({"x", Kind::kErrors, CollectorStatus::kFindings},
             {{"a", 1, 1, Severity::kInfo, Category::kError, "", "1", "x"},
              {"a", 2, 1, Severity::kWarning, Category::kError, "", "2", "x"},
              {"a", 3, 1, Severity::kWarning, Category::kSecurity, "", "3", "x"},
              {"a", 4, 1, Severity::kError, Category::kError, "", "4", "x"},
              {"a", 5, 1, Severity::kError, Category::kTest, "", "5", "x"}});
  report.merge();
  std::string order;
  for (const Finding& finding : report.findings) order += finding.message;
  EXPECT_EQ(order, "45321");
  EXPECT_EQ(in_words(report.summary()), "1 error, 1 security issue, 1 failing test, 1 warning, 1 info");
  EXPECT_EQ(worst_of(report.findings, 2), "a:4:1: error: 4 (x)\na:5:1: failed test: 5 (x)\n… and 3 more\n");
}

TEST(Report, AFileIsReplacedAndNeverSummed) {
  Report older;
  older.add({"ruff", Kind::kErrors, CollectorStatus::kFindings},
            {{"a.py", 1, 1, Severity::kError, Category::kError, "", "old", "ruff"},
             {"b.py", 1, 1, Severity::kError, Category::kError, "", "kept", "ruff"}});
  Report newer;
  newer.add({"ruff", Kind::kErrors, CollectorStatus::kFindings},
            {{"a.py", 2, 1, Severity::kError, Category::kError, "", "new", "ruff"}});
  const std::vector<std::string> files = {"a.py"};
  for (int i = 0; i < 3; ++i) older = replaced(std::move(older), newer, files);
  ASSERT_EQ(older.findings.size(), 2u);
  EXPECT_EQ(older.findings[0].message, "new");
  EXPECT_EQ(older.findings[1].message, "kept");
}

TEST(Report, AFileWithoutFindingsMakesACleanCollectorIfNoneAreLeft) {
  Report older, newer;
  older.add({"ruff", Kind::kErrors, CollectorStatus::kFindings},
            {{"a.py", 1, 1, Severity::kError, Category::kError, "", "old", "ruff"}});
  newer.add({"ruff", Kind::kErrors, CollectorStatus::kClean}, {});
  const std::vector<std::string> files = {"a.py"};
  EXPECT_EQ(replaced(older, newer, files).find("ruff")->status, CollectorStatus::kClean);
  const std::vector<std::string> others = {"b.py"};
  EXPECT_EQ(replaced(older, newer, others).find("ruff")->status, CollectorStatus::kFindings);
}

}  // namespace
}  // namespace ralph::diagnostics
