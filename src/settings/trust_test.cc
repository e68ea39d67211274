#include "settings/trust.h"

#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/files.h"
#include "os/scratch_folder_for_tests.h"
#include "settings/confined.h"
#include "settings/owner.h"

namespace ralph {
namespace {

SettingValues values(std::string_view project, std::string_view user = "{}") {
  LoadedSettings loaded;
  loaded.project = parse_json(project, "project").value().as_object();
  loaded.user = parse_json(user, "user").value().as_object();
  return values_of(loaded, [](const std::string&, const json::value& value) { return to_compact_json(value); });
}

TEST(Trust, TellsCommandsFromOtherSettings) {
  struct Row {
    std::string_view pointer;
    bool commands;
  };
  for (const Row& row : std::initializer_list<Row>{{"/agent/command", true},
                                                   {"/agent/flags", true},
                                                   {"/agent/env/LD_PRELOAD", true},
                                                   {"/agents/mine/command", true},
                                                   {"/guardrails", true},
                                                   {"/scm/tasks", true},
                                                   {"/plan/agents/review", true},
                                                   {kVerifyCommands, true},
                                                   {"/plan/reviewCap", false},
                                                   {"/agent/timeoutSeconds", false},
                                                   {"/maximumIterations", false},
                                                   {"~/agent/command", false}})
    EXPECT_EQ(names_commands(row.pointer), row.commands) << row.pointer;
}

TEST(Trust, OnlyRealCommandsAreCalledCommands) {
  for (const char* pointer : {"/agent/command", "/agent/flags", "/agents/x/command", "/guardrails", "/scm/tasks",
                              "/plan/cleanRoom/setup", "/plan/verifyCommands", "/plan/agents/review", "/task/agent"})
    EXPECT_TRUE(is_command(pointer)) << pointer;
  for (const char* pointer :
       {"/task/maxRestarts", "/diagnostics/exclude", "/agent/env/X", "/sandbox/mode", "/maximumIterations"})
    EXPECT_FALSE(is_command(pointer)) << pointer;
}

TEST(Trust, VerifyCommandsAreKeptWhereThereIsNoPlan) {
  const SettingValues plain = values(R"({"guardrails": [{"command": "make"}]})", "{}");
  SettingValues with_plan = plain, other_plan = plain;
  with_plan.emplace(kVerifyCommands, verify_commands_value({"make test"}));
  other_plan.emplace(kVerifyCommands, verify_commands_value({"true"}));
  TrustRecord record;
  record.accept(plain, "you", "now");
  EXPECT_FALSE(record.accepts(with_plan)) << "nobody has seen them";
  record.accept(with_plan, "you", "now");
  EXPECT_TRUE(record.accepts(with_plan));
  EXPECT_TRUE(record.accepts(plain)) << "a command that runs no plan";
  EXPECT_FALSE(record.accepts(other_plan));
  record.accept(plain, "you", "now");
  EXPECT_TRUE(record.accepts(with_plan));
  record.running = "pid 1";
  record.seen = with_plan;
  EXPECT_TRUE(record.changed_under_agent(other_plan).empty()) << "an agent may add some";
}

TEST(Trust, DifferencesAreOneLineEach) {
  const SettingValues then =
      values(R"({"guardrails": [{"command": "make"}], "maximumIterations": 3})", R"({"trust": "ask"})");
  const SettingValues now = values(R"({"agent": {"command": "x"}, "maximumIterations": 4, "output": {"emoji": true}})",
                                   R"({"trust": "off"})");
  EXPECT_EQ(differences(then, now, Concern::kCommands),
            (std::vector<std::string>{R"(agent.command: "x", was not set)",
                                      R"(guardrails: not set, was [{"command":"make"}])"}));
  EXPECT_EQ(differences(then, now, Concern::kAll),
            (std::vector<std::string>{R"(agent.command: "x", was not set)",
                                      R"(guardrails: not set, was [{"command":"make"}])", "maximumIterations: 4, was 3",
                                      R"(your own settings: trust: "off", was "ask")"}));
  EXPECT_TRUE(differences(now, now, Concern::kAll).empty());
}

TEST(Trust, ARecordComesBackAsItWasSaved) {
  const ScratchFolder folder;
  Environment environment;
  environment.set("XDG_STATE_HOME", folder.path());
  environment.set("HOME", folder.path());
  const std::string project = join_path(folder.path(), "project");
  const SettingValues then = values(R"({"agent": {"command": "x"}})"), now = values(R"({"agent": {"command": "y"}})");
  TrustRecord record = load_trust(environment, project);
  EXPECT_FALSE(record.known || record.is_accepted() || record.accepts(then));
  record.accept(then, "ralph trust", "now");
  record.mode = TrustMode::kRequire;
  ASSERT_TRUE(save_trust(environment, record));
  record = load_trust(environment, project);
  EXPECT_TRUE(record.known && record.accepts(then));
  EXPECT_FALSE(record.accepts(now));
  EXPECT_EQ(record.mode, TrustMode::kRequire);
  EXPECT_TRUE(record.changed_under_agent(now).empty()) << "no run was active";
  record.running = "pid 1";
  EXPECT_EQ(record.changed_under_agent(now), std::vector<std::string>{R"(agent.command: "y", was "x")"});
  EXPECT_TRUE(record.changed_under_agent(then).empty());
}

TEST(Trust, AProjectIsAcceptedOnlyAsItWas) {
  const ScratchFolder folder;
  Environment environment;
  environment.set("XDG_STATE_HOME", folder.path());
  const std::string project = join_path(folder.path(), "project"), file = join_path(project, ".ralph/settings.json");
  ASSERT_TRUE(make_directories(parent_path(file)));
  ASSERT_TRUE(write_file_atomically(file, R"({"agent": {"command": "x"}})"));
  EXPECT_FALSE(project_is_accepted(environment, project));
  TrustRecord record = load_trust(environment, project);
  record.accept(values(R"({"agent": {"command": "x"}})"), "ralph trust", "now");
  ASSERT_TRUE(save_trust(environment, record));
  EXPECT_TRUE(project_is_accepted(environment, project));
  ASSERT_TRUE(write_file_atomically(file, R"({"agent": {"command": "x"}, "maximumIterations": 3})"));
  EXPECT_TRUE(project_is_accepted(environment, project)) << "no command changed";
  ASSERT_TRUE(write_file_atomically(file, R"({"agent": {"command": "y"}})"));
  EXPECT_FALSE(project_is_accepted(environment, project));
  ASSERT_TRUE(write_file_atomically(file, "{"));
  EXPECT_FALSE(project_is_accepted(environment, project));
}

TEST(Confine, RemovesSettingsThatOnlyTheUserMaySet) {
  Layer layer{"s", "s.json", "",
              parse_json(R"({"trust": "off", "maximumIterations": 1, "hooks": {"commands": {
      "allow": ["a"], "deny": ["b"], "categories": {"publish": false, "privilege": true}}}})",
                         "s")
                  .value()
                  .as_object()};
  const std::vector<std::string> lines = confine(layer, {}, "/home/me/.config/ralph/settings.json");
  const json::value left =
      parse_json(
          R"({"maximumIterations": 1, "hooks": {"commands": {"deny": ["b"], "categories": {"privilege": true}}}})",
          "left")
          .value();
  EXPECT_EQ(json::value(layer.values), left) << json::serialize(layer.values);
  ASSERT_EQ(lines.size(), 3U);
  for (const std::string& line : lines)
    EXPECT_NE(line.find("move it to /home/me/.config/ralph/settings.json"), line.npos);
}

