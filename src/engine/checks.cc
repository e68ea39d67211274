#include "engine/checks.h"

#include <set>

#include "base/sha256.h"
#include "base/text.h"
#include "checks/guardrail.h"
#include "checks/test_counts.h"
#include "engine/scm_command.h"
#include "git/repository.h"
#include "journal/raw_file.h"
#include "os/files.h"

namespace ralph {
namespace {

CheckOutcome outcome_of(const StepEnd& end) {
  switch (end.cause) {
    case EndCause::kNone:
      return end.status.success() ? CheckOutcome::kPassed : CheckOutcome::kFailed;
    case EndCause::kTimedOut:
      return CheckOutcome::kTimedOut;
    case EndCause::kOverBudget:
      return CheckOutcome::kOverBudget;
    default:
      return CheckOutcome::kInterrupted;
  }
}

// The log's name in the agent's prompt: the one in .ralph, where the newest log of that name is. If something is in its
// way that can't be replaced, the name in the run's folder.
std::string log_path_for_prompt(const Run& run, const RawFile& log, const std::string& name,
                                const std::string& log_file) {
  if (!run.is_in_project()) return log_file;
  const std::string known = join_path(".ralph", name);
  return log.link_at(join_path(run.project, known), RawFile::Link::kAny) ? known : log_file;
}

// One check of an iteration, with all its retries.
class Check {
 public:
  Check(Run& run, const GuardrailSettings& guardrail, size_t excerpt_characters, LaunchChange change = {})
      : run_(run),
        guardrail_(guardrail),
        excerpt_characters_(excerpt_characters),
        change_(std::move(change)),
        excerpt_(excerpt_characters) {}

  Status run(int index, bool baseline, std::set<std::string>& log_names) {
    const int iteration = run_.progress().iteration;
    const std::string name = log_name(iteration, run_.redactor.redact(guardrail_.command), log_names);
    const std::string log_file =
        join_path(run_.is_in_project() ? join_path(".ralph/runs", run_.id) : run_.folder, name);
    log_name_ = name;

    record::GuardrailStarted started;
    started.iteration = iteration;
    started.index = index;
    started.name = guardrail_.name.empty() ? guardrail_.command : guardrail_.name;
    started.command = guardrail_.command;
    started.log_file = log_file;
    started.baseline = baseline;
    TRY(run_.note(started));

    ended_.iteration = iteration;
    ended_.index = index;
    ended_.name = started.name;
    ended_.command = guardrail_.command;
    ended_.log_file = log_file;
    ended_.fail_action = to_string(guardrail_.fail_action);
    ended_.baseline = baseline;
    TRY(take_tries(baseline ? 0 : guardrail_.flake_retries));
    ended_.log_sha256 = sha256_.hex();
    if (!baseline) ended_.feedback = feedback();
    return run_.note(std::move(ended_));
  }

 private:
  // A check that fixes files itself (a formatter) and then passes is not flaky, but failed: its first result was about
  // different files.
  Status take_tries(int retries) {
    TRY_VALUE(const std::string files, retries > 0 ? tracked_changes() : Result<std::string>());
    for (;; ++ended_.tries) {
      TRY(take_try());
      const bool failed = ended_.outcome == CheckOutcome::kFailed || ended_.outcome == CheckOutcome::kTimedOut;
      if (!failed || ended_.tries > retries) break;
      TRY_VALUE(const Decision decision, run_.ask({Moment::kBetweenSteps}));
      if (decision.action != Action::kContinue) break;
      TRY(append(fmt::format("\n[ralph: try {} of {}]\n", ended_.tries + 1, retries + 1)));
    }
    if (ended_.tries == 1 || ended_.outcome != CheckOutcome::kPassed) return {};
    TRY_VALUE(const std::string now, tracked_changes());
    if (now == files) return {};
    ended_.outcome = CheckOutcome::kFailed;
    why_ = fmt::format("failed, and passed on try {} only after it had changed files itself", ended_.tries);
    return {};
  }

  Result<std::string> tracked_changes() {
    const std::string folder = launch().folder;
    TRY_VALUE(const auto diff, Repository(contained_git(run_, GitPlace{folder}, {})).diff());
    return diff ? sha256_hex(*diff) : std::string();  // no repository: nothing to compare
  }

  Launch launch() const {
    Launch launch = guardrail_launch(guardrail_.command, run_.environment, run_.project);
    return change_ ? change_(std::move(launch)) : launch;
  }

  // The log is created while the command starts, which takes longer.
  Status create_log() {
    if (log_) return {};
    TRY_VALUE(log_, RawFile::create(join_path(run_.folder, log_name_)));
    prompt_log_ = log_path_for_prompt(run_, *log_, log_name_, ended_.log_file);
    return {};
  }

