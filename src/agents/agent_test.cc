#include "agents/agent.h"

#include <filesystem>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "os/scratch_folder.h"

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

  // The arguments, with the program's folder as "@".
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

TEST_F(AgentTest, IsStartedAsItsKindWantsIt) {
  struct Row {
    std::string command;
    std::string name;
    Words argv;
    std::string input;
  };
  const Row rows[] = {
      {"claude", "claude", {"@/bin/claude", "-p", "--output-format", "text", "--flag"}, "Do it."},
      {"codex", "codex", {"@/bin/codex", "exec", "--sandbox", "workspace-write", "--flag", "-"}, "Do it."},
      {"amp", "amp", {"@/bin/amp", "--dangerously-allow-all", "--flag", "-x", "Do it."}, ""},
      {"gemini", "gemini", {"@/bin/gemini", "--yolo", "--skip-trust", "--flag"}, "Do it."},
      {"opencode", "opencode", {"@/bin/opencode", "run", "--flag"}, "Do it."},
      {"my-agent", "custom", {"@/bin/my-agent", "--flag", "Do it."}, ""},
      {"bin/claude", "claude", {"@/bin/claude", "-p", "--output-format", "text", "--flag"}, "Do it."},
      {"claude --resume", "claude", {"@/bin/claude", "--resume", "-p", "--output-format", "text", "--flag"}, "Do it."},
      {"python3 'my agent.py'", "custom", {"@/bin/python3", "my agent.py", "--flag", "Do it."}, ""},
      {"two words", "custom", {"@/bin/two words", "--flag", "Do it."}, ""},
      {"./bin/two words", "custom", {"@/./bin/two words", "--flag", "Do it."}, ""},
      {"'./bin/two words' more", "custom", {"@/./bin/two words", "more", "--flag", "Do it."}, ""},
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
  for (const AgentKind& kind : known_agents()) names.emplace_back(kind.name);
  EXPECT_EQ(names, (Words{"claude", "codex", "amp", "gemini", "opencode", "ralph-demo-agent"}));
}

TEST_F(AgentTest, OfTheDemoIsRalphItself) {
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

TEST_F(AgentTest, ThePromptGoesTheWayThatSettingsSay) {
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
      {"opencode", PromptPath::kArgument, {"@/bin/opencode", "run", "Do it."}, ""},
      {"amp", PromptPath::kStdin, {"@/bin/amp", "--dangerously-allow-all", "-x"}, "Do it."},
  };
  for (const Row& row : rows) {
    const Launch started = launch({row.command, {}, row.path, {}});
    EXPECT_EQ(argv_of(started), row.argv) << row.command;
    EXPECT_EQ(started.input, row.input) << row.command;
  }
}

TEST_F(AgentTest, APromptThatIsNoArgumentGoesToStandardInput) {
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
  const Launch started = agent->launch("Do it.", {{"KEY", "run"}, {"RUN", "run"}});
  EXPECT_EQ(started.environment.as_lines(),
            (Words{"FROM=settings", "KEY=run", "MORE=settings", "PATH=" + folder_ / "bin", "RUN=run"}));
  EXPECT_EQ(agent->launch("Do it.", {}).environment.get("KEY"), "settings");
}

TEST_F(AgentTest, IsLookedUpOnThePathThatSettingsSet) {
  EXPECT_EQ(error_of({"my-agent", {}, {}, {{"PATH", "/nonexistent"}}}), "my-agent was not found on PATH");
}

TEST_F(AgentTest, ThatIsMissingOrBlankIsAnError) {
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
