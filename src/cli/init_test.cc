#include <deque>
#include <string>

#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/init_choices.h"
#include "cli/init_dialogue.h"
#include "cli/registry.h"
#include "json/schema.h"
#include "settings/layers.h"

namespace ralph::cli {
namespace {

// Answers from a list and records everything shown. When the answers run out, input has ended.
class ScriptedQuestions final : public Questions {
 public:
  explicit ScriptedQuestions(std::deque<std::string> answers) : answers_(std::move(answers)) {}

  Result<std::string> ask(std::string_view prompt) override {
    prompts.emplace_back(prompt);
    if (answers_.empty()) return fail(ErrorKind::kInterrupted, "interrupted; nothing was written");
    std::string answer = answers_.front();
    answers_.pop_front();
    return answer;
  }
  void say(std::string_view line) override { said += std::string(line) + "\n"; }

  std::vector<std::string> prompts;
  std::string said;

 private:
  std::deque<std::string> answers_;
};

const std::vector<GuardrailSuggestion> kSuggestions = {
    {"make lint", "Makefile has the target lint", CheckPurpose::kLint},
    {"make test", "Makefile has the target test", CheckPurpose::kTest}};

Result<InitChoices> from_flags(std::vector<std::string> words, std::span<const GuardrailSuggestion> suggestions = {}) {
  auto arguments = parse_arguments(kInit, words);
  if (!arguments) return tl::unexpected(arguments.error());
  return choices_from_flags(*arguments, suggestions);
}

std::string error_of(std::vector<std::string> words) {
  const auto choices = from_flags(std::move(words));
  if (choices) return "no error";
  EXPECT_EQ(choices.error().kind, ErrorKind::kUsage);
  return choices.error().message;
}

TEST(InitDialogue, AsksTheQuestionsOfTheSeedInItsOrder) {
  ScriptedQuestions questions({"claude", "--model,opus", "", "", "make lint", "append", "Fix lint errors only.",
                               "make test", "Replace", "", "", "y", "git", "commit, push"});
  const auto choices = ask_for_choices(questions, {});
  ASSERT_TRUE(choices) << choices.error().message;
  EXPECT_EQ(
      questions.prompts,
      (std::vector<std::string>{
          "Agent command (e.g., claude, codex, amp, or other LLM CLI): ", "Agent flags (comma-separated, optional): ",
          "Maximum iterations [10]: ", "Completion response [DONE]: ",
          "Add guardrail command (leave blank to finish): ", "  Fail action (APPEND|PREPEND|REPLACE): ",
          "  Hint (optional, guidance for agent on failure): ", "Add guardrail command (leave blank to finish): ",
          "  Fail action (APPEND|PREPEND|REPLACE): ", "  Hint (optional, guidance for agent on failure): ",
          "Add guardrail command (leave blank to finish): ", "Configure SCM? (y/N): ", "  SCM command (e.g., git): ",
          "  SCM tasks (comma-separated, e.g., commit,push): "}));
  EXPECT_EQ(to_pretty_json(settings_document(*choices)), R"({
  "maximumIterations": 10,
  "completionResponse": "DONE",
  "outputTruncateChars": 5000,
  "streamAgentOutput": true,
  "includeIterationCountInPrompt": false,
  "agent": {
    "command": "claude",
    "flags": [
      "--model",
      "opus"
    ]
  },
  "guardrails": [
    {
      "command": "make lint",
      "failAction": "APPEND",
      "hint": "Fix lint errors only."
    },
    {
      "command": "make test",
      "failAction": "REPLACE"
    }
  ],
  "scm": {
    "command": "git",
    "tasks": [
      "commit",
      "push"
    ]
  }
}
)");
}

TEST(InitDialogue, AsksAgainUntilAnAnswerIsGood) {
  ScriptedQuestions questions(
      {"",      "my-agent --flag", "my-agent", "--x 'y", "--x 'y z'", "0",   "x", "9999999", "7", "OK",    "make",
       "often", "PREPEND",         "h",        "",       "maybe",     "yes", "",  "git",     " ", "commit"});
  const auto choices = ask_for_choices(questions, {});
  ASSERT_TRUE(choices) << choices.error().message;
  EXPECT_EQ(choices->agent, "my-agent");
  EXPECT_EQ(choices->flags, std::vector<std::string>{"--x 'y z'"});
  EXPECT_EQ(choices->maximum_iterations, 7);
  EXPECT_EQ(choices->completion_response, "OK");
  EXPECT_EQ(choices->guardrails[0].fail_action, FailAction::kPrepend);
  EXPECT_EQ(choices->scm->command, "git");
  for (std::string_view explanation :
       {"Please name the agent's program.", "Only the program here", "unclosed '", "found 0 (a number)",
        "found \"x\" (a string)", "of at most 1000000", "Please answer APPEND", "Please answer y or n."})
    EXPECT_NE(questions.said.find(explanation), std::string::npos) << explanation << "\n" << questions.said;
}

TEST(InitDialogue, SuggestedGuardrailsArePickedByNumber) {
  ScriptedQuestions questions(
      {"amp", "", "", "", "2", "APPEND", "", "7", "1", "APPEND", "", "go vet", "APPEND", "", "", ""});
  const auto choices = ask_for_choices(questions, kSuggestions);
  ASSERT_TRUE(choices) << choices.error().message;
  ASSERT_EQ(choices->guardrails.size(), 3u);
  EXPECT_EQ(choices->guardrails[0].command, "make test");
  EXPECT_EQ(choices->guardrails[1].command, "make lint");
  EXPECT_EQ(choices->guardrails[2].command, "go vet");
  EXPECT_NE(questions.said.find("2  make test  Makefile has the target test"), std::string::npos);
  EXPECT_NE(questions.said.find("There is no suggestion 7; they go from 1 to 2."), std::string::npos);
}

TEST(InitDialogue, ClaudeGetsAPermissionFlagOfferedAndOthersDoNot) {
  ScriptedQuestions claude({"/opt/claude", "--model opus, 1", "", "", "", ""});
  EXPECT_EQ(ask_for_choices(claude, {})->flags,
            (std::vector<std::string>{"--model opus", "--permission-mode acceptEdits"}));
  EXPECT_NE(claude.said.find("--dangerously-skip-permissions"), std::string::npos);

  ScriptedQuestions other({"codex", "1", "", "", "", ""});
  EXPECT_EQ(ask_for_choices(other, {})->flags, std::vector<std::string>{"1"});
  EXPECT_EQ(other.said, "");
}

TEST(InitDialogue, TheEndOfInputAtAnyQuestionIsAnInterruption) {
  const std::deque<std::string> all = {"claude", "", "", "", "make", "APPEND", "", "", "y", "git", "commit"};
  for (size_t answered = 0; answered < all.size(); ++answered) {
    ScriptedQuestions questions({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(answered)});
    const auto choices = ask_for_choices(questions, kSuggestions);
    ASSERT_FALSE(choices) << answered;
    EXPECT_EQ(choices.error().kind, ErrorKind::kInterrupted);
  }
}

TEST(InitDialogue, CommasInQuotesAndBracketsDoNotSplit) {
  EXPECT_EQ(split_at_commas(" --a , --b c,, "), (std::vector<std::string>{"--a", "--b c"}));
  EXPECT_EQ(split_at_commas("--allowedTools=\"Edit,Bash\",-v"),
            (std::vector<std::string>{"--allowedTools=\"Edit,Bash\"", "-v"}));
  EXPECT_EQ(split_at_commas("Bash(a,b),c"), (std::vector<std::string>{"Bash(a,b)", "c"}));
  EXPECT_TRUE(split_at_commas("").empty());
}

TEST(InitFlags, MakeASettingsFileThatTheSchemaAccepts) {
  const auto choices = from_flags({"--agent",
                                   "claude",
                                   "--flag=--model opus",
                                   "--flag=-v",
                                   "-m",
                                   "25",
                                   "-c",
                                   "FERTIG",
                                   "--guardrail",
                                   "make lint",
                                   "--guardrail",
                                   "make test",
                                   "--fail-action",
                                   "replace",
                                   "--hint",
                                   "one",
                                   "--hint",
                                   "two",
                                   "--scm",
                                   "git",
                                   "--scm-task",
                                   "commit",
                                   "--scm-task",
                                   "push"});
  ASSERT_TRUE(choices) << choices.error().message;
  const json::object document = settings_document(*choices);
  EXPECT_TRUE(check_schema(parsed_settings_schema(), document)->empty());
  EXPECT_EQ(json::serialize(document),
            R"({"maximumIterations":25,"completionResponse":"FERTIG","outputTruncateChars":5000,)"
            R"("streamAgentOutput":true,"includeIterationCountInPrompt":false,)"
            R"("agent":{"command":"claude","flags":["--model opus","-v"]},)"
            R"("guardrails":[{"command":"make lint","failAction":"REPLACE","hint":"one"},)"
            R"({"command":"make test","failAction":"REPLACE","hint":"two"}],)"
            R"("scm":{"command":"git","tasks":["commit","push"]}})");
}

TEST(InitDocument, KeepsWhatTheChoicesDoNotSay) {
  const json::object existing =
      parse_json(R"({"$schema":"s","scm":{"command":"git","tasks":["push"],"addAll":false},"budget":{"maxMinutes":7},)"
                 R"("guardrails":[{"command":"make","name":"build","hint":"old"}],)"
                 R"("agent":{"command":"old","kind":"claude","model":"opus","timeoutSeconds":5}})",
                 "settings")
          ->as_object();
  InitChoices choices;
  choices.agent = "new";
  choices.guardrails.emplace_back().command = "make";
  EXPECT_EQ(json::serialize(settings_document(choices, existing)),
            R"({"$schema":"s","budget":{"maxMinutes":7},"guardrails":[{"command":"make","name":"build",)"
            R"("failAction":"APPEND"}],"agent":{"command":"new","timeoutSeconds":5,"flags":[]},)"
            R"("maximumIterations":10,"completionResponse":"DONE","outputTruncateChars":5000,)"
            R"("streamAgentOutput":true,"includeIterationCountInPrompt":false})");
}

TEST(InitFlags, SuggestedAddsEverySuggestionOnce) {
  const auto choices = from_flags({"--agent", "x", "--guardrail", "make test", "--suggested"}, kSuggestions);
  ASSERT_TRUE(choices) << choices.error().message;
  ASSERT_EQ(choices->guardrails.size(), 2u);
  EXPECT_EQ(choices->guardrails[0].command, "make test");
  EXPECT_EQ(choices->guardrails[1].command, "make lint");
}

TEST(InitFlags, ErrorsNameTheFlagAndSayWhatToDo) {
  struct Row {
    std::vector<std::string> words;
    std::string_view error;
  };
  const Row rows[] = {
      {{"--guardrail", "make"}, "which agent? add --agent claude, or any other program"},
      {{"--agent", " "}, "--agent: expected the name or path of a program, found \"\" (a string)"},
      {{"--agent", "x", "-m", "0"}, "--maximum-iterations: expected a whole number of at least 1, found 0 (a number)"},
      {{"--agent", "x", "--max-iterations", "ten"},
       "--max-iterations: expected a whole number of at least 1, found \"ten\" (a string)"},
      {{"--agent", "x", "--flag", "'a"}, "--flag: unclosed ' in: 'a"},
      {{"--agent", "x", "--guardrail", " "}, "--guardrail: expected a command that is not blank"},
      {{"--agent", "x", "--hint", "h"}, "--hint belongs to a guardrail; add --guardrail 'make test'"},
      {{"--agent", "x", "--guardrail", "a", "--hint", "h", "--hint", "i"},
       "--hint is given 2 times and --guardrail 1 time: give it once for all guardrails, or once for each"},
      {{"--agent", "x", "--scm", "git"}, "--scm git has nothing to do; add --scm-task commit"},
      {{"--agent", "x", "--scm-task", "commit"}, "--scm-task needs to know which program; add --scm git"},
      {{"--agent", "x", "--suggested"},
       "--suggested: no tool that ralph knows was found in this folder; name commands with --guardrail"},
  };
  for (const Row& row : rows) EXPECT_EQ(error_of(row.words), row.error) << join(row.words, " ");
}

}  // namespace
}  // namespace ralph::cli
