#include "settings/settings.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "json/schema.h"
#include "os/files.h"
#include "settings/brief.h"
#include "settings/layers.h"

namespace ralph {
namespace {

class SettingsTest : public testing::Test {
 protected:
  SettingsTest() {
    std::string name = testing::TempDir() + "settings XXXXXX";
    project_ = ::mkdtemp(name.data());
    EXPECT_TRUE(make_directories(project_ + "/.ralph"));
    ::setenv("XDG_CONFIG_HOME", (project_ + "/config").c_str(), 1);  // not the settings of whoever runs the tests
  }
  ~SettingsTest() override { std::filesystem::remove_all(project_); }

  void base(std::string_view text) { ASSERT_TRUE(write_file_atomically(project_ + "/.ralph/settings.json", text)); }
  void local(std::string_view text) {
    ASSERT_TRUE(write_file_atomically(project_ + "/.ralph/settings.local.json", text));
  }

  Settings load(const Overrides& overrides = {}) {
    auto loaded = load_settings(project_, overrides);
    if (!loaded) {
      ADD_FAILURE() << loaded.error().message;
      return {};
    }
    return loaded->settings;
  }

  // The error without the folder, whose name differs each time.
  std::string error(const Overrides& overrides = {}) {
    const auto loaded = load_settings(project_, overrides);
    if (loaded) return "no error";
    kind_ = loaded.error().kind;
    std::string text = loaded.error().message;
    for (size_t at = text.find(project_ + "/"); at != std::string::npos; at = text.find(project_ + "/"))
      text.erase(at, project_.size() + 1);
    return text;
  }

