#include "session/auto_mode.h"

#include <algorithm>
#include <unistd.h>

#include "base/text.h"
#include "checks/lsp/servers.h"
#include "checks/lsp/warm.h"
#include "engine/diagnostics_setup.h"
#include "engine/run.h"
#include "os/files.h"
#include "session/diagnose.h"
#include "session/session_note.h"
#include "settings/trust.h"

namespace ralph {
namespace {

constexpr Milliseconds kEditLimit{50'000};  // hosts wait 70 s for the hook
constexpr size_t kMostAfterEdit = 5;        // findings shown
constexpr int kStagnationLimit = 3;

std::string state_path(const Environment& environment, const std::string& session) {
  return note_path(environment, "", session) + ".auto";
}

bool is_set(const Environment& environment, const char* name) {
  const std::string value = environment.get(name).value_or("");
  return !value.empty() && value != "0" && value != "false";
}

bool is_off(const Environment& environment) {
  const std::string value = environment.get("RALPH_AUTO").value_or("");
  return value == "0" || value == "false";
}

bool lints(std::string_view collector) {
  return is_one_of(collector, {"ruff", "eslint", "biome", "shellcheck"});
}

// Replaces type checkers and compilers, which would have to read the whole project first, by language servers that are
// already warm.
void prefer_warm_servers(std::vector<diagnostics::PlannedCollector>& planned, const diagnostics::ProjectView& view,
                         const diagnostics::CollectRequest& request) {
  const std::string socket = warm_socket(view.environment(), view.root());
  if (socket.empty()) return;
  for (const std::string& name : lsp::warm_servers(socket)) {
    const lsp::ServerRow* row = lsp::server_named(name);
    if (!row || is_one_of(name, request.without)) continue;
    diagnostics::CollectRequest one = request;
    one.only = {name};
    one.own.clear();
    std::vector<diagnostics::PlannedCollector> asked = plan_collectors(view, one);
    if (asked.empty() || !asked.front().plan.missing.empty()) continue;
    std::erase_if(planned, [&](const diagnostics::PlannedCollector& other) {
      return is_one_of(std::string_view(other.name), row->replaces);
    });
    planned.push_back(std::move(asked.front()));
  }
}

bool is_accepted(const Environment& environment, const std::string& project) {
  return is_trusted_by_environment(environment) || project_is_accepted(environment, project);
}

// A message, once per session, that nothing is checked here, and why.
std::string unaccepted(const Environment& environment, const AutoRequest& request, const SessionEdits& edits) {
  const std::string path = note_path(environment, "", request.session) + ".untrusted";
  if (path_exists(path)) return {};
  static_cast<void>(replace_file(path, "", 0600));
  return fmt::format(
      "ralph: {} is not accepted, so its tools are not asked "
      "about the edits; 'ralph trust' there accepts it",
      edits.project);
}

// The tools that a session knows. One that answered before and is missing now has fallen silent. One that was never
// there is reported to the user once.
struct KnownTools {
  std::vector<std::string> answered, missing;
  template <class V>
  void fields(V&& v) {
    v("answered", answered), v("missing", missing);
  }
};

std::string tools_path(const Environment& environment, const std::string& session) {
  return note_path(environment, "", session) + ".tools";
}

KnownTools known_tools(const std::string& path) {
  if (!is_real_file(path)) return {};
  const auto value = parse_json(read_file(path).value_or(""), path);
  return value ? from_json<KnownTools>(*value) : KnownTools();
}

// Adds the elements that are not in the list yet, and returns them.
std::vector<std::string> add_new(std::vector<std::string>& list, const std::vector<std::string>& more) {
  std::vector<std::string> added;
  for (const std::string& one : more) {
    if (is_one_of(one, list)) continue;
    list.push_back(one);
    added.push_back(one);
  }
  return added;
}

Decision ask(const Environment& environment, const std::string& project, Observation::Diagnostics seen) {
  SystemClock clock;
  NoProcesses processes;
  NullListener listener;
  const Redactor redactor(std::vector<std::string>{});
  Run run = Run::read_only({}, {processes, clock, redactor, listener, project, environment});
  Observation now;
  now.moment = Moment::kAtStop;
  now.diagnostics = std::move(seen);
  return run.ask(now).value_or(Decision{Action::kStop, StopStatus::kFatal, {}, {}});
}

}  // namespace

bool auto_mode_is_on(const Environment& environment, const std::string& project) {
  if (is_off(environment) || is_set(environment, "RALPH_DISABLE_LOOP_CONTROLLER") ||
      is_set(environment, "JIKIME_DISABLE_LOOP_CONTROLLER") || !is_accepted(environment, project))
    return false;
  const auto loaded = load_settings(project, {}, Distrusted::kLeftOut, environment);
  return loaded && loaded->settings.diagnostics.automatic;
}

void forget_attempts(const Environment& environment, const std::string& session) {
  if (!session.empty()) ::unlink(state_path(environment, session).c_str());
}

Result<std::optional<AutoAnswer>> judge_automatically(const AutoRequest& request, const Environment& environment) {
  const auto edits = edits_of(environment, request.session);
  if (!edits || is_off(environment) || !is_directory(edits->project)) return std::optional<AutoAnswer>();
  AutoAnswer answer;
  answer.decision.action = Action::kStop;
  if (!is_accepted(environment, edits->project)) {
    answer.message = unaccepted(environment, request, *edits);
    return std::optional(std::move(answer));
  }
  TRY_VALUE(const LoadedSettings loaded, load_settings(edits->project, {}, Distrusted::kLeftOut, environment));
  const DiagnosticsSettings& settings = loaded.settings.diagnostics;
  if (!settings.automatic) return std::optional<AutoAnswer>();
  const std::string path = state_path(environment, request.session);
  Observation::Diagnostics seen;
  seen.automatic = true;
  seen.marked = !settings.strict && has_completion_tag(request.words);
  if (seen.marked) {
    answer.decision = ask(environment, edits->project, seen);
    ::unlink(path.c_str());
    return std::optional(std::move(answer));
  }
  DiagnoseOrder order{edits->project, environment, {true, false, true, false, kStagnationLimit}};
  order.limit = request.patience;
  order.must_judge = false;  // nobody requested these criteria
  order.edited = edits->files;
  const std::string tools = tools_path(environment, request.session);
  KnownTools known = known_tools(tools);
  order.answered = known.answered;
  if (settings.baseline) order.paths = edits->files;  // findings elsewhere are older than the session
  TRY_VALUE(Diagnosis found, diagnose(order));
  std::string hidden;
  for (const record::ChangedFile& file : found.hiding)
    hidden += fmt::format("\nralph: {} was {} in this session: {}", file.path, file.what, file.note);
  std::vector<diagnostics::Snapshot> snapshots = load_snapshots(path);
  found.snapshot.iteration = snapshots.empty() ? 1 : snapshots.back().iteration + 1;
  add_snapshot(snapshots, found.snapshot);
  seen.issues = static_cast<int>(found.findings.size());
  seen.summary = join(found.unmet, ", ");
  seen.stagnation = diagnostics::stagnation(snapshots, kStagnationLimit);
  answer.decision = ask(environment, edits->project, seen);
  add_new(known.answered, found.answered);
  std::vector<std::string> newly_missing;  // reported to the user when the session stops
  if (answer.decision.action != Action::kContinue) newly_missing = add_new(known.missing, found.unavailable);
  TRY(replace_file(tools, to_compact_json(json_from(known)) + "\n", 0600));
  const bool stagnant = answer.decision.status == StopStatus::kStagnant;
  // Stagnation lasts until the user's next line.
  if (answer.decision.action == Action::kContinue || stagnant) {
    TRY(save_snapshots(path, snapshots));
  } else {
    ::unlink(path.c_str());
  }
  if (answer.decision.action == Action::kContinue) {
    answer.text = auto_continue_message(found.snapshot, found.worst) + hidden;
    return std::optional(std::move(answer));
  }
  const bool had_work = snapshots.size() > 1;
  const bool all_known = found.snapshot.unfinished.empty() && found.unavailable.empty();
  if (stagnant) {
    answer.message = fmt::format("ralph: STAGNANT ({}); left: {}", answer.decision.reason, seen.summary);
  } else if (had_work && all_known) {
    answer.message = complete_message(request.session, static_cast<int>(snapshots.size()), snapshots);
  } else if (had_work) {
    answer.message = "ralph: no known issues are left";
  }
  const auto say_unknown = [&](const std::vector<std::string>& all) {
    for (const std::string& unknown : all)
      answer.message += fmt::format("{}ralph: not known: {}", answer.message.empty() ? "" : "\n", unknown);
  };
  say_unknown(found.snapshot.unfinished);
  say_unknown(had_work ? found.unavailable : newly_missing);
  answer.message += answer.message.empty() ? hidden.substr(hidden.empty() ? 0 : 1) : hidden;
  return std::optional(std::move(answer));
}

Result<std::string> check_edit(const Environment& environment, const std::string& project,
                               const std::vector<std::string>& files, EditTools tools) {
  TRY_VALUE(const LoadedSettings loaded, load_settings(project, {}, Distrusted::kLeftOut, environment));
  const DiagnosticsSettings& settings = loaded.settings.diagnostics;
  TRY_VALUE(diagnostics::CollectRequest request, collect_request(settings, project));
  request.files = files;
  request.caches = true;
  request.servers.clear();  // only warm ones: starting a server takes longer than running the tool it replaces
  request.tests = false;
  request.limit = std::min(request.limit, kEditLimit);
  request.security = tools == EditTools::kAll || tools == EditTools::kSecurity;
  request.errors = tools != EditTools::kSecurity;
  const diagnostics::ProjectView view(project, environment, excluded_paths(settings));
  std::vector<diagnostics::PlannedCollector> planned = plan_collectors(view, request);
  if (tools == EditTools::kAll || tools == EditTools::kCheckers) prefer_warm_servers(planned, view, request);
  // If there is no checker, use a linter.
  const bool some_check = std::any_of(planned.begin(), planned.end(), [](const diagnostics::PlannedCollector& one) {
    return !lints(one.name) && one.plan.missing.empty();
  });
  std::erase_if(planned, [&](const diagnostics::PlannedCollector& one) {
    return (tools == EditTools::kCheckers && some_check && lints(one.name)) ||
           (tools == EditTools::kLinters && !lints(one.name));
  });
  diagnostics::CollectOptions options;
  options.files = files;
  TRY_VALUE(diagnostics::Report report, collect(view, planned, options));
  report.keep_below(files);  // some tools examine the whole project
  mask_secrets(report, loaded.settings, environment);
  std::string text;
  if (!report.findings.empty())
    text = fmt::format("ralph: after this edit the project's tools say: {}\n{}", in_words(report.summary()),
                       worst_of(report.findings, kMostAfterEdit));
  for (const diagnostics::CollectorResult& result : report.collectors) {
    const bool unknown = result.status == diagnostics::CollectorStatus::kFailed ||
                         result.status == diagnostics::CollectorStatus::kTimedOut;
    if (unknown)
      text += fmt::format("{}ralph: not known: {}: {}", text.empty() ? "" : "\n", result.name, result.reason);
  }
  return text;
}

}  // namespace ralph
