#include "agents/event_json.h"

#include <gtest/gtest.h>

#include "base/utf8.h"
#include "json/value.h"

namespace ralph {
namespace {

std::string line_of(const AgentEvent& event) {
  ByteBuffer out;
  append_event_line(out, event);
  return std::string(out.bytes());
}

TEST(EventJsonTest, OneLineForEachKindOfEvent) {
  EXPECT_EQ(line_of(event::Session{"s", "m", "1"}),
            "{\"type\":\"session\",\"id\":\"s\",\"model\":\"m\",\"version\":\"1\"}\n");
  EXPECT_EQ(line_of(event::Text{"hi", true, true}),
            "{\"type\":\"text\",\"text\":\"hi\",\"piece\":true,\"subAgent\":true}\n");
  EXPECT_EQ(line_of(event::Thinking{"hm", false}), "{\"type\":\"thinking\",\"text\":\"hm\"}\n");
  EXPECT_EQ(line_of(event::ToolStart{"1", "Read", "/x", false}),
            "{\"type\":\"tool_start\",\"id\":\"1\",\"name\":\"Read\",\"summary\":\"/x\"}\n");
  EXPECT_EQ(
      line_of(event::Retry{1, 5, Milliseconds(20), FailureKind::kOverloaded, "busy"}),
      "{\"type\":\"retry\",\"attempt\":1,\"maximum\":5,\"delayMs\":20,\"kind\":\"overloaded\",\"message\":\"busy\"}\n");
  EXPECT_EQ(
      line_of(event::Limit{true, WallTime(Milliseconds(1'794'800'000'000)), "five_hour"}),
      "{\"type\":\"limit\",\"rejected\":true,\"limit\":\"five_hour\",\"resetsAt\":\"2026-11-16T03:33:20.000Z\"}\n");
  EXPECT_EQ(line_of(event::Spent{{1, 2, 3, -4}, 0.0008, true}),
            "{\"type\":\"spent\",\"inputTokens\":1,\"outputTokens\":2,\"cacheReadTokens\":3,\"cacheWriteTokens\":-4,"
            "\"costUsd\":0.0008,\"estimate\":true}\n");
  EXPECT_EQ(line_of(event::Unknown{"x", "unknown type"}),
            "{\"type\":\"unknown\",\"event\":\"x\",\"reason\":\"unknown type\"}\n");
}

TEST(EventJsonTest, AToolsOutputIsCutButItsFullSizeIsReported) {
  std::string output;
  for (int i = 0; i < 1000; ++i) output += "äöü\n";
  const auto value = parse_json(line_of(event::ToolEnd{"1", "Bash", output, true, false}), "line");
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(find_integer(*value, "lines"), 1000);
  EXPECT_EQ(find_integer(*value, "chars"), 4000);
  EXPECT_EQ(find_string(*value, "output"), prefix_of_characters(output, 2000));
}

TEST(EventJsonTest, AnyTextIsValidJsonAndCannotControlATerminal) {
  std::string text;
  for (int i = 0; i < 256; ++i) text += static_cast<char>(i);
  text +=
      "\xC2\x9B"
      "31m\xE2\x80\xA8 日本語 \xE2\x82";
  for (size_t times = 1; times < 5000; times *= 3) {
    std::string long_text;
    for (size_t i = 0; i < times; ++i) long_text += text;
    const std::string line = line_of(event::Text{long_text, false, false});
    const auto value = parse_json(line, "line");
    ASSERT_TRUE(value.has_value()) << value.error().message;
    EXPECT_EQ(find_string(*value, "text"), to_valid_utf8(long_text));
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    for (const char c : std::string_view(line).substr(0, line.size() - 1)) {
      ASSERT_TRUE(static_cast<unsigned char>(c) >= ' ' && c != '\x7f');
    }
    EXPECT_EQ(line.find("\xC2\x9B"), std::string::npos);
  }
}

}  // namespace
}  // namespace ralph
