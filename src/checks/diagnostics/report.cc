#include "checks/diagnostics/report.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "json/fields.h"

namespace ralph::diagnostics {
namespace {

void take_over(Finding& kept, const Finding& other) {
  kept.severity = std::min(kept.severity, other.severity);
  if (other.category == Category::kSecurity) kept.category = Category::kSecurity;
  for (const std::string& tool : other.also) {
    if (tool != kept.tool && !is_one_of(tool, kept.also)) kept.also.push_back(tool);
  }
  if (other.tool != kept.tool && !is_one_of(other.tool, kept.also)) kept.also.push_back(other.tool);
  if (kept.column == 0) kept.column = other.column;
  if (kept.rule.empty()) kept.rule = other.rule;
}

}  // namespace

Summary Report::summary() const {
  Summary sum;
  for (const Finding& finding : findings) {
    if (finding.category == Category::kSecurity) {
      ++sum.security;
    } else if (finding.category == Category::kTest) {
      ++sum.failing_tests;
    } else {
      ++(finding.severity == Severity::kError     ? sum.errors
         : finding.severity == Severity::kWarning ? sum.warnings
                                                  : sum.infos);
    }
  }
  return sum;
}

TestCounts Report::tests() const {
  TestCounts sum;
  for (const CollectorResult& collector : collectors) {
    if (collector.tests) sum += *collector.tests;
  }
  return sum;
}

const CollectorResult* Report::find(std::string_view name) const {
  const auto found =
      std::find_if(collectors.begin(), collectors.end(), [&](const CollectorResult& c) { return c.name == name; });
  return found == collectors.end() ? nullptr : &*found;
}

void Report::add(CollectorResult result, std::vector<Finding> found) {
  collectors.push_back(std::move(result));
  std::move(found.begin(), found.end(), std::back_inserter(findings));
}

void Report::keep_below(std::span<const std::string> paths) {
  if (paths.empty()) return;
  std::erase_if(findings, [&](const Finding& finding) {
    return !finding.file.empty() && std::none_of(paths.begin(), paths.end(), [&](std::string_view path) {
      while (path.starts_with("./")) path.remove_prefix(2);
      while (path.ends_with('/')) path.remove_suffix(1);
      return path.empty() || path == "." || finding.file == path ||
             (finding.file.starts_with(path) && finding.file[path.size()] == '/');
    });
  });
}

void Report::merge() {
  std::vector<Finding> merged;
  merged.reserve(findings.size());
  // Indices of the findings by location: tools rarely report more than a handful for one line.
  std::map<std::pair<std::string, int>, std::vector<size_t>> places;
  for (Finding& finding : findings) {
    std::vector<size_t>& here = places[{finding.file, finding.line}];
    const auto same = std::find_if(here.begin(), here.end(), [&](size_t at) {
      const Finding& other = merged[at];
      if (other.category == Category::kTest || finding.category == Category::kTest) return other == finding;
      // One tool may report the same for two places in a line.
      if (other.tool == finding.tool && other.column != finding.column) return false;
      return (!finding.rule.empty() && finding.rule == other.rule) || finding.message == other.message;
    });
    if (same != here.end()) {
      take_over(merged[*same], finding);
      continue;
    }
    here.push_back(merged.size());
    merged.push_back(std::move(finding));
  }
  std::stable_sort(merged.begin(), merged.end(), is_worse);
  findings = std::move(merged);
}

Report replaced(Report older, const Report& newer, std::span<const std::string> files) {
  std::erase_if(older.findings, [&](const Finding& finding) {
    return newer.find(finding.tool) && std::find(files.begin(), files.end(), finding.file) != files.end();
  });
  for (const Finding& finding : newer.findings) {
    if (std::find(files.begin(), files.end(), finding.file) != files.end()) older.findings.push_back(finding);
  }
  for (const CollectorResult& result : newer.collectors) {
    const auto same = std::find_if(older.collectors.begin(), older.collectors.end(),
                                   [&](const CollectorResult& c) { return c.name == result.name; });
    if (same == older.collectors.end()) {
      older.collectors.push_back(result);
      continue;
    }
    *same = result;
    if (!result.finished()) continue;
    const bool some = std::any_of(older.findings.begin(), older.findings.end(),
                                  [&](const Finding& finding) { return finding.tool == result.name; });
    same->status = some ? CollectorStatus::kFindings : CollectorStatus::kClean;
  }
  older.merge();
  return older;
}

json::object to_json(const Report& report) {
  json::object object;
  object["version"] = 1;
  json::array collectors;
  for (const CollectorResult& result : report.collectors) collectors.push_back(json_from(result));
  object["collectors"] = std::move(collectors);
  json::array findings;
  for (const Finding& finding : report.findings) findings.push_back(json_from(finding));
  object["findings"] = std::move(findings);
  const Summary sum = report.summary();
  object["summary"] = json::object{
      {"errors", sum.errors}, {"warnings", sum.warnings}, {"infos", sum.infos}, {"security", sum.security}};
  return object;
}

std::string line_of(const Finding& finding) {
  std::vector<std::string> from;
  if (!finding.rule.empty()) from.push_back(finding.rule);
  from.push_back(finding.tool);
  from.insert(from.end(), finding.also.begin(), finding.also.end());
  const std::string place = place_of(finding);
  const std::string_view what = finding.category == Category::kSecurity ? "security"
                                : finding.category == Category::kTest   ? "failed test"
                                                                        : to_string(finding.severity);
  return fmt::format("{}{}: {} ({})", place.empty() ? "" : place + ": ", what, finding.message, join(from, ", "));
}

std::string worst_of(std::span<const Finding> findings, size_t most) {
  std::string text;
  for (const Finding& finding : findings.first(std::min(most, findings.size()))) text += line_of(finding) + "\n";
  if (findings.size() > most) text += fmt::format("… and {} more\n", findings.size() - most);
  return text;
}

std::string in_words(const Summary& summary) {
  std::vector<std::string> parts;
  const auto say = [&](int count, std::string_view noun) {
    if (count > 0) parts.push_back(count_of(count, noun));
  };
  say(summary.errors, "error");
  say(summary.security, "security issue");
  say(summary.failing_tests, "failing test");
  say(summary.warnings, "warning");
  say(summary.infos, "info");
  return parts.empty() ? "nothing found" : join(parts, ", ");
}

}  // namespace ralph::diagnostics
