#include "json/edit.h"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.h"
#include "json/walk.h"

namespace ralph {
namespace {

JsonEdits edits_of(std::string_view text) {
  auto edits = JsonEdits::of(text, "f.json");
  EXPECT_TRUE(edits) << text;
  return *std::move(edits);
}

struct Row {
  std::string_view what;
  std::string_view text;
  std::function<void(JsonEdits&)> edit;
  std::string_view result;
};

void expect_all(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    JsonEdits edits = edits_of(row.text);
    row.edit(edits);
    EXPECT_EQ(edits.apply(), row.result) << row.what;
    EXPECT_TRUE(parse_json(edits.apply(), "result")) << row.what;
  }
}

TEST(JsonEdits, RefusesWhatIsNotJsonInTheWordsOfTheReader) {
  const auto edits = JsonEdits::of("{\n  \"a\": 1,\n}", "f.json");
  ASSERT_FALSE(edits);
  EXPECT_EQ(edits.error().kind, ErrorKind::kInput);
  EXPECT_EQ(edits.error().message, "f.json:2:9: remove this comma: nothing follows it before '}'");
}

TEST(JsonEdits, FindsValuesByPointer) {
  const JsonEdits edits = edits_of(R"({"a": [1, {"b": 22}], "x/y~z": null, "é\n": true, "": 0, "o": {"1": "one"}})");
  const auto raw = [&](std::string_view pointer) { return edits.raw(pointer).value_or("none"); };
  EXPECT_EQ(raw("/a"), R"([1, {"b": 22}])");
  EXPECT_EQ(raw("/a/0"), "1");
  EXPECT_EQ(raw("/a/1/b"), "22");
  EXPECT_EQ(raw("/x~1y~0z"), "null");
  EXPECT_EQ(raw("/é\n"), "true");
  EXPECT_EQ(raw("/"), "0");
  EXPECT_EQ(raw("/o/1"), "\"one\"");
  EXPECT_TRUE(edits.has(""));
  for (const std::string_view nothing : {"a", "/b", "/a/2", "/a/00", "/a/01", "/a/-", "/a/", "/a/x", "/a/+1", "/a/ 1",
                                         "/a/0/0", "/x/y~z", "/a/99999999999999999999", "/o/0"})
    EXPECT_FALSE(edits.has(nothing)) << nothing;
}

TEST(JsonEdits, WithoutEditsNoByteChanges) {
  for (const std::string_view text : {"{}", " [ 1 ,2 ]\r\n\r\n", "\xEF\xBB\xBF{ \"a\" :\t[\n\n ] }", "\"x\""})
    EXPECT_EQ(edits_of(text).apply(), text);
}

TEST(JsonEdits, ValuesChangeInPlace) {
  const json::value object = {{"x", 1}, {"y", json::array{true, json::object{}}}};
  expect_all({
      {"a plain value", "{\n  \"z\" :  1 ,\n\t\"a\": [ 2,3 ]\n}\n",
       [](JsonEdits& edits) {
         edits.set("/z", "new");
         edits.set("/a/1", 2.0);
       },
       "{\n  \"z\" :  \"new\" ,\n\t\"a\": [ 2,2 ]\n}\n"},
      {"byte order mark, CRLF and what follows the end", "\xEF\xBB\xBF{\r\n  \"a\": 1\r\n}\r\n\r\n",
       [](JsonEdits& edits) { edits.set("/a", json::array{1, 2}); },
       "\xEF\xBB\xBF{\r\n  \"a\": [\r\n    1,\r\n    2\r\n  ]\r\n}\r\n\r\n"},
      {"indented by four", "{\n    \"a\": {\n        \"b\": 1\n    }\n}",
       [&](JsonEdits& edits) { edits.set("/a/b", object); }, R"({
    "a": {
        "b": {
            "x": 1,
            "y": [
                true,
                {}
            ]
        }
    }
})"},
      {"indented by tabs", "[\n\t1\n]", [](JsonEdits& edits) { edits.set("/0", {{"x", 1}}); },
       "[\n\t{\n\t\t\"x\": 1\n\t}\n]"},
      {"all on one line", R"({"a":1,"b":[2]})", [&](JsonEdits& edits) { edits.set("/b/0", object); },
       R"({"a":1,"b":[{"x":1,"y":[true,{}]}]})"},
      {"on one line, with blanks", R"({"a": 1})", [&](JsonEdits& edits) { edits.set("/a", object); },
       R"({"a": {"x": 1, "y": [true, {}]}})"},
      {"a short list that its writer put on one line", "{\n  \"a\": [ 1 ],\n  \"b\": 2\n}",
       [](JsonEdits& edits) { edits.set("/a", json::array{1, 2}); }, "{\n  \"a\": [1, 2],\n  \"b\": 2\n}"},
      {"the whole document", "\n{\n  \"a\": 1\n}\n", [](JsonEdits& edits) { edits.set("", json::array{1}); },
       "\n[\n  1\n]\n"},
      {"twice: the last wins", "[1]",
       [](JsonEdits& edits) {
         edits.set("/0", 2);
         edits.set("/0", 3);
       },
       "[3]"},
      {"set after removed, removed after set", "[1, 2]",
       [](JsonEdits& edits) {
         edits.remove("/0");
         edits.set("/0", 3);
         edits.set("/1", 4);
         edits.remove("/1");
       },
       "[3]"},
      {"inside another edit: the outer one wins", R"({"a": {"b": 1}, "c": {"d": [1]}})",
       [](JsonEdits& edits) {
         edits.set("/a", 0);
         edits.set("/a/b", 2);
         edits.insert("/c/d", 0, 0);
         edits.remove("/c");
       },
       R"({"a": 0})"},
  });
}

