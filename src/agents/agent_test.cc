#include "agents/agent.h"

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

using Words = std::vector<std::string>;

class AgentTest : public ::testing::Test {
 protected:
  AgentTest() {
    std::filesystem::create_directory(folder_ / "bin");
    for (const char* name : {"claude", "codex", "amp", "gemini", "opencode", "my-agent", "two words", "python3"}) {
      const std::string path = folder_ / "bin/" + name;
      ScratchFolder::write(path, "#!/bin/sh\n");
      ::chmod(path.c_str(), 0755);
    }
    environment_.set("PATH", folder_ / "bin");
    environment_.set("FROM", "outside");
  }

  Result<Agent> make(const Agent::Setup& setup) const { return Agent::make(setup, environment_, folder_.path()); }

  // The arguments, with the program's folder replaced by "@".
  Words argv_of(const Launch& launch) const {
    Words argv = launch.argv;
    for (std::string& word : argv) {
      const size_t at = word.find(folder_.path());
      if (at != std::string::npos) word.replace(at, folder_.path().size(), "@");
    }
    return argv;
  }

  Launch launch(const Agent::Setup& setup, const std::string& prompt = "Do it.") const {
    const auto agent = make(setup);
    EXPECT_TRUE(agent) << (agent ? "" : agent.error().message);
    return agent ? agent->launch(prompt, {}) : Launch{};
  }

  std::string error_of(const Agent::Setup& setup) const {
    const auto agent = make(setup);
    return agent ? "no error" : agent.error().message;
  }

  ScratchFolder folder_;
  Environment environment_;
};

TEST_F(AgentTest, GetsHooksByItsOwnFlags) {
  const std::vector<AgentHook> hooks = {{"PreToolUse", ".*", "touch pre", 10}, {"Stop", "", "say \"x\"", 60}};
  const auto with_hooks = [&](const Agent::Setup& setup) {
    auto agent = make(setup);
    EXPECT_TRUE(agent && agent->use_hooks(hooks) && agent->has_hooks());
    return agent->launch("x", {}).argv;
  };
  const Words claude = with_hooks({.command = "claude"});
  const auto flag = std::find(claude.begin(), claude.end(), "--settings");
  ASSERT_NE(flag, claude.end());
  EXPECT_EQ(
      *(flag + 1),
      R"({"hooks":{"PreToolUse":[{"matcher":".*","hooks":[{"type":"command","command":"touch pre","timeout":10}]}],)"
      R"("Stop":[{"hooks":[{"type":"command","command":"say \"x\"","timeout":60}]}]}})");
  const Words codex = with_hooks({.command = "codex", .flags = {"--full-auto"}});
  EXPECT_NE(std::find(codex.begin(), codex.end(),
                      R"(hooks.PreToolUse=[{matcher=".*",hooks=[{type="command",command="touch pre",timeout=10}]}])"),
            codex.end());
  EXPECT_NE(std::find(codex.begin(), codex.end(),
                      R"(hooks.Stop=[{hooks=[{type="command",command="say \"x\"",timeout=60}]}])"),
            codex.end());
  const auto state =
      std::find_if(codex.begin(), codex.end(), [](const std::string& w) { return w.starts_with("hooks.state="); });
  ASSERT_NE(state, codex.end());
  // As codex 0.166 itself names and hashes this hook (its app-server's hooks/list).
  EXPECT_NE(state->find(R"("/<session-flags>/config.toml:pre_tool_use:0:0"={trusted_hash=)"
                        R"("sha256:2f59069cab8125525d39c8c4c71d8f913ff4802f144df53cf828b897efa514f9"})"),
            std::string::npos)
      << *state;
}

