#include "policy/effort.h"

#include <string>

#include <gtest/gtest.h>

#include "os/real_paths.h"
#include "policy/command_policy.h"
#include "policy/hosts_for_tests.h"
#include "policy/tool_policy.h"

namespace ralph {
namespace {

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

struct Cost {
  size_t effort = 0, questions = 0;
  bool denied = false, is_over = false;
};

// Resolves symlinks on the disk, as in a real project.
Cost cost_of(const std::string& command, std::shared_ptr<Effort> effort = std::make_shared<Effort>()) {
  RealPaths paths;
  PolicyPlace place;
  place.project = "/srv/no-such-app";
  place.home = "/home/no-such-user";
  place.real_path = [&](const std::string& path) { return paths.of(path); };
  place.hosts = hosts_for_tests();
  const ShellSetting setting{place.home, place.project, {}, place.project, effort};
  const CommandReport report = judge_command(command, {}, place, setting);
  return {effort->spent(), paths.system_calls(), report.first.has_value(), effort->is_over()};
}

std::string deep_folder(int files) {
  return "cd " + repeated("a/", 80) + ";" + repeated(">x;", files) + "cd; rm -rf ~";
}

TEST(Effort, AMissingFolderIsLookedUpOnce) {
  const Cost cost = cost_of(deep_folder(3600));
  EXPECT_TRUE(cost.denied);
  EXPECT_FALSE(cost.is_over);
  EXPECT_LT(cost.questions, 20u) << "it used to be 2156 per file";
}

TEST(Effort, IsLinearInTheCommand) {
  const auto many = [](std::string_view text) { return [text](int times) { return repeated(text, times); }; };
  const std::vector<std::function<std::string(int)>> lines = {
      deep_folder,
      many("a;"),
      many("echo x | tr a b | grep c > d;"),
      many("rm -rf a/b;"),
      many("cp a b c;"),
      [](int n) { return "rm " + repeated("a ", n); },
      [](int n) { return "touch " + repeated("src/a.c ", n); },
      [](int n) { return "x=" + repeated("a", n) + "; echo $x"; },
      many("if a; then b; fi;"),
      many("f() { a; }; f;")};
  for (const auto& line : lines) {
    const size_t once = cost_of(line(500)).effort, twice = cost_of(line(1000)).effort;
    EXPECT_LT(twice, once * 2.3 + 1000) << line(2);
  }
}

TEST(Effort, TooMuchWorkIsDenied) {
  const std::string line =
      "{ " + repeated("echo a;", 3000) + "} | { " + repeated("cat;", 4000) + "}";  // each cat reads every echo
  const Cost cost = cost_of(line);
  EXPECT_TRUE(cost.denied);
  EXPECT_TRUE(cost.is_over);
  EXPECT_LT(cost.effort, Effort::kMost * 1.2) << "it stops soon after";
  EXPECT_FALSE(cost_of("{ " + repeated("echo a;", 30) + "} | { " + repeated("cat;", 40) + "}").denied);
}

TEST(Effort, AtTheDeadlineTheCommandIsDenied) {
  int looks = 0;
  const auto late_at_third_look = std::make_shared<Effort>([&] { return ++looks >= 3; });
  const Cost cost = cost_of(repeated("make;", 2000), late_at_third_look);
  EXPECT_TRUE(cost.denied);
  EXPECT_EQ(looks, 3) << "no work after the deadline";
  EXPECT_FALSE(cost_of(repeated("make;", 2000), std::make_shared<Effort>([] { return false; })).denied);
}

TEST(Effort, APatchOfTooManyFilesIsDenied) {
  const auto denied = [](int files) {
    const json::object input = {{"patch", repeated("*** Add File: a\n", files)}};
    const ShellSetting setting{"/home/dev", "/srv/app", {}, {}, std::make_shared<Effort>()};
    return judge_tool("apply_patch", tool_use_of("apply_patch", input), {}, {"/srv/app", "/home/dev", ""}, setting)
        .has_value();
  };
  EXPECT_FALSE(denied(1000));
  EXPECT_TRUE(denied(200'000));
}

TEST(Effort, AFolderThatGrowsWithoutEndIsDenied) {
  EXPECT_TRUE(cost_of(repeated("cd a;", 20'000)).denied);
  EXPECT_FALSE(cost_of(repeated("cd a;", 100)).denied);
}

}  // namespace
}  // namespace ralph
