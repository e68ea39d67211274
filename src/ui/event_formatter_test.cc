#include "ui/event_formatter.h"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace ralph {
namespace {

constexpr WallTime kNow(Milliseconds(1'794'774'153'000));  // 2026-11-15T20:22:33Z

class EventFormatterTest : public testing::Test {
 protected:
  EventFormatterTest() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
    style_.unicode = true;
  }

  // The output of a new formatter for these events.
  std::string shown(std::initializer_list<AgentEvent> events) {
    std::string text;
    EventFormatter formatter(options_, style_, [&](std::string_view piece) { text += piece; }, [] { return kNow; });
    for (const AgentEvent& event : events) formatter.on_event(event);
    formatter.finish();
    return text;
  }

  FormatOptions options_;
  Style style_;
};

using event::Text;
using event::ToolEnd;
using event::ToolStart;

event::Todo todo_list() {
  return {{{"Read the file", event::TodoStatus::kDone},
           {"Edit the code", event::TodoStatus::kActive},
           {"Run tests", event::TodoStatus::kPending}}};
}

event::Result result(bool failed = false, std::string_view text = "") {
  event::Result made;
  made.failed = failed;
  made.text = text;
  return made;
}

event::Result good_result() {
  event::Result good = result();
  good.cost_usd = 5.76;
  good.tokens = {.input = 300'000, .output = 45'000, .cache_read = 850'000, .cache_write = 50'000};
  good.duration = Milliseconds(367'000);
  return good;
}

TEST_F(EventFormatterTest, LooksAsTheSeedShows) {
  EXPECT_EQ(shown({ToolStart{"t1", "Read", "/path/to/file.go"}, ToolEnd{"t1", "Read", "package main\n"}, todo_list(),
                   good_result()}),
            "⏺ Read(/path/to/file.go)\n"
            "✅ Result ← Read (1 line, 13 chars)\n"
            "  ⎿  package main\n"
            "\n"
            "📋 Todo List\n"
            "  ✅ Read the file\n"
            "  🔄 Edit the code ← ACTIVE\n"
            "  ⏸️ Run tests\n"
            "  📊 Progress: 1/3 (33%)\n"
            "\n"
            "✅ Complete (cost: $5.76, tokens: 1.2M in (850K cached) / 45K out, tools: 1, time: 6m7s)\n");
}

TEST_F(EventFormatterTest, HasWordsInsteadOfEmoji) {
  options_.emoji = style_.unicode = false;
  EXPECT_EQ(shown({ToolStart{"t1", "Bash", "make"}, ToolEnd{"t1", "Bash", "a\nb\nc\nd\ne\nf\ng", true}, todo_list(),
                   result(true)}),
            "[TOOL] Bash(make)\n"
            "[ERR] Error <- Bash (7 lines, 13 chars)\n"
            "  |  a\n"
            "     b\n"
            "     c\n"
            "     d\n"
            "     e\n"
            "     ... 2 more lines\n"
            "\n"
            "[TODO] Todo List\n"
            "  [x] Read the file\n"
            "  [>] Edit the code <- ACTIVE\n"
            "  [ ] Run tests\n"
            "  Progress: 1/3 (33%)\n"
            "\n"
            "[ERR] Failed (tools: 1, errors: 1)\n");
}

TEST_F(EventFormatterTest, WordsAreJoinedAndBlocksAreSeparated) {
  EXPECT_EQ(shown({Text{"\n\nI will ", true}, Text{"read", true}, event::Spent{}, Text{" it.\r", true},
                   Text{"\n\nThen\r", true}, Text{"stop.\n\n\n", true}, ToolStart{"t1", "Read", "x"}, Text{"Whole."},
                   Text{"Another."}}),
            "I will read it.\n"
            "\n"
            "Then\n"
            "stop.\n"
            "\n"
            "⏺ Read(x)\n"
            "\n"
            "Whole.\n"
            "Another.\n");
}

TEST_F(EventFormatterTest, AnEndThatDoesNotFollowItsStartSaysWhatItWorkedOn) {
  EXPECT_EQ(shown({ToolStart{"1", "Read", "a.txt"}, ToolStart{"2", "Read", "b.txt"}, ToolEnd{"2", "Read", ""},
                   ToolEnd{"1", "Read", "x"}, ToolEnd{"9", "", "whose?"}, result()}),
            "⏺ Read(a.txt)\n"
            "⏺ Read(b.txt)\n"
            "✅ Result ← Read (no output)\n"
            "✅ Result ← Read(a.txt) (1 line, 1 char)\n"
            "  ⎿  x\n"
            "✅ Result ← tool (1 line, 6 chars)\n"
            "  ⎿  whose?\n"
            "\n"
            "✅ Complete (tools: 3)\n");
}

TEST_F(EventFormatterTest, SubAgentsAreMarkedAndIndented) {
  EXPECT_EQ(
      shown({Text{"I ask another.", true}, Text{"Looking.\n\nFound.", true, true}, ToolStart{"s", "Grep", "x", true},
             ToolEnd{"s", "Grep", "1\n2", false, true}, Text{"Thanks.", true}}),
      "I ask another.\n"
      "  │ Looking.\n"
      "\n"
      "  │ Found.\n"
      "\n"
      "  │ ⏺ Grep(x)\n"
      "  │ ✅ Result ← Grep (2 lines, 3 chars)\n"
      "  │   ⎿  1\n"
      "  │      2\n"
      "\n"
      "Thanks.\n");
}

TEST_F(EventFormatterTest, ThinkingIsShownOnRequest) {
  const event::Thinking thinking{"Hm.\nWell."};
  EXPECT_EQ(shown({Text{"a", true}, thinking, Text{"b", true}}), "a\nb\n");
  options_.thinking = true;
  EXPECT_EQ(shown({Text{"a", true}, thinking, Text{"b", true}}), "a\n💭 Hm.\n   Well.\nb\n");
}

TEST_F(EventFormatterTest, EveryLineCanHaveTheTime) {
  options_.timestamps = true;
  EXPECT_EQ(
      shown({Text{"one\n\nthree", true}, Text{" more", true}, ToolStart{"1", "Read", "x"}, ToolEnd{"1", "Read", "y"}}),
      "[20:22:33] one\n"
      "\n"
      "[20:22:33] three more\n"
      "\n"
      "[20:22:33] ⏺ Read(x)\n"
      "[20:22:33] ✅ Result ← Read (1 line, 1 char)\n"
      "[20:22:33]   ⎿  y\n");
}

TEST_F(EventFormatterTest, ShowsRetriesLimitsAndFailures) {
  const WallTime reset = kNow + std::chrono::hours(2);
  EXPECT_EQ(shown({event::Session{"abc", "opus", "2.1"}, event::Session{"abc", "opus", "2.1"},
                   event::Progress{"compacting", ""}, event::Progress{"compacting", ""},
                   event::Progress{"hook", "Stop says: go on"}, event::Limit{false, reset, "five_hour"},
                   event::Limit{false, reset, "five_hour"},
                   event::Retry{2, 10, Milliseconds(5000), FailureKind::kOverloaded, ""},
                   event::Retry{3, 0, Milliseconds(0), FailureKind::kOther, "connection\nlost"},
                   event::Limit{true, reset, "five_hour"},
                   event::Failure{FailureKind::kUsageLimit, "You've hit your limit", kNow + std::chrono::hours(20)},
                   event::Unknown{"", "not JSON"}, result(true, "You've hit your limit")}),
            "• Session abc · opus · 2.1\n"
            "• compacting\n"
            "• hook: Stop says: go on\n"
            "⏳ Near a limit (five hour), resets at 22:22\n"
            "🔁 Retry 2/10 in 5.0s: Temporarily unavailable\n"
            "🔁 Retry 3: connection lost\n"
            "⏳ Limit reached (five hour), resets at 22:22\n"
            "\n"
            "❌ Usage limit reached: You've hit your limit (resets at 2026-11-16 16:22)\n"
            "❌ Failed (lines not understood: 1)\n");
}

TEST_F(EventFormatterTest, ShowsAResultsTextUnlessItWasSaidBefore) {
  EXPECT_EQ(shown({Text{"Done."}, result(false, "Done."), result(false, "Really.")}),
            "Done.\n\n✅ Complete\n\nReally.\n\n✅ Complete\n");
}

TEST_F(EventFormatterTest, SumsTheUsageIfTheResultDoesNotReportIt) {
  EXPECT_EQ(shown({event::Spent{{.input = 900, .output = 10}, 0.25}, event::Spent{{.input = 100, .output = 5}, 0.25},
                   result()}),
            "✅ Complete (cost: $0.50, tokens: 1K in / 15 out)\n");
}

TEST_F(EventFormatterTest, AFailureWithNothingToAddIsShownOnce) {
  EXPECT_EQ(shown({event::Failure{FailureKind::kAuthentication, "no key", {}}, result(true)}),
            "❌ Authentication failed: no key\n");
}

TEST_F(EventFormatterTest, ATodoListReplacesTheOutputOfTheToolThatChangedIt) {
  const std::string start = "⏺ TodoWrite(3 items)\n\n" + shown({todo_list()});
  const ToolStart tool{"1", "TodoWrite", "3 items"};
  EXPECT_EQ(shown({tool, todo_list(), ToolEnd{"1", "TodoWrite", "modified"}}), start);
  EXPECT_EQ(shown({tool, todo_list(), ToolEnd{"1", "TodoWrite", "disabled", true}}),
            start + "\n❌ Error ← TodoWrite(3 items) (1 line, 8 chars)\n  ⎿  disabled\n");
}

TEST_F(EventFormatterTest, TheSameTodoListIsShownOnce) {
  const std::string once = shown({todo_list()});
  EXPECT_EQ(shown({todo_list(), todo_list()}), once);
}

TEST_F(EventFormatterTest, ToolOutputIsLimitedInLinesAndCharacters) {
  const auto output = [&](std::string_view text) {
    const std::string whole = shown({ToolEnd{"1", "Bash", text}});
    return whole.substr(whole.find('\n') + 1);
  };
  EXPECT_EQ(output("\n  \n    indented\n\ttab\nprogress 1%\rprogress 100%\r\nlast  \n\n"),
            "  ⎿      indented\n         tab\n     progress 100%\n     last\n");
  EXPECT_EQ(output("\t\tfoo();\n\t\tbar();"), "  ⎿          foo();\n             bar();\n");
  options_.max_output_chars = 12;
  EXPECT_EQ(output("\ta\tb\tc\tdefgh"), "  ⎿      a    b    c    defgh\n");
  options_.max_output_chars = 5;
  EXPECT_EQ(output("日本語\nabcd\nx"), "  ⎿  日本語\n     ab…\n     … 1 more line\n");
  EXPECT_EQ(output("\033[31mabcde\033[0m"), "  ⎿  abcde\n");
  options_.max_output_lines = 0;
  EXPECT_EQ(output("a\nb"), "");
}

TEST_F(EventFormatterTest, ATerminalsWidthIsKeptWithWideCharactersToo) {
  style_.terminal = true;
  style_.width = 60;
  options_.timestamps = true;
  std::string wide;
  for (int i = 0; i < 30; ++i) wide += "漢👍";
  const std::string text = shown(
      {event::Session{wide, wide, wide}, ToolStart{"1", wide, wide}, ToolStart{"2", "Bash", wide, true},
       ToolEnd{"1", "x", wide}, ToolEnd{"2", "", wide, true, true}, event::Todo{{{wide, event::TodoStatus::kActive}}},
       event::Progress{wide, wide}, event::Retry{1, 2, Milliseconds(3), FailureKind::kOther, wide}});
  size_t lines = 0;
  for (size_t at = 0; at < text.size(); ++lines) {
    const size_t end = text.find('\n', at);
    EXPECT_LE(display_width(text.substr(at, end - at)), 60U) << text.substr(at, end - at);
    at = end + 1;
  }
  EXPECT_EQ(lines, 14U) << text;
}

TEST_F(EventFormatterTest, NoEventCanControlATerminal) {
  options_.thinking = true;
  const std::string_view evil =
      "a\033[2J\033]0;t\a\xC2\x9B"
      "1A\x9B"
      "1A\x07\b\r\nb\rc\033[31m";
  const std::string text = shown(
      {event::Session{evil, evil, evil}, Text{evil, true}, Text{evil, true, true}, event::Thinking{evil},
       ToolStart{evil, evil, evil}, ToolEnd{evil, evil, evil}, ToolEnd{"", evil, evil}, event::Progress{evil, evil},
       event::Todo{{{std::string(evil), event::TodoStatus::kActive}}}, event::Retry{1, 1, Milliseconds(1), {}, evil},
       event::Limit{true, kNow, evil}, event::Failure{FailureKind::kOther, evil, kNow}, result(false, evil)});
  EXPECT_EQ(find_invalid_utf8(text), std::string::npos);
  EXPECT_EQ(text.find_first_of("\033\a\b\r\x7f"), std::string::npos) << text;
  EXPECT_EQ(text.find("\xC2\x9B"), std::string::npos) << text;
}

TEST_F(EventFormatterTest, ColoursAreItsOwnAndAlwaysEnded) {
  style_.color = true;
  EXPECT_EQ(shown({ToolStart{"1", "Read", "\033[31mx"}, ToolEnd{"1", "Read", "y", true}}),
            "\033[36m⏺\033[0m \033[1mRead\033[0m(x)\n"
            "\033[31m❌\033[0m Error ← Read \033[2m(1 line, 1 char)\033[0m\n"
            "\033[2m  ⎿  y\033[0m\n");
}

TEST_F(EventFormatterTest, OtherOutputMayComeInBetween) {
  std::string text;
  EventFormatter formatter(options_, style_, [&](std::string_view piece) { text += piece; }, [] { return kNow; });
  formatter.on_event(Text{"half", true});
  text += "\nsomebody else\n";
  formatter.interrupted();
  formatter.on_event(Text{" a line", true});
  formatter.finish();
  EXPECT_EQ(text, "half\nsomebody else\n a line\n");
}

}  // namespace
}  // namespace ralph
