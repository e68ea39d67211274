// Malformed and extreme lines. The stream continues after each of them.
#include <string>

#include <gtest/gtest.h>

#include "agents/recordings_for_tests.h"
#include "base/utf8.h"

namespace ralph {
namespace {

std::string say(std::string_view text) {
  return fmt::format(R"({{"type":"assistant","message":{{"content":[{{"type":"text","text":"{}"}}]}}}})", text);
}
std::string said(std::string_view text) {
  return fmt::format("{{\"type\":\"text\",\"text\":\"{}\"}}\n", text);
}
std::string unknown(std::string_view reason, std::string_view type = "") {
  return type.empty() ? fmt::format("{{\"type\":\"unknown\",\"reason\":\"{}\"}}\n", reason)
                      : fmt::format("{{\"type\":\"unknown\",\"event\":\"{}\",\"reason\":\"{}\"}}\n", type, reason);
}

// The events of this line between two others. Must not depend on how the stream is cut into pieces.
std::string events_between(const std::string& line) {
  const std::string stream = say("before") + "\n" + line + "\n" + say("after") + "\n";
  const std::string whole = events_of("claude", stream).text;
  for (const size_t piece : {size_t{1}, size_t{13}, size_t{4096}}) {
    if (stream.size() / piece > 100'000) continue;
    EXPECT_EQ(events_of("claude", stream, piece).text, whole) << piece;
  }
  const std::string before = said("before");
  const std::string after = said("after");
  EXPECT_TRUE(whole.starts_with(before) && whole.ends_with(after)) << whole.substr(0, 1000);
  if (whole.size() < before.size() + after.size()) return whole;
  return whole.substr(before.size(), whole.size() - before.size() - after.size());
}

TEST(JsonStreamTest, LinesThatAreNotJsonAreCounted) {
  EXPECT_EQ(events_between("(node:1) Warning: something"), unknown("not JSON"));
  EXPECT_EQ(events_between("{\"type\":"), unknown("not JSON"));
  EXPECT_EQ(events_between("{\"type\":\"assistant\"} trailing"), unknown("not JSON"));
  EXPECT_EQ(events_between("[1,2]"), unknown("not JSON"));
  EXPECT_EQ(events_between("{}"), unknown("unknown type"));
  EXPECT_EQ(events_between(R"({"type":"new_thing"})"), unknown("unknown type", "new_thing"));
  EXPECT_EQ(events_between(R"({"type":"system","subtype":"new_thing"})"), unknown("unknown type", "system/new_thing"));
  EXPECT_EQ(events_between(R"({"type":7})"), unknown("unknown type"));
}

TEST(JsonStreamTest, LoneSurrogatesAreRepaired) {
  EXPECT_EQ(events_between(say(R"(half \ud83d of)")), said("half \xEF\xBF\xBD of"));
  EXPECT_EQ(events_between(say(R"(\ude00)")), said("\xEF\xBF\xBD"));
  EXPECT_EQ(events_between(say(R"(\ud83d\u0041)")), said("\xEF\xBF\xBD"
                                                         "A"));
  EXPECT_EQ(events_between(say(R"(whole \ud83d\ude00)")), said("whole 😀"));
}

TEST(JsonStreamTest, InvalidUtf8IsRepaired) {
  EXPECT_EQ(events_between(say("a\xFF"
                               "b")),
            said("a\xEF\xBF\xBD"
                 "b"));
  EXPECT_EQ(events_between(say("cut \xE2\x82")), said("cut \xEF\xBF\xBD\xEF\xBF\xBD"));
  EXPECT_EQ(events_between(say("\xED\xA0\x80")), said("\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"));  // a surrogate as UTF-8
  EXPECT_EQ(events_between(say("日本語 ok")), said("日本語 ok"));
}

TEST(JsonStreamTest, ControlCharactersAndNulsAreKept) {
  EXPECT_EQ(events_between(say(std::string_view("a\0b\x1b\tc", 6))), said(R"(a\u0000b\u001b\tc)"));
  EXPECT_EQ(events_between(say(R"(\u0000\u001b[31m)")), said(R"(\u0000\u001b[31m)"));
  EXPECT_EQ(events_between(std::string("\0\0", 2) + say("x") + std::string(1, '\0')), said("x"));
}

TEST(JsonStreamTest, HugeNumbersAreNumbers) {
  const std::string huge(400, '9');
  const std::string line = R"({"type":"result","is_error":false,"result":"","num_turns":)" + huge +
                           R"(,"duration_ms":1e999,"total_cost_usd":-1e999})";
  const std::string events = events_between(line);
  EXPECT_NE(events.find(R"("type":"result")"), std::string::npos) << events;
  EXPECT_NE(events_between(R"({"type":"assistant","message":{"content":[],"x":)" + huge + "}}"), unknown("not JSON"));
}

TEST(JsonStreamTest, DeepNestingIsHarmless) {
  const std::string deep(10'000, '[');
  const std::string flat(10'000, ']');
  // In a member that nobody reads, it is skipped.
  EXPECT_EQ(events_between(R"({"type":"assistant","ignored":)" + deep + flat +
                           R"(,"message":{"content":[{"type":"text","text":"x"}]}})"),
            said("x"));
  EXPECT_EQ(events_between(R"({"type":"assistant","message":{"content":)" + deep + flat + "}}"),
            unknown("nested too deeply"));
  EXPECT_EQ(events_between(R"({"type":"assistant","message":{"content":)" + deep), unknown("nested too deeply"));
}

TEST(JsonStreamTest, ALineOfTooManyValuesIsSkipped) {
  std::string many = R"({"type":"assistant","message":{"content":[0)";
  for (int i = 0; i < 200'000; ++i) many += ",0";
  EXPECT_EQ(events_between(many + "]}}"), unknown("too many values"));
}

TEST(JsonStreamTest, ALineOfFiftyMegabytesIsReportedWithItsType) {
  const std::string huge(50 << 20, 'x');
  EXPECT_EQ(events_between(say(huge)), unknown("larger than 16 MB", "assistant"));
  EXPECT_EQ(events_between(huge), unknown("larger than 16 MB"));
}

TEST(JsonStreamTest, ALineOfFifteenMegabytesIsRead) {
  const std::string large(15 << 20, 'x');
  EXPECT_EQ(events_between(say(large)).size(), said(large).size());
}

TEST(JsonStreamTest, AnOddKeyIsRead) {
  EXPECT_EQ(events_between(R"({"\u0074ype":"assistant","message":{"content":[{"type":"text","text":"x"}]}})"),
            said("x"));
  EXPECT_EQ(events_between(
                R"(  { "type" : "assistant" , "message" : { "content" : [ { "type" : "text" , "text" : "x" } ] } }  )"),
            said("x"));
}

TEST(JsonStreamTest, TheLastLineMayHaveNoEnd) {
  EXPECT_EQ(events_of("claude", say("one") + "\n" + say("two")).text, said("one") + said("two"));
  EXPECT_EQ(events_of("claude", say("one") + "\n" + say("two").substr(0, 30)).text, said("one") + unknown("not JSON"));
}

TEST(JsonStreamTest, EscapesInSkippedMembersAreHarmless) {
  EXPECT_EQ(events_between(R"({"a":"\\","b":"\"}","c":{"d":"]}\\\"{","e":["\\\\",{"f":"\""}]},"type":"assistant",)"
                           R"("message":{"content":[{"type":"text","text":"q\"\\\/\b\f\n\r\té"}]}})"),
            said(R"(q\"\\/\u0008\u000c\n\r\té)"));
}

TEST(TextStreamTest, AllOutputIsText) {
  const std::string text = "Grüße, 日本語 \xFF and 😀\n";
  for (size_t piece = 1; piece <= text.size(); ++piece) {
    class Joined : public EventSink {
     public:
      void on_event(const AgentEvent& event) override {
        const auto& words = std::get<event::Text>(event);
        EXPECT_TRUE(words.piece);
        EXPECT_EQ(find_invalid_utf8(words.text), std::string_view::npos);
        text += words.text;
      }
      std::string text;
    } joined;
    const auto stream = make_text_stream();
    for (size_t at = 0; at < text.size(); at += piece) stream->feed(std::string_view(text).substr(at, piece), joined);
    stream->finish(joined);
    EXPECT_EQ(joined.text, to_valid_utf8(text)) << piece;
  }
}

}  // namespace
}  // namespace ralph
