// Usage of a run, by agent: several results, sub-agents, counters that continue from an earlier run.
#include <gtest/gtest.h>

#include "agents/recordings_for_tests.h"

namespace ralph {
namespace {

struct Used {
  Tokens tokens;
  double cost_usd = 0;
};

void expect_used(const EventLines& events, const Used& expected, std::string_view name) {
  EXPECT_EQ(events.tokens.input, expected.tokens.input) << name;
  EXPECT_EQ(events.tokens.output, expected.tokens.output) << name;
  EXPECT_EQ(events.tokens.cache_read, expected.tokens.cache_read) << name;
  EXPECT_EQ(events.tokens.cache_write, expected.tokens.cache_write) << name;
  EXPECT_NEAR(events.cost_usd, expected.cost_usd, 1e-9) << name;
}

TEST(CostsTest, OfRecordings) {
  struct Row {
    std::string_view agent, name;
    Used used;
  };
  const Row rows[] = {
      {"claude", "stream-write-bash-todo-promise", {{4200, 127, 800, 50}, 0.01975}},
      {"claude", "stream-2.1.197-write-bash-todowrite", {{4100, 107, 800, 50}, 0.0238875}},
      {"claude", "stream-background-job-two-results", {{300, 60, 0, 0}, 0.0024}},
      {"claude", "stream-input-two-prompts", {{200, 40, 0, 0}, 0.0016}},
      {"claude", "stream-subagent", {{400, 80, 0, 0}, 0.0032}},         // `usage` omits the sub-agent's half
      {"claude", "stream-resume", {{100, 20, 0, 0}, 0.0008}},           // the counters say 200 and 0.0016
      {"claude", "stream-continue", {{100, 20, 0, 0}, 0.0008}},         // 300 and 0.0024
      {"claude", "stream-resume-fork", {{100, 20, 0, 0}, 0.0008}},      // 400 and 0.0032
      {"claude", "stream-compact", {{200, 40, 0, 0}, 0.0016}},          // `usage` is all zeros
      {"claude", "stream-max-budget", {{1200, 45, 800, 50}, 0.00611}},  // same here
      {"claude", "stream-partial-messages", {{100, 20, 0, 0}, 0.0008}},
      {"claude", "stream-sigint-during-tool", {{100, 20, 0, 0}, 0.0008}},
      {"claude", "stream-sigterm-during-tool", {{100, 0, 0, 0}, 0}},  // no result: only what was known earlier
      {"codex", "exec-reasoning-todo-command-patch-message", {{2700, 142, 200, 0}, 0}},
      {"gemini", "stream-write-shell-todo-promise", {{2200, 117, 800, 0}, 0}},
      {"opencode", "run-write-bash-todo-promise", {{2200, 117, 800, 0}, 0.008355}},
  };
  for (const Row& row : rows) expect_used(events_of(row.agent, recording(row.agent, row.name)), row.used, row.name);
}

TEST(CostsTest, CodexCountersContinueAfterAResume) {
  const UsedBefore before{{.input = 100, .output = 20}, 0};
  expect_used(events_of("codex", recording("codex", "exec-resume"), 0, before), {{100, 20, 0, 0}, 0}, "exec-resume");
}

// Versions without model_usage_since_last_result.
TEST(CostsTest, OldClaudeCountersContinueAfterAResume) {
  const std::string_view result =
      R"({"type":"result","subtype":"success","is_error":false,"result":"","total_cost_usd":0.0024,)"
      R"("usage":{"input_tokens":100,"output_tokens":20},"modelUsage":{"m":{"inputTokens":300,"outputTokens":60,)"
      R"("cacheReadInputTokens":0,"cacheCreationInputTokens":0,"costUSD":0.0024}}})";
  expect_used(events_of("claude", result, 0, {{200, 40, 0, 0}, 0.0016}), {{100, 20, 0, 0}, 0.0008}, "goes on");
  expect_used(events_of("claude", result, 0, {{900, 40, 0, 0}, 0.9}), {{300, 60, 0, 0}, 0.0024}, "began anew");
  const std::string twice = std::string(result) + "\n" + std::string(result);
  expect_used(events_of("claude", twice), {{300, 60, 0, 0}, 0.0024}, "nothing new in the second");
}

TEST(CostsTest, AMessageIsCountedOnceHoweverManyEventsItHas) {
  const std::string event = R"({"type":"assistant","message":{"id":"m1","content":[],"stop_reason":null,)"
                            R"("usage":{"input_tokens":7,"output_tokens":1,"cache_read_input_tokens":5}}})"
                            "\n";
  std::string other = event;
  other.replace(other.find("m1"), 2, "m2");
  expect_used(events_of("claude", event + other + event), {{14, 0, 10, 0}, 0}, "two messages");
}

TEST(CostsTest, AmpReportsUsagePerMessageAndNoCost) {
  const std::string_view stream =
      R"({"type":"system","subtype":"init","session_id":"T-1","tools":[]})"
      "\n"
      R"({"type":"assistant","message":{"content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":60,"output_tokens":20}}})"
      "\n"
      R"({"type":"assistant","message":{"content":[{"type":"text","text":"ho"}],"stop_reason":"end_turn","usage":{"input_tokens":40,"output_tokens":30}}})"
      "\n"
      R"({"type":"result","subtype":"success","is_error":false,"result":"ho","num_turns":2,"duration_ms":5,)"
      R"("usage":{"input_tokens":100,"output_tokens":50,"cache_read_input_tokens":80,"cache_creation_input_tokens":0}})";
  const EventLines events = events_of("amp", stream);
  expect_used(events, {{100, 50, 80, 0}, 0}, "amp");
  EXPECT_FALSE(events.result_cost_usd.has_value());
}

TEST(CostsTest, AResultWithoutFiguresKeepsTheEstimates) {
  const std::string_view stream =
      R"({"type":"assistant","message":{"content":[],"stop_reason":"end_turn","usage":{"input_tokens":60,"output_tokens":20}}})"
      "\n"
      R"({"type":"result","subtype":"error_during_execution","error":"it broke","is_error":true})";
  const EventLines events = events_of("amp", stream);
  expect_used(events, {{60, 20, 0, 0}, 0}, "amp");
  EXPECT_NE(events.text.find(R"("kind":"other","message":"it broke")"), std::string::npos) << events.text;
}

}  // namespace
}  // namespace ralph
