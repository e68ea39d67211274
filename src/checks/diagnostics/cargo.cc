#include "checks/diagnostics/collectors.h"
#include "checks/diagnostics/tools.h"

namespace ralph::diagnostics {
namespace {

CollectorPlan plan_cargo(const ProjectView& project, const Scope& scope, const std::vector<std::string>& words) {
  if (!project.has("Cargo.toml") || files_for(project, scope, {".rs", "Cargo.toml"}).empty())
    return CollectorPlan::not_used();
  const std::string cargo = project.tool("cargo");
  if (cargo.empty()) return missing_tool("cargo", "see https://rustup.rs");
  CollectorPlan plan;
  plan.whole_project = true;
  plan.compiles = true;
  std::vector<std::string> argv = {cargo};
  argv.insert(argv.end(), words.begin(), words.end());
  plan.commands.push_back({argv, project.root(), {{"RUST_BACKTRACE", "0"}, {"CARGO_TERM_COLOR", "never"}}});
  return plan;
}

CollectorPlan plan_check(const ProjectView& project, const Scope& scope) {
  return plan_cargo(project, scope, {"check", "--quiet", "--workspace", "--all-targets", "--message-format=json"});
}
CollectorPlan plan_clippy(const ProjectView& project, const Scope& scope) {
  CollectorPlan plan =
      plan_cargo(project, scope, {"clippy", "--quiet", "--workspace", "--all-targets", "--message-format=json"});
  if (plan.applies && plan.missing.empty() && project.tool("cargo-clippy").empty())
    return missing_tool("clippy", "rustup component add clippy");
  return plan;
}
CollectorPlan plan_cargo_test(const ProjectView& project, const Scope& scope) {
  return plan_cargo(project, Scope{{}, scope.named}, {"test", "--workspace", "--no-fail-fast"});
}

// The location that matters to the reader: the primary span, or for a span inside a macro, where the macro is used.
void cargo_place(Finding& finding, const json::value& message) {
  for (const json::value& span : array_at(message, "spans")) {
    if (!find_bool(span, "is_primary").value_or(false)) continue;
    finding.file = text_at(span, {"file_name"});
    finding.line = number_at(span, {"line_start"});
    finding.column = number_at(span, {"column_start"});
    return;
  }
}

ParsedOutput parse_messages(const ToolOutput& output) {
  ParsedOutput parsed;
  bool broken = false;
  for_each_line(output.out, [&](std::string_view line) {
    if (!line.starts_with('{')) return;
    const auto item = parse_json(line, "cargo");
    if (!item) {
      broken = true;
      return;
    }
    if (text_at(*item, {"reason"}) != "compiler-message") return;
    const json::value* message = find(*item, "message");
    if (!message) return;
    const std::string level = text_at(*message, {"level"});
    if (!is_one_of(level, {"error", "warning", "error: internal compiler error"})) return;
    Finding finding;
    finding.severity = level == "warning" ? Severity::kWarning : Severity::kError;
    finding.rule = text_at(*message, {"code", "code"});
    finding.message = text_at(*message, {"message"});
    cargo_place(finding, *message);
    // "aborting due to 2 previous errors", "3 warnings emitted"
    const bool sums_up = finding.severity == Severity::kWarning || finding.message.starts_with("aborting due to");
    if (finding.file.empty() && finding.rule.empty() && sums_up) return;
    parsed.findings.push_back(std::move(finding));
  });
  if (broken) parsed.failure = "cargo's JSON is broken off";
  if (output.exit_code != 0 && !has_error(parsed.findings)) parsed.failure = "cargo failed";
  return parsed;
}

// "thread 'tests::bad' (18208) panicked at src/lib.rs:5:24:", with the message on the next line.
struct Panic {
  std::string test, file, message;
  int line = 0;
};
std::optional<Panic> panic_in(std::string_view line) {
  if (!line.starts_with("thread '")) return std::nullopt;
  const size_t end = line.find('\'', 8), at = line.find(" panicked at ");
  if (end == std::string_view::npos || at == std::string_view::npos) return std::nullopt;
  const std::string where = std::string(line.substr(at + 13)) + " ";
  const PlacedLine placed = placed_line(where);
  return Panic{std::string(line.substr(8, end - 8)), std::string(placed.file), "", placed.line};
}

ParsedOutput parse_cargo_test(const ToolOutput& output) {
  ParsedOutput parsed;
  std::vector<std::string> failed;
  std::vector<Panic> panics;
  bool message_follows = false;
  for_each_line(output.out, [&](std::string_view line) {
    if (std::exchange(message_follows, false)) panics.back().message = line;
    if (auto panic = panic_in(line)) {
      panics.push_back(std::move(*panic));
      message_follows = true;
    }
    if (line.starts_with("test ") && line.ends_with(" ... FAILED"))
      failed.emplace_back(line.substr(5, line.size() - 5 - 11));
  });
  for (const std::string& test : failed) {
    const auto panic = std::find_if(panics.begin(), panics.end(), [&](const Panic& p) { return p.test == test; });
    parsed.findings.push_back(panic == panics.end() ? failing_test(test, "", 0, "")
                                                    : failing_test(test, panic->file, panic->line, panic->message));
  }
  parsed.tests = test_counts_in(output.out);
  if (!parsed.tests && output.exit_code == 0) parsed.tests = TestCounts{};
  // A test program that did not compile or crashed has no result, even if another one does.
  for_each_line(output.err, [&](std::string_view line) {
    if (line.starts_with("error: could not compile")) parsed.failure = "the tests could not be compiled";
  });
  if (output.exit_code != 0 && parsed.findings.empty() && parsed.failure.empty()) parsed.failure = "cargo test failed";
  return parsed;
}

}  // namespace

constinit const Collector kCargoCheck{"cargo-check", Kind::kErrors, plan_check, parse_messages};
constinit const Collector kClippy{"clippy", Kind::kErrors, plan_clippy, parse_messages};
constinit const Collector kCargoTest{"cargo-test", Kind::kTests, plan_cargo_test, parse_cargo_test};

}  // namespace ralph::diagnostics
