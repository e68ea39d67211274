#include "agents/registry.h"

#include <set>

#include <gtest/gtest.h>

#include "base/text.h"

namespace ralph {
namespace {

TEST(Registry, EveryRowIsComplete) {
  std::set<std::string_view> names;
  for (const Adapter* adapter : adapters()) {
    EXPECT_FALSE(adapter->name.empty());
    EXPECT_TRUE(names.insert(adapter->name).second) << adapter->name << " has two rows";
    EXPECT_EQ(find_adapter(adapter->name), adapter) << adapter->name;
    ASSERT_NE(adapter->make_parser, nullptr) << adapter->name;
    EXPECT_NE(make_line_parser(adapter->name), nullptr) << adapter->name;
    const TurnArguments events = adapter->arguments({}, [](auto, auto) { return false; });
    EXPECT_FALSE(events.before.empty() && events.after.empty()) << adapter->name << " gets no flag for its events";
    const TurnArguments resumed = adapter->arguments({.resume = "S1"}, [](auto, auto) { return false; });
    EXPECT_NE(join(resumed.before, " ") + join(resumed.after, " "), join(events.before, " ") + join(events.after, " "))
        << adapter->name << " can't resume a session";
    EXPECT_EQ(adapter->start_failure(1, "some trouble").kind, FailureKind::kNone) << adapter->name;
  }
}

TEST(Registry, TheChoicesOfOptionsAreTheNamesOfItsRows) {
  std::vector<std::string> names;
  for (const Adapter* adapter : adapters()) names.emplace_back(adapter->name);
  EXPECT_EQ(kAgentChoices, join(names, "|"));
}

TEST(Registry, AnyOtherNameIsCustom) {
  EXPECT_EQ(find_adapter("my-agent"), nullptr);
  EXPECT_EQ(find_adapter("custom"), nullptr);
  EXPECT_EQ(make_line_parser("my-agent"), nullptr);
  EXPECT_EQ(custom_adapter().make_parser, nullptr);
}

TEST(Registry, ADeniedCallIsRecognisedByItsBeginning) {
  EXPECT_TRUE(is_denied_by_hook("PreToolUse:Bash hook error: no"));
  EXPECT_TRUE(is_denied_by_hook("Command blocked by PreToolUse hook: no. Command: ls"));
  EXPECT_TRUE(is_denied_by_hook("Tool call blocked by PreToolUse hook: no"));
  EXPECT_FALSE(is_denied_by_hook("PreToolUse:Bash"));
  EXPECT_FALSE(is_denied_by_hook("grep found: PreToolUse:Bash hook error: no"));
  EXPECT_FALSE(is_denied_by_hook(""));
}

}  // namespace
}  // namespace ralph