TEST(JsonEdits, NewMembersFollowTheirNeighbours) {
  const auto add = [](JsonEdits& edits) {
    EXPECT_TRUE(edits.set("/new", json::array{1}));
    EXPECT_TRUE(edits.set("/x~1y~0\"", 2));
  };
  expect_all({
      {"lines", "{\n    \"a\" : 1\n}\n", add,
       "{\n    \"a\" : 1,\n    \"new\" : [\n        1\n    ],\n    \"x/y~\\\"\" : 2\n}\n"},
      {"CRLF", "{\r\n\t\"a\": 1\r\n}", add,
       "{\r\n\t\"a\": 1,\r\n\t\"new\": [\r\n\t\t1\r\n\t],\r\n\t\"x/y~\\\"\": 2\r\n}"},
      {"one line", R"({"a":1})", add, R"({"a":1,"new":[1],"x/y~\"":2})"},
      {"one line with blanks", R"({ "a": 1 })", add, R"({ "a": 1, "new": [1], "x/y~\"": 2 })"},
      {"values below their keys", "{\n  \"a\":\n    1\n}", [](JsonEdits& edits) { edits.set("/b", 2); },
       "{\n  \"a\":\n    1,\n  \"b\": 2\n}"},
      {"commas in front", "{ \"a\": 1\n, \"b\": 2\n}", [](JsonEdits& edits) { edits.set("/c", 3); },
       "{ \"a\": 1\n, \"b\": 2\n, \"c\": 3\n}"},
      {"an empty document", "{}\n", add, "{\n  \"new\": [\n    1\n  ],\n  \"x/y~\\\"\": 2\n}\n"},
      {"an empty object among lines", "{\n    \"a\": {},\n    \"b\": { }\n}",
       [](JsonEdits& edits) { edits.set("/b/c", 1); }, "{\n    \"a\": {},\n    \"b\": {\n        \"c\": 1\n    }\n}"},
      {"an empty object on a full line", R"([{"a": {}}])", [](JsonEdits& edits) { edits.set("/0/a/b", 1); },
       R"([{"a": {"b": 1}}])"},
      {"set twice, or taken back", "{}",
       [](JsonEdits& edits) {
         edits.set("/b", 1);
         edits.set("/a", 1);
         edits.set("/b", 2);
         EXPECT_TRUE(edits.remove("/a"));
         EXPECT_FALSE(edits.remove("/a"));
       },
       "{\n  \"b\": 2\n}"},
      {"all taken back", "{ }",
       [](JsonEdits& edits) {
         edits.set("/a", 1);
         edits.remove("/a");
       },
       "{ }"},
  });
}

