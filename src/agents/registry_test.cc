#include "agents/registry.h"

#include <set>

#include <gtest/gtest.h>

#include "base/text.h"
#include "embedded_schemas.h"
#include "json/value.h"

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

// Collects every list of values for the property `name` in the whole schema.
void collect_enums(const json::value& schema, std::string_view name, std::vector<json::value>& found) {
  if (!schema.is_object()) return;
  for (const auto& [key, value] : schema.get_object()) {
    if (const json::value* list = key == name ? find(value, "enum") : nullptr) found.push_back(*list);
    collect_enums(value, name, found);
  }
}

TEST(Registry, TheSettingsSchemaAcceptsEveryRow) {
  const auto schema = parse_json(embedded::settings_schema_json, "settings.schema.json");
  ASSERT_TRUE(schema);
  for (const auto& [property, other] : {std::pair("kind", "custom"), std::pair("stream", "text")}) {
    json::array expected;
    for (const Adapter* adapter : adapters()) expected.push_back(to_json_string(adapter->name));
    expected.push_back(other);
    std::vector<json::value> enums;
    collect_enums(*schema, property, enums);
    ASSERT_FALSE(enums.empty()) << property;
    for (const json::value& values : enums) EXPECT_EQ(values, json::value(expected)) << property;
  }
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
