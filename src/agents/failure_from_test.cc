#include "agents/failure_from.h"

#include <cstdlib>
#include <ctime>

#include <gtest/gtest.h>

#include "agents/recordings_for_tests.h"
#include "base/text.h"

namespace ralph {
namespace {

class FailureTest : public testing::Test {
 protected:
  FailureTest() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
};

std::string shown(const std::optional<WallTime>& time) {
  return time ? to_iso8601(*time) : "";
}

TEST_F(FailureTest, KindsOfMessages) {
  struct Row {
    std::string_view message;
    FailureKind kind;
    std::string_view shown;  // empty: the message itself
  };
  const Row rows[] = {
      {"unexpected status 401 Unauthorized: invalid x-api-key, url: http://127.0.0.1/v1", FailureKind::kAuthentication,
       ""},
      {"exceeded retry limit, last status: 429 Too Many Requests", FailureKind::kOverloaded, ""},
      {"We’re currently experiencing high demand, which may cause temporary errors.", FailureKind::kOverloaded, ""},
      {"stream disconnected before completion: error sending request", FailureKind::kOverloaded, ""},
      {"Codex ran out of room in the model's context window.", FailureKind::kContextExhausted, ""},
      {"You’ve hit your usage limit. Upgrade to Pro", FailureKind::kUsageLimit, ""},
      {"Quota exceeded. Check your plan and billing details.", FailureKind::kBilling, ""},
      {R"([API Error: {"error":{"code":401,"message":"invalid x-api-key","status":"INTERNAL"}}])",
       FailureKind::kAuthentication, "invalid x-api-key"},
      {R"({"error":{"message":"no such","type":"invalid_request_error","code":"model_not_found"}})",
       FailureKind::kModelNotFound, "no such"},
      {R"({"error": {"message": "prompt is too long: 250000 tokens > 200000 maximum", "type": "server_error"}})",
       FailureKind::kContextExhausted, "prompt is too long: 250000 tokens > 200000 maximum"},
      {R"({"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}})", FailureKind::kBilling,
       "You exceeded your current quota"},
      {"something else", FailureKind::kOther, ""},
      {"the exit status was 3", FailureKind::kOther, ""},
      {"", FailureKind::kOther, ""},
      {"{", FailureKind::kOther, ""},
  };
  for (const Row& row : rows) {
    const ReportedFailure told = failure_from_message(row.message, kRecordingTime);
    EXPECT_EQ(to_string(told.kind), to_string(row.kind)) << row.message;
    EXPECT_EQ(told.message, row.shown.empty() ? row.message : row.shown);
  }
}

TEST_F(FailureTest, TheEndOfALimit) {  // asked at 2026-11-15T20:22:33Z
  struct Row {
    std::string_view message, expected;
  };
  const Row rows[] = {
      {"or try again at Nov 16th, 2026 3:33 AM.", "2026-11-16T03:33:59.000Z"},
      {"or try again at Dec 1st, 2026 12:05 PM.", "2026-12-01T12:05:59.000Z"},
      {"try again at Jan 2nd, 2027 12:00 AM.", "2027-01-02T00:00:59.000Z"},
      {"try again at 11:07 PM.", "2026-11-15T23:07:59.000Z"},
      {"try again at 3:33 AM.", "2026-11-16T03:33:59.000Z"},  // today's is long past
      {"try again at 8:22 PM.", "2026-11-15T20:22:59.000Z"},  // this very minute
      {"try again at 8:20 PM.", "2026-11-15T20:20:59.000Z"},  // ended a moment ago
      {"Try again in 3 days 4 hours 5 minutes.", "2026-11-19T00:27:33.000Z"},
      {"try again in 2 hours", "2026-11-15T22:22:33.000Z"},
      {"Claude AI usage limit reached|1794800000", "2026-11-16T03:33:20.000Z"},
      {"try again later.", ""},
      {"try again at Foo 16th, 2026 3:33 AM.", ""},
      {"try again at Nov 77th, 2026 3:33 AM.", ""},
      {"try again at 25:00 AM.", ""},
      {"usage limit reached|99999999999999999999", ""},
      {"usage limit reached|9999999999999", ""},
  };
  for (const Row& row : rows) EXPECT_EQ(shown(reset_time_in(row.message, kRecordingTime)), row.expected) << row.message;
}