TEST(Confine, SettingsThatTheUserHasTooNeedNoLine) {
  const json::object user =
      parse_json(R"({"hooks": {"commands": {"allow": ["a"], "categories": {"publish": false}}}})", "u")
          .value()
          .as_object();
  Layer layer{"s", "s.json", "", user};
  EXPECT_TRUE(confine(layer, user, "u").empty());
}

TEST(Owners, TrustThisUserAndRoot) {
  const ScratchFolder folder;
  Environment environment;
  Owners owners = Owners::of_this_process(environment);
  ASSERT_TRUE(write_file_atomically(join_path(folder.path(), "file"), "x"));
  EXPECT_EQ(owners.fault(folder.path(), "file"), "");
  EXPECT_EQ(owners.fault(folder.path(), "missing"), "");
  EXPECT_EQ(owners.fault_above(folder.path(), "file"), "");
  EXPECT_TRUE(owners.include(0) && owners.include(::geteuid()) && !owners.include(54321));
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  EXPECT_EQ(owners.fault(folder.path(), "file"), "");
  EXPECT_NE(owners.fault_above(folder.path(), "file"), "");
  owners.accept({folder.path()});
  EXPECT_EQ(owners.fault_above(folder.path(), "file"), "");
}

}  // namespace
}  // namespace ralph
