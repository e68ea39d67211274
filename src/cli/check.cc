// ralph check: runs guardrails and diagnostics once.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/text.h"
#include "base/utf8.h"
#include "checks/guardrail.h"
#include "cli/accept.h"
#include "cli/check_text.h"
#include "cli/output_options.h"
#include "cli/project.h"
#include "cli/registry.h"
#include "engine/diagnostics_setup.h"
#include "git/project_files.h"
#include "os/guardian.h"

namespace ralph::cli {
namespace {

using diagnostics::collect;
using diagnostics::CollectOptions;
using diagnostics::collector_names;
using diagnostics::CollectorResult;
using diagnostics::CollectorStatus;
using diagnostics::CollectRequest;
using diagnostics::Kind;
using diagnostics::PlannedCollector;
using diagnostics::ProjectView;
using diagnostics::Report;
using diagnostics::Summary;

constexpr std::array kOptions = {
    Option{"changed", 0, "", "Check only files that differ from the last commit, if a tool can check single files."},
    Option{.name = "only",
           .letter = 0,
           .value = "NAMES",
           .help = "Run only these collectors, such as ruff,tsc; one that is not installed is then a failure.",
           .repeatable = true,
           .suggestions = [] { return join(collector_names({}), " "); }},
    Option{"tests", 0, "", "Run test collectors and guardrails (default on).", true},
    Option{"zero-warnings", 0, "", "Treat warnings as failures."},
    Option{"json", 0, "", "Print JSON (see docs/formats/diagnostics.md)."},
    kTrustOption,
};

Status check_names(const std::vector<std::string>& only, const CollectRequest& request) {
  const std::vector<std::string> names = collector_names(request);
  for (const std::string& name : only) {
    if (!is_one_of(name, names)) return no_such("--only: no collector", name, names);
  }
  return {};
}

Result<CollectRequest> check_request(const Arguments& typed, const Settings& settings, const Project& project) {
  TRY_VALUE(CollectRequest request, collect_request(settings.diagnostics, project.folder));
  for (const std::string& list : typed.values("only")) {
    for (const std::string& name : split(list, ',')) {
      if (!trim(name).empty()) request.only.emplace_back(trim(name));
    }
  }
  if (typed.has("only") && request.only.empty())
    return fail(ErrorKind::kUsage, "--only is empty; name collectors: --only ruff,tsc");
  TRY(check_names(request.only, request));
  request.tests = typed.flag("tests").value_or(true);
  request.accepted = typed.has("trust");
  if (!typed.has("changed")) return request;
  const auto changed = files_changed_since_head(project.folder, Environment::of_this_process());
  if (!changed)
    return fail(ErrorKind::kUsage, "--changed needs a git repository, and {} is not in one", project.folder);
  request.files = *changed;
  return request;
}

// The result of a guardrail: exit code 0 is clean, anything else has failed.
CollectorResult check_result(const GuardrailSettings& guardrail, const SideEnd& end) {
  CollectorResult result;
  result.name = guardrail.name.empty() ? guardrail.command : guardrail.name;
  result.kind = Kind::kTests;
  result.seconds = static_cast<double>(end.took.count()) / 1000;
  result.tests = test_counts_in(end.out);
  if (end.timed_out) {
    result.status = CollectorStatus::kTimedOut;
    result.reason = fmt::format("timed out after {}", human_duration(end.took));
  } else if (!end.not_started.empty() || !end.status.success()) {
    result.status = CollectorStatus::kFailed;
    const std::string plain = without_escapes(end.out);
    const std::string_view said = trim(plain);
    const size_t line = said.rfind('\n');
    result.reason = !end.not_started.empty()
                        ? end.not_started
                        : fmt::format("exit code {}{}{}", end.status.code, said.empty() ? "" : ": ",
                                      fit_to_width(said.substr(line == std::string_view::npos ? 0 : line + 1), 160));
  } else if (result.tests && result.tests->executed() == 0) {
    result.status = CollectorStatus::kFailed;
    result.reason = "no tests";
  }
  return result;
}

struct Check {
  const ProjectView& project;
  const std::vector<PlannedCollector>& planned;
  std::vector<GuardrailSettings> guardrails;
  const CollectRequest& request;
};

Result<Report> run_all(const Check& check, int guardian) {
  CollectOptions options;
  options.guardian = guardian;
  options.files = check.request.files;
  for (const GuardrailSettings& guardrail : check.guardrails) {
    options.others.push_back({guardrail_launch(guardrail.command, check.project.environment(), check.project.root()),
                              Milliseconds(static_cast<long long>(guardrail.timeout_seconds * 1000)),
                              check.planned.size(), true});
  }
  std::vector<SideEnd> ends;
  options.other_ends = &ends;
  TRY_VALUE(Report report, collect(check.project, check.planned, options));
  for (size_t i = 0; i < ends.size(); ++i) report.add(check_result(check.guardrails[i], ends[i]), {});
  return report;
}

int exit_code_of(const Report& report, const std::vector<PlannedCollector>& planned, bool zero_warnings) {
  const Summary sum = report.summary();
  if (sum.errors + sum.security + sum.failing_tests > 0 || (zero_warnings && sum.warnings > 0)) return 1;
  for (const CollectorResult& result : report.collectors) {
    if (result.status == CollectorStatus::kFailed || result.status == CollectorStatus::kTimedOut) return 1;
  }
  const bool named_is_missing = std::any_of(planned.begin(), planned.end(), [](const PlannedCollector& one) {
    return one.named && !one.plan.missing.empty();
  });
  return named_is_missing ? 1 : 0;
}

Result<int> check_project(const Arguments& typed) {
  TRY_VALUE(const Project place, enter_project());
  TRY_VALUE(const LoadedSettings loaded, load_settings(place.folder));
  print_notes(loaded);
  TRY_VALUE(const CollectRequest request, check_request(typed, loaded.settings, place));
  TRY(accept_project({loaded, place.folder, typed.has("trust"), typed.has("json")}));
  const Environment environment = Environment::of_this_process();
  const ProjectView project(place.folder, environment, excluded_paths(loaded.settings.diagnostics));
  const bool nothing_changed = typed.has("changed") && request.files.empty();
  const std::vector<PlannedCollector> planned =
      nothing_changed ? std::vector<PlannedCollector>() : plan_collectors(project, request);
  const std::string_view instead = nothing_changed        ? "No file has changed."
                                   : typed.has("changed") ? "No file has changed that a tool checks."
                                                          : "";
  Check all{project, planned, {}, request};
  if (request.tests && request.only.empty() && !nothing_changed) all.guardrails = loaded.settings.guardrails;
  const Style style = with_output_settings(style_for(STDOUT_FILENO, environment), loaded.settings.output);
  return run_guarded([&](int guardian) {
    Result<Report> report = run_all(all, guardian);
    if (!report) return cli::report(report.error());
    mask_secrets(*report, loaded.settings, environment);
    const int code = exit_code_of(*report, planned, typed.has("zero-warnings"));
    const std::string text = typed.has("json") ? to_pretty_json(to_json(*report)) : check_text(*report, style, instead);
    if (const Status written = write_all(STDOUT_FILENO, text, "standard output"); !written)
      return cli::report(written.error());
    return code;
  });
}

}  // namespace

const Command kCheck = {
    "check",
    "Run the project's linters, type checkers, compilers, tests and guardrails.",
    R"(Detects the project's tools, runs them in parallel, each with a timeout, and reports what they find. mypy,
pyright, eslint and biome run if they are configured or named; clang-tidy runs if there is a .clang-tidy. A tool that is
not installed is shown as such, never as clean; so is one that fails or takes too long, and a test run without tests.

Collectors: ruff mypy pyright tsc eslint biome go-vet cargo-check clippy gcc clang clang-tidy shellcheck ast-grep pytest
vitest jest npm-test go-test cargo-test ctest, and your own from diagnostics.collectors in the settings. ast-grep uses
the security rules that ship with ralph. diagnostics.exclude leaves out files and collectors. Language servers run only
if they are named, here or in diagnostics.languageServers: clangd pyright-langserver gopls rust-analyzer
typescript-language-server (`ralph lsp start` keeps them warm).

Exit codes: 0 everything that ran is clean (warnings count only with --zero-warnings), 1 errors, security findings,
failing tests, a collector that failed or timed out, or one named by --only that is not installed, 2 bad usage or
settings, 130 interrupted.)",
    "ralph check\n"
    "ralph check --changed --no-tests\n"
    "ralph check --only ruff,pytest --zero-warnings\n"
    "ralph check --json | jq .summary",
    kOptions,
    {},
    check_project,
};

}  // namespace ralph::cli
