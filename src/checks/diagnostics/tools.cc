#include "checks/diagnostics/tools.h"

#include <algorithm>
#include <charconv>

#include "os/files.h"

namespace ralph::diagnostics {
namespace {

constexpr size_t kMostArgumentBytes = 100'000;

Severity severity_of(std::string_view word) {
  return word == "warning" ? Severity::kWarning : word == "remark" ? Severity::kInfo : Severity::kError;
}

}  // namespace

Finding finding_at(const json::value& item, const FindingNames& names) {
  Finding finding;
  finding.file = text_at(item, names.file);
  finding.line = number_at(item, names.line);
  finding.column = number_at(item, names.column);
  finding.rule = text_at(item, names.rule);
  finding.message = text_at(item, names.message);
  return finding;
}

Severity severity_from(std::string_view word) {
  return from_word<Severity>(word).value_or(Severity::kInfo);
}

std::vector<std::string> files_for(const ProjectView& project, const Scope& scope,
                                   std::span<const std::string_view> endings) {
  if (scope.whole()) return project.files_ending(endings);
  std::vector<std::string> found;
  for (const std::string& file : scope.files) {
    const bool fits =
        std::any_of(endings.begin(), endings.end(), [&](std::string_view e) { return file.ends_with(e); });
    if (fits && !project.leaves_out(file)) found.push_back(file);
  }
  return found;
}

std::vector<ToolCommand> commands_for(const ProjectView& project, const std::vector<std::string>& argv,
                                      const std::vector<std::string>& files) {
  std::vector<ToolCommand> commands;
  size_t bytes = kMostArgumentBytes;
  for (const std::string& file : files) {
    if (bytes + file.size() + 16 > kMostArgumentBytes) {
      commands.push_back({argv, project.root()});
      bytes = 0;
    }
    bytes += file.size() + 16;
    commands.back().argv.push_back(file.starts_with('-') ? "./" + file : file);
  }
  return commands;
}

CollectorPlan missing_tool(std::string_view tool, std::string_view how_to_install) {
  CollectorPlan plan;
  plan.missing = fmt::format("{} is not installed; {}", tool, how_to_install);
  return plan;
}

int take_int(std::string_view& text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return -1;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

PlacedLine placed_line(std::string_view line) {
  if (line.empty() || line[0] == ' ' || line[0] == '\t') return {};
  for (size_t colon = line.find(':'); colon != std::string_view::npos; colon = line.find(':', colon + 1)) {
    std::string_view rest = line.substr(colon + 1);
    PlacedLine placed{line.substr(0, colon), {}, take_int(rest), 0};
    if (placed.line < 0 || colon == 0 || !rest.starts_with(':')) continue;
    rest.remove_prefix(1);
    std::string_view after = rest;
    if (const int column = take_int(after); column >= 0 && after.starts_with(':')) {
      placed.column = column;
      rest = after.substr(1);
    }
    if (!rest.starts_with(' ')) continue;
    placed.message = rest.substr(1);
    return placed;
  }
  return {};
}

std::vector<Finding> parse_gnu(std::string_view text) {
  std::vector<Finding> findings;
  for_each_line(text, [&](std::string_view line) {
    const PlacedLine placed = placed_line(line);
    if (placed.file.empty()) return;
    const size_t colon = placed.message.find(": ");
    std::string_view word = placed.message.substr(0, colon);
    if (is_one_of(word, {"fatal error", "internal compiler error"})) word = "error";
    if (colon == std::string_view::npos || !is_one_of(word, {"error", "warning", "remark"})) return;
    std::string_view message = placed.message.substr(colon + 2);
    std::string rule;
    if (message.ends_with(']')) {
      if (const size_t bracket = message.rfind(" ["); bracket != std::string_view::npos) {
        rule = message.substr(bracket + 2, message.size() - bracket - 3);
        message = message.substr(0, bracket);
      }
    }
    if (rule.starts_with("-Werror=")) rule = "-W" + rule.substr(8);
    findings.push_back({std::string(placed.file), placed.line, placed.column, severity_of(word), Category::kError, rule,
                        std::string(message), ""});
  });
  return findings;
}

bool has_error(std::span<const Finding> findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.severity == Severity::kError; });
}

Finding failing_test(std::string name, std::string file, int line, std::string_view message) {
  const std::string_view first = first_line(message);
  std::string text = first.empty() ? name : fmt::format("{}: {}", name, first);
  return {std::move(file), line, 0, Severity::kError, Category::kTest, std::move(name), std::move(text), ""};
}

std::string in_build_folder(const ProjectView& project, std::string_view file) {
  const std::string& root = project.root();
  if (project.has(file)) return std::string(file);
  for (const std::string& name : names_in(root)) {
    if (!starts_with_any(name, {"build", "cmake-build", "out"}) || !is_directory(join_path(root, name))) continue;
    if (const std::string path = join_path(name, file); project.has(path)) return path;
    for (const std::string& inner : names_in(join_path(root, name))) {
      if (inner == "." || inner == "..") continue;
      if (const std::string path = join_path(join_path(name, inner), file); project.has(path)) return path;
    }
  }
  return {};
}

}  // namespace ralph::diagnostics
