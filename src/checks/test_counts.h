// Reads how many tests a check ran from its output: the summaries of pytest, jest, vitest, go test, cargo test and
// ctest, TAP, and JUnit XML. It processes the output as a stream and keeps only a few hundred bytes, however long the
// output is.
//
//   TestCountReader reader;
//   reader.feed(bytes);                                    // as often as needed
//   if (const auto counts = reader.counts()) ...           // nullopt: unknown, which is not zero
//
// The numbers come from the test runner. Code under test can print such lines, too: the counts reveal silently lost
// tests, but they are not forgery-proof.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ralph {

struct TestCounts {
  std::int64_t passed = 0, failed = 0, skipped = 0;  // expected failures and todos count as skipped

  std::int64_t executed() const { return passed + failed; }
  TestCounts& operator+=(const TestCounts& other);
  bool operator==(const TestCounts&) const = default;
  template <class V>
  void fields(V&& v) {
    v("passed", passed), v("failed", failed), v("skipped", skipped);
  }
};

// "12 tests passed, 1 failed, 2 skipped"; zero counts are left out unless all are zero: "no tests".
std::string in_words(const TestCounts& counts);

// What is missing now, as the end of a sentence that starts with the check's name: "ran 8 tests; at the start of the
// run there were 10". Empty if nothing is missing. Counts that can no longer be read are missing, too: hiding them
// hides tests.
std::string lost_since(const TestCounts& before, const std::optional<TestCounts>& now);

class TestCountReader {
 public:
  void feed(std::string_view bytes);

  // The sum over everything recognised so far. nullopt if nothing was recognised, or a runner reported only that its
  // tests passed, not how many (`go test` without -v).
  std::optional<TestCounts> counts() const;

 private:
  struct Known {
    bool seen = false;
    TestCounts counts;
  };
  // JUnit XML: elements are counted and attributes don't matter, so only a name is kept.
  struct Xml {
    enum class Where { kText, kName, kTag, kCdata } where = Where::kText;
    std::string name;        // of the current element
    std::string last;        // up to two characters that may be the start of its end
    char quote = 0;          // of the attribute value we are in
    int suites = 0;          // open ones
    bool announced = false;  // by <?xml or <testsuites: a log may mention a <testsuite>
    bool seen = false, in_case = false, failed = false, skipped = false;
    TestCounts counts;
  };

  void end_line();
  void read_line(std::string_view raw);
  void read_go(std::string_view line);
  void read_tap(std::string_view line);
  void read_ctest(std::string_view line);
  void feed_xml(std::string_view bytes);
  void feed_tag(char c);
  void read_element(bool empty);
  void end_case();

  std::string line_;  // the current line, cut if longer than any summary
  Known summaries_;   // of runners that print one line
  Known ctest_, go_;
  bool ctest_not_run_ = false;  // in its list of tests that did not run
  bool go_uncounted_ = false;   // a package passed without reporting how many tests
  bool go_verbose_ = false;     // every test is listed
  Known tap_;
  bool tap_announced_ = false;  // by its version or its plan
  Xml xml_;
};

// The same for a complete output.
std::optional<TestCounts> test_counts_in(std::string_view output);

}  // namespace ralph
