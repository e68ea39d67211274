#include "ui/run_text.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "base/utf8.h"
#include "journal/words_for_tests.h"

namespace ralph {
namespace {

ShownRun told(std::vector<record::Body> bodies) {
  ShownRun run{"20261115-202233-7f3a", ".ralph/runs/20261115-202233-7f3a", {}, false, {}};
  std::int64_t sequence = 0;
  for (record::Body& body : bodies) {
    run.view.add({++sequence, WallTime{Milliseconds(1'794'774'153'000 + sequence)}, std::move(body)});
  }
  return run;
}

// One failing and one good iteration.
std::vector<record::Body> two_iterations() {
  record::RunStarted start;
  start.agent = "claude", start.prompt_source = "-p", start.prompt = "Fix it\nall", start.max_iterations = 10;
  record::AgentStarted agent;
  agent.attempt = 1, agent.purpose = word("work"), agent.argv = {"claude"}, agent.stdout_file = "agent_1.out";
  record::AgentEnded turn;
  turn.attempt = 1, turn.purpose = word("work"), turn.outcome = word("ok"), turn.duration_ms = 3100,
  turn.output_bytes = 1200, turn.response = "DONE", turn.cost_usd = 0.0012, turn.input_tokens = 600;
  record::GuardrailStarted check;
  check.index = 1, check.name = "make test", check.log_file = ".ralph/g.log";
  record::GuardrailEnded failed;
  failed.index = 1, failed.name = "make test", failed.outcome = word("failed"), failed.exit_code = 2,
  failed.log_file = ".ralph/g.log";
  record::GuardrailEnded passed = failed;
  passed.outcome = word("passed"), passed.exit_code = 0;
  record::Decided go_on;
  go_on.moment = word("after_checks"), go_on.decision = word("continue"), go_on.reason = "1 guardrail failed";
  record::ScmStarted commit;
  commit.task = "commit";
  record::ScmEnded committed;
  committed.task = "commit", committed.outcome = word("done"), committed.note = "abc1234";
  record::RunEnded end;
  end.status = word("complete"), end.reason = "the agent answered DONE and all guardrails passed",
  end.duration_ms = 8000;
  return {start,
          record::IterationStarted{1},
          agent,
          turn,
          check,
          failed,
          go_on,
          record::IterationEnded{1, 4000},
          record::IterationStarted{2},
          agent,
          turn,
          check,
          passed,
          commit,
          committed,
          record::IterationEnded{2, 4000},
          end};
}

TEST(RunStory, ShowsARunIterationByIteration) {
  EXPECT_EQ(run_text(told(two_iterations()), Style{}),
            "Run 20261115-202233-7f3a: complete\n"
            "  why        the agent answered DONE and all guardrails passed\n"
            "  began      2026-11-15 20:22:33 UTC\n"
            "  took       8.0s, 2 iterations of at most 10\n"
            "  cost       $0.0024, 1.2K tokens\n"
            "  agent      claude\n"
            "  prompt     -p: Fix it\n"
            "  files      .ralph/runs/20261115-202233-7f3a\n"
            "\n"
            "Iteration 1 (4.0s)\n"
            "  [OK]  agent      claude: ok, 3.1s, 1.2 KB of output, $0.0012, answered \"DONE\"  agent_1.out\n"
            "  [ERR] guardrail  make test: failed (exit code 2), 0.0s  .ralph/g.log\n"
            "  [--]  decided    continue: 1 guardrail failed\n"
            "\n"
            "Iteration 2 (4.0s)\n"
            "  [OK]  agent      claude: ok, 3.1s, 1.2 KB of output, $0.0012, answered \"DONE\"  agent_1.out\n"
            "  [OK]  guardrail  make test: passed, 0.0s  .ralph/g.log\n"
            "  [OK]  scm        commit: done (abc1234), 0.0s\n");
}

TEST(RunStory, SaysWhatWasUnderWayWhenARunWasKilled) {
  std::vector<record::Body> bodies = two_iterations();
  bodies.resize(3);
  const std::string killed = run_text(told(bodies), Style{});
  EXPECT_NE(killed.find("crashed\n  why        it was killed in iteration 1\n"), std::string::npos) << killed;
  EXPECT_NE(killed.find("Iteration 1 (not finished)\n  [--]  agent      claude: not finished"), std::string::npos)
      << killed;
  ShownRun living = told(bodies);
  living.alive = true;
  EXPECT_NE(run_text(living, Style{}).find("claude: under way"), std::string::npos);
}

TEST(RunStory, SaysHowMuchOfAStreamWasNotUnderstood) {
  std::vector<record::Body> bodies = two_iterations();
  std::get<record::AgentEnded>(bodies[3]).unknown_events = 2;
  const std::string story = run_text(told(bodies), Style{});
  EXPECT_NE(story.find("1.2 KB of output, $0.0012, 2 lines of its stream not understood, answered"), std::string::npos)
      << story;
}

TEST(RunStory, SaysWhatIsDamaged) {
  ShownRun run = told({record::Unknown{"party", {}}});
  run.problems = {"line 2 is damaged: x"};
  const std::string story = run_text(run, Style{});
  EXPECT_NE(story.find("1 record of a kind that this version of ralph does not know"), std::string::npos) << story;
  EXPECT_NE(story.find("The journal is damaged; its good records are shown above:\n  line 2 is damaged: x\n"),
            std::string::npos)
      << story;
}

// Every text of every record contains an attack.
struct Attacker {
  const std::string text =
      "x\x1b[2J\x1b]0;title\a\r\n\x7f\xc2\x9b"
      "31mboo";
  void operator()(std::string_view, std::string& value) const { value = text; }
  void operator()(std::string_view, std::int64_t& value) const { value = 1; }
  void operator()(std::string_view, double& value) const { value = 1; }
  void operator()(std::string_view, json::value&) const {}
  void operator()(std::string_view, std::vector<std::string>& value) const { value = {text}; }
  void operator()(std::string_view, std::optional<std::string>& value) const { value = text; }
  template <class Other>
  void operator()(std::string_view, Other&) const {}  // contains no foreign text
};

TEST(RunStory, PassesNothingThatControlsATerminal) {
  std::vector<record::Body> bodies = two_iterations();
  bodies.insert(bodies.begin() + 3,
                {record::ProcessesSwept{}, record::SandboxNoted{}, record::SignalReceived{}, record::ScmStarted{}});
  for (record::Body& body : bodies) {
    std::visit(
        [](auto& b) {
          if constexpr (requires { b.fields(Attacker{}); }) b.fields(Attacker{});
        },
        body);
  }
  ShownRun run = told(bodies);
  run.problems = {Attacker{}.text};
  const std::string all = run_text(run, Style{}) + run_table(std::span(&run, 1), "", Style{});
  EXPECT_NE(all.find("boo"), std::string::npos);
  for (std::string_view bad : {"\x1b", "\x7f", "\r", "\a", "\xc2\x9b"}) EXPECT_EQ(all.find(bad), std::string::npos);
}

TEST(RunTable, HasOneAlignedLinePerRun) {
  const std::vector<ShownRun> runs = {told(two_iterations()), told({})};
  EXPECT_EQ(run_table(runs, "", Style{}),
            "RUN                   BEGAN                    AGENT   ITER  TIME  COST     TOKENS  END\n"
            "20261115-202233-7f3a  2026-11-15 20:22:33 UTC  claude  2     8.0s  $0.0024  1.2K    complete: the agent "
            "answered DONE and all guardrails passed\n"
            "20261115-202233-7f3a  -                        -       0     0.0s  -        -       crashed: its journal "
            "is empty\n");
}

TEST(RunTable, NamesTheTaskAndWhereItWorksIfThatIsElsewhere) {
  std::vector<ShownRun> runs = {told(two_iterations())};
  runs[0].task = "shop/cart";
  runs[0].view.start->project = "/here";
  EXPECT_NE(run_table(runs, "/here", Style{}).find("  shop/cart  "), std::string::npos);
  EXPECT_NE(run_table(runs, "/there", Style{}).find("  shop/cart in /here  "), std::string::npos);
}

TEST(RunTable, FitsEveryTerminal) {
  std::vector<ShownRun> runs = {told(two_iterations()), told({}), told(two_iterations())};
  runs[2].task = "shop/cart";
  for (size_t width = 30; width < 200; ++width) {
    Style style;
    style.terminal = true, style.width = width, style.unicode = true;
    const std::string table = run_table(runs, "", style);
    for (const std::string& line : split(table, '\n')) EXPECT_LE(display_width(line), width) << line;
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 4) << table;
  }
  Style usual;
  usual.terminal = true, usual.width = 80;
  runs.pop_back();
  const std::string table = run_table(runs, "", usual);
  EXPECT_EQ(first_line(table), "RUN                   AGENT   ITER  TIME  COST     TOKENS  END");
}

TEST(RunSummary, SaysTheSameToPrograms) {
  EXPECT_EQ(
      json::serialize(run_summary(told(two_iterations()))),
      R"({"id":"20261115-202233-7f3a","folder":".ralph/runs/20261115-202233-7f3a","state":"complete",)"
      R"("reason":"the agent answered DONE and all guardrails passed","began":"2026-11-15T20:22:33.001Z","agent":"claude",)"
      R"("iterations":2,"durationMs":8000,"resumable":false,"costUsd":2.4E-3,"tokens":1200,"exitCode":0,"problems":[]})");
}

}  // namespace
}  // namespace ralph
