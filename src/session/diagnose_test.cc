#include "session/diagnose.h"

#include <gtest/gtest.h>

namespace ralph {
namespace {

TEST(Diagnose, AMarkerStandsAloneOnALine) {
  for (const std::string_view mark :
       {"<ralph>DONE</ralph>", "<ralph>COMPLETE</ralph>", "<ralph:done />", "<ralph:complete/>",
        "<jikime>DONE</jikime>", "<jikime>COMPLETE</jikime>", "<jikime:done />", "<jikime:complete />"}) {
    EXPECT_TRUE(has_completion_tag(mark)) << mark;
    EXPECT_TRUE(has_completion_tag(fmt::format("It is done.\n  {}\nBye.", mark))) << mark;
    EXPECT_FALSE(has_completion_tag(fmt::format("I say {} when it is done", mark))) << mark;
  }
  for (const std::string_view none : {"", "DONE", "<ralph>done</ralph>", "<ralph>DONE</jikime>", "<ralph:DONE />",
                                      "<promise>DONE</promise>", "<ralph>DONE"})
    EXPECT_FALSE(has_completion_tag(none)) << none;
}

diagnostics::Snapshot counted(int errors, int warnings, int security = 0) {
  diagnostics::Snapshot snapshot;
  snapshot.error_count = errors;
  snapshot.warning_count = warnings;
  snapshot.security_issues = security;
  return snapshot;
}

TEST(Diagnose, TheMessages) {
  EXPECT_EQ(continue_message({counted(10, 10), counted(5, 5)}, 3, 10, "a.py:1: error: x"),
            "Ralph Loop: CONTINUE | Iteration: 3/10 | Current: 5 error(s), 5 warning(s), 0 security issue(s) | "
            "Progress: 50% improvement | Next: Fix 5 remaining error(s)\na.py:1: error: x");
  EXPECT_EQ(
      auto_continue_message(counted(5, 1, 2), ""),
      "Ralph Loop: AUTO-CONTINUE | Issues detected - continuing automatically | 5 error(s) remaining | 2 security "
      "issue(s) remaining | Next: Fix the remaining errors | Output <ralph:done /> when complete");
  EXPECT_EQ(complete_message("s", 5, {counted(12, 28), counted(0, 8)}),
            "Ralph Loop: COMPLETE - All conditions satisfied | Session: s | Iterations: 5 | Total improvement: 80% | "
            "Initial: 12 errors, 28 warnings | Final: 0 errors, 8 warnings");
  diagnostics::Snapshot unknown = counted(0, 0);
  unknown.unfinished = {"mypy: timed out after 2m0s"};
  unknown.unknown = {"errors"};
  EXPECT_EQ(continue_message({counted(2, 0), unknown}, 1, 10, ""),
            "Ralph Loop: CONTINUE | Iteration: 1/10 | Current: an unknown number of error(s), an unknown number of "
            "warning(s), 0 security issue(s) | Progress: unknown | Next: Find out about mypy: timed out after 2m0s\n"
            "Not known: mypy: timed out after 2m0s");
  diagnostics::Snapshot some_left = counted(1, 0);
  some_left.unfinished = {"ruff: ruff is not installed"};
  EXPECT_EQ(
      auto_continue_message(some_left, "a.py:1: error: x"),
      "Ralph Loop: AUTO-CONTINUE | Issues detected - continuing automatically | 1 error(s) remaining | Next: Fix the "
      "remaining errors | Output <ralph:done /> when complete\nNot known: ruff: ruff is not installed\na.py:1: error: "
      "x");
  EXPECT_EQ(complete_message("s", 2, {unknown, counted(0, 1)}),
            "Ralph Loop: COMPLETE - All conditions satisfied | Session: s | Iterations: 2 | Total improvement: 0% | "
            "Initial: an unknown number of errors, an unknown number of warnings | Final: 0 errors, 1 warning");
}

}  // namespace
}  // namespace ralph