TEST(JsonEdits, RemovalTakesTheCommaAndTheLine) {
  const std::string_view lines = "[\n  1,\n  [2],\n\n  3\n]";
  const auto remove = [](const std::vector<std::string_view>& pointers) {
    return [pointers](JsonEdits& edits) {
      for (const std::string_view pointer : pointers) EXPECT_TRUE(edits.remove(pointer));
    };
  };
  expect_all({
      {"the first", lines, remove({"/0"}), "[\n  [2],\n\n  3\n]"},
      {"the middle one", lines, remove({"/1"}), "[\n  1,\n\n  3\n]"},
      {"the last", lines, remove({"/2"}), "[\n  1,\n  [2]\n]"},
      {"neighbours at the front", lines, remove({"/1", "/0"}), "[\n  3\n]"},
      {"neighbours at the end", lines, remove({"/1", "/2"}), "[\n  1\n]"},
      {"all", lines, remove({"/0", "/1", "/2"}), "[]"},
      {"twice", lines, remove({"/0", "/0"}), "[\n  [2],\n\n  3\n]"},
      {"inside", lines, remove({"/1/0"}), "[\n  1,\n  [],\n\n  3\n]"},
      {"a member on one line", R"({"a":1, "b":2, "c":3})", remove({"/a", "/c"}), R"({"b":2})"},
      {"with blanks inside", R"({ "a": 1 })", remove({"/a"}), "{}"},
      {"commas in front", "{ \"a\": 1\n, \"b\": 2\n, \"c\": 3\n}", remove({"/b"}), "{ \"a\": 1\n, \"c\": 3\n}"},
      {"the last of a line of a table", "[\n  1, 2,\n  3, 4\n]", remove({"/1"}), "[\n  1,\n  3, 4\n]"},
      {"the first of a line of a table", "[\n  1, 2,\n  3, 4\n]", remove({"/2"}), "[\n  1, 2,\n  4\n]"},
  });
}

TEST(JsonEdits, InsertionsGoBeforeWhatHadTheIndex) {
  const std::string_view lines = "[\n  1,\n  2\n]";
  expect_all({
      {"at the front", lines, [](JsonEdits& edits) { edits.insert("", 0, 0); }, "[\n  0,\n  1,\n  2\n]"},
      {"between", lines, [](JsonEdits& edits) { edits.insert("", 1, {{"a", 1}}); },
       "[\n  1,\n  {\n    \"a\": 1\n  },\n  2\n]"},
      {"at the end, however far", lines, [](JsonEdits& edits) { edits.insert("", 99, 3); }, "[\n  1,\n  2,\n  3\n]"},
      {"several at one place", "[1,2]",
       [](JsonEdits& edits) {
         edits.insert("", 1, "a");
         edits.insert("", 0, "b");
         edits.insert("", 1, "c");
         edits.insert("", 2, "d");
       },
       R"(["b",1,"a","c",2,"d"])"},
      {"into an empty one", "{\n\t\"a\": []\n}",
       [](JsonEdits& edits) {
         edits.insert("/a", 0, 1);
         edits.insert("/a", 0, json::array{});
       },
       "{\n\t\"a\": [\n\t\t1,\n\t\t[]\n\t]\n}"},
      {"into an empty one, on one line", R"({"a":[]})",
       [](JsonEdits& edits) {
         edits.insert("/a", 0, 1);
         edits.insert("/a", 0, 2);
       },
       R"({"a":[1,2]})"},
      {"into an empty document", "[]", [](JsonEdits& edits) { edits.insert("", 0, 1); }, "[\n  1\n]"},
      {"beside one on one line", "{\n  \"a\": [\"x\"]\n}", [](JsonEdits& edits) { edits.insert("/a", 1, "y"); },
       "{\n  \"a\": [\"x\", \"y\"]\n}"},
      {"where each has a line", "[\n  {\"a\": 1},\n  {\"a\": 2}\n]",
       [](JsonEdits& edits) { edits.insert("", 2, {{"a", 3}, {"b", json::array{1, 2}}}); },
       "[\n  {\"a\": 1},\n  {\"a\": 2},\n  {\"a\": 3, \"b\": [1, 2]}\n]"},
      {"where brackets share lines", "{\n  \"a\": [{\n    \"b\": 1\n  }]\n}",
       [](JsonEdits& edits) { edits.insert("/a", 1, {{"b", 2}}); },
       "{\n  \"a\": [{\n    \"b\": 1\n  }, {\n    \"b\": 2\n  }]\n}"},
      {"into a table", "[\n  1,\n  2, 3\n]",
       [](JsonEdits& edits) {
         edits.insert("", 0, 0);
         edits.insert("", 3, 4);
       },
       "[\n  0,\n  1,\n  2, 3, 4\n]"},
      {"in place of what is removed", lines,
       [](JsonEdits& edits) {
         edits.remove("/0");
         edits.remove("/1");
         edits.insert("", 1, 3);
         edits.insert("", 2, 4);
       },
       "[\n  3,\n  4\n]"},
  });
}

