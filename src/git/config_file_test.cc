#include "git/config_file.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace ralph {
namespace {

std::string keys(std::string_view text) {
  std::vector<std::string> lines;
  for (const ConfigEntry& entry : config_entries(text)) lines.push_back(entry.key() + "=" + entry.value);
  return join(lines, "|");
}

TEST(ConfigFile, IsReadAsGitReadsIt) {
  struct Row {
    std::string_view when, text, keys;
  };
  const std::vector<Row> rows = {
      {"a plain entry", "[core]\n\tbare = false\n", "core.bare=false"},
      {"a subsection keeps its letters", "[Filter \"Lfs X\"]\n Clean = a b \n", "filter.Lfs X.clean=a b"},
      {"the old form does not", "[filter.LFS]\nclean=x\n", "filter.lfs.clean=x"},
      {"an entry beside its section", "[filter \"a\"] clean = x\n", "filter.a.clean=x"},
      {"comments", "# [a]\n[b] ; c\n d = e # f\n", "b.d=e"},
      {"quotes and escapes", "[a]\n b = \" x;y \" \\\"z\\n\n", "a.b= x;y  \"z\n"},
      {"a line that goes on", "[a]\n b = one \\\ntwo\n c=d\n", "a.b=one two|a.c=d"},
      {"no value", "[a]\n b\n c\n", "a.b=true|a.c=true"},
      {"an escaped quote in a subsection", "[filter \"a\\\"b\"]\nclean=x\n", "filter.a\"b.clean=x"},
      {"an empty subsection is one", "[filter \"\"]\nclean=x\n", "filter..clean=x"},
      {"line ends of another system", "\xef\xbb\xbf[a]\r\n b = c\r\n", "a.b=c"},
      {"no line end", "[a]\nb=c", "a.b=c"},
      {"nonsense", "]]]\n=\n[a\nb=c\n", "a.b=c"},
      {"nothing", "", ""},
  };
  for (const Row& row : rows) EXPECT_EQ(keys(row.text), row.keys) << row.when;
}

}  // namespace
}  // namespace ralph
