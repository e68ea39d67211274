// Language servers as collectors, one row for each server of checks/lsp/servers. They are queried through `ralph lsp
// ask`, which uses the project's warm servers or starts one for this question.
#include "checks/diagnostics/collectors.h"
#include "checks/diagnostics/tools.h"
#include "checks/lsp/servers.h"
#include "os/files.h"

namespace ralph::diagnostics {
namespace {

CollectorPlan plan_server(std::string_view name, const ProjectView& project, const Scope& scope) {
  const lsp::ServerRow& row = *lsp::server_named(name);
  if (!scope.named) return CollectorPlan::not_used();  // compilers and type checkers find the same without a server
  std::vector<std::string> files = files_for(project, scope, lsp::endings_of(row));
  std::erase_if(files, [&](const std::string& file) { return project.leaves_out(file); });
  if (files.empty()) return CollectorPlan::not_used();
  const std::vector<std::string> server = lsp::command_of(row, project);
  if (server.empty()) return missing_tool(row.name, row.how_to_install);
  const auto self = path_of_this_program();
  if (!self) return missing_tool("ralph", "its program was removed");
  std::vector<std::string> argv = {*self, "lsp", "ask", "--server", std::string(row.name)};
  if (!scope.hub.empty()) argv.insert(argv.end(), {"--hub", scope.hub});
  if (scope.accepted) argv.emplace_back("--trust");
  argv.emplace_back("--");
  CollectorPlan plan;
  plan.commands = commands_for(project, argv, files);
  for (ToolCommand& command : plan.commands) {
    command.starts = server.front();
    if (!scope.hub.empty()) command.reads.push_back(scope.hub);
  }
  return plan;
}

CollectorPlan plan_clangd(const ProjectView& project, const Scope& scope) {
  return plan_server("clangd", project, scope);
}
CollectorPlan plan_pyright_server(const ProjectView& project, const Scope& scope) {
  return plan_server("pyright-langserver", project, scope);
}
CollectorPlan plan_gopls(const ProjectView& project, const Scope& scope) {
  return plan_server("gopls", project, scope);
}
CollectorPlan plan_rust(const ProjectView& project, const Scope& scope) {
  return plan_server("rust-analyzer", project, scope);
}
CollectorPlan plan_typescript(const ProjectView& project, const Scope& scope) {
  return plan_server("typescript-language-server", project, scope);
}

ParsedOutput parse_answer(const ToolOutput& output) {
  const auto document = parse_json(output.out, "ralph lsp ask");
  if (!document || !find(*document, "findings")) return {.failure = "the language server was not asked"};
  ParsedOutput parsed;
  parsed.failure = text_at(*document, {"failure"});
  parsed.says_all = !parsed.failure.empty();
  for (const json::value& item : array_at(*document, "findings")) {
    Finding finding = finding_at(item, {{"file"}, {"line"}, {"column"}, {"rule"}, {"message"}});
    finding.severity = severity_from(text_at(item, {"severity"}));
    parsed.findings.push_back(std::move(finding));
  }
  if (output.exit_code != 0 && parsed.failure.empty()) parsed.failure = "the language server was not asked";
  return parsed;
}

}  // namespace

constinit const Collector kClangd{"clangd", Kind::kErrors, plan_clangd, parse_answer};
constinit const Collector kPyrightServer{"pyright-langserver", Kind::kErrors, plan_pyright_server, parse_answer};
constinit const Collector kGopls{"gopls", Kind::kErrors, plan_gopls, parse_answer};
constinit const Collector kRustAnalyzer{"rust-analyzer", Kind::kErrors, plan_rust, parse_answer};
constinit const Collector kTypescriptServer{"typescript-language-server", Kind::kErrors, plan_typescript, parse_answer};

}  // namespace ralph::diagnostics
