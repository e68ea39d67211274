#include "hooks/own_file.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace ralph {
namespace {

const Host& host_with_own_file() {
  return *std::find_if(std::begin(kHosts), std::end(kHosts), [](const Host& host) { return !host.own_text.empty(); });
}

std::string own_text(std::string_view program) {
  const auto merged = with_hooks(std::nullopt, "ralph.js", host_with_own_file(), program);
  EXPECT_TRUE(merged);
  return merged ? merged->text : "";
}

TEST(OwnFile, CallsEveryHookOfItsRow) {
  const std::string text = own_text("ralph");
  for (const HookWire& wire : host_with_own_file().wires) {
    EXPECT_NE(text.find(fmt::format("\"{}\"", wire.event)), std::string::npos) << wire.event;
    EXPECT_NE(text.find(fmt::format("ralph(\"{}\", {}, ", wire.hook, wire.seconds)), std::string::npos) << wire.hook;
  }
  EXPECT_NE(text.find(fmt::format("\"--protocol\", \"{}\"", host_with_own_file().name)), std::string::npos);
}

TEST(OwnFile, NamesTheProgramWhateverItsPath) {
  for (const std::string_view program : {"ralph", "/opt/ralph", R"(/a "b" \c/ralph)", "/ä/ralph"}) {
    const HookSurvey survey = survey_own_file(own_text(program), host_with_own_file());
    EXPECT_EQ(survey.programs, std::vector{std::string(program)});
    EXPECT_TRUE(survey.faults.empty() && survey.missing.empty() && survey.is_own) << program;
  }
}

TEST(OwnFile, IsWrittenOnceAndAgainIfItDiffers) {
  const Host& host = host_with_own_file();
  const std::string text = own_text("ralph");
  EXPECT_EQ(with_hooks(text, "ralph.js", host, "ralph")->changes.size(), 0U);
  for (const std::string& other :
       {own_text("/old/ralph"), text + "// mine\n", std::string("// Written by `ralph hooks install`")}) {
    const auto merged = with_hooks(other, "ralph.js", host, "ralph");
    ASSERT_TRUE(merged);
    EXPECT_EQ(merged->text, text);
    EXPECT_EQ(merged->changes.size(), host.wires.size());
    EXPECT_EQ(merged->changes[0].sign, '~');
  }
  EXPECT_EQ(survey_own_file(text + "// mine\n", host).faults.size(), 1U);
}

TEST(OwnFile, IsRemovedAsAWhole) {
  const MergedSettings merged = without_own_file(own_text("/old/ralph"), host_with_own_file());
  EXPECT_EQ(merged.text, "");
  ASSERT_EQ(merged.changes.size(), host_with_own_file().wires.size());
  EXPECT_TRUE(merged.changes[0].what.starts_with("/old/ralph hooks ")) << merged.changes[0].what;
}

TEST(OwnFile, SomebodyElsesFileIsLeftAlone) {
  const std::string_view theirs = "export const Ralph = () => ({})\n";
  EXPECT_FALSE(with_hooks(theirs, "ralph.js", host_with_own_file(), "ralph"));
  EXPECT_EQ(without_own_file(theirs, host_with_own_file()).text, theirs);
  EXPECT_TRUE(without_own_file(theirs, host_with_own_file()).changes.empty());
  EXPECT_FALSE(survey_own_file(theirs, host_with_own_file()).has_hooks());
}

}  // namespace
}  // namespace ralph
