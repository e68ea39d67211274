#include "session/loop_command.h"

#include <gtest/gtest.h>

namespace ralph {
namespace {

LoopRequest started(std::string_view line) {
  const auto command = loop_command_from(line);
  if (!command || !*command) {
    ADD_FAILURE() << line << ": " << (command ? "no command" : command.error().message);
    return {};
  }
  EXPECT_EQ((*command)->verb, LoopVerb::kStart) << line;
  return (*command)->request;
}

std::string task_of(std::string_view line) {
  return started(line).task;
}

std::string refusal(std::string_view line) {
  const auto command = loop_command_from(line);
  if (command) return "not refused";
  EXPECT_EQ(command.error().kind, ErrorKind::kUsage);
  return command.error().message;
}

TEST(LoopCommand, AnyOtherLineIsNone) {
  for (const std::string_view line :
       {"", "  ", "fix it", "/loop fix it", "/ralph:looping x", "/ralph:loop:x y", "please /ralph:loop x", "/help",
        "/ralph", "/ralph:", "ralph:loop x", "/Ralph:loop x"}) {
    const auto command = loop_command_from(line);
    ASSERT_TRUE(command.has_value()) << line;
    EXPECT_FALSE(command->has_value()) << line;
  }
}

TEST(LoopCommand, HasBothFamiliesOfNames) {
  EXPECT_FALSE(started("/ralph:loop x").ultrawork);
  EXPECT_FALSE(started("/ralph-loop x").ultrawork);
  EXPECT_TRUE(started("/ralph:ulw-loop x").ultrawork);
  EXPECT_TRUE(started("/ulw-loop x").ultrawork);
  for (const std::string_view line : {"/ralph:cancel", "/cancel-ralph", "  /ralph:cancel  now "})
    EXPECT_EQ((*loop_command_from(line))->verb, LoopVerb::kCancel) << line;
  for (const std::string_view line : {"/ralph:loop --cancel", "/ralph-loop --cancel ", "/ralph:ulw-loop\n--cancel"})
    EXPECT_EQ((*loop_command_from(line))->verb, LoopVerb::kCancel) << line;
  EXPECT_EQ((*loop_command_from("/ralph:status"))->verb, LoopVerb::kStatus);
  EXPECT_EQ((*loop_command_from("/ralph-status now"))->verb, LoopVerb::kStatus);
}

TEST(LoopCommand, WithoutOptionsHasTheDefaults) {
  const LoopRequest request = started("/ralph:loop fix the tests");
  EXPECT_EQ(request.task, "fix the tests");
  EXPECT_EQ(request.promise, "DONE");
  EXPECT_EQ(request.max_iterations, 100);
  EXPECT_EQ(request.min_tool_calls, 1);
  EXPECT_EQ(request.on_promise_no_work, PromiseWithoutWork::kReject);
}

TEST(LoopCommand, OptionsStandBeforeAfterAndAmongTheTask) {
  for (const std::string_view line : {
           "/ralph:loop fix it --max-iterations 5 --completion-promise FINE --min-tool-calls 0 --ultrawork",
           "/ralph:loop --max-iterations=5 --completion-promise=FINE --min-tool-calls=0 --ultrawork fix it",
           "/ralph:loop --max-iterations=\"5\" --ultrawork fix it --completion-promise 'FINE' --min-tool-calls 0",
           "/ralph:loop \"fix it\" --max-iterations 5 --completion-promise \"FINE\" --min-tool-calls=0 --ultrawork",
           "/ralph:loop --ultrawork --min-tool-calls\t0 'fix it'\n--max-iterations\n5 --completion-promise FINE",
       }) {
    const LoopRequest request = started(line);
    EXPECT_TRUE(request.paths.empty()) << line;
    EXPECT_EQ(request.task, "fix it") << line;
    EXPECT_EQ(request.max_iterations, 5) << line;
    EXPECT_EQ(request.promise, "FINE") << line;
    EXPECT_EQ(request.min_tool_calls, 0) << line;
    EXPECT_TRUE(request.ultrawork) << line;
  }
  EXPECT_EQ(started("/ralph-loop x --on-promise-no-work=warn").on_promise_no_work, PromiseWithoutWork::kWarn);
  EXPECT_EQ(started("/ralph-loop x --on-promise-no-work accept").on_promise_no_work, PromiseWithoutWork::kAccept);
  EXPECT_EQ(started("/ralph-loop x --completion-promise \"ALL TESTS PASS\"").promise, "ALL TESTS PASS");
  EXPECT_EQ(started("/ralph-loop x --completion-promise='ALL GOOD'").promise, "ALL GOOD");
}

TEST(LoopCommand, TakesTheTaskAsItWasTyped) {
  for (const std::string_view task : {
           "fix `x` $(rm -rf /) ${HOME} \\n && echo > a | b; c & d * ? [a] {b} !x ~ #y % ^ = <tag> \\",
           "line one\nline two\n\n---\nkey: value\n---\n  indented",
           "don't touch Bob's file",
           "say \"hello\" and 'bye'",
           "use ls --color and git log --oneline",
           "first -- and then",
           "a --- b",
           "--x",
           "grüße 日本語 😀 e\xcc\x81",
           "100% of {tests} %s %n",
           "a \\\"quoted\\\" word",
           "<promise>DONE</promise> is what to say",
       }) {
    EXPECT_EQ(task_of("/ralph:loop " + std::string(task)), task);
    EXPECT_EQ(task_of("/ralph:loop " + std::string(task) + " --max-iterations 3"), task);
    EXPECT_EQ(task_of("/ralph:loop --max-iterations=3 " + std::string(task)), task);
  }
}

TEST(LoopCommand, OnePairOfQuotesAroundTheTaskIsTakenOff) {
  EXPECT_EQ(task_of("/ralph:loop \"fix --max-iterations 5 in the docs\""), "fix --max-iterations 5 in the docs");
  EXPECT_EQ(task_of("/ralph:loop 'a\n--zero-errors\nb'"), "a\n--zero-errors\nb");
  EXPECT_EQ(task_of("/ralph:loop \"say \\\"hi\\\" --tests-pass now\""), "say \\\"hi\\\" --tests-pass now");
  EXPECT_EQ(task_of("/ralph:loop \"a\" and \"b\""), "\"a\" and \"b\"");
  EXPECT_EQ(task_of("/ralph:loop 'don't use --max-iterations 3 here'"), "don't use --max-iterations 3 here");
  EXPECT_EQ(task_of("/ralph:loop fix \"a --max-iterations 3\", and 'b'."), "fix \"a --max-iterations 3\", and 'b'.");
  EXPECT_EQ(task_of("/ralph:loop \"a"), "\"a");
  EXPECT_EQ(task_of("/ralph:loop \""), "\"");
}

TEST(LoopCommand, AQuoteThatClosesInTheMidstOfAWordHidesNoOption) {
  const LoopRequest request = started("/ralph:loop rename 'foo bar --max-iterations 5 baz's");
  EXPECT_EQ(request.max_iterations, 5);
  EXPECT_EQ(request.task, "rename 'foo bar  baz's");
  EXPECT_EQ(started("/ralph:loop x --completion-promise 'it's fine' --max-iterations 5").promise, "it's fine");
}

TEST(LoopCommand, ALongDashBeforeAnOptionIsNotPartOfTheTask) {
  for (const std::string_view dash : {"\u2014", "\u2013", "\u2014-"}) {
    EXPECT_NE(refusal(fmt::format("/ralph:loop x {}max-iterations 5", dash)).find("--max-iterations"),
              std::string::npos);
    EXPECT_NE(refusal(fmt::format("/ralph:loop {}ultrawork x", dash)).find("two short ones"), std::string::npos);
  }
  for (const std::string_view task :
       {"fix it \u2014 now", "x \u2014maximum 5", "a\u2014max-iterations 5", "\u2014cancel it"})
    EXPECT_EQ(task_of("/ralph:loop " + std::string(task)), task);
  EXPECT_EQ(task_of("/ralph:loop \"x \u2014max-iterations 5\""), "x \u2014max-iterations 5");
}

TEST(LoopCommand, QuotesThatNeverCloseTakeNoTime) {
  std::string task;
  while (task.size() < 1024 * 1024) task += "'a \"b ";
  task.pop_back();
  EXPECT_EQ(task_of("/ralph:loop " + task), task);
}

TEST(LoopCommand, ALoneDashDashBeforeTheTaskEndsTheOptions) {
  EXPECT_EQ(task_of("/ralph:loop -- --max-iterations 5 is the flag"), "--max-iterations 5 is the flag");
  const LoopRequest request = started("/ralph:loop --max-iterations 5 -- fix --zero-errors");
  EXPECT_EQ(request.task, "fix --zero-errors");
  EXPECT_EQ(request.max_iterations, 5);
  EXPECT_EQ(started("/ralph:loop this -- and that --max-iterations 5").max_iterations, 5);
}

TEST(LoopCommand, AMistypedOptionIsNotPartOfTheTask) {
  EXPECT_NE(refusal("/ralph:loop x --max-iteration 5").find("did you mean --max-iterations?"), std::string::npos);
  EXPECT_NE(refusal("/ralph:loop x --max 5").find("did you mean --max-iterations?"), std::string::npos);
  EXPECT_NE(refusal("/ralph:loop x --promise=FINE").find("did you mean --completion-promise?"), std::string::npos);
  EXPECT_NE(refusal("/ralph:loop x --tool-calls 5").find("did you mean --min-tool-calls?"), std::string::npos);
  EXPECT_NE(refusal("/ralph:loop --ultra x").find("did you mean --ultrawork?"), std::string::npos);
  EXPECT_EQ(task_of("/ralph:loop \"x --max-iteration 5\""), "x --max-iteration 5");
}

TEST(LoopCommand, CriteriaAndChecks) {
  const LoopRequest request = started("/ralph:loop fix it --zero-errors --check 'make test' --tests-pass --check lint");
  EXPECT_EQ(request.task, "fix it");
  EXPECT_EQ(request.checks, (std::vector<std::string>{"make test", "lint"}));
  EXPECT_EQ(request.criteria(), (diagnostics::Criteria{true, false, false, true, 3}));
  EXPECT_EQ(request.checks_in_all(), 3);
  EXPECT_FALSE(started("/ralph:loop x").has_criteria());
  EXPECT_EQ(refusal("/ralph:loop --zero-warnings=3 x"), "--zero-warnings takes no value");
  EXPECT_TRUE(refusal("/ralph:loop x --no-promise").starts_with("--no-promise: what ends the loop then?"));
  EXPECT_TRUE(started("/ralph:loop x --no-promise --zero-security").no_promise);
}

TEST(LoopCommand, BadValuesAreRefused) {
  EXPECT_EQ(refusal("/ralph:loop x --max-iterations"),
            "--max-iterations: \"\" is not a whole number from 1 to 1000000");
  for (const std::string_view value :
       {"0", "-1", "five", "1e3", "5.5", "1000001", "99999999999999999999", "+5", "\"5 \""})
    EXPECT_TRUE(refusal(fmt::format("/ralph:loop x --max-iterations {}", value)).starts_with("--max-iterations: \""))
        << value;
  EXPECT_TRUE(refusal("/ralph:loop x --min-tool-calls -1").starts_with("--min-tool-calls"));
  EXPECT_EQ(refusal("/ralph:loop x --on-promise-no-work=maybe"),
            "--on-promise-no-work: \"maybe\" is not one of reject, warn, accept");
  EXPECT_EQ(refusal("/ralph:loop x --ultrawork=yes"), "--ultrawork takes no value");
  EXPECT_EQ(refusal("/ralph:loop x --completion-promise \"FINE"), "--completion-promise: its quote is not closed");
  for (const std::string_view promise : {"''", "' '", "' A'", "'A '", "'<b>'", "'a\nb'"})
    EXPECT_TRUE(
        refusal(fmt::format("/ralph:loop x --completion-promise {}", promise)).starts_with("--completion-promise: "))
        << promise;
  EXPECT_TRUE(refusal("/ralph:loop x --completion-promise " + std::string(201, 'a')).starts_with("--completion"));
}

TEST(LoopCommand, WithoutATaskIsRefused) {
  for (const std::string_view line : {"/ralph:loop", "/ralph:loop   ", "/ralph:loop \"\"", "/ralph:loop '  '",
                                      "/ralph:loop --max-iterations 5", "/ralph:loop --"})
    EXPECT_TRUE(refusal(line).starts_with("what is to be done?")) << line;
}

TEST(LoopCommand, ALongTaskIsTakenWhole) {
  std::string task;
  while (task.size() < 100 * 1024) task += "word 'and' \"quotes\" don't --- `x`\n";
  task.pop_back();
  EXPECT_EQ(task_of("/ralph:loop " + task + " --max-iterations 9"), task);
}

TEST(LoopCommand, TakesThePathsBeforeTheTask) {
  const LoopRequest request = started("/ralph:loop @src/services/ --max-iterations 5 @lib \"fix all @lint errors\"");
  EXPECT_EQ(request.paths, (std::vector<std::string>{"src/services/", "lib"}));
  EXPECT_EQ(request.task, "fix all @lint errors");
  EXPECT_EQ(request.max_iterations, 5);
  EXPECT_TRUE(started("/ralph:loop fix @src/a.cc now").paths.empty());
  EXPECT_EQ(started("/ralph:loop @ noon fix it").task, "@ noon fix it");
  EXPECT_EQ(started("/ralph:loop fix it --stagnation-limit 7").stagnation_limit, 7);
  EXPECT_EQ(started("/ralph:loop fix it --stagnation-limit=0").stagnation_limit, 0);
}

TEST(LoopCommand, ACancelTakesNoTask) {
  EXPECT_FALSE(loop_command_from("/ralph:loop --cancel the tests").has_value());
  EXPECT_FALSE(loop_command_from("/ralph:loop --cancel=now").has_value());
  EXPECT_EQ(started("/ralph:loop \"explain --cancel\"").task, "explain --cancel");
}

}  // namespace
}  // namespace ralph