  std::string project_;
  ErrorKind kind_ = ErrorKind::kInternal;
};

TEST_F(SettingsTest, WithoutFilesEverythingIsDefault) {
  const auto loaded = load_settings(project_);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_TRUE(loaded->files.empty());
  EXPECT_EQ(loaded->settings.maximum_iterations, 10);
  EXPECT_EQ(loaded->settings.agent.command, "");
  for (const Origin& origin : loaded->origins) EXPECT_EQ(origin.source, "default") << origin.pointer;
}

TEST_F(SettingsTest, TheDefaultsOfTheSchemaAreThoseOfTheStruct) {
  base(R"({"guardrails": [{"command": "x"}], "scm": {"command": "git"}})");
  const Settings from_schema = load();
  const Settings plain;
  EXPECT_EQ(from_schema.maximum_iterations, plain.maximum_iterations);
  EXPECT_EQ(from_schema.completion_response, plain.completion_response);
  EXPECT_EQ(from_schema.output_truncate_chars, plain.output_truncate_chars);
  EXPECT_EQ(from_schema.stream_agent_output, plain.stream_agent_output);
  EXPECT_EQ(from_schema.include_iteration_count_in_prompt, plain.include_iteration_count_in_prompt);
  EXPECT_EQ(from_schema.agent.flags, plain.agent.flags);
  EXPECT_EQ(from_schema.agent.prompt_via, plain.agent.prompt_via);
  EXPECT_EQ(from_schema.agent.env, plain.agent.env);
  EXPECT_EQ(from_schema.agent.timeout_seconds, plain.agent.timeout_seconds);
  EXPECT_EQ(from_schema.agent.idle_timeout_seconds, plain.agent.idle_timeout_seconds);
  EXPECT_EQ(from_schema.agent.retry.attempts, plain.agent.retry.attempts);
  EXPECT_EQ(from_schema.agent.retry.backoff_seconds, plain.agent.retry.backoff_seconds);
  EXPECT_EQ(from_schema.agent.retry.max_backoff_seconds, plain.agent.retry.max_backoff_seconds);
  EXPECT_EQ(from_schema.guardrails[0].fail_action, GuardrailSettings{}.fail_action);
  EXPECT_EQ(from_schema.guardrails[0].timeout_seconds, GuardrailSettings{}.timeout_seconds);
  EXPECT_EQ(from_schema.scm->tasks, ScmSettings{}.tasks);
  EXPECT_EQ(from_schema.scm->add_all, ScmSettings{}.add_all);
  EXPECT_EQ(from_schema.plan.maximum_iterations, plain.plan.maximum_iterations);
  EXPECT_EQ(from_schema.plan.review_cap, plain.plan.review_cap);
  EXPECT_EQ(from_schema.plan.skip_review, plain.plan.skip_review);
  EXPECT_EQ(from_schema.plan.verify_timeout_seconds, plain.plan.verify_timeout_seconds);
  EXPECT_EQ(from_schema.plan.clean_room.mode, plain.plan.clean_room.mode);
  EXPECT_EQ(from_schema.plan.implement_agent, plain.plan.implement_agent);
  EXPECT_EQ(from_schema.plan.review_agent, plain.plan.review_agent);
  EXPECT_EQ(from_schema.plan.review_fix_agent, plain.plan.review_fix_agent);
  EXPECT_EQ(from_schema.hooks.commands.allow, plain.hooks.commands.allow);
  EXPECT_EQ(from_schema.hooks.commands.deny, plain.hooks.commands.deny);
  EXPECT_EQ(from_schema.hooks.commands.categories, plain.hooks.commands.categories);
  EXPECT_EQ(from_schema.sandbox.mode, plain.sandbox.mode);
  EXPECT_EQ(from_schema.sandbox.hosts, plain.sandbox.hosts);
  EXPECT_EQ(from_schema.sandbox.resolve, plain.sandbox.resolve);
  EXPECT_EQ(from_schema.sandbox.check_network, plain.sandbox.check_network);
  EXPECT_EQ(from_schema.sandbox.checks_on_host, plain.sandbox.checks_on_host);
  EXPECT_EQ(from_schema.sandbox.network, plain.sandbox.network);
  EXPECT_EQ(from_schema.sandbox.environment, plain.sandbox.environment);
  EXPECT_EQ(from_schema.sandbox.read_only, plain.sandbox.read_only);
  EXPECT_EQ(from_schema.sandbox.writable, plain.sandbox.writable);
  EXPECT_EQ(from_schema.sandbox.processes, plain.sandbox.processes);
  EXPECT_EQ(from_schema.sandbox.memory_mb, plain.sandbox.memory_mb);
  EXPECT_EQ(from_schema.sandbox.cpu_percent, plain.sandbox.cpu_percent);
  EXPECT_EQ(from_schema.budget.max_minutes, plain.budget.max_minutes);
  EXPECT_EQ(from_schema.journal.max_stream_mb, plain.journal.max_stream_mb);
  EXPECT_EQ(from_schema.output.emoji, plain.output.emoji);
  EXPECT_EQ(from_schema.output.color, plain.output.color);
  EXPECT_EQ(from_schema.output.timestamps, plain.output.timestamps);
  EXPECT_EQ(from_schema.output.max_tool_lines, plain.output.max_tool_lines);
  EXPECT_EQ(from_schema.output.max_tool_chars, plain.output.max_tool_chars);
  EXPECT_EQ(from_schema.output.thinking, plain.output.thinking);
}

TEST_F(SettingsTest, ABriefLoadGivesTheSameSettings) {
  const auto brief = [&] { return load_settings_briefly(project_, Environment::of_this_process()); };
  EXPECT_EQ(brief()->settings.maximum_iterations, 10);
  EXPECT_TRUE(brief()->effective.is_null());
  EXPECT_TRUE(check_schema(parsed_settings_schema(), json::object())->empty()) << "empty settings are valid";
  base(R"({"maximumIterations": 3, "guardrails": [{"command": "x"}], "protect": {"paths": ["a"]}})");
  EXPECT_EQ(brief()->settings.maximum_iterations, 3);
  EXPECT_EQ(brief()->settings.guardrails[0].fail_action, FailAction::kAppend);
  EXPECT_EQ(brief()->settings.protect.paths, std::vector<std::string>{"a"});
  EXPECT_EQ(brief()->settings.protect.on_change, OnChange::kRestore);
  base(R"({"maximumIterations": "three"})");
  EXPECT_FALSE(brief()) << "it is checked nevertheless";
}

TEST_F(SettingsTest, TheSchemaItselfIsUnderstoodAndItsExamplesAndDefaultsFitIt) {
  const auto check = [](auto&& self, const json::value& schema) -> void {
    if (const json::value* value = find(schema, "default")) {
      const auto problems = check_schema(schema, *value);
      ASSERT_TRUE(problems) << problems.error().message;
      EXPECT_TRUE(problems->empty()) << json::serialize(*value);
    }
    if (const json::value* examples = find(schema, "examples")) {
      for (const json::value& example : examples->as_array()) {
        const auto problems = check_schema(schema, example);
        ASSERT_TRUE(problems) << problems.error().message;
        EXPECT_TRUE(problems->empty()) << json::serialize(example);
      }
    }
    if (const json::value* properties = find(schema, "properties")) {
      for (const auto& property : properties->as_object()) self(self, property.value());
    }
    if (const json::value* items = find(schema, "items")) self(self, *items);
  };
  check(check, parsed_settings_schema());
}

TEST_F(SettingsTest, ReadsEveryKey) {
  base(R"({
    "$schema": "x", "maximumIterations": 3, "completionResponse": "OK", "outputTruncateChars": 9,
    "streamAgentOutput": false, "includeIterationCountInPrompt": true,
    "agent": {"command": "./a b.sh", "flags": ["--model opus"], "promptVia": "stdin", "env": {"A_1": "x"},
              "timeoutSeconds": 1.5, "idleTimeoutSeconds": 2, "retry": {"attempts": 0, "backoffSeconds": 0.1,
              "maxBackoffSeconds": 1}},
    "guardrails": [{"command": "make", "failAction": "replace", "hint": "h", "name": "n", "timeoutSeconds": 7},
                   {"command": "true", "failAction": "PREPEND"}, {"command": "blank", "failAction": " "}],
    "scm": {"command": "git", "tasks": ["commit", "push"], "addAll": false},
    "plan": {"maximumIterations": 40, "reviewCap": 2, "skipReview": true, "verifyTimeoutSeconds": 2.5,
             "cleanRoom": {"mode": "on", "setup": ""},
             "agents": {"implement": "claude", "review": "codex", "reviewFix": "./fix"}},
    "task": {"maxRestarts": 7, "restartDelaySeconds": 0.5, "childWaitSeconds": 8, "doneGraceSeconds": 9,
             "pollSeconds": 0.25, "idleTimeoutSeconds": 10, "runTimeoutSeconds": 11, "agent": "codex"},
    "budget": {"maxMinutes": 5}})");
  // Settings that loosen the command policy count only in the user's own file.
  ASSERT_TRUE(make_directories(project_ + "/config/ralph"));
  ASSERT_TRUE(write_file_atomically(
      project_ + "/config/ralph/settings.json",
      R"({"hooks": {"commands": {"allow": ["npm publish"], "deny": ["git reset *"], "categories": {"publish": false}}}})"));
  const Settings s = load();
  EXPECT_EQ(s.hooks.commands.allow, std::vector<std::string>{"npm publish"});
  EXPECT_EQ(s.hooks.commands.deny, std::vector<std::string>{"git reset *"});
  EXPECT_EQ(s.hooks.commands.categories, (std::map<std::string, bool>{{"publish", false}}));
  EXPECT_EQ(s.maximum_iterations, 3);
  EXPECT_EQ(s.completion_response, "OK");
  EXPECT_EQ(s.output_truncate_chars, 9);
  EXPECT_FALSE(s.stream_agent_output);
  EXPECT_TRUE(s.include_iteration_count_in_prompt);
  EXPECT_EQ(s.agent.command, "./a b.sh");
  EXPECT_EQ(s.agent.flags, std::vector<std::string>{"--model opus"});
  EXPECT_EQ(s.agent.prompt_via, PromptVia::kStdin);
  EXPECT_EQ(s.agent.env.at("A_1"), "x");
  EXPECT_EQ(s.agent.timeout_seconds, 1.5);
  EXPECT_EQ(s.agent.idle_timeout_seconds, 2);
  EXPECT_EQ(s.agent.retry.attempts, 0);
  EXPECT_EQ(s.agent.retry.backoff_seconds, 0.1);
  EXPECT_EQ(s.agent.retry.max_backoff_seconds, 1);
  ASSERT_EQ(s.guardrails.size(), 3u);
  EXPECT_EQ(to_string(s.guardrails[0].fail_action), "REPLACE");
  EXPECT_EQ(s.guardrails[0].hint, "h");
  EXPECT_EQ(s.guardrails[0].name, "n");
  EXPECT_EQ(s.guardrails[0].timeout_seconds, 7);
  EXPECT_EQ(to_string(s.guardrails[1].fail_action), "PREPEND");
  EXPECT_EQ(to_string(s.guardrails[2].fail_action), "APPEND") << "blank";
  EXPECT_EQ(s.scm->tasks, (std::vector<std::string>{"commit", "push"}));
  EXPECT_FALSE(s.scm->add_all);
  EXPECT_EQ(s.plan.maximum_iterations, 40);
  EXPECT_EQ(s.plan.review_cap, 2);
  EXPECT_TRUE(s.plan.skip_review);
  EXPECT_EQ(s.plan.verify_timeout_seconds, 2.5);
  EXPECT_EQ(s.plan.clean_room.mode, "on");
  EXPECT_EQ(s.plan.clean_room.setup, "");
  EXPECT_EQ(s.plan.implement_agent, "claude");
  EXPECT_EQ(s.plan.review_agent, "codex");
  EXPECT_EQ(s.plan.review_fix_agent, "./fix");
  EXPECT_EQ(s.task.max_restarts, 7);
  EXPECT_EQ(s.task.restart_delay_seconds, 0.5);
  EXPECT_EQ(s.task.child_wait_seconds, 8);
  EXPECT_EQ(s.task.done_grace_seconds, 9);
  EXPECT_EQ(s.task.poll_seconds, 0.25);
  EXPECT_EQ(s.task.idle_timeout_seconds, 10);
  EXPECT_EQ(s.task.run_timeout_seconds, 11);
  EXPECT_EQ(s.task.agent, "codex");
  EXPECT_EQ(s.budget.max_minutes, 5);
}

TEST_F(SettingsTest, LocalOverridesBaseAndFlagsOverrideBoth) {
  base(R"({"maximumIterations": 5, "agent": {"command": "claude", "flags": ["--model opus"]},
           "scm": {"command": "git", "tasks": ["commit"]}})");
  local(R"({"maximumIterations": 7, "agent": {"flags": ["--verbose"]}, "scm": {"tasks": ["push"]}})");
  Overrides flags;
  flags.values["completionResponse"] = "YES";
  flags.flags["/completionResponse"] = "-c";
  const auto loaded = load_settings(project_, flags);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->settings.maximum_iterations, 7);
  EXPECT_EQ(loaded->settings.agent.command, "claude");
  EXPECT_EQ(loaded->settings.agent.flags, std::vector<std::string>{"--verbose"});
  EXPECT_EQ(loaded->settings.scm->tasks, std::vector<std::string>{"push"});
  EXPECT_EQ(loaded->files, (std::vector<std::string>{".ralph/settings.json", ".ralph/settings.local.json"}));

  std::map<std::string, std::string> sources;
  for (const Origin& origin : loaded->origins) sources[origin.pointer] = origin.source;
  EXPECT_EQ(sources.at("/maximumIterations"), ".ralph/settings.local.json");
  EXPECT_EQ(sources.at("/agent/command"), ".ralph/settings.json");
  EXPECT_EQ(sources.at("/agent/flags"), ".ralph/settings.local.json");
  EXPECT_EQ(sources.at("/completionResponse"), "-c");
  EXPECT_EQ(sources.at("/scm/command"), ".ralph/settings.json");
  EXPECT_EQ(sources.at("/scm/addAll"), "default");
}

