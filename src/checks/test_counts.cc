#include "checks/test_counts.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/text.h"

namespace ralph {
namespace {

constexpr size_t kLongestSummary = 512;

// Removes a number from the start of `text` and returns it.
std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}

// Removes colours and other escape sequences that do not move the cursor.
std::string without_colours(std::string_view line) {
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      text += line[i];
      continue;
    }
    if (i + 1 < line.size() && line[i + 1] == '[') ++i;
    while (i + 1 < line.size() && (line[i + 1] < '@' || line[i + 1] > '~')) ++i;
    ++i;
  }
  return text;
}

struct Word {
  std::string_view word;
  std::int64_t TestCounts::* counted;  // nullptr: known, but not counted
};

// The words that runners use for the outcome of a test.
constexpr Word kOutcomes[] = {
    {"passed", &TestCounts::passed},
    {"xpassed", &TestCounts::passed},
    {"failed", &TestCounts::failed},
    {"error", &TestCounts::failed},
    {"errors", &TestCounts::failed},
    {"skipped", &TestCounts::skipped},
    {"xfailed", &TestCounts::skipped},
    {"todo", &TestCounts::skipped},
    {"ignored", &TestCounts::skipped},
    {"deselected", nullptr},
    {"warning", nullptr},
    {"warnings", nullptr},
    {"rerun", nullptr},
    {"reruns", nullptr},
    {"total", nullptr},
    {"measured", nullptr},
    {"filtered out", nullptr},
    {"slow", nullptr},
    {"leaky", nullptr},
    {"flaky", nullptr},
    {"timed out", &TestCounts::failed},
    {"subtests passed", nullptr},
    {"expected fail", &TestCounts::skipped},
};

// "3 passed, 1 failed": nullopt if any part is something else. `about_tests`: at least one part is about tests.
struct ListedCounts {
  TestCounts counts;
  bool about_tests = false;
};
std::optional<ListedCounts> listed(std::string_view text, char separator) {
  ListedCounts list;
  for (const std::string& part : split(text, separator)) {
    std::string_view rest = trim(part);
    const auto number = take_number(rest);
    const std::string_view word = trim(rest);
    const auto* const outcome =
        std::find_if(std::begin(kOutcomes), std::end(kOutcomes), [&](const Word& known) { return known.word == word; });
    if (!number || outcome == std::end(kOutcomes)) return std::nullopt;
    if (outcome->counted) list.counts.*outcome->counted += *number;
    list.about_tests = list.about_tests || outcome->counted || word == "deselected" || word == "total";
  }
  return list;
}

std::optional<TestCounts> counts_of(const std::optional<ListedCounts>& list) {
  return list && list->about_tests ? std::optional(list->counts) : std::nullopt;
}

// "0.12s" or "61.20s (0:01:01)".
bool is_duration(std::string_view text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  text = text.substr(digits);
  if (digits == 0 || !take(text, "s")) return false;
  return text.empty() || (text.starts_with(" (") && text.ends_with(")"));
}

// "==== 3 passed, 1 skipped in 0.12s ====", or without the bars; "no tests ran in 0.01s".
std::optional<TestCounts> pytest(std::string_view line) {
  const size_t begin = line.find_first_not_of("= "), end = line.find_last_not_of("= ");
  if (begin == std::string_view::npos) return std::nullopt;
  line = line.substr(begin, end - begin + 1);
  const size_t in = line.rfind(" in ");
  if (in == std::string_view::npos || !is_duration(line.substr(in + 4))) return std::nullopt;
  const std::string_view what = line.substr(0, in);
  if (what == "no tests ran") return TestCounts{};
  return counts_of(listed(what, ','));
}

// "Tests:       1 failed, 2 skipped, 5 passed, 8 total"
std::optional<TestCounts> jest(std::string_view line) {
  if (starts_with_any(line, {"No tests found, exiting with code", "No test files found, exiting with code"}))
    return TestCounts{};  // the second is from vitest
  if (!take(line, "Tests:") || !line.ends_with(" total")) return std::nullopt;
  return counts_of(listed(line, ','));
}

