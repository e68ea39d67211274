#include "policy/command_files.h"

#include <map>

#include <gtest/gtest.h>

#include "embedded_plugin.h"

namespace ralph {
namespace {

std::map<std::string, std::string> files(std::string_view program) {
  std::map<std::string, std::string> all;
  for (const CommandFile& file : command_files(program)) all[std::string(file.name)] = file.text;
  return all;
}

std::string body_of(std::string_view text) {
  const size_t end = text.find("\n---\n", 4);
  return std::string(end == std::string_view::npos ? "" : text.substr(end + 5));
}

TEST(CommandFiles, HaveTheKnownNamesAndThePluginsTexts) {
  const auto all = files("ralph");
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(body_of(all.at("ralph-loop.md")), body_of(embedded::loop_md));
  EXPECT_EQ(body_of(all.at("ulw-loop.md")), body_of(embedded::ulw_loop_md));
  EXPECT_EQ(body_of(all.at("cancel-ralph.md")), body_of(embedded::cancel_md));
  EXPECT_EQ(body_of(all.at("ralph-status.md")), body_of(embedded::status_md));
  EXPECT_EQ(body_of(all.at("ralph-plan.md")), body_of(embedded::SKILL_md));
  EXPECT_EQ(all.at("ralph-plan.md").find("\nname:"), std::string::npos);
  for (const auto& [name, text] : all) {
    EXPECT_TRUE(is_ralphs_command_file(text)) << name;
    EXPECT_NE(text.find("\ndescription: "), std::string::npos) << name;
  }
}

TEST(CommandFiles, CallTheProgramThatTheyAreGiven) {
  const auto all = files("/opt/my tools/ralph");
  EXPECT_NE(all.at("ralph-plan.md").find("!`'/opt/my tools/ralph' plan draft --print`"), std::string::npos);
}

TEST(CommandFiles, NothingThatAUserTypesReachesAShell) {
  for (const auto& [name, text] : files("ralph")) {
    for (size_t at = text.find("!`"); at != std::string::npos; at = text.find("!`", at + 2)) {
      const std::string command = text.substr(at, text.find('`', at + 2) - at);
      EXPECT_EQ(command.find('$'), std::string::npos) << name << ": " << command;
    }
  }
}

TEST(CommandFiles, UltraworkIsTheSameLoopWithOneParagraphBefore) {
  const std::string ulw = body_of(embedded::ulw_loop_md);
  EXPECT_TRUE(ulw.starts_with("ULTRAWORK MODE"));
  EXPECT_EQ(ulw.substr(ulw.find("\n\n") + 2), body_of(embedded::loop_md));
}

TEST(CommandFiles, AUsersOwnFileIsNotRalphs) {
  for (const std::string_view text :
       {"", "---\n", "# Written by 'ralph hooks install'", "---\ndescription: x\n---\nralph\n"})
    EXPECT_FALSE(is_ralphs_command_file(text)) << text;
}

}  // namespace
}  // namespace ralph
