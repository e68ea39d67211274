#include "plan/progress_log.h"

#include <gtest/gtest.h>

namespace ralph {
namespace {

const std::string kHead = "# Log\n\n## Codebase Patterns\n- times are UTC\n\n---\n";
const std::string kFirst = "## Iteration 1 (implement): [US-1]\n- Done: a\n---\n";
const std::string kSecond = "## Iteration 2 (review): [US-1]\n- Done: b\n---\n";
const std::string kBefore = kHead + kFirst;

TEST(ProgressLog, StaysAsItWasFoundIfItOnlyGrew) {
  for (const std::string& found : {kBefore, kBefore + kSecond, kBefore + "\nno form at all",
                                   kHead + "## Iteration 1 (implement): [US-1]\n- Done: a\n---"}) {
    EXPECT_EQ(with_log_kept(kBefore, found), found);
  }
}

TEST(ProgressLog, ItsTopSectionMayBeEdited) {
  const std::string found = "# Log\n\n## Codebase Patterns\n- use clock.now()\n---\n" + kFirst + kSecond;
  EXPECT_EQ(with_log_kept(kBefore, found), found);
}

TEST(ProgressLog, ComesBackWhenItWasWiped) {
  EXPECT_EQ(with_log_kept(kBefore, std::nullopt), kBefore);
  EXPECT_EQ(with_log_kept(kBefore, ""), kBefore);
  EXPECT_EQ(with_log_kept(kBefore, " \n"), kBefore);
  EXPECT_EQ(with_log_kept(kBefore, kHead), kBefore) << "the entries alone";
}

TEST(ProgressLog, LosesNeitherOldNorNewEntries) {
  EXPECT_EQ(with_log_kept(kBefore, kSecond), kBefore + "\n" + kSecond) << "overwritten instead of appended to";
  EXPECT_EQ(with_log_kept(kBefore, kHead + kSecond), kBefore + "\n" + kSecond);
  EXPECT_EQ(with_log_kept(kBefore, kHead + kSecond + kFirst), kBefore + "\n" + kSecond) << "put before the old ones";
  EXPECT_EQ(with_log_kept(kBefore, "all done"), kBefore + "\nall done\n");
  const std::string edited = "## Iteration 1 (implement): [US-1]\n- Done: nothing\n---\n";
  EXPECT_EQ(with_log_kept(kBefore, kHead + edited), kBefore + "\n" + edited);
}

TEST(ProgressLog, WithoutATopSectionIsALogThroughout) {
  EXPECT_EQ(with_log_kept(kFirst, kFirst + kSecond), kFirst + kSecond);
  EXPECT_EQ(with_log_kept(kFirst + kSecond, kSecond), kFirst + kSecond) << "the first rule ends an entry, no section";
  EXPECT_EQ(with_log_kept("# Progress\n", "# Progress\n1 a\n"), "# Progress\n1 a\n");
  EXPECT_EQ(with_log_kept("# Progress\n1 a\n", "2 b\n"), "# Progress\n1 a\n\n2 b\n");
  EXPECT_EQ(with_log_kept("no line end", ""), "no line end\n");
  EXPECT_EQ(with_log_kept("", "anything"), "anything");
}

TEST(ProgressLog, GetsWhatIsNewInAnotherCopyAndNothingTwice) {
  const std::string mine = "the user's line\n";
  EXPECT_EQ(with_log_added(kBefore + mine, kBefore, kBefore + kSecond), kBefore + mine + kSecond);
  EXPECT_EQ(with_log_added(kBefore + mine, kBefore, kBefore), kBefore + mine);
  EXPECT_EQ(with_log_added(kBefore + mine, kBefore, ""), kBefore + mine) << "wiped there";
  EXPECT_EQ(with_log_added(kBefore + mine, kBefore, kSecond), kBefore + mine + "\n" + kSecond) << "overwritten there";
  EXPECT_EQ(with_log_added("# P\nmine", "# P\n", "# P\n2 b\n"), "# P\nmine\n2 b\n");
  EXPECT_EQ(with_log_added(mine, "", kSecond), mine + kSecond) << "there was none before";
  const std::string top = "# Log\n- new\n---\n", other = "# Log\n- other\n---\n";
  EXPECT_EQ(with_log_added(kBefore + mine, kBefore, top + kFirst + kSecond), top + kFirst + mine + kSecond);
  EXPECT_EQ(with_log_added(other + kFirst, kBefore, top + kFirst + kSecond), other + kFirst + kSecond);
}

}  // namespace
}  // namespace ralph
