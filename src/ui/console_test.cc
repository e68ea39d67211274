#include "ui/console.h"

#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/text.h"
#include "base/utf8.h"
#include "journal/words_for_tests.h"
#include "os/files.h"
#include "os/scratch_folder_for_tests.h"
#include "ui/json_lines.h"

namespace ralph {
namespace {

using namespace std::chrono_literals;

// Redirects a descriptor to a file during its lifetime.
class Redirection {
 public:
  Redirection(int fd, const std::string& path) : fd_(fd), before_(::dup(fd)) {
    std::fflush(nullptr);
    const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    ::dup2(file.get(), fd);
  }
  Redirection(const Redirection&) = delete;
  Redirection& operator=(const Redirection&) = delete;
  ~Redirection() {
    std::fflush(nullptr);
    ::dup2(before_.get(), fd_);
  }

 private:
  int fd_;
  Fd before_;
};

struct Printed {
  std::string out, err;
};

// The progress of the run being shown.
Progress& progress() {
  static Progress seen;
  return seen;
}

template <class Listener = Console, class... Options>
Printed printed(void (*tell)(Listener&), Options... options) {
  const ScratchFolder folder;
  {
    const Redirection out(STDOUT_FILENO, folder / "out");
    const Redirection err(STDERR_FILENO, folder / "err");
    Listener listener{options...};
    progress() = {};
    tell(listener);
  }
  return {ScratchFolder::read(folder / "out"), ScratchFolder::read(folder / "err")};
}

ConsoleOptions in_a_file() {
  ConsoleOptions options;
  options.style.width = 100;
  options.guardrails = 1;
  return options;
}

ConsoleOptions on_a_terminal() {
  ConsoleOptions options = in_a_file();
  options.style.terminal = options.style.color = options.style.unicode = true;
  options.style.width = 80;
  return options;
}

void tell(RunListener& listener, record::Body body) {
  const record::Record record{1, WallTime{}, std::move(body)};
  progress() = fold(std::move(progress()), record);
  listener.on_record(record, progress());
}

record::RunStarted started_run() {
  record::RunStarted started;
  started.run_id = "20261115-202233-7f3a";
  started.agent = "claude";
  started.max_iterations = 10;
  return started;
}

record::AgentStarted agent_started() {
  record::AgentStarted started;
  started.purpose = word("work");
  started.agent = "claude";
  started.argv = {"claude", "-p", "two words"};
  return started;
}

record::AgentEnded agent_ended(std::optional<std::string> response = "DONE") {
  record::AgentEnded ended;
  ended.purpose = word("work");
  ended.outcome = word("ok");
  ended.duration_ms = 3100;
  ended.response = std::move(response);
  return ended;
}

record::GuardrailStarted guardrail_started() {
  record::GuardrailStarted started;
  started.name = started.command = "make test";
  return started;
}

record::GuardrailEnded guardrail_ended(int exit_code) {
  record::GuardrailEnded ended;
  ended.name = "make test";
  ended.outcome = word(exit_code == 0 ? "passed" : "failed");
  ended.exit_code = exit_code;
  ended.fail_action = "APPEND";
  ended.log_file = ".ralph/runs/20261115-202233-7f3a/guardrail_1_make_test.log";
  ended.duration_ms = 1200;
  return ended;
}

record::RunEnded run_ended(std::string_view status, std::string reason) {
  record::RunEnded ended;
  ended.status = word(status);
  ended.reason = std::move(reason);
  ended.iterations = 1;
  ended.duration_ms = 5000;
  return ended;
}

TEST(Console, ShowsARunAsLinesInAFile) {
  const Printed seen = printed<Console>(
      [](Console& console) {
        tell(console, started_run());
        tell(console, record::IterationStarted{1});
        tell(console, agent_started());
        console.on_agent_output("I fix it.");
        tell(console, agent_ended());
        tell(console, guardrail_started());
        tell(console, guardrail_ended(2));
        tell(console, guardrail_started());
        tell(console, guardrail_ended(0));
        tell(console, run_ended("complete", "the agent answered \"DONE\" and all guardrails passed"));
      },
      in_a_file());
  EXPECT_EQ(seen.out,
            "ralph, run 20261115-202233-7f3a, agent claude, up to 10 iterations, 1 guardrail\n"
            "\n"
            "==> Iteration 1/10\n"
            "I fix it.\n"
            "[OK] agent finished and answered \"DONE\" (3.1s)\n"
            "  ... make test\n"
            "[ERR] make test failed with exit code 2 (1.2s), APPEND to the next prompt, "
            ".ralph/guardrail_1_make_test.log\n"
            "  ... make test\n"
            "[OK] make test passed (1.2s)\n"
            "\n"
            "[OK] Complete: the agent answered \"DONE\" and all guardrails passed\n"
            "  1 iteration, 5.0s, agent 1 turn in 3.1s, guardrails 1 passed, 1 failed\n"
            "  everything is in .ralph/runs/20261115-202233-7f3a (ralph runs show 20261115-202233-7f3a)\n");
  EXPECT_EQ(seen.err, "");
}

TEST(Console, WritesOnlyTextOfTheAgentToAFile) {
  const Printed seen = printed<Console>(
      [](Console& console) {
        console.on_agent_output("\033[31mred\n");
        console.on_agent_error_output("\033[2Jwarning\n");
      },
      in_a_file());
  EXPECT_EQ(seen.out, "red\n");
  EXPECT_EQ(seen.err, "warning\n");
}

TEST(Console, LetsOnlyTextAndColourOfTheAgentReachATerminal) {
  const Printed seen = printed<Console>(
      [](Console& console) {
        console.on_agent_output("\033[2J\033]0;ti");
        console.on_agent_output("tle\a\033[31mred\n");
        console.on_agent_error_output("\033[Hwarning\n");
      },
      on_a_terminal());
  EXPECT_EQ(seen.out, "\033[31mred\n");
  EXPECT_EQ(seen.err, "warning\n");
}

TEST(Console, EndsAColourThatTheAgentLeftOnAndALineThatItLeftOpen) {
  const Printed seen = printed<Console>(
      [](Console& console) {
        console.on_agent_output("\033[31mred");
        tell(console, agent_ended({}));
      },
      on_a_terminal());
  EXPECT_TRUE(seen.out.starts_with("\033[31mred\033[0m\n\033[32m✔\033[0m agent finished")) << seen.out;
}

TEST(Console, APassingLineIsReplacedByTheNext) {
  const Printed seen = printed<Console>(
      [](Console& console) {
        tell(console, guardrail_started());
        console.on_tick({1000ms});
        tell(console, guardrail_ended(0));
      },
      on_a_terminal());
  const auto lines = split(seen.out, '\n');
  ASSERT_EQ(lines.size(), 2U) << seen.out;
  EXPECT_EQ(lines[0],
            "\033[2m  … make test\033[0m\r\033[K\033[2m  … make test · 1.0s\033[0m"
            "\r\033[K\033[32m✔\033[0m make test passed \033[2m(1.2s)\033[0m");
}

TEST(Console, WhatTheAgentSaysReplacesAPassingLineOnEitherStream) {
  const Printed out = printed<Console>(
      [](Console& console) {
        tell(console, agent_started());
        console.on_agent_output("hello\n");
      },
      on_a_terminal());
  EXPECT_TRUE(out.out.ends_with("\r\033[Khello\n")) << out.out;
  const Printed err = printed<Console>(
      [](Console& console) {
        tell(console, agent_started());
        console.on_agent_error_output("warning\n");
      },
      on_a_terminal());
  EXPECT_TRUE(err.out.ends_with("\r\033[K")) << err.out;
  EXPECT_EQ(err.err, "warning\n");
}

TEST(Console, AFileShowsThatACheckBeginsAndThatItTakesLong) {
  const Printed seen = printed<Console>(
      [](Console& console) {
        EXPECT_EQ(console.tick_interval(), std::nullopt);
        tell(console, agent_started());
        tell(console, guardrail_started());
        EXPECT_EQ(console.tick_interval(), Milliseconds(60s));
        console.on_tick({60s});
        tell(console, guardrail_ended(0));
        EXPECT_EQ(console.tick_interval(), std::nullopt);
      },
      in_a_file());
  EXPECT_EQ(seen.out, "  ... make test\n  [--] still running: make test (1m0s)\n[OK] make test passed (1.2s)\n");
}

TEST(Console, TheLiveLineShowsWhatRunsHowLongAndItsCostSoFar) {
  ConsoleOptions options = on_a_terminal();
  options.style.color = false;
  const Printed seen = printed<Console>(
      [](Console& console) {
        tell(console, agent_started());
        EXPECT_EQ(console.tick_interval(), Milliseconds(1s));
        console.on_event(event::ToolStart{"1", "Bash", "make test"});
        console.on_tick({65s, 0.0024, 1500, {}});
        console.on_event(event::ToolEnd{"1", "Bash", "ok"});
        console.on_tick({66s, 0, 1500, {}});
        console.on_tick({70s, 0, 0, 24500ms});
        tell(console, agent_ended({}));
        EXPECT_EQ(console.tick_interval(), std::nullopt);
      },
      options);
  EXPECT_NE(seen.out.find("  … claude is working · Bash(make test) · 1m5s · $0.0024 so far\r\033[K"), std::string::npos)
      << seen.out;
  EXPECT_NE(seen.out.find("  … claude is working · 1m6s · 1.5K tokens so far\r\033[K"), std::string::npos) << seen.out;
  EXPECT_NE(seen.out.find("claude is done but still running · ended in 25"), std::string::npos) << seen.out;
}

TEST(Console, InANarrowTerminalTheLiveLineKeepsItsFigures) {
  ConsoleOptions options = on_a_terminal();
  options.style.color = false;
  options.style.width = 40;
  const Printed seen = printed<Console>(
      [](Console& console) {
        tell(console, agent_started());
        console.on_event(event::ToolStart{"1", "Bash", "make a test of everything"});
        console.on_tick({65s, 0.0024, 1500, {}});
        console.on_tick({70s, 0, 0, 24500ms});
      },
      options);
  EXPECT_NE(seen.out.find("… · 1m5s · $0.0024 so far\r"), std::string::npos) << seen.out;
  EXPECT_NE(seen.out.find("… · ended in 25.0s · 1m10s"), std::string::npos) << seen.out;
}

TEST(Console, TheLiveLineLeavesALineOfTheAgentAlone) {
  const Printed seen = printed<Console>(
      [](Console& console) {
        tell(console, agent_started());
        console.on_agent_output("half a ");
        console.on_tick({1s});
        console.on_agent_output("line\n");
      },
      on_a_terminal());
  EXPECT_TRUE(seen.out.ends_with("\r\033[Khalf a line\n")) << seen.out;
}

TEST(Console, TheCountdownSaysWhyAndUntilWhen) {
  const Printed seen = printed<Console>(
      [](Console& console) {
        record::Decided wait;
        wait.moment = Moment::kAfterTurn;
        wait.decision = Action::kWait, wait.reason = "claude is at its usage limit until 2026-11-15T21:00:00Z";
        tell(console, wait);
        console.on_countdown(299s);
      },
      on_a_terminal());
  EXPECT_NE(seen.out.find("… waiting for the usage limit to end · continuing in 4m59s, at "), std::string::npos)
      << seen.out;
}

TEST(Console, EveryLineCanHaveTheTime) {
  ConsoleOptions options = in_a_file();
  options.format.timestamps = true;
  const Printed seen = printed<Console>(
      [](Console& console) {
        tell(console, guardrail_started());
        console.on_agent_output("one\n\ntw");
        console.on_agent_output("o\n");
        console.on_agent_error_output("warning\n");
        tell(console, guardrail_ended(2));
      },
      options);
  for (const std::string& text : {seen.out, seen.err}) {
    for (const std::string& one : split(text, '\n')) {
      EXPECT_TRUE(one.empty() || (one.size() > 11 && one[0] == '[' && one[9] == ']')) << one;
    }
  }
  EXPECT_NE(seen.out.find("] two\n"), std::string::npos) << seen.out;
}

TEST(Console, ForeignTextCannotDisturbATerminal) {
  const Printed seen = printed<Console>(
      [](Console& console) {
        tell(console, agent_ended("\033[2J\r\nDONE\u009b"));
        record::GuardrailEnded check = guardrail_ended(1);
        check.name = "make\033]0;x\a";
        tell(console, check);
        tell(console, record::ProcessesSwept{StepKind::kAgent, {"pid 1: \033[2J"}, {"pid 2: a\nb"}});
        tell(console, record::SandboxNoted{"\033[2Jbubblewrap", {"blocked\nx"}, {"taken\r"}, 1});
        tell(console, run_ended("limit", "it answered \"\033[2J\n\""));
      },
      in_a_file());
  EXPECT_EQ(seen.out.find('\033'), std::string::npos);
  EXPECT_EQ(seen.out.find('\r'), std::string::npos);
  EXPECT_EQ(seen.out.find('\a'), std::string::npos);
  EXPECT_EQ(seen.out.find("\u009b"), std::string::npos);
  EXPECT_NE(seen.out.find("answered \" [2J  DONE \""), std::string::npos) << seen.out;
  EXPECT_NE(seen.out.find("pid 2: a b\n"), std::string::npos) << seen.out;
  EXPECT_NE(seen.out.find("blocked x\n"), std::string::npos) << seen.out;
}

TEST(Console, ALineOfATerminalIsNotWiderThanIt) {
  ConsoleOptions narrow = on_a_terminal();
  narrow.style.width = 40;
  narrow.style.color = false;
  const Printed seen = printed<Console>(
      [](Console& console) {
        record::GuardrailStarted started = guardrail_started();
        started.name = std::string(200, 'x');
        tell(console, started);
        console.on_tick({1000ms});
      },
      narrow);
  for (const std::string& piece : split(replace_all(seen.out, "\r\033[K", "\n"), '\n')) {
    EXPECT_LE(display_width(piece), 40U) << piece;
  }
}

TEST(Console, ShowsWhatAFailedGuardrailSaid) {
  const Printed seen = printed<Console>(
      [](Console& console) {
        record::GuardrailEnded few = guardrail_ended(1);
        few.feedback = "Guardrail failed.\nOutput (truncated):\none\ntwo\n";
        tell(console, few);
        record::GuardrailEnded many = guardrail_ended(1);
        many.feedback = "Guardrail failed.\nOutput (truncated):\n1\n2\n3\n4\n5\n6\n";
        tell(console, many);
        many.feedback += "... [truncated]";
        tell(console, many);
      },
      in_a_file());
  std::string said;
  for (const std::string& line : split(seen.out, '\n')) said += line.starts_with("    ") ? line.substr(4) + " " : "/ ";
  EXPECT_EQ(said, "/ one two / 3 4 5 6 / 1 2 3 4 / ");
}

TEST(Console, ASignalIsAnsweredOnStandardError) {
  const Printed seen = printed<Console>(
      [](Console& console) {
        tell(console, record::SignalReceived{"SIGINT", 1});
        tell(console, record::SignalReceived{"SIGINT", 2});
      },
      in_a_file());
  EXPECT_EQ(seen.out, "");
  const auto lines = split(seen.err, '\n');
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[0].starts_with("Received signal, shutting down..."));
  EXPECT_EQ(lines[1], "Received signal, ending everything now...");
}

TEST(Console, DetailsAreForTheVerbose) {
  const auto story = [](Console& console) {
    tell(console, agent_started());
    console.on_detail("more");
  };
  EXPECT_EQ(printed<Console>(story, in_a_file()).err, "");
  ConsoleOptions verbose = in_a_file();
  verbose.verbose = true;
  EXPECT_EQ(printed<Console>(story, verbose).err, "[ralph] Agent command: claude -p 'two words'\n[ralph] more\n");
}

TEST(Console, AgentOutputCanBeHidden) {
  ConsoleOptions quiet = in_a_file();
  quiet.agent_output = false;
  const Printed seen = printed<Console>(
      [](Console& console) {
        console.on_agent_output("hello\n");
        console.on_agent_error_output("warning\n");
      },
      quiet);
  EXPECT_EQ(seen.out + seen.err, "");
}

TEST(Console, EveryEndHasItsTitle) {
  const std::pair<const char*, const char*> titles[] = {
      {"complete", "[OK] Complete: why"},
      {"limit", "[ERR] Stopped at a limit: why"},
      {"interrupted", "[ERR] Interrupted: why"},
      {"waiting", "[ERR] Waiting for you: why"},
      {"fatal", "[ERR] Failed: why"},
  };
  static std::string status;
  for (const auto& [name, title] : titles) {
    status = name;
    const Printed seen =
        printed<Console>([](Console& console) { tell(console, run_ended(status, "why")); }, in_a_file());
    EXPECT_NE(seen.out.find(std::string(title) + "\n"), std::string::npos) << seen.out;
  }
}

TEST(JsonLines, AreTheRecordsAndNothingElse) {
  const Printed seen = printed<JsonLines>(
      [](JsonLines& lines) {
        tell(lines, record::IterationStarted{1});
        lines.on_agent_output("hello\n");
        lines.on_agent_error_output("warning\n");
        lines.on_detail("more");
        tell(lines, record::IterationEnded{1, 5});
      },
      std::string());
  const auto lines = split(seen.out, '\n');
  ASSERT_EQ(lines.size(), 3U) << seen.out;
  EXPECT_EQ(lines[2], "");
  for (size_t i : {0U, 1U}) EXPECT_TRUE(record::from_line(lines[i])) << lines[i];
  EXPECT_EQ(seen.err, "");
}

}  // namespace
}  // namespace ralph
