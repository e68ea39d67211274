#include "checks/diagnostics/collectors.h"
#include "checks/diagnostics/tools.h"

namespace ralph::diagnostics {
namespace {

constexpr std::string_view kBiomeSources[] = {".js",  ".jsx", ".mjs",  ".cjs", ".ts",   ".tsx",
                                              ".mts", ".cts", ".json", ".css", ".jsonc"};

CollectorPlan plan_biome(const ProjectView& project, const Scope& scope) {
  const std::vector<std::string> files = files_for(project, scope, kBiomeSources);
  const bool configured = !project.first_of({"biome.json", "biome.jsonc"}).empty();
  if (files.empty() || !(scope.named || configured)) return CollectorPlan::not_used();
  const std::string biome = project.tool("biome");
  if (biome.empty()) return missing_tool("biome", "npm install @biomejs/biome");
  const std::vector<std::string> argv = {biome, "lint", "--reporter=json", "--max-diagnostics=none",
                                         "--no-errors-on-unmatched"};
  CollectorPlan plan;
  plan.commands = commands_for(project, argv, scope.whole() ? std::vector<std::string>{"."} : files);
  return plan;
}

// Biome's messages are strings, or lists of pieces.
std::string biome_message(const json::value& item) {
  if (std::string text = text_at(item, {"message"}); !text.empty()) return text;
  std::string whole;
  for (const json::value& piece : array_at(item, "message")) whole += text_at(piece, {"content"});
  return whole.empty() ? text_at(item, {"description"}) : whole;
}

void biome_place(Finding& finding, const json::value& item) {
  finding.file = text_at(item, {"location", "path"});
  if (finding.file.empty()) finding.file = text_at(item, {"location", "path", "file"});
  finding.line = number_at(item, {"location", "start", "line"});
  finding.column = number_at(item, {"location", "start", "column"});
  if (finding.line > 0) return;
  // Older versions report a byte offset into a source text that they also print.
  const json::value* span = member(item, {"location", "span"});
  const std::string source = text_at(item, {"location", "sourceCode"});
  if (!span || !span->is_array() || span->get_array().empty() || source.empty()) return;
  const std::int64_t* offset = span->get_array()[0].if_int64();
  if (!offset || *offset < 0) return;
  const TextPosition at = position_of(source, std::min(static_cast<size_t>(*offset), source.size()));
  finding.line = static_cast<int>(at.line);
  finding.column = static_cast<int>(at.column);
}

ParsedOutput parse_biome(const ToolOutput& output) {
  const size_t begin = output.out.find('{');
  if (begin == std::string::npos) return {.failure = "biome printed no JSON"};
  const auto document = parse_json(std::string_view(output.out).substr(begin), "biome");
  if (!document || !find(*document, "diagnostics")) return {.failure = "biome printed no JSON"};
  ParsedOutput parsed;
  for (const json::value& item : array_at(*document, "diagnostics")) {
    Finding finding;
    biome_place(finding, item);
    finding.rule = text_at(item, {"category"});
    finding.message = biome_message(item);
    const std::string severity = text_at(item, {"severity"});
    finding.severity = severity == "fatal" ? Severity::kError : severity_from(severity);
    if (finding.rule.starts_with("lint/security/")) finding.category = Category::kSecurity;
    parsed.findings.push_back(std::move(finding));
  }
  if (output.exit_code > 1 || (output.exit_code == 1 && parsed.findings.empty())) parsed.failure = "biome failed";
  return parsed;
}

}  // namespace

constinit const Collector kBiome{"biome", Kind::kErrors, plan_biome, parse_biome};

}  // namespace ralph::diagnostics
