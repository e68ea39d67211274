#include "cli/check_text.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "base/time.h"
#include "base/utf8.h"

namespace ralph::cli {
namespace {

using diagnostics::Category;
using diagnostics::CollectorResult;
using diagnostics::CollectorStatus;
using diagnostics::Finding;
using diagnostics::Report;
using diagnostics::Severity;

constexpr size_t kShownFindings = 20, kMostNameColumns = 24, kLeastFacts = 12;

// What this collector found, including findings merged with those of other tools.
std::string found_by(const Report& report, const std::string& name) {
  Report own;
  for (const Finding& finding : report.findings) {
    if (finding.tool == name || is_one_of(name, finding.also)) own.findings.push_back(finding);
  }
  return in_words(own.summary());
}

std::string facts_of(const Report& report, const CollectorResult& result) {
  const std::string tests = result.tests && result.tests->executed() > 0 ? in_words(*result.tests) : "";
  switch (result.status) {
    case CollectorStatus::kClean:
      return tests.empty() ? "clean" : tests;
    case CollectorStatus::kFindings: {
      const std::string found = found_by(report, result.name);
      return tests.empty() ? found : tests;
    }
    case CollectorStatus::kUnavailable:
      return fmt::format("not run: {}", result.reason);
    case CollectorStatus::kFailed:
      return fmt::format("failed: {}", result.reason);
    case CollectorStatus::kTimedOut:
      return result.reason;
  }
  return {};
}

std::string mark_of(const Report& report, const CollectorResult& result, const Style& style) {
  if (result.status == CollectorStatus::kClean) return style.green(style.ok());
  if (result.status == CollectorStatus::kUnavailable) return style.yellow(style.note());
  const bool bad = std::any_of(report.findings.begin(), report.findings.end(), [&](const Finding& finding) {
    const bool its = finding.tool == result.name || is_one_of(result.name, finding.also);
    return its && (finding.severity == Severity::kError || finding.category != Category::kError);
  });
  if (result.status == CollectorStatus::kFindings && !bad) return style.yellow(style.note());
  return style.red(style.error());
}

std::string row_of(const Report& report, const CollectorResult& result, const Style& style, size_t name_columns) {
  const std::string name = fit_to_width(result.name, name_columns);
  const std::string time = result.status == CollectorStatus::kUnavailable
                               ? ""
                               : human_duration(Milliseconds(std::llround(result.seconds * 1000)));
  const size_t mark = display_width(style.ok()) + 1;
  const size_t width = style.terminal && style.width > 0 ? style.width : 80;
  const size_t left = width - std::min(width, mark + name_columns + 2);
  // If there is no room for everything, the findings matter more than the time.
  const size_t for_time = time.empty() || left < kLeastFacts + time.size() + 2 ? 0 : time.size() + 2;
  const size_t room = std::max(left - for_time, kLeastFacts);
  // A log has room for everything, and the end of a reason says what to do.
  const std::string all = facts_of(report, result);
  const std::string facts = style.terminal ? fit_to_width(all, room) : fit_to_width(all, std::max(room, all.size()));
  std::string row = fmt::format("{} {}{}  {}", mark_of(report, result, style), name,
                                std::string(name_columns - display_width(name), ' '), facts);
  if (for_time > 0) row += std::string(room - std::min(room, display_width(facts)) + 2, ' ') + style.dim(time);
  return row + "\n";
}

}  // namespace

std::string check_text(const Report& report, const Style& style, std::string_view instead) {
  if (report.collectors.empty())
    return fmt::format("{} Nothing was checked.\n",
                       instead.empty() ? "No tool that ralph knows has anything to check here." : instead);
  size_t name_columns = 8;
  const size_t widest = style.terminal && style.width < 60 ? std::max<size_t>(8, style.width / 3) : kMostNameColumns;
  for (const CollectorResult& result : report.collectors)
    name_columns = std::max(name_columns, std::min(display_width(result.name), widest));
  std::string text;
  for (const CollectorResult& result : report.collectors) text += row_of(report, result, style, name_columns);
  if (!report.findings.empty()) text += "\n";
  const size_t shown = std::min(report.findings.size(), kShownFindings);
  for (size_t i = 0; i < shown; ++i) text += printable_lines(line_of(report.findings[i])) + "\n";
  if (report.findings.size() > shown)
    text +=
        fmt::format("{} and {} more; 'ralph check --json' prints all\n", style.begin(), report.findings.size() - shown);
  const TestCounts tests = report.tests();
  const bool looked = std::any_of(report.collectors.begin(), report.collectors.end(),
                                  [](const CollectorResult& c) { return c.finished(); });
  std::string sum = report.findings.empty() && !looked ? "nothing was checked" : in_words(report.summary());
  if (tests.executed() > 0) sum += "; " + in_words(tests);
  const auto missing = std::count_if(report.collectors.begin(), report.collectors.end(), [](const CollectorResult& c) {
    return !c.finished() && c.status != CollectorStatus::kUnavailable;
  });
  if (missing > 0) sum += fmt::format("; {} did not finish", count_of(missing, "collector"));
  const auto absent = std::count_if(report.collectors.begin(), report.collectors.end(),
                                    [](const CollectorResult& c) { return c.status == CollectorStatus::kUnavailable; });
  if (absent > 0) sum += fmt::format("; {} not run", count_of(absent, "collector"));
  return text + "\n" + style.bold(sum) + "\n";
}

}  // namespace ralph::cli