TEST_F(AgentTest, GetsHooksByAFileThatAVariableNames) {
  auto opencode = make({.command = "opencode"});
  ASSERT_TRUE(opencode && opencode->use_hooks({{"tool", "", "x", 1}}, "the plugin"));
  EXPECT_EQ(opencode->hooks_text(), "the plugin");
  EXPECT_EQ(opencode->launch("x", {.hooks_file = "/a b/c\"d"}).environment.get("OPENCODE_CONFIG_CONTENT"),
            R"({"plugin":["file:///a%20b/c%22d"]})");
  EXPECT_FALSE(opencode->launch("x").environment.get("OPENCODE_CONFIG_CONTENT"));
  auto gemini = Agent::make({.command = "gemini"}, environment_, "/");
  ASSERT_TRUE(gemini);
  if (::geteuid() != 0) return;  // it does not trust a file of an ordinary user
  ASSERT_TRUE(gemini->use_hooks({{"BeforeTool", ".*", "touch pre", 10000}}));
  EXPECT_EQ(
      gemini->hooks_text(),
      R"({"hooks":{"BeforeTool":[{"matcher":".*","hooks":[{"type":"command","command":"touch pre","timeout":10000}]}]}})");
  EXPECT_EQ(gemini->launch("x", {.hooks_file = "/a b/c"}).environment.get("GEMINI_CLI_SYSTEM_DEFAULTS_PATH"), "/a b/c");
}

TEST_F(AgentTest, GetsNoHooksIfTheyWouldOverrideTheUsers) {
  for (const Agent::Setup& setup :
       {Agent::Setup{.command = "my-agent"},
        Agent::Setup{.command = "gemini", .env = {{"GEMINI_CLI_SYSTEM_DEFAULTS_PATH", "x"}}},
        Agent::Setup{.command = "claude", .flags = {"--settings mine.json"}},
        Agent::Setup{.command = "claude", .flags = {"--settings={}"}}}) {
    auto agent = make(setup);
    ASSERT_TRUE(agent);
    EXPECT_FALSE(agent->use_hooks({{"Stop", "", "x", 1}})) << setup.command;
    EXPECT_FALSE(agent->has_hooks());
  }
}

TEST_F(AgentTest, IsStartedWithTheFlagsOfItsKind) {
  struct Row {
    std::string command;
    std::string name;
    Words argv;
    std::string input;
  };
  const Row rows[] = {
      {"claude", "claude", {"@/bin/claude", "-p", "--output-format", "stream-json", "--verbose", "--flag"}, "Do it."},
      {"codex",
       "codex",
       {"@/bin/codex", "exec", "--json", "--sandbox", "workspace-write", "--skip-git-repo-check", "--flag", "-"},
       "Do it."},
      {"amp", "amp", {"@/bin/amp", "--stream-json", "--dangerously-allow-all", "--flag", "-x", "Do it."}, ""},
      {"gemini", "gemini", {"@/bin/gemini", "--yolo", "--output-format", "stream-json", "--flag"}, "Do it."},
      {"opencode", "opencode", {"@/bin/opencode", "run", "--format", "json", "--flag"}, "Do it."},
      {"my-agent", "my-agent", {"@/bin/my-agent", "--flag", "Do it."}, ""},
      {"bin/claude",
       "claude",
       {"@/bin/claude", "-p", "--output-format", "stream-json", "--verbose", "--flag"},
       "Do it."},
      {"claude --resume",
       "claude",
       {"@/bin/claude", "--resume", "-p", "--output-format", "stream-json", "--verbose", "--flag"},
       "Do it."},
      {"python3 'my agent.py'", "python3 my agent.py", {"@/bin/python3", "my agent.py", "--flag", "Do it."}, ""},
      {"two words", "two words", {"@/bin/two words", "--flag", "Do it."}, ""},
      {"./bin/two words", "two words", {"@/./bin/two words", "--flag", "Do it."}, ""},
      {"'./bin/two words' more", "two words more", {"@/./bin/two words", "more", "--flag", "Do it."}, ""},
  };
  for (const Row& row : rows) {
    const auto agent = make({row.command, {"--flag"}, std::nullopt, {}});
    ASSERT_TRUE(agent) << row.command << ": " << agent.error().message;
    EXPECT_EQ(agent->name(), row.name) << row.command;
    const Launch started = agent->launch("Do it.", {});
    EXPECT_EQ(argv_of(started), row.argv) << row.command;
    EXPECT_EQ(started.argv[0], agent->program()) << row.command;
    EXPECT_EQ(started.input, row.input) << row.command;
    EXPECT_EQ(started.folder, folder_.path());
    EXPECT_FALSE(started.merge_streams);
  }
}

TEST_F(AgentTest, EveryKnownKindHasARowAbove) {
  Words names;
  for (const Adapter* kind : adapters()) names.emplace_back(kind->name);
  EXPECT_EQ(names, (Words{"claude", "codex", "amp", "gemini", "opencode"}));
}

TEST_F(AgentTest, TurnOptionsBecomeItsOwnFlags) {
  struct Row {
    std::string command;
    TurnOptions options;
    Words argv;
  };
  const TurnOptions text{.events = false}, resumed{.resume = "S1"}, with_model{.model = "ignored: it is a setting"};
  const Row rows[] = {
      {"claude", text, {"@/bin/claude", "-p", "--output-format", "text"}},
      {"codex",
       {.events = false, .answer_file = "words"},
       {"@/bin/codex", "exec", "-o", "words", "--sandbox", "workspace-write", "--skip-git-repo-check", "-"}},
      {"codex", text, {"@/bin/codex", "exec", "--sandbox", "workspace-write", "--skip-git-repo-check", "-"}},
      {"gemini", text, {"@/bin/gemini", "--yolo"}},
      {"opencode", text, {"@/bin/opencode", "run"}},
      {"amp", text, {"@/bin/amp", "--dangerously-allow-all", "-x", "Do it."}},
      {"claude", resumed, {"@/bin/claude", "-p", "--output-format", "stream-json", "--verbose", "--resume", "S1"}},
      {"codex",
       resumed,
       {"@/bin/codex", "exec", "--json", "--sandbox", "workspace-write", "--skip-git-repo-check", "resume", "S1", "-"}},
      {"gemini", resumed, {"@/bin/gemini", "--yolo", "--output-format", "stream-json", "--resume", "S1"}},
      {"amp",
       resumed,
       {"@/bin/amp", "threads", "continue", "S1", "--stream-json", "--dangerously-allow-all", "-x", "Do it."}},
      {"opencode", resumed, {"@/bin/opencode", "run", "--format", "json", "--session", "S1"}},
      {"my-agent", with_model, {"@/bin/my-agent", "Do it."}},
  };
  for (const Row& row : rows)
    EXPECT_EQ(argv_of(make({row.command})->launch("Do it.", row.options)), row.argv) << row.command;
}

TEST_F(AgentTest, TheUsersFlagsAreNotRepeated) {
  EXPECT_EQ(argv_of(launch({"codex", {"--dangerously-bypass-approvals-and-sandbox --skip-git-repo-check"}})),
            (Words{"@/bin/codex", "exec", "--json", "--dangerously-bypass-approvals-and-sandbox",
                   "--skip-git-repo-check", "-"}));
  EXPECT_EQ(argv_of(launch({"codex", {"--sandbox=read-only"}})),
            (Words{"@/bin/codex", "exec", "--json", "--skip-git-repo-check", "--sandbox=read-only", "-"}));
  EXPECT_EQ(argv_of(launch({"gemini", {"--approval-mode auto_edit"}})),
            (Words{"@/bin/gemini", "--output-format", "stream-json", "--approval-mode", "auto_edit"}));
}

TEST_F(AgentTest, GetsItsModelByItsOwnFlag) {
  for (const char* command : {"claude", "codex", "gemini", "opencode"}) {
    const auto agent = make({.command = command, .model = "best"});
    ASSERT_TRUE(agent);
    const Words argv = agent->launch("Do it.").argv;
    const auto flag = std::find(argv.begin(), argv.end(), "--model");
    ASSERT_NE(flag, argv.end()) << command;
    EXPECT_EQ(*(flag + 1), "best") << command;
  }
  EXPECT_NE(error_of({.command = "amp", .model = "best"}).find("no flag for a model"), std::string::npos);
  EXPECT_NE(error_of({.command = "my-agent", .model = "best"}).find("no flag for a model"), std::string::npos);
}

TEST_F(AgentTest, UnderAnotherNameIsTreatedAsItsKind) {
  const auto wrapper = make({.command = "my-agent", .kind = "claude"});
  ASSERT_TRUE(wrapper);
  EXPECT_EQ(argv_of(wrapper->launch("Do it.")),
            (Words{"@/bin/my-agent", "-p", "--output-format", "stream-json", "--verbose"}));
  EXPECT_TRUE(wrapper->reports_cost());
  const auto compatible = make({.command = "my-agent", .stream = "claude"});
  EXPECT_TRUE(compatible->prints_events(true));
  EXPECT_EQ(argv_of(compatible->launch("Do it.")), (Words{"@/bin/my-agent", "Do it."}));
  const auto plain = make({.command = "claude", .stream = "text"});
  EXPECT_FALSE(plain->prints_events(true));
  EXPECT_EQ(argv_of(plain->launch("Do it.")), (Words{"@/bin/claude", "-p", "--output-format", "text"}));
}

TEST_F(AgentTest, AnOlderVersionGetsOnlyFlagsThatItHas) {
  const std::string path = folder_ / "bin/codex";
  ScratchFolder::write(path, "#!/bin/sh\necho '  --full-auto   Convenience alias'\n");
  ::chmod(path.c_str(), 0755);
  EXPECT_EQ(argv_of(launch({"codex"})),
            (Words{"@/bin/codex", "exec", "--json", "--full-auto", "--skip-git-repo-check", "-"}));
}

TEST_F(AgentTest, IsNoChildOfTheAgentThatRalphRunsIn) {
  environment_.set("CLAUDECODE", "1");
  environment_.set("CLAUDE_CODE_SESSION_ID", "outer");
  environment_.set("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "32000");
  const Launch started = launch({"claude"});
  EXPECT_EQ(started.environment.get("CLAUDECODE"), std::nullopt);
  EXPECT_EQ(started.environment.get("CLAUDE_CODE_SESSION_ID"), std::nullopt);
  EXPECT_EQ(started.environment.get("CLAUDE_CODE_MAX_OUTPUT_TOKENS"), "32000");
}

TEST_F(AgentTest, TheDemoAgentIsRalphItself) {
  const auto agent = make({std::string(kDemoAgentCommand), {}, std::nullopt, {}});
  ASSERT_TRUE(agent);
  EXPECT_EQ(agent->name(), "demo");
  EXPECT_EQ(agent->program(), std::filesystem::read_symlink("/proc/self/exe"));
  const Launch started = agent->launch("Do it.", {});
  EXPECT_EQ(started.argv, (Words{agent->program(), "demo-agent"}));
  EXPECT_EQ(started.input, "Do it.");
}

TEST_F(AgentTest, FlagsAreSplitLikeShellWords) {
  const Launch started = launch({"my-agent", {"--model opus", "--say 'two words'", "", "--x=\"a b\""}, {}, {}});
  EXPECT_EQ(argv_of(started), (Words{"@/bin/my-agent", "--model", "opus", "--say", "two words", "--x=a b", "Do it."}));
  EXPECT_EQ(error_of({"my-agent", {"--say 'two"}, {}, {}}), "unclosed ' in: --say 'two");
}

TEST_F(AgentTest, SettingsChooseHowThePromptIsPassed) {
  struct Row {
    std::string command;
    PromptPath path;
    Words argv;
    std::string input;
  };
  const Row rows[] = {
      {"my-agent", PromptPath::kArgument, {"@/bin/my-agent", "Do it."}, ""},
      {"my-agent", PromptPath::kStdin, {"@/bin/my-agent"}, "Do it."},
      {"my-agent", PromptPath::kFile, {"@/bin/my-agent", "/dev/stdin"}, "Do it."},
      {"opencode", PromptPath::kArgument, {"@/bin/opencode", "run", "--format", "json", "Do it."}, ""},
      {"amp", PromptPath::kStdin, {"@/bin/amp", "--stream-json", "--dangerously-allow-all", "-x"}, "Do it."},
  };
  for (const Row& row : rows) {
    const Launch started = launch({row.command, {}, row.path, {}});
    EXPECT_EQ(argv_of(started), row.argv) << row.command;
    EXPECT_EQ(started.input, row.input) << row.command;
  }
}

TEST_F(AgentTest, APromptThatCannotBeAnArgumentGoesToStandardInput) {
  const std::string largest(kMaxArgumentBytes, 'x');
  EXPECT_EQ(launch({"my-agent", {}, {}, {}}, largest).argv.back(), largest);
  for (const std::string& prompt : {largest + "x", std::string("a\0b", 3)}) {
    const Launch started = launch({"my-agent", {}, {}, {}}, prompt);
    EXPECT_EQ(argv_of(started), Words{"@/bin/my-agent"});
    EXPECT_EQ(started.input, prompt);
  }
}

TEST_F(AgentTest, APromptThatFitsAloneButNotWithTheEnvironmentGoesToStandardInput) {
  for (int i = 0; i < 64; ++i) environment_.set("FILLING_" + std::to_string(i), std::string(100'000, 'x'));
  const std::string prompt(100'000, 'x');
  const Launch started = launch({"my-agent", {}, {}, {}}, prompt);
  EXPECT_EQ(argv_of(started), Words{"@/bin/my-agent"});
  EXPECT_EQ(started.input, prompt);
}

TEST_F(AgentTest, ItsEnvironmentIsTheOuterOneThenSettingsThenTheRun) {
  const auto agent = make({"my-agent", {}, {}, {{"FROM", "settings"}, {"KEY", "settings"}, {"MORE", "settings"}}});
  ASSERT_TRUE(agent);
  const Launch started = agent->launch("Do it.", {}, {{"KEY", "run"}, {"RUN", "run"}});
  EXPECT_EQ(started.environment.as_lines(),
            (Words{"FROM=settings", "KEY=run", "MORE=settings", "PATH=" + folder_ / "bin", "RUN=run"}));
  EXPECT_EQ(agent->launch("Do it.", {}).environment.get("KEY"), "settings");
}

TEST_F(AgentTest, IsLookedUpOnThePathThatSettingsSet) {
  EXPECT_EQ(error_of({"my-agent", {}, {}, {{"PATH", "/nonexistent"}}}), "my-agent was not found on PATH");
}

TEST_F(AgentTest, AMissingOrBlankCommandIsAnError) {
  ScratchFolder::write(folder_ / "data", "");
  struct Row {
    std::string command, error;
  };
  const Row rows[] = {
      {"nobody", "nobody was not found on PATH"},
      {"nobody --flag", "nobody was not found on PATH"},
      {"", "agent.command is blank; name a program, such as claude"},
      {"  ", "agent.command is blank; name a program, such as claude"},
      {"./data", folder_ / "./data is not executable; try: chmod +x " + folder_ / "./data"},
      {"'claude", "unclosed ' in: 'claude"},
  };
  for (const Row& row : rows) EXPECT_EQ(error_of({row.command, {}, {}, {}}), row.error) << row.command;
}

}  // namespace
}  // namespace ralph
