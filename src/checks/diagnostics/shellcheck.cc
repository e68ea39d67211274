#include "checks/diagnostics/collectors.h"
#include "checks/diagnostics/tools.h"
#include "os/files.h"

namespace ralph::diagnostics {
namespace {

constexpr size_t kMostToLookInto = 2000, kLongestFirstLine = 256;

// A script without an ending is recognised by its first line.
bool is_shell_script(const std::string& path) {
  if (!is_executable_file(path) || !is_regular_file(path)) return false;
  const auto text = read_file(path);
  if (!text || !text->starts_with("#!")) return false;
  const std::string line = replace_all(text->substr(2, std::min(text->find('\n'), kLongestFirstLine) - 2), "\t", " ");
  bool by_env = false;
  for (const std::string& word : split(line, ' ')) {
    const std::string_view plain = trim(word);
    if (plain.empty()) continue;
    // "env -S bash -e", "env -i LANG=C bash"
    if (by_env && (plain.starts_with('-') || contains(plain, '='))) {
      if (!plain.starts_with("-S") || plain.size() == 2) continue;
    }
    const std::string name = base_name(plain.starts_with("-S") ? plain.substr(2) : plain);
    if (name == "env" && !by_env) {
      by_env = true;
      continue;
    }
    return is_one_of(name, {"sh", "bash", "dash", "ksh"});
  }
  return false;
}

std::vector<std::string> scripts_in(const ProjectView& project, const Scope& scope) {
  std::vector<std::string> scripts = files_for(project, scope, {".sh", ".bash", ".ksh", ".dash"});
  size_t looked = 0;
  for (const std::string& file : scope.whole() ? project.files() : std::span<const std::string>(scope.files)) {
    const std::string name = base_name(file);
    if (contains(name, '.') || looked++ > kMostToLookInto) continue;
    if (is_shell_script(join_path(project.root(), file)) && !project.leaves_out(file)) scripts.push_back(file);
  }
  std::erase_if(scripts, [&](const std::string& file) { return !project.has(file); });
  return scripts;
}

CollectorPlan plan_shellcheck(const ProjectView& project, const Scope& scope) {
  const std::vector<std::string> scripts = scripts_in(project, scope);
  if (scripts.empty()) return CollectorPlan::not_used();
  const std::string shellcheck = project.tool("shellcheck");
  if (shellcheck.empty()) return missing_tool("shellcheck", "apt install shellcheck");
  CollectorPlan plan;
  plan.commands = commands_for(project, {shellcheck, "--format=json1", "--"}, scripts);
  return plan;
}

ParsedOutput parse_shellcheck(const ToolOutput& output) {
  const auto document = parse_json(output.out, "shellcheck");
  if (!document || !find(*document, "comments")) return {.failure = "shellcheck printed no JSON"};
  ParsedOutput parsed;
  for (const json::value& item : array_at(*document, "comments")) {
    Finding finding = finding_at(item, {{"file"}, {"line"}, {"column"}, {}, {"message"}});
    finding.rule = fmt::format("SC{}", number_at(item, {"code"}));
    finding.severity = severity_from(text_at(item, {"level"}));
    parsed.findings.push_back(std::move(finding));
  }
  if (output.exit_code > 1) parsed.failure = "shellcheck failed";
  return parsed;
}

}  // namespace

constinit const Collector kShellcheck{"shellcheck", Kind::kErrors, plan_shellcheck, parse_shellcheck};

}  // namespace ralph::diagnostics
