#include "engine/checks.h"

#include <set>

#include "base/text.h"
#include "checks/guardrail.h"
#include "journal/raw_file.h"
#include "os/files.h"

namespace ralph {
namespace {

CheckOutcome outcome_of(const StepEnd& end) {
  if (end.cause == EndCause::kNone) return end.status.success() ? CheckOutcome::kPassed : CheckOutcome::kFailed;
  return from_word<CheckOutcome>(to_string(end.cause)).value_or(CheckOutcome::kInterrupted);
}

// The log's name in the agent's prompt: a link in .ralph to the newest log of that name. If something else stands there
// that can't be replaced, it is the log itself.
std::string told_log_file(const Run& run, const std::string& name, const std::string& log_file) {
  const std::string link = join_path(".ralph", name);
  return link_to(join_path(run.project, link), join_path(join_path("runs", run.id), name)) ? link : log_file;
}

Status run_guardrail(Run& run, const GuardrailSettings& guardrail, int index, size_t excerpt_characters,
                     std::set<std::string>& log_names) {
  const int iteration = run.progress().iteration;
  const std::string name = log_name(iteration, run.redactor.redact(guardrail.command), log_names);
  const std::string log_file = join_path(join_path(".ralph/runs", run.id), name);
  TRY_VALUE(RawFile log, RawFile::create(join_path(run.folder, name)));
  const std::string told_file = told_log_file(run, name, log_file);

  record::GuardrailStarted started;
  started.iteration = iteration;
  started.index = index;
  started.name = guardrail.name.empty() ? guardrail.command : guardrail.name;
  started.command = guardrail.command;
  started.log_file = log_file;
  TRY(run.note(started));

  OutputExcerpt excerpt(excerpt_characters);
  std::int64_t output_bytes = 0;
  StepRequest step;
  step.launch = guardrail_launch(guardrail.command, run.environment, run.project);
  step.launch.environment.set("RALPH_ITERATION", std::to_string(iteration));
  step.moment = Moment::kDuringCheck;
  step.limit = Milliseconds(static_cast<long long>(guardrail.timeout_seconds * 1000));
  step.kind = StepKind::kGuardrail;
  step.on_output = [&](StreamName, std::string_view bytes) -> Status {
    output_bytes += static_cast<std::int64_t>(bytes.size());
    excerpt.feed(bytes);
    return log.append(bytes);
  };
  TRY_VALUE(const StepEnd end, run_step(run, step));

  record::GuardrailEnded ended;
  ended.iteration = iteration;
  ended.index = index;
  ended.name = started.name;
  ended.command = guardrail.command;
  ended.log_file = log_file;
  ended.exit_code = end.status.code;
  ended.duration_ms = end.duration.count();
  ended.output_bytes = output_bytes;
  ended.fail_action = to_string(guardrail.fail_action);
  ended.outcome = outcome_of(end);
  if (ended.outcome != CheckOutcome::kPassed) {
    GuardrailFailure failure;
    failure.command = guardrail.command;
    failure.exit_code = end.status.code;
    if (ended.outcome == CheckOutcome::kTimedOut)
      failure.why = fmt::format("timed out after {}", human_duration(step.limit));
    failure.hint = guardrail.hint;
    failure.log_file = told_file;
    failure.output = excerpt.text();
    failure.truncated = excerpt.truncated();
    ended.feedback = failure_message(failure);
  }
  return run.note(std::move(ended));
}

}  // namespace

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
    TRY(run_guardrail(run, guardrail, ++index, checks.excerpt_characters, log_names));
  }
  return run.ask({Moment::kBetweenSteps});
}

}  // namespace ralph