TEST_F(FailureTest, ALimitEndsInTheTimeZoneOfThisMachine) {
  ::setenv("TZ", "America/New_York", 1);
  ::tzset();
  const auto time = reset_time_in("try again at Nov 16th, 2026 3:33 AM.", kRecordingTime);
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  // Without a time zone database, the name means UTC.
  EXPECT_TRUE(shown(time) == "2026-11-16T08:33:59.000Z" || shown(time) == "2026-11-16T03:33:59.000Z") << shown(time);
}

TEST_F(FailureTest, KindsOfStatuses) {
  EXPECT_EQ(failure_from_status(0), FailureKind::kNone);
  EXPECT_EQ(failure_from_status(200), FailureKind::kNone);
  EXPECT_EQ(failure_from_status(400), FailureKind::kOther);
  EXPECT_EQ(failure_from_status(401), FailureKind::kAuthentication);
  EXPECT_EQ(failure_from_status(403), FailureKind::kAuthentication);
  EXPECT_EQ(failure_from_status(404), FailureKind::kModelNotFound);
  EXPECT_EQ(failure_from_status(429), FailureKind::kOverloaded);
  EXPECT_EQ(failure_from_status(529), FailureKind::kOverloaded);
}

// The failure in each recording, of which there is exactly one.
TEST_F(FailureTest, KindsOfRecordings) {
  struct Row {
    std::string_view agent, name, kind, resets_at;
  };
  const Row rows[] = {
      {"claude", "stream-error-400-credit", "billing", ""},
      {"claude", "stream-error-400-prompt-too-long", "context_exhausted", ""},
      {"claude", "stream-error-401", "authentication", ""},
      {"claude", "stream-error-404-model", "model_not_found", ""},
      {"claude", "stream-error-429-long-retry-after", "overloaded", ""},
      {"claude", "stream-error-429", "overloaded", ""},
      {"claude", "stream-error-500", "overloaded", ""},
      {"claude", "stream-error-529", "overloaded", ""},
      {"claude", "stream-error-529-then-ok", "", ""},
      {"claude", "stream-error-connection-dropped", "overloaded", ""},
      {"claude", "stream-rate-limit-event-rejected", "usage_limit", "2026-11-16T03:33:20.000Z"},
      {"claude", "stream-rate-limit-event-warning", "", ""},
      {"claude", "stream-max-turns", "max_turns", ""},
      {"claude", "stream-max-budget", "max_budget", ""},
      {"claude", "stream-resume-unknown-session", "other", ""},
      {"claude", "stream-sigint-during-stream", "aborted", ""},
      {"claude", "stream-sigint-during-tool", "aborted", ""},
      {"claude", "stream-default-mode-permission-denied", "", ""},
      {"codex", "exec-error-400", "context_exhausted", ""},
      {"codex", "exec-error-401", "authentication", ""},
      {"codex", "exec-error-429", "overloaded", ""},
      {"codex", "exec-error-500", "overloaded", ""},
      {"codex", "exec-error-connection-dropped", "overloaded", ""},
      {"codex", "exec-error-stream-cut", "overloaded", ""},
      {"codex", "exec-error-then-recovered", "", ""},
      {"codex", "exec-error-usage-limit", "usage_limit", "2026-11-16T03:33:59.000Z"},
      {"codex", "exec-unknown-model", "", ""},
      {"gemini", "stream-error-401", "authentication", ""},
      {"gemini", "stream-afteragent-hook-deny", "", ""},
      {"opencode", "run-error-401", "authentication", ""},
      {"opencode", "run-error-429", "overloaded", ""},
  };
  for (const Row& row : rows) {
    const std::string text = events_of(row.agent, recording(row.agent, row.name)).text;
    const size_t at = text.find(R"({"type":"failure")");
    const std::string line = at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
    EXPECT_EQ(line.empty(), row.kind.empty()) << row.name;
    if (line.empty()) continue;
    EXPECT_NE(line.find(fmt::format(R"("kind":"{}")", row.kind)), std::string::npos) << row.name << ": " << line;
    EXPECT_EQ(line.find("resetsAt") != std::string::npos, !row.resets_at.empty()) << line;
    EXPECT_NE(line.find(row.resets_at), std::string::npos) << line;
    EXPECT_EQ(text.find(R"({"type":"failure")", at + 1), std::string::npos) << row.name << ": reported twice";
    EXPECT_NE(text.find(R"("failed":true,)", at), std::string::npos) << row.name << ": no result that failed";
  }
}

