#include "settings/layers.h"

#include <string>

#include <gtest/gtest.h>

namespace ralph {
namespace {

TEST(MergeLayers, ObjectsMergeAndEverythingElseReplaces) {
  struct Row {
    std::string_view lower, upper, merged;
  };
  const Row rows[] = {
      {R"({"a":1})", R"({"a":2})", R"({"a":2})"},
      {R"({"a":1})", R"({"b":2})", R"({"a":1,"b":2})"},
      {R"({"a":[1,2]})", R"({"a":[3]})", R"({"a":[3]})"},
      {R"({"a":{"b":1,"c":{"d":1}}})", R"({"a":{"c":{"e":2}}})", R"({"a":{"b":1,"c":{"d":1,"e":2}}})"},
      {R"({"a":{"b":1}})", R"({"a":null})", R"({"a":null})"},
      {R"({"a":null})", R"({"a":{"b":1}})", R"({"a":{"b":1}})"},
      // The example of seed 001.
      {R"({"agent":{"command":"claude","flags":["--model opus"]}})", R"({"agent":{"flags":["--verbose"]}})",
       R"({"agent":{"command":"claude","flags":["--verbose"]}})"},
  };
  for (const Row& row : rows) {
    json::value lower = parse_json(row.lower, "lower").value();
    merge_into(lower.as_object(), parse_json(row.upper, "upper").value().as_object());
    EXPECT_EQ(json::serialize(lower), row.merged);
  }
}

TEST(Explain, StopsAfterTenProblems) {
  Layer layer{"s", "s.json", "{}", {}};
  const std::vector<SchemaProblem> many(12, SchemaProblem{"/a", false, "wrong"});
  const std::string message = explain(many, layer).message;
  EXPECT_TRUE(message.ends_with("\n(and 2 problems more)")) << message;
}

}  // namespace
}  // namespace ralph
