#include "session/diagnose.h"

#include <algorithm>

#include "base/text.h"
#include "checks/diagnostics/outset.h"
#include "engine/diagnostics_setup.h"
#include "os/clock.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr size_t kMostShown = 10;  // findings reported to the model at a stop

struct Prepared {
  Settings settings;
  diagnostics::ProjectView project;
  diagnostics::CollectRequest request;
  std::vector<diagnostics::PlannedCollector> planned;
};

Result<Prepared> prepare(const DiagnoseOrder& order, diagnostics::TrustedFiles trusted = {}) {
  TRY_VALUE(const LoadedSettings loaded, load_settings(order.project, {}, Distrusted::kLeftOut, order.environment));
  const DiagnosticsSettings& settings = loaded.settings.diagnostics;
  TRY_VALUE(diagnostics::CollectRequest request, collect_request(settings, order.project));
  request.tests = order.criteria.tests_pass;
  request.security = order.criteria.zero_security;
  request.errors = order.criteria.zero_errors || order.criteria.zero_warnings;
  if (order.limit.count() > 0) request.limit = std::min(request.limit, order.limit);
  diagnostics::ProjectView project(order.project, order.environment, excluded_paths(settings), std::move(trusted));
  std::vector<diagnostics::PlannedCollector> planned = plan_collectors(project, request);
  return Prepared{loaded.settings, std::move(project), std::move(request), std::move(planned)};
}

diagnostics::Outset load_outset(const std::string& path) {
  if (path.empty() || !is_real_file(path)) return {};
  const auto value = parse_json(read_file(path).value_or(""), path);
  return value ? from_json<diagnostics::Outset>(*value) : diagnostics::Outset();
}

std::string counted(int count, std::string_view what) {
  return fmt::format("{} {}(s)", count, what);
}

std::string counted(const diagnostics::Snapshot& now, diagnostics::Kind kind, int count, std::string_view what) {
  return fmt::format("{} {}(s)", number_in_words(now, kind, count), what);
}

// "12 errors, 1 warning"
std::string errors_and_warnings(const diagnostics::Snapshot& snapshot) {
  const auto say = [&](int count, std::string_view noun) {
    return snapshot.knows(diagnostics::Kind::kErrors)
               ? count_of(count, noun)
               : fmt::format("{} {}s", number_in_words(snapshot, diagnostics::Kind::kErrors, count), noun);
  };
  return fmt::format("{}, {}", say(snapshot.error_count, "error"), say(snapshot.warning_count, "warning"));
}

std::string improvement(const std::vector<diagnostics::Snapshot>& snapshots) {
  const auto percent = improvement_percent(snapshots);
  return percent ? fmt::format("{}% improvement", *percent) : "unknown";
}

std::string next_step(const diagnostics::Snapshot& now) {
  if (now.error_count > 0) return fmt::format("Fix {} remaining error(s)", now.error_count);
  if (now.security_issues > 0) return fmt::format("Fix {} remaining security issue(s)", now.security_issues);
  if (now.tests_failed > 0) return fmt::format("Fix {} failing test(s)", now.tests_failed);
  if (!now.unfinished.empty()) return fmt::format("Find out about {}", now.unfinished.front());
  return "Fix what remains";
}

}  // namespace

Status note_outset(const std::string& path, const std::string& project, const Environment& environment,
                   const diagnostics::Criteria& criteria) {
  TRY_VALUE(const Prepared ready, prepare({project, environment, criteria}));
  diagnostics::Outset outset = outset_of(ready.project, ready.planned);
  return replace_file(path, to_compact_json(json_from(outset)) + "\n", 0600);
}

Result<Diagnosis> diagnose(const DiagnoseOrder& order) {
  diagnostics::Outset outset = load_outset(order.outset);
  diagnostics::TrustedFiles trusted = outset.trusted();
  trusted.edited = order.edited;
  std::sort(trusted.edited.begin(), trusted.edited.end());
  TRY_VALUE(Prepared ready, prepare(order, std::move(trusted)));
  Diagnosis found;
  std::vector<diagnostics::Unjudged> unjudged;
  const auto add_hiding = [&](std::vector<diagnostics::SuspectFile> files) {
    for (diagnostics::SuspectFile& file : files) {
      record::ChangedFile& changed = found.hiding.emplace_back();
      changed.path = std::move(file.path), changed.what = std::move(file.what), changed.note = std::move(file.note);
    }
  };
  add_hiding(suspects_among(order.edited, ready.project, ready.planned));
  if (outset.taken) {
    diagnostics::OutsetChanges since = compare_with_outset(outset, ready.project, ready.planned, "loop");
    add_hiding(std::move(since.changed));
    unjudged = std::move(since.unjudged);
  }
  diagnostics::CollectOptions options;
  options.guardian = order.guardian;
  TRY_VALUE(diagnostics::Report report, collect(ready.project, ready.planned, options));
  mask_secrets(report, ready.settings, order.environment);
  if (outset.taken) {
    if (auto fewer = fewer_tests(outset, report, "loop")) unjudged.push_back(std::move(*fewer));
    remember_found(outset, report);
    remember_times(outset, ready.project, ready.planned);
    TRY(replace_file(order.outset, to_compact_json(json_from(outset)) + "\n", 0600));
  }
  report.keep_below(order.paths);
  // A tool, or the files that it examines, may have been removed since the loop began. That proves nothing.
  if (order.must_judge) {
    for (diagnostics::Unjudged& one : cannot_judge(order.criteria, ready.planned)) unjudged.push_back(std::move(one));
  }
  for (const diagnostics::CollectorResult& result : report.collectors) {
    std::string why = fmt::format("{}: {}", result.name, result.reason);
    if (result.status != diagnostics::CollectorStatus::kUnavailable) {
      found.answered.push_back(result.name);
    } else if (is_one_of(result.name, order.answered)) {
      unjudged.push_back({result.kind, std::move(why)});
    } else {
      found.unavailable.push_back(std::move(why));
    }
  }
  found.snapshot = snapshot_of(report, order.criteria, 0, SystemClock().wall(), unjudged);
  found.unmet = unmet(order.criteria, found.snapshot);
  for (const diagnostics::Finding& finding : report.findings) {
    if (order.criteria.concern(finding)) found.findings.push_back(finding);
  }
  found.worst = worst_of(found.findings, kMostShown);
  return found;
}