// "      Tests  1 failed | 5 passed | 1 skipped (7)"
std::optional<TestCounts> vitest(std::string_view line) {
  skip_blanks(line);
  const size_t sum = line.rfind(" (");
  if (!take(line, "Tests  ") || sum == std::string_view::npos || !line.ends_with(')')) return std::nullopt;
  return counts_of(listed(line.substr(0, line.rfind(" (")), '|'));
}

// "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.00s", one for each program
std::optional<TestCounts> cargo(std::string_view line) {
  if (!take(line, "test result: ")) return std::nullopt;
  if (!take(line, "ok. ") && !take(line, "FAILED. ")) return std::nullopt;
  return counts_of(listed(line.substr(0, line.find("; finished in ")), ';'));
}

// "     Summary [   0.015s] 4 tests run: 3 passed, 1 failed, 1 skipped"
std::optional<TestCounts> nextest(std::string_view line) {
  skip_blanks(line);
  const size_t run = line.find(" run: ");
  if (!line.starts_with("Summary [") || run == std::string_view::npos) return std::nullopt;
  std::string counts;  // "2 passed (1 slow)": the parentheses belong to the number before them
  int depth = 0;
  for (const char c : line.substr(run + 6)) {
    depth += c == '(' ? 1 : 0;
    if (depth == 0) counts += c;
    depth -= c == ')' ? 1 : 0;
  }
  return counts_of(listed(counts, ','));
}

constexpr std::optional<TestCounts> (*kSummaries[])(std::string_view) = {pytest, jest, vitest, cargo, nextest};

}  // namespace

TestCounts& TestCounts::operator+=(const TestCounts& other) {
  passed += other.passed;
  failed += other.failed;
  skipped += other.skipped;
  return *this;
}

std::string in_words(const TestCounts& counts) {
  std::vector<std::string> parts;
  if (counts.passed > 0) parts.push_back(fmt::format("{} passed", count_of(counts.passed, "test")));
  for (const auto& [number, word] : {std::pair(counts.failed, "failed"), std::pair(counts.skipped, "skipped")}) {
    if (number == 0) continue;
    parts.push_back(parts.empty() ? fmt::format("{} {}", count_of(number, "test"), word)
                                  : fmt::format("{} {}", number, word));
  }
  return parts.empty() ? "no tests" : join(parts, ", ");
}

std::string lost_since(const TestCounts& before, const std::optional<TestCounts>& now) {
  if (before.executed() == 0 && !now) return {};
  if (!now)
    return fmt::format("no longer says how many tests it ran; at the start of the run there were {}",
                       before.executed());
  if (now->executed() < before.executed())
    return fmt::format("ran {}; at the start of the run there were {}", count_of(now->executed(), "test"),
                       before.executed());
  if (now->skipped > before.skipped)
    return fmt::format("skipped {}; at the start of the run it skipped {}", count_of(now->skipped, "test"),
                       before.skipped == 0 ? "none" : std::to_string(before.skipped));
  return {};
}

void TestCountReader::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    size_t end = bytes.find('\n');
    end = std::min(end, bytes.substr(0, end).find('\r'));
    const std::string_view part = bytes.substr(0, end);
    line_ += part.substr(0, kLongestSummary - line_.size());
    feed_xml(part);
    if (end == std::string_view::npos) return;
    end_line();
    feed_xml("\n");
    bytes.remove_prefix(end + 1);
  }
}

// Text within a report (the output of a test) is not a summary.
void TestCountReader::end_line() {
  if (!line_.empty() && xml_.suites == 0) read_line(line_);
  line_.clear();
}

void TestCountReader::read_line(std::string_view raw) {
  const std::string plain = contains(raw, '\x1b') ? without_colours(raw) : std::string(raw);
  const std::string_view line = plain;
  for (const auto read : kSummaries) {
    const auto counts = read(line);
    if (!counts) continue;
    summaries_.seen = true;
    summaries_.counts += *counts;
    return;
  }
  read_ctest(line);
  read_go(line);
  read_tap(line);
}

