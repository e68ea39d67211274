#include "checks/diagnostics/collect.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "checks/diagnostics/pattern.h"
#include "checks/diagnostics/sarif.h"
#include "checks/guardrail.h"
#include "os/files.h"

namespace ralph::diagnostics {
namespace {

bool wants(const CollectRequest& request, std::string_view name, Kind kind) {
  if (!request.only.empty()) return is_one_of(name, request.only);
  if (is_one_of(name, request.without)) return false;
  return kind == Kind::kErrors ? request.errors : kind == Kind::kSecurity ? request.security : request.tests;
}

PlannedCollector planned_own(const ProjectView& project, const OwnCollector& own, const CollectRequest& request) {
  PlannedCollector planned;
  planned.name = own.name;
  planned.named = is_one_of(own.name, request.only);
  planned.limit = own.limit.count() > 0 ? own.limit : request.limit;
  planned.plan.whole_project = true;
  planned.plan.commands.push_back({{"/bin/sh", "-c", own.command}, project.root()});
  if (own.pattern.empty()) {
    planned.parse = [](const ToolOutput& output) { return parse_sarif(output); };
  } else {
    planned.parse = [pattern = own.pattern](const ToolOutput& output) { return parse_by_pattern(output, pattern); };
  }
  return planned;
}

// The most informative line of a failed tool's output: the last one about an error, otherwise the last one. Lines of
// reports and stack traces are skipped.
std::string last_words(const ToolOutput& output) {
  for (const std::string* stream : {&output.err, &output.out}) {
    const std::string plain = without_escapes(*stream);
    std::string last;
    bool is_error = false;
    for (const std::string& line : split(plain, '\n')) {
      const std::string_view said = trim(line);
      if (said.empty() || starts_with_any(said, {"{", "}", "<", "at "})) continue;
      const bool about_error = contains(to_lower(said.substr(0, 1000)), "error");
      if (is_error && !about_error) continue;
      last = said;
      is_error = about_error;
    }
    if (!last.empty()) return ": " + fit_to_width(last, 160);
  }
  return {};
}

std::string why_failed(const CommandEnd& end, const ParsedOutput& parsed) {
  if (!end.not_started.empty()) return end.not_started;
  if (end.output.signal != 0)
    return fmt::format("it was killed by {}{}", signal_name(end.output.signal), last_words(end.output));
  if (end.output.cut) return fmt::format("it printed more than {}", human_bytes(end.output.out.size()));
  if (parsed.says_all) return parsed.failure;
  if (!parsed.failure.empty())
    return fmt::format("{} (exit code {}){}", parsed.failure, end.output.exit_code, last_words(end.output));
  return {};
}

// One line of valid UTF-8, limited in length.
std::string tidy(std::string_view message) {
  return fit_to_width(trim(without_escapes(message)), 1000);
}

// Converts a parser's finding to the project's terms. False if it is left out.
bool settle(Finding& finding, const PlannedCollector& planned, const ProjectView& project, const std::string& folder,
            std::span<const std::string> files) {
  finding.tool = planned.name;
  finding.message = tidy(finding.message);
  finding.rule = tidy(finding.rule);
  if (finding.message.empty()) finding.message = finding.rule.empty() ? "(no message)" : finding.rule;
  finding.line = std::max(finding.line, 0);
  finding.column = std::max(finding.column, 0);
  if (finding.file.empty()) return true;
  std::string relative = project.relative(finding.file, folder);
  if (relative.empty()) {
    // An error in a system header counts for the project; a warning there is dropped.
    if (finding.severity != Severity::kError) return false;
    finding.message = fmt::format("{}:{}: {}", finding.file, finding.line, finding.message);
    finding.file.clear();
    finding.line = finding.column = 0;
    return true;
  }
  finding.file = std::move(relative);
  if (planned.kind != Kind::kTests && !planned.plan.whole_project && !files.empty() &&
      std::find(files.begin(), files.end(), finding.file) == files.end())
    return false;
  const bool keeps_from_compiling = planned.plan.compiles && finding.severity == Severity::kError &&
                                    (planned.plan.compile_rule.empty() || planned.plan.compile_rule == finding.rule);
  if (keeps_from_compiling) return true;
  return planned.kind == Kind::kTests || !project.leaves_out(finding.file);
}

std::string no_tests(const TestCounts& counts) {
  return counts.skipped > 0 ? fmt::format("no tests ({} skipped)", counts.skipped) : "no tests";
}

}  // namespace

std::vector<PlannedCollector> plan_collectors(const ProjectView& project, const CollectRequest& request) {
  std::vector<PlannedCollector> all;
  for (const Collector& collector : all_collectors()) {
    if (!wants(request, collector.name, collector.kind)) continue;
    const std::string name(collector.name);
    const bool named = is_one_of(name, request.only);
    const Scope scope{request.files, named || is_one_of(name, request.servers), request.hub, request.accepted,
                      request.caches};
    CollectorPlan plan = collector.plan(project, scope);
    if (!plan.applies && named && scope.whole()) plan = {true, fmt::format("nothing here is for {}", name)};
    if (!plan.applies) continue;
    all.push_back({name, collector.kind, named, std::move(plan), request.limit, collector.parse});
  }
  for (const OwnCollector& own : request.own) {
    if (wants(request, own.name, Kind::kErrors)) all.push_back(planned_own(project, own, request));
  }
  return all;
}

std::vector<std::string> collector_names(const CollectRequest& request) {
  std::vector<std::string> names;
  for (const Collector& collector : all_collectors()) names.emplace_back(collector.name);
  for (const OwnCollector& own : request.own) names.push_back(own.name);
  return names;
}

std::vector<Unjudged> cannot_judge(const Criteria& criteria, std::span<const PlannedCollector> planned) {
  std::vector<Unjudged> all;
  const auto look_for = [&](Kind kind, std::string_view criterion, std::string_view looks) {
    bool some = false;
    for (const PlannedCollector& one : planned) {
      if (one.kind != kind) continue;
      some = true;
      if (one.plan.missing.empty()) continue;
      all.push_back({kind, fmt::format("the criterion {} can't be judged: {}: {}; or add \"{}\" to diagnostics.exclude",
                                       criterion, one.name, one.plan.missing, one.name)});
      return;
    }
    if (!some)
      all.push_back({kind, fmt::format("the criterion {} can't be judged: nothing here {}; see 'ralph check'",
                                       criterion, looks)});
  };
  if (criteria.zero_errors || criteria.zero_warnings)
    look_for(Kind::kErrors, criteria.zero_errors ? "zeroErrors" : "zeroWarnings", "looks for errors");
  if (criteria.zero_security) look_for(Kind::kSecurity, "zeroSecurity", "looks for security issues");
  if (criteria.tests_pass) look_for(Kind::kTests, "testsPass", "runs tests");
  return all;
}

Launch launch_of(const ToolCommand& command, const Environment& environment) {
  Launch launch;
  launch.argv = command.argv;
  launch.environment = environment;
  for (const auto& [name, value] : command.environment) launch.environment.set(name, value);
  launch.folder = command.folder;
  launch.reads = command.reads;
  return launch;
}

void add_to(Report& report, const ProjectView& project, const PlannedCollector& planned,
            std::span<const CommandEnd> ends, std::span<const std::string> files) {
  CollectorResult result;
  result.name = planned.name;
  result.kind = planned.kind;
  std::vector<Finding> found;
  if (!planned.plan.missing.empty()) {
    result.status = CollectorStatus::kUnavailable;
    result.reason = planned.plan.missing;
    return report.add(std::move(result), {});
  }
  if (!planned.plan.broken.empty()) {
    result.status = CollectorStatus::kFailed;
    result.reason = planned.plan.broken;
    return report.add(std::move(result), {});
  }
  Milliseconds first = Milliseconds::max(), last{0};
  for (size_t i = 0; i < ends.size(); ++i) {
    const CommandEnd& end = ends[i];
    first = std::min(first, end.began);
    last = std::max(last, end.began + end.took);
    if (end.timed_out) {
      result.status = CollectorStatus::kTimedOut;
      result.reason = fmt::format("timed out after {}", human_duration(planned.limit));
      continue;
    }
    ParsedOutput parsed = end.not_started.empty() ? planned.parse(end.output) : ParsedOutput{};
    if (std::string why = end.interrupted ? "interrupted" : why_failed(end, parsed); !why.empty()) {
      if (result.status != CollectorStatus::kTimedOut) {
        result.status = CollectorStatus::kFailed;
        result.reason = std::move(why);
      }
    }
    if (parsed.tests) result.tests = result.tests.value_or(TestCounts{}) += *parsed.tests;
    bool kept_error = false;
    std::string left_out;
    for (Finding& finding : parsed.findings) {
      const bool is_error = finding.severity == Severity::kError;
      if (settle(finding, planned, project, planned.plan.commands[i].folder, files)) {
        kept_error = kept_error || is_error;
        found.push_back(std::move(finding));
      } else if (is_error && left_out.empty()) {
        left_out = fmt::format("{}: {}", place_of(finding), finding.message);
      }
    }
    if (parsed.gave_up && !kept_error && result.status == CollectorStatus::kClean) {
      result.status = CollectorStatus::kFailed;
      result.reason = fmt::format("it gave up at {}", left_out);
    }
  }
  result.seconds = static_cast<double>(std::max(last - first, Milliseconds(0)).count()) / 1000;
  if (result.status == CollectorStatus::kClean && result.tests && result.tests->executed() == 0 && found.empty()) {
    result.status = CollectorStatus::kFailed;
    result.reason = no_tests(*result.tests);
  }
  if (result.status == CollectorStatus::kClean && !found.empty()) result.status = CollectorStatus::kFindings;
  report.add(std::move(result), std::move(found));
}

Result<Report> collect(const ProjectView& project, std::span<const PlannedCollector> planned,
                       const CollectOptions& options) {
  std::vector<SideLaunch> launches;
  for (size_t lane = 0; lane < planned.size(); ++lane) {
    for (const ToolCommand& command : planned[lane].plan.commands)
      launches.push_back({launch_of(command, project.environment()), planned[lane].limit, lane});
  }
  const size_t own = launches.size();
  for (const SideLaunch& other : options.others) launches.push_back(other);
  SideOptions side;
  side.guardian = options.guardian;
  std::vector<SideEnd> ends = run_side_by_side(launches, side);
  const auto stopped = std::any_of(ends.begin(), ends.end(), [](const SideEnd& end) { return end.interrupted; });
  if (stopped) return fail(ErrorKind::kInterrupted, "interrupted");
  Report report;
  size_t at = 0;
  for (const PlannedCollector& one : planned) {
    std::vector<CommandEnd> its;
    for (size_t i = 0; i < one.plan.commands.size(); ++i, ++at) {
      SideEnd& end = ends[at];
      its.push_back({{std::move(end.out), std::move(end.err), end.status.code, end.status.signal, end.cut,
                      one.plan.commands[i].context},
                     end.timed_out,
                     end.interrupted,
                     std::move(end.not_started),
                     end.took,
                     end.began});
    }
    add_to(report, project, one, its, options.files);
  }
  report.merge();
  if (options.other_ends)
    options.other_ends->assign(std::make_move_iterator(ends.begin() + static_cast<std::ptrdiff_t>(own)),
                               std::make_move_iterator(ends.end()));
  return report;
}

}  // namespace ralph::diagnostics