Status check_criteria(const std::string& project, const Environment& environment,
                      const diagnostics::Criteria& criteria) {
  if (!criteria.any()) return {};
  TRY_VALUE(const Prepared ready, prepare({project, environment, criteria}));
  const auto why = cannot_judge(criteria, ready.planned);
  return why.empty() ? Status() : fail(ErrorKind::kUsage, "{}", why.front().why);
}

std::string continue_message(const std::vector<diagnostics::Snapshot>& snapshots, int iteration, int most,
                             const std::string& worst) {
  const diagnostics::Snapshot& now = snapshots.back();
  std::string text = fmt::format(
      "Ralph Loop: CONTINUE | Iteration: {}/{} | Current: {}, {}, "
      "{} | Progress: {} | Next: {}",
      iteration, most, counted(now, diagnostics::Kind::kErrors, now.error_count, "error"),
      counted(now, diagnostics::Kind::kErrors, now.warning_count, "warning"),
      counted(now, diagnostics::Kind::kSecurity, now.security_issues, "security issue"), improvement(snapshots),
      next_step(now));
  for (const std::string& one : now.unfinished) text += fmt::format("\nNot known: {}", one);
  if (!worst.empty()) text += fmt::format("\n{}", worst);
  return text;
}

std::string auto_continue_message(const diagnostics::Snapshot& now, const std::string& worst) {
  std::string text = fmt::format("{} | Issues detected - continuing automatically", kAutoContinueMark);
  if (now.error_count > 0) text += fmt::format(" | {} remaining", counted(now.error_count, "error"));
  if (now.security_issues > 0) text += fmt::format(" | {} remaining", counted(now.security_issues, "security issue"));
  text += fmt::format(" | Next: Fix the remaining {} | Output <ralph:done /> when complete",
                      now.error_count > 0 ? "errors" : "security issues");
  for (const std::string& one : now.unfinished) text += fmt::format("\nNot known: {}", one);
  if (!worst.empty()) text += fmt::format("\n{}", worst);
  return text;
}

std::string complete_message(const std::string& session, int iterations,
                             const std::vector<diagnostics::Snapshot>& snapshots) {
  const auto percent = improvement_percent(snapshots);
  return fmt::format(
      "Ralph Loop: COMPLETE - All conditions satisfied | Session: {} | "
      "Iterations: {} | Total improvement: {} | Initial: {} | Final: {}",
      session, iterations, percent ? fmt::format("{}%", *percent) : "unknown", errors_and_warnings(snapshots.front()),
      errors_and_warnings(snapshots.back()));
}

std::vector<diagnostics::Snapshot> load_snapshots(const std::string& path) {
  std::vector<diagnostics::Snapshot> snapshots;
  if (!is_real_file(path)) return snapshots;
  const auto value = parse_json(read_file(path).value_or(""), path);
  for (const json::value& one : items_of(value ? &*value : nullptr))
    snapshots.push_back(from_json<diagnostics::Snapshot>(one));
  return snapshots;
}

Status save_snapshots(const std::string& path, const std::vector<diagnostics::Snapshot>& snapshots) {
  json::array all;
  for (const diagnostics::Snapshot& one : snapshots) all.push_back(json_from(one));
  return replace_file(path, to_compact_json(all) + "\n", 0600);
}

bool has_completion_tag(std::string_view words) {
  for (const std::string& line : split(std::string(words), '\n')) {
    const std::string_view mark = trim(line);
    for (const std::string_view name : {"ralph", "jikime"}) {
      for (const std::string_view word : {"DONE", "COMPLETE"}) {
        if (mark == fmt::format("<{0}>{1}</{0}>", name, word)) return true;
        const std::string empty = fmt::format("<{}:{}", name, to_lower(word));
        if (mark == empty + " />" || mark == empty + "/>") return true;
      }
    }
  }
  return false;
}

}  // namespace ralph