TEST_F(FailureTest, TheModelsWordsAreNeverAFailure) {
  const std::string_view rows[][2] = {
      {"claude",
       R"({"type":"assistant","message":{"content":[{"type":"text","text":"API Error: rate limit, status 429"}]}})"},
      {"codex",
       R"({"type":"item.completed","item":{"type":"agent_message","text":"You've hit your usage limit. try again at 3:33 AM"}})"},
      {"gemini", R"({"type":"message","role":"assistant","content":"rate limit, 401"})"},
      {"opencode", R"({"type":"text","part":{"text":"prompt is too long"}})"},
  };
  for (const auto& row : rows) {
    const std::string text = events_of(row[0], row[1]).text;
    EXPECT_TRUE(text.starts_with(R"({"type":"text")")) << text;
    EXPECT_EQ(text.find("failure"), std::string::npos) << text;
  }
}

TEST_F(FailureTest, ASubAgentsErrorDoesNotFailTheTurn) {
  const std::string text =
      events_of(
          "claude",
          R"({"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error"}]},)"
          R"("parent_tool_use_id":"toolu_1","error":"rate_limit","is_api_error_message":true})")
          .text;
  EXPECT_EQ(text, "{\"type\":\"progress\",\"kind\":\"sub-agent failed\",\"text\":\"API Error\"}\n");
}

// A line of Claude Code with this text from this model.
std::string claude_says(std::string_view model, std::string_view text) {
  return fmt::format(R"({{"type":"assistant","message":{{"model":"{}","content":[{{"type":"text","text":"{}"}}]}}}})"
                     "\n",
                     model, text);
}
std::string claude_result(int turns, std::string_view text) {
  return fmt::format(R"({{"type":"result","subtype":"success","is_error":false,"num_turns":{},"result":"{}"}})"
                     "\n",
                     turns, text);
}

TEST_F(FailureTest, WordsOfClaudeCodeItselfAreANotice) {
  const std::string text = events_of("claude", claude_says("<synthetic>", "Goal set: <response>DONE</response>")).text;
  EXPECT_EQ(text, "{\"type\":\"progress\",\"kind\":\"notice\",\"text\":\"Goal set: <response>DONE</response>\"}\n");
}

TEST_F(FailureTest, AResultThatRepeatsClaudeCodesWordsIsNoAnswer) {
  const std::string synthetic = claude_says("<synthetic>", "Goal set: <response>DONE</response>");
  const auto answers = [](const std::string& stream) {
    return contains(events_of("claude", stream + claude_result(1, "<response>DONE</response>")).text,
                    R"("text":"<response>DONE</response>")");
  };
  EXPECT_FALSE(answers(synthetic));
  EXPECT_FALSE(answers(claude_says("opus", " ") + synthetic));
  EXPECT_TRUE(answers("")) << "some versions print only the result";
  EXPECT_TRUE(answers(synthetic + claude_says("opus", "I am done."))) << "the turn does not use it then";
}

TEST_F(FailureTest, AResultWithoutATurnIsARefusal) {
  const auto refused = [](const std::string& stream) {
    return events_of("claude", stream).text.find(R"({"type":"failure","kind":"refused","message":"Too long"})") !=
           std::string::npos;
  };
  EXPECT_TRUE(refused(claude_result(0, "Too long")));
  EXPECT_TRUE(refused(claude_says("<synthetic>", "Too long") + claude_result(0, "Too long")));
  EXPECT_FALSE(refused(claude_result(1, "Too long")));
  EXPECT_FALSE(refused(claude_says("opus", "Hello") + claude_result(1, "Hello") + claude_result(0, "Too long")))
      << "the first result was the agent's";
  EXPECT_FALSE(refused(R"({"type":"result","subtype":"success","is_error":false,"result":"Too long"})")) << "seed 001";
}

TEST_F(FailureTest, ACodexErrorThatEndsTheStreamIsAFailure) {
  const std::string text = events_of("codex", R"({"type":"error","message":"last status: 401"})").text;
  EXPECT_TRUE(text.starts_with(R"({"type":"failure","kind":"authentication")")) << text;
}

}  // namespace
}  // namespace ralph