TEST(JsonEdits, JsonTextKeepsItsLinesAndIsReindented) {
  const std::string_view story = R"({ "id":  "a\"{[\\", "tags": [1, 2],

              "deep": [{
                "x": 1
              }],
              "e": {
              }
            } )";
  expect_all({
      {"among lines", "{\r\n\t\"a\": 1\r\n}", [&](JsonEdits& edits) { edits.set_raw("/a", story); },
       "{\r\n\t\"a\": { \"id\":  \"a\\\"{[\\\\\", \"tags\": [1, 2],\r\n\r\n\t\t\"deep\": [{\r\n\t\t\t\"x\": "
       "1\r\n\t\t}],"
       "\r\n\t\t\"e\": {\r\n\t\t}\r\n\t}\r\n}"},
      {"on one line", "[1, 2]", [&](JsonEdits& edits) { edits.insert_raw("", 1, story); },
       R"([1, { "id":  "a\"{[\\", "tags": [1, 2], "deep": [{"x": 1}], "e": {}}, 2])"},
      {"on a line without blanks", "[1,2]", [&](JsonEdits& edits) { edits.set_raw("/1", "\xEF\xBB\xBF[1,\n2]\n"); },
       "[1,[1,2]]"},
      {"a line stays a line", "[\n  1\n]", [](JsonEdits& edits) { edits.insert_raw("", 1, R"({"a":[1,2]})"); },
       "[\n  1,\n  {\"a\":[1,2]}\n]"},
  });
}

TEST(JsonEdits, HooksJoinThoseOfAPerson) {
  JsonEdits edits = edits_of(R"({
    "model": "opus",
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]
    },
    "permissions": {"allow": ["Bash"]}
}
)");
  const json::value hook = {{"hooks", json::array{json::object{{"type", "command"}, {"command", "ralph hook"}}}}};
  EXPECT_TRUE(edits.insert("/hooks/Stop", 1, hook));
  EXPECT_TRUE(edits.set("/hooks/PreToolUse", json::array{hook}));
  EXPECT_EQ(edits.apply(), R"({
    "model": "opus",
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}, {"hooks": [{"type": "command", "command": "ralph hook"}]}],
        "PreToolUse": [
            {
                "hooks": [
                    {
                        "type": "command",
                        "command": "ralph hook"
                    }
                ]
            }
        ]
    },
    "permissions": {"allow": ["Bash"]}
}
)");
}

