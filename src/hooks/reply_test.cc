#include "hooks/reply.h"

#include <gtest/gtest.h>

#include "json/value.h"

namespace ralph {
namespace {

void expect(const HookReply& reply, std::string_view out, std::string_view err = "", int exit_code = 0) {
  EXPECT_EQ(reply.out, out);
  EXPECT_EQ(reply.err, err);
  EXPECT_EQ(reply.exit_code, exit_code);
}

TEST(Protocol, IsKnownByItsName) {
  EXPECT_EQ(protocol_from("claude"), Protocol::kBlock);
  EXPECT_EQ(protocol_from("codex"), Protocol::kBlock);
  EXPECT_EQ(protocol_from("gemini"), Protocol::kDeny);
  EXPECT_EQ(protocol_from("exit"), Protocol::kExit);
  EXPECT_EQ(protocol_from("Claude"), std::nullopt);
  EXPECT_EQ(protocol_from(""), std::nullopt);
}

TEST(Reply, AnAllowedStopSaysNothingOrShowsAMessageToTheUser) {
  for (const Protocol protocol : {Protocol::kBlock, Protocol::kDeny, Protocol::kExit}) expect(allow_stop(protocol), "");
  for (const Protocol protocol : {Protocol::kBlock, Protocol::kDeny})
    expect(allow_stop(protocol, "over"), "{\"systemMessage\":\"over\"}\n");
  expect(allow_stop(Protocol::kExit, "over"), "over\n");
}

TEST(Reply, AnEndedTurnIsEndedForAllHooks) {
  for (const Protocol protocol : {Protocol::kBlock, Protocol::kDeny})
    expect(end_turn(protocol, "over"), "{\"continue\":false,\"stopReason\":\"over\",\"systemMessage\":\"over\"}\n");
  expect(end_turn(Protocol::kExit, "over"), "over\n");
}

TEST(Reply, ContinuingIsADecisionInTheHostsProtocol) {
  expect(go_on(Protocol::kBlock, "why"), "{\"decision\":\"block\",\"reason\":\"why\"}\n");
  expect(go_on(Protocol::kDeny, "why"), "{\"decision\":\"deny\",\"reason\":\"why\"}\n");
  expect(go_on(Protocol::kExit, "why"), "", "why\n", 1);
}

TEST(Reply, ContextCarriesTheEventsName) {
  constexpr std::string_view kOut =
      "{\"hookSpecificOutput\":{\"hookEventName\":\"PostToolUse\",\"additionalContext\":\"mind\"}}\n";
  for (const Protocol protocol : {Protocol::kBlock, Protocol::kDeny})
    expect(add_context(protocol, "PostToolUse", "mind"), kOut);
  expect(add_context(Protocol::kExit, "PostToolUse", "mind"), "mind\n");
}

TEST(Reply, APromptIsRefused) {
  expect(refuse_prompt(Protocol::kBlock, "no"), "{\"decision\":\"block\",\"reason\":\"no\"}\n");
  expect(refuse_prompt(Protocol::kDeny, "no"), "{\"decision\":\"deny\",\"reason\":\"no\"}\n");
  expect(refuse_prompt(Protocol::kExit, "no"), "", "no\n", 1);
}

TEST(Reply, AToolIsDenied) {
  constexpr std::string_view kOut =
      "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\","
      "\"permissionDecisionReason\":\"no\"}}\n";
  expect(deny_tool(Protocol::kBlock, "no"), kOut);
  expect(deny_tool(Protocol::kDeny, "no"), "{\"decision\":\"deny\",\"reason\":\"no\"}\n");
  expect(deny_tool(Protocol::kExit, "no"), "", "no\n", 1);
}

TEST(Reply, IsJsonWhateverTheTextIs) {
  const std::string text = "a\"b\\c\n\x01\xff ü \xf0\x9f\x98\x80";
  const auto value = parse_json(go_on(Protocol::kBlock, text).out, "reply");
  ASSERT_TRUE(value.has_value());
  EXPECT_TRUE(find_string(*value, "reason")->starts_with("a\"b\\c\n"));
}

}  // namespace
}  // namespace ralph
