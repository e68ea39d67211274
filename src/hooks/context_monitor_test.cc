#include "hooks/context_monitor.h"

#include <atomic>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <thread>

#include <gtest/gtest.h>

#include "os/scratch_folder_for_tests.h"
#include "session/session_note.h"
#include "settings/ralph_folder.h"

namespace ralph {
namespace {

ContextReading at(std::int64_t percent) {
  return {percent * 2000, 200'000, true};
}

TEST(ContextRule, EachThresholdAlertsOnceAndTheHighestUsesUpTheLowerOnes) {
  const struct {
    int spent;
    std::int64_t percent;
    std::string_view severity;  // empty: no alert
    int spent_then;
  } rows[] = {
      {0, 0, "", 0},           {0, 49, "", 0},          {0, 50, "NOTICE", 50},    {50, 50, "", 50},
      {50, 59, "", 50},        {50, 60, "NOTICE", 60},  {0, 65, "NOTICE", 60},    {60, 70, "WARNING", 70},
      {60, 85, "WARNING", 80}, {0, 95, "CRITICAL", 90}, {80, 90, "CRITICAL", 90}, {90, 99, "", 90},
      {90, 85, "", 90},  // slightly less is not a new context
      {90, 81, "", 90},        {90, 80, "", 80},        {90, 30, "", 0},          {80, 55, "", 50},
      {50, 41, "", 50},        {50, 40, "", 0},         {0, 400, "CRITICAL", 90},
  };
  for (const auto& row : rows) {
    const ContextStep step = watch_context({.spent = row.spent, .begin = 7}, at(row.percent), true);
    EXPECT_EQ(step.memory.spent, row.spent_then) << row.spent << " " << row.percent;
    EXPECT_EQ(step.memory.begin, 7U);
    EXPECT_EQ(step.alert.empty(), row.severity.empty()) << step.alert;
    EXPECT_NE(step.alert.find(row.severity), std::string::npos) << step.alert;
  }
}

TEST(ContextRule, TheFilesOfAPlanAreNamedOnlyWhereAPlanRuns) {
  for (const std::int64_t tokens : {104'400, 150'000, 190'000}) {
    const std::string alert = watch_context({}, {tokens, 200'000, true}, false).alert;
    EXPECT_FALSE(alert.empty());
    for (const std::string_view word : {"tasks.json", "progress.txt", "stories", "iteration"})
      EXPECT_EQ(alert.find(word), std::string::npos) << alert;
  }
}

TEST(ContextRule, TheAlertSaysHowMuchAndWhatToDo) {
  EXPECT_EQ(watch_context({}, {104'400, 200'000, true}, true).alert,
            "[ralph] Context NOTICE: about 52% of the context window is used (104k of 200k tokens). Be mindful of "
            "remaining space. Plan to finish your current task within this session. If you discover follow-up work, "
            "add new stories to tasks.json — the next iteration will pick them up.");
  const std::string warning = watch_context({}, {150'000, 200'000, true}, true).alert;
  EXPECT_TRUE(warning.ends_with(
      "Finish your current task and commit soon. Do not start additional tasks. If work remains, create new stories in "
      "tasks.json for the next iteration and capture any implementation details or insights in progress.txt so the "
      "next iteration has full context."))
      << warning;
  const std::string critical = watch_context({}, {9'500, 5'000, false}, true).alert;
  EXPECT_TRUE(
      critical.starts_with("[ralph] Context CRITICAL: about 100% of the context window is used (estimated 9500 "
                           "of 5000 tokens). Wrap up immediately. Do NOT start new work. Instead: (1) create"))
      << critical;
  EXPECT_TRUE(critical.ends_with("(4) stop. The next iteration will continue from where you left off.")) << critical;
}

TEST(ContextRule, TheWindowComesFromTheUserThenTheTranscriptThenTheDefault) {
  const auto window = [](ContextUse use, std::optional<std::int64_t> wish) {
    return reading_from({.use = use}, 0, wish)->window;
  };
  EXPECT_EQ(window({.tokens = 5}, {}), 200'000);
  EXPECT_EQ(window({.tokens = 5, .window = 258'400}, {}), 258'400);
  EXPECT_EQ(window({.tokens = 5, .window = 258'400}, 100'000), 100'000);
  EXPECT_EQ(window({.tokens = 200'001}, {}), 1'000'000);
  EXPECT_EQ(window({.tokens = 200'001}, 200'000), 200'000);
}

TEST(ContextRule, WithoutARecordTheSizeIsTheEstimateUnlessOneIsOutOfReach) {
  const auto estimate = reading_from({}, 400'000, std::nullopt);
  ASSERT_TRUE(estimate);
  EXPECT_EQ(estimate->tokens, 100'000);
  EXPECT_EQ(estimate->window, 200'000);
  EXPECT_FALSE(estimate->exact);
  EXPECT_FALSE(reading_from({.use = {}, .out_of_reach = true}, 400'000, std::nullopt));
  EXPECT_EQ(reading_from({}, 400'000, 1000)->window, 1000);
}

TEST(ContextRule, ANewContextForgetsAndAResumedOneDoesNot) {
  const ContextMemory memory{.spent = 80, .begin = 5};
  EXPECT_EQ(memory_at_start(memory, "resume", 900), memory);
  EXPECT_EQ(memory_at_start(memory, "compact", 900), (ContextMemory{.spent = 0, .begin = 900}));
  EXPECT_EQ(memory_at_start(memory, "clear", 900), (ContextMemory{.spent = 0, .begin = 900}));
  for (const std::string_view source : {"startup", "fork", "", "something new"}) {
    EXPECT_EQ(memory_at_start(memory, source, 900), std::nullopt) << source;
  }
}

class ContextMonitorTest : public testing::Test {
 protected:
  ContextMonitorTest() { environment_.set("XDG_STATE_HOME", folder_ / "state"); }

  HookPayload payload(std::string session = "s") const {
    HookPayload payload;
    payload.session = std::move(session);
    payload.transcript_path = folder_ / "t.jsonl";
    return payload;
  }
  std::string after_tool(const HookPayload& payload) {
    return ContextMonitor(environment_, complaints_).after_tool(payload);
  }
  void start(HookPayload payload, std::string source) {
    payload.source = std::move(source);
    ContextMonitor(environment_, complaints_).at_session_start(payload);
  }
  void use(int percent) {
    std::ofstream(folder_ / "t.jsonl", std::ios::app)
        << R"({"type":"assistant","message":{"usage":{"input_tokens":)" << percent * 2000 << "}}}\n";
  }
  size_t files() const {
    size_t count = 0;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "state/ralph/context", none)) {
      count += entry.path().extension() == ".json" ? 1U : 0U;
    }
    return count;
  }

  ScratchFolder folder_;
  Environment environment_;
  std::vector<std::string> complaints_;
};

TEST_F(ContextMonitorTest, SessionsDoNotTouchEachOther) {
  use(55);
  EXPECT_NE(after_tool(payload("a")), "");
  EXPECT_EQ(after_tool(payload("a")), "");
  EXPECT_NE(after_tool(payload("b")), "");
  EXPECT_NE(after_tool(payload("../../b")), "");
  EXPECT_EQ(files(), 3U);
  start(payload("a"), "startup");
  EXPECT_EQ(after_tool(payload("b")), "");
  EXPECT_NE(after_tool(payload("a")), "");
}

TEST_F(ContextMonitorTest, NoAlertWithoutASessionInASubAgentOrWithoutATranscript) {
  use(95);
  EXPECT_EQ(after_tool(payload("")), "");
  HookPayload sub_agent = payload();
  sub_agent.agent_id = "a1";
  EXPECT_EQ(after_tool(sub_agent), "");
  HookPayload nowhere = payload();
  nowhere.transcript_path = folder_ / "missing";
  EXPECT_EQ(after_tool(nowhere), "");
  EXPECT_EQ(files(), 0U);
  EXPECT_NE(after_tool(payload()), "");
  EXPECT_TRUE(complaints_.empty());
}

TEST_F(ContextMonitorTest, NothingIsWrittenWithoutAnAlert) {
  use(20);
  start(payload(), "startup");
  EXPECT_EQ(after_tool(payload()), "");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "state"));
}

TEST_F(ContextMonitorTest, ACompactionRearmsWhetherOrNotTheHostReportsIt) {
  use(92);
  EXPECT_NE(after_tool(payload()), "");
  start(payload(), "compact");
  EXPECT_EQ(after_tool(payload()), "");  // the record is from the previous context
  use(93);
  EXPECT_NE(after_tool(payload()), "");
  use(20);
  EXPECT_EQ(after_tool(payload()), "");
  use(55);
  EXPECT_NE(after_tool(payload()).find("NOTICE"), std::string::npos);
  start(payload(), "resume");
  EXPECT_EQ(after_tool(payload()), "");
}

TEST_F(ContextMonitorTest, TheEstimateBeginsAtTheLastCompaction) {
  ScratchFolder::write(folder_ / "t.jsonl", std::string(480'000, 'x'));
  EXPECT_NE(after_tool(payload()).find("NOTICE: about 60%"), std::string::npos);
  start(payload(), "compact");
  ScratchFolder::write(folder_ / "t.jsonl", std::string(500'000, 'x'));
  EXPECT_EQ(after_tool(payload()), "");
  ScratchFolder::write(folder_ / "t.jsonl", std::string(480'000 + 400'000, 'x'));
  EXPECT_NE(after_tool(payload()).find("NOTICE: about 50%"), std::string::npos);
}

TEST_F(ContextMonitorTest, AWindowThatIsNotANumberIsIgnoredAndReported) {
  use(55);
  for (const std::string_view bad : {"x", "-5", "0", "1e6", "999", "99999999999999999999999"}) {
    environment_.set("CLAUDE_CONTEXT_WINDOW", std::string(bad));
    start(payload(), "startup");
    complaints_.clear();
    EXPECT_NE(after_tool(payload()).find("about 55%"), std::string::npos) << bad;
    ASSERT_EQ(complaints_.size(), 1U) << bad;
    EXPECT_NE(complaints_[0].find(bad), std::string::npos);
  }
  environment_.set("CLAUDE_CONTEXT_WINDOW", " 1000000 ");
  start(payload(), "startup");
  EXPECT_EQ(after_tool(payload()), "");
}

TEST_F(ContextMonitorTest, ABrokenMemoryCountsAsNone) {
  use(55);
  for (const std::string_view text : {"", "{", "[]", R"({"spent":"x","begin":-4})", R"({"spent":-100000000000})"}) {
    EXPECT_NE(after_tool(payload()), "");
    ScratchFolder::write(folder_ / "state/ralph/context/s.json", text);
  }
  ScratchFolder::write(folder_ / "state/ralph/context/s.json", R"({"spent":99999,"begin":99999999999})");
  EXPECT_EQ(after_tool(payload()), "");
}

TEST_F(ContextMonitorTest, AnAlertThatCannotBeRecordedIsNotRepeated) {
  use(55);
  ScratchFolder::write(folder_ / "state", "a file in the way");
  EXPECT_EQ(after_tool(payload()), "");
  EXPECT_EQ(complaints_.size(), 1U);
  start(payload(), "compact");
  EXPECT_EQ(complaints_.size(), 2U);
  EXPECT_EQ(ContextMonitor(Environment(), complaints_).after_tool(payload()), "");  // no HOME
}

TEST_F(ContextMonitorTest, ConcurrentHooksAlertOnce) {
  use(55);
  std::atomic<int> told = 0;
  {
    std::vector<std::jthread> hooks;
    for (int i = 0; i < 8; ++i) {
      hooks.emplace_back([&] {
        std::vector<std::string> complaints;
        if (!ContextMonitor(environment_, complaints).after_tool(payload()).empty()) ++told;
      });
    }
  }
  EXPECT_EQ(told, 1);
}

TEST_F(ContextMonitorTest, OldFilesAreRemovedAtASessionsStart) {
  use(55);
  EXPECT_NE(after_tool(payload("old")), "");
  EXPECT_NE(after_tool(payload("young")), "");
  const auto age = [&](std::string_view name, int days) {
    const timespec then{::time(nullptr) - days * 86'400, 0};
    const timespec times[2] = {then, then};
    ASSERT_EQ(
        ::utimensat(AT_FDCWD, (folder_ / ("state/ralph/context/" + std::string(name) + ".json")).c_str(), times, 0), 0);
  };
  age("old", 8);
  age("young", 6);
  start(payload("new"), "startup");
  EXPECT_EQ(files(), 1U);
  EXPECT_EQ(after_tool(payload("young")), "");
}

TEST(SessionNames, AreHarmlessAndDiffer) {
  EXPECT_EQ(file_name_of_session("26d69ff4-4761-40bc"), "26d69ff4-4761-40bc");
  for (const std::string& id : {std::string(), std::string("../x"), std::string("a/b"), std::string(500, 'a'),
                                std::string("hash-0123"), std::string("a\0b", 3), std::string(".")}) {
    const std::string name = file_name_of_session(id);
    EXPECT_TRUE(name.starts_with("hash-") && name.size() == 21) << name;
  }
  EXPECT_NE(file_name_of_session("a/b"), file_name_of_session("a.b"));
  Environment environment;
  EXPECT_EQ(state_folder(environment), "");
  environment.set("HOME", "/h");
  environment.set("XDG_STATE_HOME", "relative");
  EXPECT_EQ(state_folder(environment), "/h/.local/state/ralph");
}

}  // namespace
}  // namespace ralph