TEST(JsonEdits, SaysWhatCannotBeDoneAndDoesNothing) {
  const std::string_view text = R"({"a": [1], "b": "x"})";
  JsonEdits edits = edits_of(text);
  EXPECT_FALSE(edits.remove(""));
  EXPECT_FALSE(edits.remove("/c"));
  EXPECT_FALSE(edits.remove("/a/1"));
  EXPECT_FALSE(edits.set("a", 1));
  EXPECT_FALSE(edits.set("/a/1", 1));
  EXPECT_FALSE(edits.set("/a/-", 1));
  EXPECT_FALSE(edits.set("/b/c", 1));
  EXPECT_FALSE(edits.set("/c/d", 1));
  EXPECT_FALSE(edits.set("/c~2", 1));
  EXPECT_FALSE(edits.set("/c\xff", 1));
  EXPECT_FALSE(edits.set("/b", "\xff"));
  EXPECT_FALSE(edits.insert("/b", 0, 1));
  EXPECT_FALSE(edits.insert("/c", 0, 1));
  EXPECT_FALSE(edits.insert("", 0, 1));
  for (const std::string_view bad : {"", " ", "x", "1,", "1 2", "{\"a\":1,\"a\":2}", "\"\n\"", "]"}) {
    EXPECT_FALSE(edits.set_raw("/b", bad)) << bad;
    EXPECT_FALSE(edits.set_raw("/c", bad)) << bad;
    EXPECT_FALSE(edits.insert_raw("/a", 0, bad)) << bad;
  }
  EXPECT_EQ(edits.apply(), text);
}

TEST(JsonEdits, NestNoDeeperThanCanBeReadBack) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  JsonEdits edits = edits_of(R"({"a": [0]})");
  EXPECT_FALSE(edits.insert_raw("/a", 0, nested(kMaxJsonDepth - 1)));
  EXPECT_FALSE(edits.set_raw("/a/0", nested(kMaxJsonDepth - 1)));
  EXPECT_FALSE(edits.set_raw("/b", nested(kMaxJsonDepth)));
  EXPECT_TRUE(edits.insert_raw("/a", 0, nested(kMaxJsonDepth - 2)));
  EXPECT_TRUE(edits.set_raw("/a/0", nested(kMaxJsonDepth - 2)));
  EXPECT_TRUE(edits.set_raw("/b", nested(kMaxJsonDepth - 1)));
  EXPECT_TRUE(parse_json(edits.apply(), "f"));
}

// An algorithm that scans the whole text for each edit would take minutes here.
TEST(JsonEdits, ManyEditsOfALongTextTakeNoTime) {
  json::array stories;
  for (int i = 0; i < 10'000; ++i)
    stories.push_back({{"id", i}, {"title", std::string(200, 'x')}, {"passes", false}, {"tags", json::array{1, 2}}});
  const json::value document = {{"stories", stories}, {"names", json::object{}}};
  for (const std::string& text : {to_pretty_json(document), json::serialize(document)}) {
    JsonEdits edits = edits_of(text);
    json::value expected = document;
    json::array& after = expected.as_object()["stories"].as_array();
    after.clear();
    for (size_t i = 0; i < stories.size(); ++i) {
      EXPECT_TRUE(edits.insert("/stories", i, json::object{{"new", i}}));
      after.push_back(json::object{{"new", i}});
      if (i % 3 == 0) {
        EXPECT_TRUE(edits.remove(fmt::format("/stories/{}", i)));
        continue;
      }
      EXPECT_TRUE(edits.set(fmt::format("/stories/{}/passes", i), true));
      after.push_back(stories[i]);
      after.back().as_object()["passes"] = true;
      EXPECT_TRUE(edits.set(fmt::format("/names/{}", i), i));
      expected.as_object()["names"].as_object()[fmt::format("{}", i)] = i;
    }
    const bool is_pretty = text.find('\n') != std::string::npos;
    EXPECT_TRUE(edits.apply() == (is_pretty ? to_pretty_json(expected) : json::serialize(expected)));
  }
}

}  // namespace
}  // namespace ralph
