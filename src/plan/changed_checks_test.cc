#include "plan/changed_checks.h"

#include <gtest/gtest.h>

namespace ralph {
namespace {

TEST(ChangedChecks, FilesThatRunTestsAreKnownByTheirNames) {
  for (const char* path :
       {"Makefile", "sub/package.json", "tests/conftest.py", "CMakeLists.txt", ".github/workflows/ci.yml",
        "sub/.circleci/config.yml", ".gitlab-ci.yml", "Cargo.toml", "pytest.ini"})
    EXPECT_TRUE(is_check_file(path)) << path;
  for (const char* path : {"main.cc", "package.json.txt", "docs/Makefile.md", "github/workflows/x"})
    EXPECT_FALSE(is_check_file(path)) << path;
}

struct Row {
  const char* difference;
  const char* signs;
};

TEST(ChangedChecks, SignsOfWeakerTests) {
  const Row rows[] = {
      {"--- a\n+++ b\n@@ -1 +1 @@\n+@pytest.mark.skip\n", "tests are skipped or singled out in 1 new line"},
      {"@@\n+it.only('x')\n+xit('y')\n", "tests are skipped or singled out in 2 new lines"},
      {"@@\n+#[ignore]\n", "tests are skipped or singled out in 1 new line"},
      {"@@\n+@pytest.mark.xfail(strict=False)\n", "tests are skipped or singled out in 1 new line"},
      {"@@\n+  benefit(1);\n+  exit(0);\n", ""},
      {"@@\n-  assert a == 1\n-  assert b == 2\n+  assert a\n", "1 assertion fewer than before"},
      {"@@\n-  expect(a).toBe(1)\n+  expect(a).toBe(2)\n", "1 assertion rewritten"},
      {"@@\n+  assert a\n", ""},
      {"-assert before any hunk\n", ""},
      {"@@\n-old\n+new\n", ""},
  };
  for (const Row& row : rows) EXPECT_EQ(suspicious_changes_in(row.difference), row.signs) << row.difference;
}

}  // namespace
}  // namespace ralph
