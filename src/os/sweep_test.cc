// The steps of a sweep, with fake snapshots of processes; real processes are in processes_test.cc.
#include "os/sweep.h"

#include <signal.h>

#include <gtest/gtest.h>

namespace ralph {
namespace {

using namespace std::chrono_literals;

class SweepTest : public ::testing::Test {
 protected:
  Sweep sweep(StopSequence sequence) {
    return {std::move(sequence), [this](int signal) {
              signals_.push_back(signal);
              return left_;
            }};
  }
  MonotonicTime now_{1h};
  Remaining left_{{}, true};
  std::vector<int> signals_;  // of each snapshot
};

TEST_F(SweepTest, CountsItsGraceInTimeAndNotInLooks) {
  Sweep ending = sweep({{SIGTERM, 5000ms}, {SIGKILL, 3000ms}});
  EXPECT_FALSE(ending.advance(now_));
  for (int i = 0; i < 4999; ++i) ASSERT_FALSE(ending.advance(now_ += 1ms));
  EXPECT_LE(signals_.size(), 251u);
  EXPECT_EQ(signals_.back(), SIGTERM) << "however often it was called";
  EXPECT_FALSE(ending.advance(now_ += 1ms));
  EXPECT_EQ(signals_.back(), SIGKILL);
  signals_.clear();
  EXPECT_TRUE(ending.advance(now_ += 3000ms)) << "however rarely";
  EXPECT_EQ(signals_, std::vector<int>{0});
  EXPECT_TRUE(ending.report().unseen);
}

TEST_F(SweepTest, EndsAsSoonAsNothingIsLeft) {
  Sweep ending = sweep({{SIGTERM, 5000ms}, {SIGKILL, 3000ms}});
  EXPECT_FALSE(ending.advance(now_));
  left_ = {};
  EXPECT_FALSE(ending.advance(now_ += 1ms)) << "it has just checked";
  ending.look_soon();
  EXPECT_TRUE(ending.advance(now_ += 1ms));
  EXPECT_FALSE(ending.report().unseen);
}

TEST_F(SweepTest, BeginsAgainWithAnotherSequence) {
  Sweep ending = sweep({{SIGTERM, 5000ms}});
  EXPECT_FALSE(ending.advance(now_));
  ending.restart({{SIGKILL, 100ms}});
  EXPECT_FALSE(ending.advance(now_ += 1ms));
  EXPECT_EQ(signals_, (std::vector<int>{SIGTERM, SIGKILL}));
  EXPECT_TRUE(ending.advance(now_ += 100ms));
}

}  // namespace
}  // namespace ralph
