#include "json/schema.h"

#include <string>

#include <gtest/gtest.h>

namespace ralph {
namespace {

// The problems as lines "pointer: message", keys marked by a leading "key ".
std::string problems(std::string_view schema, std::string_view document, SchemaCheckOptions options = {}) {
  const auto result = check_schema(parse_json(schema, "schema").value(), parse_json(document, "doc").value(), options);
  if (!result) return "error: " + result.error().message;
  std::string lines;
  for (const SchemaProblem& problem : *result) {
    if (!lines.empty()) lines += "\n";
    lines += fmt::format("{}{}: {}", problem.is_key ? "key " : "", problem.pointer, problem.message);
  }
  return lines;
}

TEST(JsonSchema, ExplainsEachKindOfProblem) {
  struct Row {
    std::string_view schema;
    std::string_view document;
    std::string_view expected;  // empty: valid
  };
  const Row rows[] = {
      {R"({"type": "integer", "minimum": 1})", "1", ""},
      {R"({"type": "integer", "minimum": 1})", "10.0", ""},
      {R"({"type": "integer", "minimum": 1})", R"("x")",
       R"(: expected a whole number of at least 1, found "x" (a string))"},
      {R"({"type": "integer", "minimum": 1})", "0", ": expected a whole number of at least 1, found 0 (a number)"},
      {R"({"type": "integer"})", "1.5", ": expected a whole number, found 1.5 (a number)"},
      {R"({"type": "number", "exclusiveMinimum": 0})", "0", ": expected a number above 0, found 0 (a number)"},
      {R"({"type": "number", "maximum": 5})", "5.5", ": expected a number of at most 5, found 5.5 (a number)"},
      {R"({"type": "boolean"})", R"("yes")", R"(: expected true or false, found "yes" (a string))"},
      {R"({"type": ["object", "null"]})", "null", ""},
      {R"({"type": ["object", "null"]})", "[]", ": expected an object {...} or null, found an empty list"},
      {R"({"type": "array"})", R"({"a": 1})", ": expected a list [...], found an object"},
      {R"({"type": "string"})", "true", ": expected a string, found true"},
      {R"({"type": "string", "minLength": 1})", R"("")",
       R"(: expected a string of at least 1 character, found "" (a string))"},
      {R"({"type": "string", "pattern": "\\S", "patternErrorMessage": "expected a command"})", R"("  ")",
       R"(: expected a command, found "  " (a string))"},
      {R"({"pattern": "^a$"})", R"("b")", R"(: expected a string that matches ^a$, found "b" (a string))"},
      {R"({"enum": ["APPEND", "PREPEND", "REPLACE"]})", R"("APEND")",
       R"(: expected "APPEND", "PREPEND" or "REPLACE", found "APEND" (a string); did you mean "APPEND"?)"},
      {R"({"enum": ["stdin", 1]})", "2", R"(: expected "stdin" or 1, found 2 (a number))"},
      {R"({"const": 1})", "2", ": expected 1, found 2 (a number)"},
      {R"({"items": {"type": "string"}})", R"(["a", 1])", "/1: expected a string, found 1 (a number)"},
      {R"({"type": "array", "minItems": 1})", R"(["a"])", ""},
      {R"({"type": "array", "minItems": 1})", "[]", ": expected a list with at least 1 item, found an empty list"},
      {R"({"minItems": 2})", R"(["a"])", ": expected a list with at least 2 items, found a list"},
      {R"({"minItems": 2})", R"("no list")", ""},
      {R"({"minItems": 2, "items": {"type": "string"}})", "[1]",
       "/0: expected a string, found 1 (a number)\n: expected a list with at least 2 items, found a list"},
      {R"({"properties": {"maximumIterations": {}}, "additionalProperties": false})", R"({"maxIterations": 1})",
       R"(key /maxIterations: unknown key "maxIterations"; did you mean "maximumIterations"?)"},
      {R"({"properties": {"a": {}, "b": {}, "$schema": {}}, "additionalProperties": false})", R"({"guard": 1})",
       R"(key /guard: unknown key "guard"; the keys here are a and b)"},
      {R"({"additionalProperties": {"type": "string"}})", R"({"A/B": 1})",
       "/A~1B: expected a string, found 1 (a number)"},
      {R"({"propertyNames": {"pattern": "^[A-Z]+$", "patternErrorMessage": "expected a name"}})", R"({"a b": 1})",
       R"(key /a b: expected a name, found "a b")"},
      {R"({"required": ["command"], "properties": {"command": {"type": "string"}}})", "{}",
       R"(: the key "command" is missing; it is a string)"},
      {R"({"anyOf": [{"enum": ["A"]}, {"pattern": "^[Aa]$"}]})", R"("a")", ""},
      {R"({"anyOf": [{"enum": ["A"]}, {"pattern": "^[Aa]$"}]})", R"("b")", R"(: expected "A", found "b" (a string))"},
      {R"({"writeOnly": true, "additionalProperties": {"type": "string"}})", R"({"KEY": 12345})",
       "/KEY: expected a string, found a number"},
  };
  for (const Row& row : rows) EXPECT_EQ(problems(row.schema, row.document), row.expected) << row.schema << row.document;
}

TEST(JsonSchema, ReportsTheDeepestFirst) {
  EXPECT_EQ(problems(R"({"properties": {"a": {"type": "string"}, "b": {"items": {"type": "string"}}}})",
                     R"({"a": 1, "b": [2]})"),
            "/b/0: expected a string, found 2 (a number)\n/a: expected a string, found 1 (a number)");
}

TEST(JsonSchema, APartialDocumentMayLackRequiredKeys) {
  EXPECT_EQ(problems(R"({"required": ["a"]})", "{}", {.partial = true}), "");
}

TEST(JsonSchema, AKeywordThatItDoesNotKnowIsAnErrorAndNeverIgnored) {
  EXPECT_EQ(problems(R"({"properties": {"a": {"maxItems": 1}}})", R"({"a": []})"),
            "error: the schema keyword \"maxItems\" is not known to ralph");
  EXPECT_EQ(problems(R"({"pattern": "a|b"})", R"("a")"), "error: pattern a|b: '|' is not supported here");
  EXPECT_TRUE(problems(R"({"enum": 1})", "1").starts_with("error: the schema is malformed"));
}

TEST(JsonSchema, LongAndHostileValuesAreShownShortAndHarmless) {
  const std::string text = "\"\\u001b[2J" + std::string(500, 'x') + "\"";
  const std::string message = problems(R"({"type": "integer"})", text);
  EXPECT_LT(message.size(), 200u);
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
}

TEST(SchemaDefaults, FillInMissingKeysInTheOrderOfTheSchema) {
  const auto schema = parse_json(R"({"properties": {
    "n": {"default": 10},
    "agent": {"default": {}, "properties": {"command": {}, "flags": {"default": []}}},
    "scm": {"properties": {"addAll": {"default": true}}},
    "list": {"items": {"properties": {"command": {}, "action": {"default": "A"}}}}}})",
                                 "schema")
                          .value();
  EXPECT_EQ(json::serialize(with_schema_defaults(schema, json::object{})), R"({"n":10,"agent":{"flags":[]}})");
  EXPECT_EQ(json::serialize(with_schema_defaults(
                schema, parse_json(R"({"scm": {}, "list": [{"command": "x"}], "n": 3})", "doc").value())),
            R"({"n":3,"agent":{"flags":[]},"scm":{"addAll":true},"list":[{"command":"x","action":"A"}]})");
}

TEST(ReadablePath, IsWrittenAsPeopleWriteIt) {
  EXPECT_EQ(readable_path(""), "the top level");
  EXPECT_EQ(readable_path("/agent/flags/2"), "agent.flags[2]");
  EXPECT_EQ(readable_path("/guardrails/0/command"), "guardrails[0].command");
  EXPECT_EQ(readable_path("/agent/env/a~1b c"), "agent.env[\"a/b c\"]");
}

}  // namespace
}  // namespace ralph