// "100% tests passed, 0 tests failed out of 12". Skipped tests are among the 12, disabled ones are not; both are listed
// below it.
void TestCountReader::read_ctest(std::string_view line) {
  if (line == "No tests were found!!!") ctest_.seen = true;
  if (const size_t percent = line.find("% tests passed, "); percent != std::string_view::npos) {
    std::string_view rest = line.substr(percent + 16);
    const auto failed = take_number(rest);
    if (!failed || !(take(rest, " tests failed out of ") || take(rest, " test failed out of "))) return;
    const auto total = take_number(rest);
    if (!total) return;
    ctest_.seen = true;
    ctest_.counts += {*total - *failed, *failed, 0};
    return;
  }
  if (line == "The following tests did not run:") {
    ctest_not_run_ = ctest_.seen;
    return;
  }
  if (!ctest_not_run_) return;
  std::string_view entry = line;
  skip_blanks(entry);
  ctest_not_run_ = take_number(entry) && entry.starts_with(" - ");
  if (!ctest_not_run_) return;
  ++ctest_.counts.skipped;
  if (line.ends_with("(Skipped)")) --ctest_.counts.passed;
}

// Subtests count, too. Without -v, a package that passes does not report its tests.
void TestCountReader::read_go(std::string_view line) {
  constexpr std::string_view kPass = R"("Action":"pass")", kFail = R"("Action":"fail")", kSkip = R"("Action":"skip")";
  if (line.starts_with('{') && contains(line, R"("Package":")")) {
    if (!contains(line, R"("Test":")")) return;
    go_.seen = go_verbose_ = true;
    if (contains(line, kPass)) ++go_.counts.passed;
    if (contains(line, kFail)) ++go_.counts.failed;
    if (contains(line, kSkip)) ++go_.counts.skipped;
    return;
  }
  if (starts_with_any(line, {"?   \t", "ok  \t"})) {
    const bool none = line.ends_with("[no test files]") || line.ends_with("[no tests to run]");
    go_.seen = true;
    go_uncounted_ = go_uncounted_ || (!none && line.starts_with("ok"));
    return;
  }
  if (line.starts_with("=== RUN   ")) go_verbose_ = true;
  skip_blanks(line);
  if (!take(line, "--- ")) return;
  if (line.starts_with("PASS: ")) go_verbose_ = true, ++go_.counts.passed;
  if (line.starts_with("FAIL: ")) ++go_.counts.failed;
  if (line.starts_with("SKIP: ")) ++go_.counts.skipped;
  go_.seen = go_.seen || go_verbose_;
}

// "ok 1 - name # SKIP why", "not ok 2 # TODO"; subtests are indented and count, too. Only after a version line or a
// plan: other programs print "ok" as well.
void TestCountReader::read_tap(std::string_view line) {
  if (line.starts_with("TAP version ")) tap_announced_ = true;
  if (std::string_view plan = line; take(plan, "1..") && take_number(plan) && (plan.empty() || plan[0] == ' '))
    tap_announced_ = true;
  const size_t indent = line.find_first_not_of(' ');
  if (indent == std::string_view::npos || indent % 4 != 0) return;
  line.remove_prefix(indent);
  const bool failed = take(line, "not ");
  if (!take(line, "ok") || !take(line, " ")) return;
  std::string_view rest = line;
  if (!take_number(rest) && !rest.starts_with("- ")) return;
  const size_t hash = rest.rfind(" # ");
  const std::string directive = hash == std::string_view::npos ? "" : to_lower(rest.substr(hash + 3, 4));
  tap_.seen = true;
  if (directive == "skip" || directive == "todo") {
    ++tap_.counts.skipped;
  } else {
    ++(failed ? tap_.counts.failed : tap_.counts.passed);
  }
}

std::optional<TestCounts> TestCountReader::counts() const {
  TestCountReader now = *this;
  now.end_line();
  if (now.go_uncounted_ && !now.go_verbose_) return std::nullopt;
  TestCounts sum;
  bool seen = false;
  for (const Known& known : {now.summaries_, now.ctest_, now.go_}) {
    if (known.seen) seen = true, sum += known.counts;
  }
  if (now.tap_announced_) seen = true, sum += now.tap_.counts;
  if (now.xml_.seen) {
    now.end_case();
    seen = true, sum += now.xml_.counts;
  }
  return seen ? std::optional(sum) : std::nullopt;
}

std::optional<TestCounts> test_counts_in(std::string_view output) {
  TestCountReader reader;
  reader.feed(output);
  return reader.counts();
}

}  // namespace ralph
