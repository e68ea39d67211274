#include "session/held_checks.h"

#include <gtest/gtest.h>

#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

TEST(HeldChecks, SayWhyTheyDidNotFinish) {
  ScratchFolder folder;
  const HeldChecks held(folder / "note");
  HeldChecks::State state;
  state.folder = "checks_1";
  state.commands = {"make test"};
  state.criteria = true;
  ScratchFolder::write(folder / "note.checks.result", R"({"folder":"checks_1","error":"the disk is full"})");
  const HeldChecks::Found found = held.found(state);
  ASSERT_EQ(found.checks.size(), 1U);
  EXPECT_EQ(found.checks[0].feedback, "Check \"make test\" did not finish: the disk is full.");
  EXPECT_EQ(found.diagnosis->unmet, std::vector<std::string>{"the diagnostics did not finish: the disk is full"});
  state.folder = "checks_2";  // the result is of other checks
  EXPECT_NE(held.found(state).checks[0].feedback.find("ended from outside"), std::string::npos);
}

}  // namespace
}  // namespace ralph
