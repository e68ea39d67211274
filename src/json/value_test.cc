#include "json/value.h"

#include <string>

#include <gtest/gtest.h>

#include "json/walk.h"

namespace ralph {
namespace {

std::string error_of(std::string_view text) {
  const auto parsed = parse_json(text, "f.json");
  return parsed ? "no error" : parsed.error().message;
}

TEST(ParseJson, ReadsAWholeDocument) {
  const auto parsed = parse_json(R"({"a": [1, -2.5e1, "x\n\u00e9\ud83d\ude00", true, null], "b": {}})", "f.json");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(json::serialize(*parsed), R"({"a":[1,-2.5E1,"x\né😀",true,null],"b":{}})");
}

TEST(ParseJson, AcceptsAByteOrderMark) {
  EXPECT_TRUE(parse_json("\xEF\xBB\xBF{\"a\": 1}", "f.json"));
  EXPECT_EQ(error_of("\xEF\xBB\xBF{x"), "f.json:1:2: expected a key in double quotes, found x");
}

TEST(ParseJson, SaysWhereAndWhatIsWrong) {
  struct Row {
    std::string_view text;
    std::string_view error;
  };
  const Row rows[] = {
      {"", "f.json:1:1: expected a JSON value, but there is nothing here"},
      {" \n ", "f.json:2:2: expected a JSON value, but there is nothing here"},
      {"{\n  \"a\": 1\n  \"b\": 2\n}", "f.json:3:3: expected ',' or '}', found '\"'"},
      {"{\"a\": 1,\n}", "f.json:1:8: remove this comma: nothing follows it before '}'"},
      {"[1, 2,]", "f.json:1:6: remove this comma: nothing follows it before ']'"},
      {"[1,,2]", "f.json:1:4: expected a value, found ','"},
      {"{\n\"a\": [1, 2", "f.json:2:11: expected ',' or ']' for the '[' of line 2, found the end of the document"},
      {"{", "f.json:1:2: expected a key or '}' for the '{' of line 1, found the end of the document"},
      {"{\"a\"", "f.json:1:5: expected ':' after the key, found the end of the document"},
      {"{\"a\" 1}", "f.json:1:6: expected ':' after the key, found 1"},
      {"{\"a\":", "f.json:1:6: expected a value, found the end of the document"},
      {"{'a': 1}", "f.json:1:2: expected a key in double quotes, found '''"},
      {"{\"a\": 'x'}", "f.json:1:7: strings need double quotes (\"), not single ones"},
      {"{\"a\": claude}", "f.json:1:7: expected a value, found claude; a string needs double quotes"},
      {"[True]", "f.json:1:2: write True as true"},
      {"{\"a\": \"x\n\"}", "f.json:1:7: this string has no closing quote on its line"},
      {"[\"x", "f.json:1:2: this string has no closing quote"},
      {"[\"C:\\dir\"]", "f.json:1:5: unknown escape in a string; write a backslash as \\\\"},
      {"[\"\\u12g4\"]", "f.json:1:3: expected four hexadecimal digits after \\u"},
      {"[\"\\ud83d\"]", "f.json:1:3: half of a surrogate pair; it is no character by itself"},
      {"[\"a\tb\"]", "f.json:1:4: the control character 0x09 in a string must be escaped"},
      {"[01]", "f.json:1:2: 01 is not a JSON number"},
      {"[1.]", "f.json:1:2: 1. is not a JSON number"},
      {"[-]", "f.json:1:2: - is not a JSON number"},
      {"[10s]", "f.json:1:2: 10s is not a JSON number"},
      {"// x\n{}", "f.json:1:1: JSON has no comments; remove this one"},
      {"{\"a\": 1 /* x */}", "f.json:1:9: JSON has no comments; remove this one"},
      {"{} {}", "f.json:1:4: expected the end of the document, found '{'"},
      {"[\"é\", x]", "f.json:1:7: expected a value, found x; a string needs double quotes"},
      {"[\"\xff\"]", "f.json:1:3: byte 0xff is not valid UTF-8; save the file as UTF-8"},
  };
  for (const Row& row : rows) EXPECT_EQ(error_of(row.text), row.error) << row.text;
}

TEST(ParseJson, RefusesDuplicateKeysHoweverTheyAreWritten) {
  EXPECT_EQ(error_of("{\n\"a\": 1,\n\"b\": 2,\n  \"a\": 3}"),
            "f.json:4:3: the key \"a\" stands here a second time; the first is in line 2");
  EXPECT_EQ(error_of(R"({"a": 1, "\u0061": 2})"),
            "f.json:1:10: the key \"a\" stands here a second time; the first is in line 1");
  EXPECT_TRUE(parse_json(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]})", "f.json"));
}

TEST(ParseJson, RefusesDeepNestingInsteadOfOverflowingTheStack) {
  EXPECT_TRUE(parse_json(std::string(kMaxJsonDepth, '[') + std::string(kMaxJsonDepth, ']'), "f.json"));
  for (const size_t depth : {kMaxJsonDepth + 1, size_t{10'000}, size_t{1'000'000}})
    EXPECT_EQ(error_of(std::string(depth, '[')), "f.json:1:201: nested deeper than 200 levels");
}

TEST(ParseJson, EveryPrefixOfADocumentIsAnErrorWithAPlace) {
  const std::string text = R"({"a": [1, -2.5e1, "x\n\u00e9\ud83d\ude00", true, null], "b": {"c": "d"}})";
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_TRUE(error_of(text.substr(0, size)).starts_with("f.json:1:")) << text.substr(0, size);
}

TEST(PrettyJson, PutsOneElementOnEachLineAndKeepsTheOrder) {
  const json::value value = {{"z", 1}, {"a", json::array{"x", 2.0, 0.5}}, {"e", json::object{}}, {"l", json::array{}}};
  EXPECT_EQ(to_pretty_json(value), R"({
  "z": 1,
  "a": [
    "x",
    2,
    0.5
  ],
  "e": {},
  "l": []
}
)");
}

TEST(PrettyJson, ReadsBackAsTheSameValue) {
  const auto value = parse_json(R"({"a": "q\"\\\u0001", "b": [[[]], {"c": null}], "n": -1e300})", "f").value();
  EXPECT_EQ(parse_json(to_pretty_json(value), "g").value(), value);
}

TEST(JsonString, ReplacesInvalidBytes) {
  EXPECT_EQ(to_json_string("a\xff"), "a\xEF\xBF\xBD");
}

TEST(JsonFind, GivesNothingForAMissingKeyOrAnotherType) {
  const json::value value = {{"s", "x"}, {"i", 7}, {"w", 7.0}, {"d", 7.5}, {"b", true}};
  EXPECT_EQ(find_string(value, "s"), "x");
  EXPECT_EQ(find_integer(value, "i"), 7);
  EXPECT_EQ(find_integer(value, "w"), 7);
  EXPECT_EQ(find_bool(value, "b"), true);
  EXPECT_FALSE(find_string(value, "i"));
  EXPECT_FALSE(find_integer(value, "d"));
  EXPECT_FALSE(find_bool(value, "none"));
  EXPECT_EQ(find(json::value("text"), "s"), nullptr);
}

TEST(Locate, FindsValuesAndKeys) {
  const std::string_view text = "{\n  \"agent\": {\"flags\": [1, 22]},\n  \"a/b~c\": \"x\"\n}";
  const auto at = [&](std::string_view pointer, bool key) {
    const auto offset = locate(text, pointer, key);
    return offset ? text.substr(*offset, 4) : "none";
  };
  EXPECT_EQ(at("", false), "{\n  ");
  EXPECT_EQ(at("/agent", true), "\"age");
  EXPECT_EQ(at("/agent/flags", false), "[1, ");
  EXPECT_EQ(at("/agent/flags/1", false), "22]}");
  EXPECT_EQ(at("/agent/flags/1", true), "22]}");
  EXPECT_EQ(at("/a~1b~0c", false), "\"x\"\n");
  EXPECT_EQ(at("/agent/none", false), "none");
}

TEST(PositionOf, CountsCharactersAndLinesFromOne) {
  EXPECT_EQ(position_of("é\nabc", 5).line, 2u);
  EXPECT_EQ(position_of("é\nabc", 5).column, 3u);
  EXPECT_EQ(position_of("éa", 2).column, 2u);
  EXPECT_EQ(position_of("a", 99).column, 2u);
}

}  // namespace
}  // namespace ralph
