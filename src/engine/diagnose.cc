#include "engine/diagnose.h"

#include "base/text.h"
#include "engine/diagnostics_setup.h"
#include "engine/watch.h"
#include "json/fields.h"
#include "os/files.h"

namespace ralph {
namespace {

using diagnostics::CommandEnd;
using diagnostics::Criteria;
using diagnostics::Finding;
using diagnostics::Outset;
using diagnostics::PlannedCollector;
using diagnostics::ProjectView;
using diagnostics::Report;
using diagnostics::Snapshot;

constexpr size_t kShownFindings = 20, kKeptOutput = 64 << 20;

// Plans only the kinds that the criteria need: a run whose tests don't matter does not wait for them. `hub`: as in
// CollectRequest.
Result<std::vector<PlannedCollector>> plan_for(const Policy& policy, const ProjectView& project,
                                               const std::string& hub = {}) {
  TRY_VALUE(diagnostics::CollectRequest request, collect_request(policy.diagnostics, project.root()));
  const CriteriaSettings& criteria = *policy.diagnostics.criteria;
  request.tests = criteria.tests_pass;
  request.security = criteria.zero_security;
  request.errors = criteria.zero_errors || criteria.zero_warnings || criteria.zero_security;
  request.hub = hub;
  request.accepted = true;  // by starting the run; later changes by an agent are found through the outset
  return plan_collectors(project, request);
}

void keep_report(std::string& kept, std::string_view bytes, bool& cut) {
  const size_t room = kKeptOutput - std::min(kKeptOutput, kept.size());
  kept.append(bytes.substr(0, room));
  cut = cut || bytes.size() > room;
}

// The folder in which an iteration's launches run: a checkout elsewhere, or the project.
std::string root_for(const Run& run, const LaunchChange& change) {
  Launch launch;
  launch.folder = run.project;
  return change ? change(std::move(launch)).folder : run.project;
}

std::string outset_path(const Run& run) {
  return join_path(run.store, "outset.json");
}

Status save(const Run& run, const Outset& outset) {
  TRY(make_directories(run.store));
  return replace_file(outset_path(run), to_compact_json(json_from(outset)) + "\n", 0600);
}

class Diagnosis {
 public:
  Diagnosis(Run& run, Outset& outset, bool baseline, LaunchChange change = {})
      : run_(run),
        outset_(outset),
        baseline_(baseline),
        change_(std::move(change)),
        project_(root_for(run, change_), run.environment, excluded_paths(run.policy.diagnostics), outset.trusted()) {}

  Result<Decision> run() {
    const MonotonicTime began = run_.clock.monotonic();
    TRY_VALUE(std::vector<PlannedCollector> planned, plan_for(run_.policy, project_, hub()));
    TRY(compare_with_outset(planned));
    for (const PlannedCollector& one : planned) {
      TRY_VALUE(const Decision decision, run_one(one));
      if (decision.action != Action::kContinue) return decision;
    }
    report_.merge();
    // A checkout has only the committed tests, so its count is not compared with the project's.
    if (project_.root() == run_.project) {
      if (auto fewer = fewer_tests(outset_, report_, "run")) unjudged_.push_back(std::move(*fewer));
      remember_times(outset_, project_, planned);
    }
    remember_found(outset_, report_);
    TRY(save(run_, outset_));
    report_.keep_below(run_.policy.targets);
    TRY(note(planned, run_.since(began)));
    return run_.ask({Moment::kBetweenSteps});
  }

 private:
  // The run's warm language servers have loaded the project, not a checkout elsewhere.
  std::string hub() const {
    return project_.root() == run_.project && path_exists(run_.lsp_socket) ? run_.lsp_socket : "";
  }

  Status compare_with_outset(std::vector<PlannedCollector>& planned) {
    diagnostics::OutsetChanges since =
        diagnostics::compare_with_outset(outset_, project_, planned, "run", project_.root() != run_.project);
    unjudged_ = std::move(since.unjudged);
    std::vector<record::ChangedFile> files;
    for (diagnostics::SuspectFile& file : since.changed) {
      record::ChangedFile& changed = files.emplace_back();
      changed.path = std::move(file.path), changed.what = std::move(file.what), changed.note = std::move(file.note);
    }
    return report_files(run_, std::move(files));
  }

  // The collector's time limit applies to all its commands together.
  Result<Decision> run_one(const PlannedCollector& planned) {
    const MonotonicTime began = run_.clock.monotonic();
    std::vector<CommandEnd> ends;
    for (const diagnostics::ToolCommand& command : planned.plan.commands) {
      TRY_VALUE(const Decision decision, run_.ask({Moment::kBetweenSteps}));
      if (decision.action != Action::kContinue) return decision;
      const Milliseconds left = planned.limit - run_.since(began);
      if (left.count() <= 0) {
        CommandEnd& late = ends.emplace_back();
        late.timed_out = true;
        late.began = planned.limit;
        continue;
      }
      const Milliseconds before = run_.since(began);
      TRY_VALUE(CommandEnd end, run_command(command, left));
      end.began = before;
      ends.push_back(std::move(end));
    }
    add_to(report_, project_, planned, ends, {});
    return run_.ask({Moment::kBetweenSteps});
  }

