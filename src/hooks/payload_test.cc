#include "hooks/payload.h"

#include <gtest/gtest.h>

#include "agents/recordings_for_tests.h"
#include "os/files.h"

namespace ralph {
namespace {

HookPayload recorded(std::string_view name) {
  return payload_from(read_file((fixtures_folder() / "hooks" / name).string()).value());
}

TEST(Payload, EveryRecordedOneHasItsSessionAndItsEvent) {
  int seen = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(fixtures_folder() / "hooks")) {
    if (file.path().extension() != ".json") continue;
    std::string fault;
    const HookPayload payload = payload_from(read_file(file.path().string()).value(), &fault);
    EXPECT_EQ(fault, "") << file.path();
    EXPECT_FALSE(payload.session.empty()) << file.path();
    EXPECT_FALSE(payload.event.empty()) << file.path();
    EXPECT_EQ(payload.cwd, "/workspace/demo") << file.path();
    EXPECT_TRUE(payload.transcript_path.ends_with(".jsonl")) << file.path();
    ++seen;
  }
  EXPECT_GT(seen, 30);
}

TEST(Payload, AStopOfClaudeCodeHasItsLastMessage) {
  const HookPayload payload = recorded("claude/stop.json");
  EXPECT_EQ(payload.event, "Stop");
  EXPECT_EQ(payload.session, "26d69ff4-4761-40bc-82bc-6c8bbd9e5cb3");
  EXPECT_EQ(payload.last_message, "All done.\n\n<promise>DONE</promise>");
  EXPECT_TRUE(payload.background_tasks.empty());
  EXPECT_EQ(payload.agent_id, "");
}

TEST(Payload, RunningBackgroundTasksAreCounted) {
  EXPECT_EQ(recorded("claude/stop-background-task.json").background_tasks.size(), 1U);
  EXPECT_EQ(
      payload_from(R"({"background_tasks":[{"status":"completed"},{"status":"running"},{}]})").background_tasks.size(),
      2U);
  EXPECT_TRUE(payload_from(R"({"background_tasks":7})").background_tasks.empty());
  EXPECT_TRUE(stop_request_from(payload_from(R"({"tool_calls_counted":true})")).calls_counted);
}

TEST(Payload, ASubAgentIsKnownByItsId) {
  EXPECT_EQ(recorded("claude/subagent-stop.json").agent_id, "ac84815e40ef0ddf6");
  EXPECT_FALSE(recorded("claude/pre-tool-use-in-subagent.json").agent_id.empty());
}

TEST(Payload, CodexUsesTheSameNames) {
  EXPECT_EQ(recorded("codex/stop.json").last_message, "First stop.");
  EXPECT_EQ(recorded("codex/user-prompt-submit.json").prompt, "do it");
  EXPECT_EQ(recorded("codex/post-tool-use-apply-patch.json").tool_name, "apply_patch");
}

TEST(Payload, GeminiSendsAllWordsSinceThePrompt) {
  const HookPayload payload = recorded("gemini/after-agent-active.json");
  EXPECT_EQ(payload.event, "AfterAgent");
  EXPECT_EQ(payload.last_message, std::nullopt);
  EXPECT_EQ(payload.all_words, "First stop.\nSecond stop. <promise>DONE</promise> NE</promise>");
}

TEST(Payload, AToolCallKeepsItsInput) {
  const HookPayload payload = recorded("claude/pre-tool-use-bash.json");
  EXPECT_EQ(payload.tool_name, "Bash");
  EXPECT_FALSE(payload.tool_use_id.empty());
  EXPECT_TRUE(find_string(payload.tool_input, "command").has_value());
  EXPECT_TRUE(recorded("claude/stop.json").tool_input.is_null());
}

TEST(Payload, HowASessionStartsIsItsSource) {
  EXPECT_EQ(recorded("claude/session-start.json").source, "startup");
  EXPECT_EQ(recorded("claude/session-start-resume.json").source, "resume");
  EXPECT_EQ(recorded("claude/session-start-compact.json").source, "compact");
  EXPECT_EQ(recorded("claude/session-start-fork.json").source, "fork");
}

TEST(Payload, AListOfMessagesGivesTheAssistantsLast) {
  const auto last = [](std::string_view messages) {
    return payload_from(fmt::format(R"({{"messages":{}}})", messages)).last_message;
  };
  EXPECT_EQ(last(R"([{"role":"user","content":"hi"},{"role":"assistant","content":"a"},
                     {"role":"assistant","content":"b"},{"role":"user","content":"<promise>DONE</promise>"}])"),
            "b");
  EXPECT_EQ(last(R"([{"role":"assistant","content":[{"type":"thinking","thinking":"t"},{"type":"text","text":"x"},
                     {"type":"tool_use","id":"1"},{"type":"text","text":"y"}]}])"),
            "x\ny\n");
  EXPECT_EQ(last(R"([{"role":"user","content":"hi"}])"), std::nullopt);
  EXPECT_EQ(last(R"([{"role":"assistant"}])"), "");
  EXPECT_EQ(last(R"([1,null,"x",{}])"), std::nullopt);
  EXPECT_EQ(last("{}"), std::nullopt);
}

TEST(Payload, TheHostsLastMessageTakesPrecedence) {
  EXPECT_EQ(
      payload_from(R"({"last_assistant_message":"","messages":[{"role":"assistant","content":"old"}]})").last_message,
      "");
}

TEST(Payload, MissingFieldsAndThoseOfAnotherTypeAreEmpty) {
  const HookPayload empty = payload_from("{}");
  EXPECT_EQ(empty.session, "");
  EXPECT_EQ(empty.last_message, std::nullopt);
  EXPECT_EQ(empty.cwd, "");
  const HookPayload odd =
      payload_from(R"({"session_id":7,"cwd":["/p"],"transcript_path":null,"last_assistant_message":{},)"
                   R"("prompt":false,"tool_input":"text","background_tasks":{},"agent_id":[],"new_field":{"a":1}})");
  EXPECT_EQ(odd.session, "");
  EXPECT_EQ(odd.cwd, "");
  EXPECT_EQ(odd.transcript_path, "");
  EXPECT_EQ(odd.last_message, std::nullopt);
  EXPECT_EQ(odd.prompt, "");
  EXPECT_EQ(odd.agent_id, "");
  EXPECT_TRUE(odd.tool_input.is_string());
}

TEST(Payload, ARelativeFolderIsNone) {
  EXPECT_EQ(payload_from(R"({"cwd":"demo"})").cwd, "");
  EXPECT_EQ(payload_from(R"({"cwd":"/demo"})").cwd, "/demo");
}

TEST(Payload, InputThatIsNotAJsonObjectIsReported) {
  for (const std::string_view text : {"", "{", "nonsense", "[1]", "\"x\"", "null", "{\"a\":1} trailing"}) {
    std::string fault;
    EXPECT_EQ(payload_from(text, &fault).session, "") << text;
    EXPECT_NE(fault, "") << text;
  }
}

}  // namespace
}  // namespace ralph
