#include "checks/test_counts.h"

#include <gtest/gtest.h>

#include "base/result.h"

namespace ralph {
namespace {

struct Row {
  std::string output;
  std::optional<TestCounts> counts;
};

std::string in_text(const std::optional<TestCounts>& counts) {
  return counts ? fmt::format("{} {} {}", counts->passed, counts->failed, counts->skipped) : "unknown";
}

void expect(std::initializer_list<Row> rows) {
  for (const Row& row : rows) {
    EXPECT_EQ(in_text(test_counts_in(row.output)), in_text(row.counts)) << row.output;
    TestCountReader byte_by_byte;
    for (const char& c : row.output) byte_by_byte.feed({&c, 1});
    EXPECT_EQ(in_text(byte_by_byte.counts()), in_text(row.counts)) << "byte by byte: " << row.output;
  }
}

TEST(TestCounts, OfPytest) {
  expect({
      {"....\n4 passed in 0.12s\n", {{4, 0, 0}}},
      {"===== 3 passed, 1 skipped in 0.12s =====\n", {{3, 0, 1}}},
      {"\x1b[31m==== \x1b[31m\x1b[1m1 failed\x1b[0m, \x1b[32m2 passed\x1b[0m\x1b[31m in 0.20s\x1b[0m\x1b[31m "
       "====\x1b[0m\n",
       {{2, 1, 0}}},
      {"1 failed, 2 passed, 1 skipped, 5 deselected, 1 xfailed, 1 xpassed, 3 warnings, 2 errors in 61.20s (0:01:01)",
       {{3, 3, 2}}},
      {"no tests ran in 0.01s\n", {{0, 0, 0}}},
      {"7 deselected in 0.01s\n", {{0, 0, 0}}},
      {"3 warnings in 1.20s\n", {}},                        // could be from a compiler
      {"5 files passed in 1.2s\n", {}},                     // not pytest's wording
      {"4 passed in no time\n", {}},                        //
      {"2 passed in 0.1s\n3 passed in 0.1s", {{5, 0, 0}}},  // two runs in one check
  });
}

TEST(TestCounts, OfJestAndVitest) {
  expect({
      {"Test Suites: 1 failed, 2 passed, 3 total\nTests:       1 failed, 2 skipped, 3 todo, 5 passed, 11 total\n"
       "Snapshots:   0 total\nTime:        1.2 s\n",
       {{5, 1, 5}}},
      {"Tests:       0 total\n", {{0, 0, 0}}},
      {"No tests found, exiting with code 0\n", {{0, 0, 0}}},
      {" Test Files  1 passed (1)\n      Tests  1 failed | 5 passed | 1 skipped | 1 todo (8)\n", {{5, 1, 2}}},
      {"\x1b[2m      Tests \x1b[22m \x1b[1m\x1b[32m5 passed\x1b[39m\x1b[22m\x1b[90m (5)\x1b[39m\n", {{5, 0, 0}}},
      {"No test files found, exiting with code 0\n", {{0, 0, 0}}},
      {"Tests: all of them passed\n", {}},
  });
}

TEST(TestCounts, OfGo) {
  expect({
      {"ok  \tx\t0.003s\n", {}},
      {"ok  \tx\t(cached)\n?   \tx/cmd\t[no test files]\n", {}},
      {"?   \tx\t[no test files]\n", {{0, 0, 0}}},
      {"ok  \tx\t0.003s [no tests to run]\n", {{0, 0, 0}}},
      {"=== RUN   TestA\n=== RUN   TestA/sub\n--- PASS: TestA (0.00s)\n    --- PASS: TestA/sub (0.00s)\n"
       "=== RUN   TestB\n    x_test.go:4: no\n--- SKIP: TestB (0.00s)\nPASS\nok  \tx\t0.003s\n",
       {{2, 0, 1}}},
      {"--- FAIL: TestA (0.00s)\n    x_test.go:4: no\nFAIL\nFAIL\tx\t0.003s\nok  \ty\t0.001s\nFAIL\n", {}},
      {"{\"Time\":\"t\",\"Action\":\"output\",\"Package\":\"x\",\"Test\":\"TestB\",\"Output\":\"--- SKIP: TestB\\n\"}\n"
       "{\"Time\":\"t\",\"Action\":\"skip\",\"Package\":\"x\",\"Test\":\"TestB\",\"Elapsed\":0}\n"
       "{\"Time\":\"t\",\"Action\":\"pass\",\"Package\":\"x\",\"Test\":\"TestA\",\"Elapsed\":0}\n"
       "{\"Time\":\"t\",\"Action\":\"pass\",\"Package\":\"x\",\"Elapsed\":0.011}\n",
       {{1, 0, 1}}},
  });
}

TEST(TestCounts, OfCargo) {
  expect({
      {"running 5 tests\ntest result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in "
       "0.00s\n"
       "   Doc-tests x\nrunning 0 tests\n"
       "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
       {{5, 0, 1}}},
      {"test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n", {{1, 2, 0}}},
      {"     Summary [   0.015s] 4 tests run: 3 passed (1 slow), 1 failed, 1 skipped\n", {{3, 1, 1}}},
  });
}

TEST(TestCounts, OfCtest) {
  expect({
      {"100% tests passed, 0 tests failed out of 2\n\nTotal Test time (real) =   0.03 sec\n\n"
       "The following tests did not run:\n\t  2 - b (Skipped)\n\t  3 - c (Disabled)\n",
       {{1, 0, 2}}},
      {"67% tests passed, 1 tests failed out of 3\n\nThe following tests FAILED:\n\t  1 - a (Failed)\n", {{2, 1, 0}}},
      {"No tests were found!!!\n", {{0, 0, 0}}},
  });
}

TEST(TestCounts, OfTap) {
  expect({
      {"TAP version 13\nok 1 - a\n  ---\n  duration_ms: 1\n  ...\nok 2 - b # SKIP\n    ok 1 - d\n    1..1\nok 3 - c\n"
       "not ok 4 - e # TODO later\nnot ok 5 - f\n1..5\n",
       {{3, 1, 2}}},
      {"1..2\nok 1\nok - two\n", {{2, 0, 0}}},
      {"1..0 # SKIP nothing to do\n", {{0, 0, 0}}},
      {"ok 1 - not announced\n", {}},
      {"ok then\n", {}},
  });
}

TEST(TestCounts, OfJUnitXml) {
  expect({
      {"<?xml version=\"1.0\"?><testsuites><testsuite name=\"a > b\" tests=\"4\"><testcase name=\"1\"/>"
       "<testcase name=\"2\"><failure message=\"no\">x</failure></testcase><testcase name='3 />'><skipped/></testcase>"
       "<testcase name=\"4\"><error/></testcase></testsuite></testsuites>",
       {{1, 2, 1}}},
      {"<testsuites>\n<testsuite>\n<testcase>\n<system-out><![CDATA[<testcase><failure>\n9 passed in 0.1s\n]]>"
       "</system-out></testcase>\n</testsuite>\n</testsuites>\n",
       {{1, 0, 0}}},
      {"<?xml version=\"1.0\"?>\n<testsuite tests=\"0\" name=\"none\" />\n", {{0, 0, 0}}},
      {"<?xml version=\"1.0\"?>\n<testsuite tests=\"0\" />\n2 passed in 0.10s\n", {{2, 0, 0}}},
      {"a log that speaks of a <testsuite> and a <testcase>\n3 passed in 0.1s\n", {{3, 0, 0}}},
      {"<?xml version=\"1.0\"?><project></project>\n", {}},
  });
}

TEST(TestCounts, AreUnknownIfNobodySaysThem) {
  expect({{"", {}}, {"\n", {}}, {"all fine\n", {}}, {"passed\n", {}}, {"12 passed\n", {}}});
}

TEST(TestCounts, NeedNoMoreThanALineOfAHugeLog) {
  TestCountReader reader;
  const std::string block(1 << 20, 'x');
  for (int i = 0; i < 64; ++i) reader.feed(block);  // one line
  reader.feed("\n5 passed in 0.1s\n");
  reader.feed(std::string(1 << 20, '<'));
  EXPECT_EQ(reader.counts(), (TestCounts{5, 0, 0}));
}

TEST(TestCounts, InWords) {
  EXPECT_EQ(in_words({12, 1, 2}), "12 tests passed, 1 failed, 2 skipped");
  EXPECT_EQ(in_words({1, 0, 0}), "1 test passed");
  EXPECT_EQ(in_words({0, 0, 3}), "3 tests skipped");
  EXPECT_EQ(in_words({}), "no tests");
}

}  // namespace
}  // namespace ralph