  Status take_try() {
    excerpt_ = OutputExcerpt(excerpt_characters_);
    TestCountReader tests;
    why_.clear();
    StepRequest step;
    step.launch = launch();
    step.launch.environment.set("RALPH_ITERATION", std::to_string(run_.progress().iteration));
    step.moment = Moment::kDuringCheck;
    step.limit = Milliseconds(static_cast<long long>(guardrail_.timeout_seconds * 1000));
    step.kind = StepKind::kGuardrail;
    step.on_started = [this](int) { return create_log(); };
    step.on_output = [&](StreamName, std::string_view bytes) -> Status {
      ended_.output_bytes += static_cast<std::int64_t>(bytes.size());
      excerpt_.feed(bytes);
      tests.feed(bytes);
      return append(bytes);
    };
    TRY_VALUE(const StepEnd end, run_step(run_, step));
    ended_.exit_code = end.status.code;
    ended_.duration_ms += end.duration.count();
    ended_.outcome = outcome_of(end);
    if (ended_.outcome == CheckOutcome::kTimedOut) why_ = fmt::format("timed out after {}", human_duration(step.limit));
    judge_tests(tests.counts());
    return {};
  }

  void judge_tests(const std::optional<TestCounts>& counts) {
    ended_.tests_passed = ended_.tests_failed = ended_.tests_skipped = std::nullopt;
    ended_.tests_lost.clear();
    if (counts) {
      ended_.tests_passed = counts->passed;
      ended_.tests_failed = counts->failed;
      ended_.tests_skipped = counts->skipped;
    }
    if (ended_.outcome != CheckOutcome::kPassed || ended_.baseline) return;
    if (counts && counts->executed() == 0) {
      ended_.outcome = CheckOutcome::kFailed;
      why_ = fmt::format("ran no tests ({}), which is not a success although it exited with code 0", in_words(*counts));
      return;
    }
    const auto before = run_.progress().tests.find(guardrail_.command);
    if (before != run_.progress().tests.end() && !guardrail_.allow_fewer_tests)
      ended_.tests_lost = lost_since(before->second, counts);
  }

  std::string feedback() const {
    if (ended_.outcome == CheckOutcome::kPassed) {
      return ended_.tests_lost.empty() ? "" : lost_tests_message(guardrail_.command, ended_.tests_lost, prompt_log_);
    }
    GuardrailFailure failure;
    failure.command = guardrail_.command;
    failure.exit_code = static_cast<int>(ended_.exit_code);
    failure.why = why_;
    failure.hint = guardrail_.hint;
    failure.log_file = prompt_log_;
    failure.output = excerpt_.text();
    failure.truncated = excerpt_.truncated();
    return failure_message(failure);
  }

  Status append(std::string_view bytes) {
    sha256_.add(bytes);
    return log_->append(bytes);
  }

  Run& run_;
  const GuardrailSettings& guardrail_;
  const size_t excerpt_characters_;
  const LaunchChange change_;
  std::string log_name_;
  std::optional<RawFile> log_;
  std::string prompt_log_;
  OutputExcerpt excerpt_;  // of the last try
  Sha256 sha256_;          // of the log
  std::string why_;        // why it failed, if not by its exit code
  record::GuardrailEnded ended_;
};

}  // namespace

Result<Decision> run_baselines(Run& run, std::span<const GuardrailSettings> guardrails) {
  std::set<std::string> log_names;
  int index = 0;
  for (const GuardrailSettings& guardrail : guardrails) {
    ++index;
    if (!guardrail.baseline || run.progress().iteration > 0 || run.progress().tests.contains(guardrail.command))
      continue;
    TRY_VALUE(const Decision decision, run.ask({Moment::kBetweenSteps}));
    if (decision.action != Action::kContinue) return decision;
    TRY(Check(run, guardrail, 0).run(index, true, log_names));
  }
  return Decision{};
}

Result<Decision> run_checks(Run& run, const ChecksToRun& checks) {
  std::set<std::string> log_names;
  for (const GuardrailSettings& guardrail : checks.guardrails) {
    if (!checks.again) break;
    log_name(run.progress().iteration, run.redactor.redact(guardrail.command), log_names);
  }
  int index = 0;
  for (const GuardrailSettings& guardrail : checks.guardrails) {
    TRY_VALUE(const Decision decision, run.ask({Moment::kBetweenSteps}));
    if (decision.action != Action::kContinue) return decision;
    TRY(Check(run, guardrail, checks.excerpt_characters, checks.change).run(++index, false, log_names));
  }
  return run.ask({Moment::kBetweenSteps});
}

}  // namespace ralph
