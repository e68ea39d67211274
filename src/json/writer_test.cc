#include "json/writer.h"

#include <gtest/gtest.h>

#include "base/utf8.h"
#include "json/value.h"

namespace ralph {
namespace {

TEST(JsonEscaped, KnowsEveryKindOfCharacter) {
  struct Row {
    std::string_view text;
    std::string_view escaped;
  };
  const Row rows[] = {
      {"", ""},
      {"plain /text/ <&>", "plain /text/ <&>"},
      {"\"\\\n\t\r\b", R"(\"\\\n\t\r\u0008)"},
      {std::string_view("\0\x1b\x7f", 3), R"(\u0000\u001b\u007f)"},
      {"\u0080\u009f\u00a0", "\\u0080\\u009f\u00a0"},
      {"é€😀", "é€😀"},
      {"a\xFF\xC2", "a\uFFFD\uFFFD"},
      {"sixteen letters!sixteen letters\"sixteen letters!", "sixteen letters!sixteen letters\\\"sixteen letters!"},
  };
  for (const Row& row : rows) EXPECT_EQ(json_escaped(row.text), row.escaped);
}

TEST(JsonEscaped, IsReadBackAsItWas) {
  std::string all;
  for (unsigned long code = 0; code < 0x3000; ++code) append_utf8(all, code);
  ByteBuffer out;
  append_json_string(out, all);
  const auto read = parse_json(out.bytes(), "test");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->get_string(), all);
}

TEST(CompactJson, EscapesKeysAndValuesAndKeepsTheirOrder) {
  const json::value value = {{"b\x7f", {1, -2, nullptr, true, 1.5}}, {"a", {{"\u009b", "\x1b"}}}, {"e", json::array()}};
  EXPECT_EQ(to_compact_json(value), R"({"b\u007f":[1,-2,null,true,1.5E0],"a":{"\u009b":"\u001b"},"e":[]})");
}

}  // namespace
}  // namespace ralph