TEST_F(SettingsTest, OmittedKeysInALocalListAreDefaultsNotTheReplacedLists) {
  base(R"({"guardrails": [{"command": "x", "timeoutSeconds": 5}]})");
  local(R"({"guardrails": [{"command": "y"}]})");
  const auto loaded = load_settings(project_);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->settings.guardrails[0].timeout_seconds, 0);
  std::map<std::string, std::string> sources;
  for (const Origin& origin : loaded->origins) sources[origin.pointer] = origin.source;
  EXPECT_EQ(sources.at("/guardrails"), ".ralph/settings.local.json");
  EXPECT_EQ(sources.at("/guardrails/0/command"), ".ralph/settings.local.json");
  EXPECT_EQ(sources.at("/guardrails/0/timeoutSeconds"), "default");
}

TEST_F(SettingsTest, OutputIsReadAndAutoLeavesTheChoiceToTheTerminal) {
  base(R"({"output": {"emoji": false, "color": "auto", "timestamps": true, "maxToolLines": 0, "thinking": true}})");
  const OutputSettings output = load().output;
  EXPECT_EQ(output.emoji, false);
  EXPECT_EQ(output.color, std::nullopt);
  EXPECT_TRUE(output.timestamps);
  EXPECT_EQ(output.max_tool_lines, 0);
  EXPECT_TRUE(output.thinking);
  base(R"({"output": {"emoji": "yes"}})");
  EXPECT_EQ(error(),
            R"(.ralph/settings.json:1:22: output.emoji: expected "auto", true or false, found "yes" (a string))");
}

