#include "git/quiet.h"

#include <map>

#include <gtest/gtest.h>

namespace ralph {
namespace {

TEST(QuietGit, AddsToWhatTheEnvironmentPassesAlready) {
  Environment environment;
  environment.set("GIT_CONFIG_COUNT", "1");
  std::map<std::string, std::string> added;
  for (const auto& [name, value] : quiet_git(environment)) added[name] = value;
  EXPECT_EQ(added["GIT_CONFIG_COUNT"], "3");
  EXPECT_EQ(added["GIT_CONFIG_KEY_1"], "core.hooksPath");
  EXPECT_EQ(added["GIT_CONFIG_VALUE_1"], "/dev/null");
  EXPECT_EQ(added["GIT_CONFIG_KEY_2"], "core.fsmonitor");
  EXPECT_FALSE(added.contains("GIT_CONFIG_KEY_0"));
  EXPECT_EQ(added["GIT_NO_REPLACE_OBJECTS"], "1");
}

TEST(QuietGit, StartsAtZero) {
  std::map<std::string, std::string> added;
  for (const auto& [name, value] : quiet_git(Environment())) added[name] = value;
  EXPECT_EQ(added["GIT_CONFIG_COUNT"], "2");
  EXPECT_EQ(added["GIT_CONFIG_KEY_0"], "core.hooksPath");
}

}  // namespace
}  // namespace ralph
