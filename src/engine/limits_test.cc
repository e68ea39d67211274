#include "engine/limits.h"

#include <gtest/gtest.h>

#include "journal/words_for_tests.h"

namespace ralph {
namespace {

using namespace std::chrono_literals;

const WallTime kNow{1000h};

Policy with_agents(std::vector<std::string> agents) {
  Policy policy;
  policy.agents = std::move(agents);
  return policy;
}

record::Record limit_met(WallTime when, const std::string& resets_at = "") {
  record::AgentEnded ended;
  ended.purpose = word("work");
  ended.agent = "claude";
  ended.outcome = word("usage_limit");
  ended.resets_at = resets_at;
  return {0, when, ended};
}

TEST(FreeFrom, IsTheAnnouncedEndOfTheLimit) {
  EXPECT_EQ(available_again_at({}, {kNow + 2h, kNow, 1}), kNow + 2h);
  EXPECT_EQ(available_again_at({}, {kNow - 1s, kNow, 1}), kNow - 1s);
}

TEST(FreeFrom, IsLaterEachTimeALimitIsHitAgainAfterItsAnnouncedEnd) {
  const auto wait = [](int times) { return (available_again_at({}, {kNow - 1s, kNow, times}) - kNow) / 1s; };
  EXPECT_EQ(wait(2), 30);
  EXPECT_EQ(wait(3), 60);
  EXPECT_EQ(wait(7), 960);
  EXPECT_EQ(wait(1000), 960);
  EXPECT_EQ(available_again_at({}, {kNow + 2h, kNow, 3}), kNow + 2h);
}

TEST(FreeFrom, IsLaterEachTimeTheEndIsUnknown) {
  const auto wait = [](int times) { return (available_again_at({}, {std::nullopt, kNow, times}) - kNow) / 1min; };
  EXPECT_EQ(wait(1), 5);
  EXPECT_EQ(wait(2), 10);
  EXPECT_EQ(wait(5), 80);
  EXPECT_EQ(wait(1000), 80);
}

TEST(AgentToAsk, IsTheFirstThatIsNotLimitedAndReturnsToThePreferredOne) {
  const Policy policy = with_agents({"claude", "codex", "gemini"});
  Progress progress;
  EXPECT_EQ(agent_to_ask(policy, progress, kNow), 0U);
  progress.limited["claude"] = {kNow + 1h, kNow, 1};
  EXPECT_EQ(agent_to_ask(policy, progress, kNow), 1U);
  progress.limited["codex"] = {std::nullopt, kNow, 1};
  EXPECT_EQ(agent_to_ask(policy, progress, kNow), 2U);
  progress.limited["gemini"] = {kNow + 1h, kNow, 1};
  EXPECT_EQ(agent_to_ask(policy, progress, kNow), 0U) << "all are limited";
  EXPECT_EQ(agent_to_ask(policy, progress, kNow + 5min), 1U) << "the one that nobody knows of is tried again";
  EXPECT_EQ(agent_to_ask(policy, progress, kNow + 1h), 0U);
}

TEST(AgentToAsk, IsNotAnAgentWhoseLimitOutlastsItsAnnouncedEnd) {
  const Policy policy = with_agents({"claude", "codex"});
  Progress progress;
  progress.limited["claude"] = {kNow - 1s, kNow, 1};
  EXPECT_EQ(agent_to_ask(policy, progress, kNow), 0U) << "asked once more";
  progress.limited["claude"] = {kNow - 1s, kNow, 2};
  EXPECT_EQ(agent_to_ask(policy, progress, kNow), 1U);
  EXPECT_EQ(agent_to_ask(policy, progress, kNow + 30s), 0U);
}

TEST(AllLimitedUntil, IsWhenTheFirstOfThemIsFree) {
  const Policy policy = with_agents({"claude", "codex"});
  Progress progress;
  progress.limited["claude"] = {kNow + 1h, kNow, 1};
  EXPECT_EQ(all_limited_until(policy, progress, kNow), std::nullopt);
  progress.limited["codex"] = {std::nullopt, kNow, 1};
  EXPECT_EQ(all_limited_until(policy, progress, kNow), kNow + 5min);
  EXPECT_EQ(all_limited_until(policy, progress, kNow + 5min), std::nullopt);
}

TEST(Progress, CountsTheLimitsOfEachAgent) {
  Progress progress = fold({}, limit_met(kNow, "1970-02-11T18:00:00.000Z"));
  EXPECT_EQ(progress.limited.at("claude").times, 1);
  EXPECT_EQ(progress.limited.at("claude").met, kNow);
  EXPECT_EQ(progress.limited.at("claude").until, kNow + 2h);
  progress = fold(std::move(progress), limit_met(kNow + 1min));
  EXPECT_EQ(progress.limited.at("claude").times, 2);
  EXPECT_EQ(progress.limited.at("claude").until, std::nullopt);
  record::Record other = limit_met(kNow);
  auto& ended = std::get<record::AgentEnded>(other.body);
  ended.agent = "codex";
  ended.outcome = word("ok");
  progress = fold(std::move(progress), other);
  EXPECT_EQ(progress.limited.at("claude").times, 2) << "another agent's turn says nothing of this one's limit";
  ended.agent = "claude";
  EXPECT_TRUE(fold(std::move(progress), other).limited.empty());
}

}  // namespace
}  // namespace ralph