TEST_F(SettingsTest, NullTurnsSourceControlOff) {
  base(R"({"scm": {"command": "git", "tasks": ["commit"]}})");
  local(R"({"scm": null})");
  EXPECT_FALSE(load().scm);
}

TEST_F(SettingsTest, AMissingAgentIsNotAnErrorHere) {
  base("{}");
  EXPECT_EQ(load().agent.command, "");
}

TEST_F(SettingsTest, ErrorsNameTheFilePositionValueAndExpectation) {
  struct Row {
    std::string_view text;
    std::string_view error;  // after ".ralph/settings.json:"
  };
  const Row rows[] = {
      {"{\n  \"maximumIterations\": \"x\"}",
       R"(2:24: maximumIterations: expected a whole number of at least 1, found "x" (a string))"},
      {R"({"maximumIterations": 0})",
       "1:23: maximumIterations: expected a whole number of at least 1, found 0 (a number)"},
      {R"({"maximumIterations": 1e99})",
       "1:23: maximumIterations: expected a whole number of at most 1000000, found 1e+99 (a number)"},
      {R"({"maxIterations": 1})", R"(1:2: unknown key "maxIterations"; did you mean "maximumIterations"?)"},
      {R"({"agent": {"comand": "x"}})", R"(1:12: agent: unknown key "comand"; did you mean "command"?)"},
      {R"({"agent": {"command": " "}})",
       R"(1:23: agent.command: expected the name or path of a program, found " " (a string))"},
      {R"({"agent": {"flags": ["a", "b", "--x 'y"]}})", "1:32: agent.flags[2]: unclosed ' in: --x 'y"},
      {R"({"agent": {"flags": "--x"}})", R"(1:21: agent.flags: expected a list [...], found "--x" (a string))"},
      {R"({"agent": {"promptVia": "stin"}})",
       R"(1:25: agent.promptVia: expected "argument", "stdin" or "file", found "stin" (a string); did you mean "stdin"?)"},
      {R"({"agent": {"env": {"A B": "x"}}})",
       R"(1:20: agent.env: expected the name of a variable (letters, digits and _, no digit first), found "A B")"},
      {R"({"agent": {"env": {"TOKEN": 12345}}})", "1:29: agent.env.TOKEN: expected a string, found a number"},
      {R"({"agent": {"command": "a\u0000b"}})",
       "1:23: agent.command: a NUL character (\\u0000) cannot be passed to a program; remove it"},
      {R"({"guardrails": [{"command": "  "}]})",
       R"(1:29: guardrails[0].command: expected a command that is not blank, found "  " (a string))"},
      {R"({"guardrails": [{"command": "x", "failAction": "APPEND x"}]})",
       R"(1:48: guardrails[0].failAction: expected "APPEND", "PREPEND" or "REPLACE", found "APPEND x" (a string); did you mean "APPEND"?)"},
      {R"({"guardrails": [{"failAction": "APPEND"}]})",
       R"(1:17: guardrails[0]: the key "command" is missing; it is a string)"},
      {R"({"guardrails": [{"command": "x", "failAction": "APEND"}]})",
       R"(1:48: guardrails[0].failAction: expected "APPEND", "PREPEND" or "REPLACE", found "APEND" (a string); did you mean "APPEND"?)"},
      {R"({"scm": {"tasks": []}})", R"(1:9: scm: the key "command" is missing; it is a string)"},
      {R"({"outputTruncateChars": 0})",
       "1:25: outputTruncateChars: expected a whole number of at least 1, found 0 (a number)"},
      {"[]", "1:1: the top level: expected an object {...}, found an empty list"},
      {"{\"a\": 1,}", "1:8: remove this comma: nothing follows it before '}'"},
      {"", "1:1: expected a JSON value, but there is nothing here"},
  };
  for (const Row& row : rows) {
    base(row.text);
    EXPECT_EQ(error(), fmt::format(".ralph/settings.json:{}", row.error)) << row.text;
    EXPECT_EQ(kind_, ErrorKind::kInput);
  }
}

TEST_F(SettingsTest, AllProblemsOfAFileAreReportedInItsOrder) {
  base("{\n\"maximumIterations\": 0,\n\"agent\": {\"flags\": [1]},\n\"x\": 1}");
  EXPECT_EQ(
      error(),
      ".ralph/settings.json:2:22: maximumIterations: expected a whole number of at least 1, found 0 (a number)\n"
      ".ralph/settings.json:3:21: agent.flags[0]: expected a string, found 1 (a number)\n"
      ".ralph/settings.json:4:1: unknown key \"x\"; the keys here are maximumIterations, completionResponse, "
      "outputTruncateChars, streamAgentOutput, includeIterationCountInPrompt, agent, agents, guardrails, protect, "
      "scm, diagnostics, plan, task, trust, trustedFolders, hooks, sandbox, budget, journal and output");
}

TEST_F(SettingsTest, ErrorsInTheLocalFileNameTheLocalFile) {
  base("{}");
  local("{\"guardrails\": [{}]}");
  EXPECT_TRUE(error().starts_with(".ralph/settings.local.json:1:17: guardrails[0]: ")) << error();
}

TEST_F(SettingsTest, ErrorsInFlagsNameTheFlag) {
  Overrides flags;
  flags.values["maximumIterations"] = 0;
  flags.flags["/maximumIterations"] = "-m";
  EXPECT_EQ(error(flags), "-m: expected a whole number of at least 1, found 0 (a number)");
  EXPECT_EQ(kind_, ErrorKind::kUsage);
}

TEST_F(SettingsTest, AnUnreadableFileIsAnErrorAndNotAMissingFile) {
  const std::string path = project_ + "/.ralph/settings.json";
  ASSERT_EQ(::mkdir(path.c_str(), 0755), 0);
  EXPECT_EQ(error(), "cannot read .ralph/settings.json: it is a folder, not a file");
  std::filesystem::remove(path);

  ASSERT_EQ(::symlink("nowhere", path.c_str()), 0);
  EXPECT_EQ(error(), "cannot read .ralph/settings.json: No such file or directory (it is a link)");
  std::filesystem::remove(path);

  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(error(), "cannot read .ralph/settings.json: it is not a regular file");
  std::filesystem::remove(path);

  if (::geteuid() != 0) {
    base("{}");
    ASSERT_EQ(::chmod(path.c_str(), 0), 0);
    EXPECT_EQ(error(), "cannot read .ralph/settings.json: Permission denied");
    EXPECT_EQ(kind_, ErrorKind::kInput);
  }
}

TEST_F(SettingsTest, ALinkToARealFileIsFollowed) {
  ASSERT_TRUE(write_file_atomically(project_ + "/shared.json", R"({"maximumIterations": 4})"));
  ASSERT_EQ(::symlink("../shared.json", (project_ + "/.ralph/settings.json").c_str()), 0);
  EXPECT_EQ(load().maximum_iterations, 4);
}

}  // namespace
}  // namespace ralph