  Result<CommandEnd> run_command(const diagnostics::ToolCommand& command, Milliseconds limit) {
    CommandEnd end;
    end.output.context = command.context;
    StepRequest step;
    step.launch = launch_of(command, run_.environment);
    if (change_) step.launch = change_with_folder(std::move(step.launch));
    step.moment = Moment::kDuringCheck;
    step.limit = limit;
    step.kind = StepKind::kGuardrail;
    step.on_output = [&](StreamName stream, std::string_view bytes) -> Status {
      keep_report(stream == StreamName::kOut ? end.output.out : end.output.err, bytes, end.output.cut);
      return {};
    };
    const Result<StepEnd> ended = run_step(run_, step);
    if (!ended && ended.error().kind != ErrorKind::kNotFound && ended.error().kind != ErrorKind::kBusy)
      return tl::unexpected(ended.error());
    if (!ended) {
      end.not_started = ended.error().message;
      return end;
    }
    end.output.exit_code = ended->status.code;
    end.output.signal = ended->status.signal;
    end.timed_out = ended->cause == EndCause::kTimedOut;
    end.interrupted = ended->cause != EndCause::kNone && !end.timed_out;
    end.took = ended->duration;
    return end;
  }

  // Keeps the command's folder, which may be below the project's.
  Launch change_with_folder(Launch launch) const {
    std::string folder = launch.folder;
    launch = change_(std::move(launch));
    launch.folder = std::move(folder);
    return launch;
  }

  Status note(const std::vector<PlannedCollector>& planned, Milliseconds took) {
    const Criteria criteria = criteria_from(*run_.policy.diagnostics.criteria);
    const int iteration = run_.progress().iteration;
    // Without a tool that has disappeared since the run began, the criteria can't be judged.
    for (diagnostics::Unjudged& one : cannot_judge(criteria, planned)) unjudged_.push_back(std::move(one));
    const Snapshot snapshot = snapshot_of(report_, criteria, iteration, run_.clock.wall(), unjudged_);
    record::Diagnosed said;
    said.iteration = iteration;
    said.duration_ms = took.count();
    said.baseline = baseline_;
    said.unmet = unmet(criteria, snapshot);
    said.summary = in_words(report_.summary());
    if (!said.unmet.empty() && report_.findings.empty()) said.summary = join(said.unmet, ", ");
    said.snapshot = json_from(snapshot);
    json::array collectors;
    for (const diagnostics::CollectorResult& result : report_.collectors) collectors.push_back(json_from(result));
    said.collectors = std::move(collectors);
    const std::string name = fmt::format("diagnostics_{}.json", iteration);
    TRY(replace_file(join_path(run_.folder, name), to_pretty_json(to_json(report_)), 0600));
    said.report_file = run_.is_in_project() ? join_path(join_path(".ralph/runs", run_.id), name) : name;
    if (!baseline_ && !said.unmet.empty()) said.feedback = feedback(criteria, said);
    return run_.note(std::move(said));
  }

  std::string feedback(const Criteria& criteria, const record::Diagnosed& said) const {
    std::vector<Finding> shown;
    for (const Finding& finding : report_.findings) {
      if (criteria.concern(finding)) shown.push_back(finding);
    }
    std::string text = fmt::format("{}\n\nThe work is not complete: {}.\n", kDiagnosticsTitle, join(said.unmet, ", "));
    if (!shown.empty()) text += fmt::format("\n{}", worst_of(shown, kShownFindings));
    text += fmt::format("\nAll findings: {}\n", said.report_file);
    return text;
  }

  Run& run_;
  Outset& outset_;
  const bool baseline_;
  const LaunchChange change_;
  const ProjectView project_;
  std::vector<diagnostics::Unjudged> unjudged_{};
  Report report_;
};

}  // namespace

Status check_criteria(const Policy& policy, const std::string& project, const Environment& environment,
                      std::string_view wanted_by) {
  if (!policy.has_criteria()) return {};
  const ProjectView view(project, environment, excluded_paths(policy.diagnostics));
  TRY_VALUE(const std::vector<PlannedCollector> planned, plan_for(policy, view));
  const auto why = cannot_judge(criteria_from(*policy.diagnostics.criteria), planned);
  if (why.empty()) return {};
  return fail(ErrorKind::kInput, "{}: {}", policy.promise ? "loop run" : wanted_by, why.front().why);
}

Result<Outset> take_outset(const Run& run) {
  if (!run.policy.has_criteria()) return Outset{};
  if (is_real_file(outset_path(run))) {
    TRY_VALUE(const std::string text, read_file(outset_path(run)));
    TRY_VALUE(const json::value value, parse_json(text, outset_path(run)));
    if (Outset outset = from_json<Outset>(value); outset.taken) return outset;
  }
  const ProjectView project(run.project, run.environment, excluded_paths(run.policy.diagnostics));
  TRY_VALUE(const std::vector<PlannedCollector> planned, plan_for(run.policy, project));
  Outset outset = outset_of(project, planned);
  TRY(save(run, outset));
  return outset;
}

Result<Decision> run_first_diagnostics(Run& run, Outset& outset) {
  if (!run.policy.has_criteria() || !run.progress().diagnosed.snapshots.empty()) return Decision{};
  return Diagnosis(run, outset, true).run();
}

Result<Decision> run_diagnostics(Run& run, Outset& outset, const LaunchChange& change) {
  if (!run.policy.has_criteria()) return run.ask({Moment::kBetweenSteps});
  return Diagnosis(run, outset, false, change).run();
}

}  // namespace ralph
