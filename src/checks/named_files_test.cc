#include "checks/named_files.h"

#include <set>

#include <gtest/gtest.h>

namespace ralph {
namespace {

TEST(FilesNamedBy, FollowsItsTable) {
  const std::set<std::string> there = {"Makefile",    "sub/Makefile", "ci/check.sh", "package.json",
                                       "conftest.py", "run tests.sh", "test.py",     "web/package.json"};
  const auto is_file = [&](const std::string& path) { return there.contains(path); };
  struct Row {
    const char* command;
    std::vector<std::string> files;
  };
  const Row rows[] = {
      {"make test", {"Makefile"}},
      {"make -C sub test", {"Makefile", "sub/Makefile"}},
      {"cd sub && make", {"Makefile", "sub/Makefile"}},
      {"./ci/check.sh --fast", {"ci/check.sh"}},
      {"sh ci/check.sh && npm test", {"ci/check.sh", "package.json"}},
      {"(cd web; npm test)", {"package.json", "web/package.json"}},
      {"'run tests.sh'", {"run tests.sh"}},
      {"sh -c 'make test'", {"Makefile"}},
      {"python3 -m pytest -q", {"conftest.py"}},
      {"/usr/bin/make", {"Makefile"}},
      {"python3 test.py>/dev/null", {"test.py"}},
      {"sh ../ci/check.sh", {}},
      {"sh /ci/check.sh", {}},
      {"cargo test", {}},
      {"", {}},
      {"'unclosed make", {"Makefile"}},
  };
  for (const Row& row : rows) EXPECT_EQ(files_named_by(row.command, is_file), row.files) << row.command;
}

TEST(FilesReadByProgramsOf, NamesWhatIsNotThereYet) {
  EXPECT_EQ(files_read_by_programs_of("cd sub && make"),
            (std::vector<std::string>{"GNUmakefile", "sub/GNUmakefile", "makefile", "sub/makefile", "Makefile",
                                      "sub/Makefile"}));
  EXPECT_EQ(files_read_by_programs_of("sh check.sh"), std::vector<std::string>{});
}

}  // namespace
}  // namespace ralph
