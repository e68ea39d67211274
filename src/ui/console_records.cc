// What the console shows for each record of a run.
#include <algorithm>
#include <span>
#include <vector>

#include "base/text.h"
#include "base/utf8.h"
#include "journal/changed_file.h"
#include "ui/console.h"
#include "ui/phrases.h"

namespace ralph {
namespace {

Milliseconds ms(std::int64_t count) {
  return Milliseconds(count);
}

std::string next_prompt_phrase(std::string_view action) {
  if (action == "PREPEND") return "PREPEND to the next prompt";
  if (action == "REPLACE") return "REPLACE the next prompt";
  return "APPEND to the next prompt";
}

// A few lines of a failed guardrail's output: the last ones, or the first ones if it was truncated. The log has
// everything.
std::vector<std::string> glimpse_of(std::string_view feedback) {
  constexpr std::string_view kBegin = "\nOutput (truncated):\n", kCut = "... [truncated]";
  constexpr size_t kLines = 4;
  const size_t at = feedback.find(kBegin);
  if (at == std::string_view::npos) return {};
  const std::string_view output = trim(feedback.substr(at + kBegin.size()));
  if (output.empty()) return {};
  std::vector<std::string> lines = split(output, '\n');
  if (lines.size() <= kLines) return lines;
  if (output.ends_with(kCut)) {
    lines.resize(kLines);
  } else {
    lines.erase(lines.begin(), lines.end() - kLines);
  }
  return lines;
}

}  // namespace

void Console::show(const record::RunStarted& started) {
  run_id_ = started.run_id;
  agent_ = started.agent;
  max_iterations_ = started.max_iterations;
  show_title({fmt::format("run {}", run_id_)});
}

void Console::show(const record::RunResumed& resumed) {
  run_id_ = resumed.run_id;
  agent_ = resumed.agent;
  max_iterations_ = resumed.max_iterations;
  iteration_ = progress_->iteration;
  show_title({fmt::format("resumes run {}", run_id_)});
  if (!progress_->iteration_open) return;
  line("");
  line(options_.style.cyan(iteration_title() + ", resumed"));
}

void Console::show_title(std::vector<std::string> facts) {
  const Style& style = options_.style;
  facts.push_back(fmt::format("agent {}", agent_));
  facts.push_back(fmt::format("up to {}", iterations(max_iterations_)));
  if (options_.guardrails > 0) facts.push_back(count_of(options_.guardrails, "guardrail"));
  line(style.bold("ralph") + style.dim(std::string(style.dot()) + join(facts, style.dot())));
}

void Console::show(const record::IterationStarted& started) {
  iteration_ = started.iteration;
  line("");
  line(options_.style.cyan(iteration_title()));
  on_detail(fmt::format("Iteration {}/{} starting", iteration_, max_iterations_));
}

std::string Console::iteration_title() const {
  return fmt::format("{} {} {}/{}", options_.style.step(), options_.task ? "Attempt" : "Iteration", iteration_,
                     max_iterations_);
}

void Console::show(const record::AgentStarted& started) {
  formatter_.begin_turn();
  const std::string agent = clean(started.agent.empty() ? "the agent" : started.agent, 20);
  begin_step(started.purpose == Purpose::kWork ? fmt::format("{} is working", agent)
                                               : fmt::format("asking {} for a commit message", agent),
             agent);
  on_detail(fmt::format("Agent command: {}", quote_shell_words(started.argv)));
}

void Console::show(const record::AgentEnded& ended) {
  const Style& style = options_.style;
  end_of_agent_output();
  step_.clear();
  const std::string took = style.dim(fmt::format("({})", human_duration(ms(ended.duration_ms))));
  on_detail(fmt::format("Agent exited with code {} ({}), {} of output", ended.exit_code,
                        human_duration(ms(ended.duration_ms)),
                        human_bytes(static_cast<unsigned long long>(ended.output_bytes))));
  if (ended.purpose != Purpose::kWork) return;
  if (ended.outcome == TurnOutcome::kOk) {
    const std::string answer = ended.response ? fmt::format(" and answered \"{}\"", clean(*ended.response)) : "";
    line(fmt::format("{} agent finished{} {}", style.green(style.ok()), answer, took));
  } else if (options_.task && ended.outcome == TurnOutcome::kEmpty && ended.exit_code == 0) {
    line(fmt::format("{} agent finished and said nothing {}", style.green(style.ok()), took));
  } else if (options_.wait_exit_code != 0 && ended.exit_code == options_.wait_exit_code) {
    line(fmt::format("{} agent ended with exit code {} {}", style.yellow(style.note()), ended.exit_code, took));
  } else {
    const bool by_ralph = ended.outcome == TurnOutcome::kTimedOut || ended.outcome == TurnOutcome::kIdle ||
                          ended.outcome == TurnOutcome::kOverBudget || ended.outcome == TurnOutcome::kInterrupted ||
                          ended.outcome == TurnOutcome::kFileAppeared;
    const std::string_view what = ended.outcome == TurnOutcome::kCrashed      ? "crashed"
                                  : ended.outcome == TurnOutcome::kNotStarted ? "could not be started"
                                  : ended.outcome == TurnOutcome::kEmpty      ? "ended"
                                  : by_ralph                                  ? "was ended"
                                                                              : "failed";
    const size_t used =
        display_width(fmt::format("{} agent {}:  ({})", style.error(), what, human_duration(ms(ended.duration_ms))));
    line(fmt::format("{} agent {}: {} {}", style.red(style.error()), what, clean(ended.reason, used), took));
  }
  on_detail(ended.response ? fmt::format("Completion detection: the agent answered \"{}\"", clean(*ended.response))
                           : "Completion detection: no <response> in the agent's own words");
}

void Console::show(const record::GuardrailStarted& started) {
  begin_step(clean(started.name, 20));
  if (!options_.style.terminal) line(fmt::format("  {} {}", options_.style.begin(), step_));
  on_detail(fmt::format("Running guardrail: {}", started.command));
}

void Console::show(const record::GuardrailEnded& ended) {
  const Style& style = options_.style;
  step_.clear();
  // The result goes on the same line, so a long command is cut.
  const std::string name = fit_to_width(ended.name, std::max<size_t>(style.terminal ? style.width / 2 : 120, 20));
  const std::string took = human_duration(ms(ended.duration_ms));
  if (ended.baseline) {
    const std::string facts = check_facts(ended);
    line(fmt::format("{} {} before the first agent: {} {}", style.note(), name,
                     facts.empty() ? "it does not say how many tests it ran" : facts,
                     style.dim(fmt::format("({}, {})", to_string(ended.outcome), took))));
  } else if (ended.outcome == CheckOutcome::kPassed) {
    const std::string facts = check_facts(ended);
    const bool odd = !ended.tests_lost.empty() || ended.tries > 1;
    line(fmt::format("{} {} passed {}", odd ? style.yellow(style.note()) : style.green(style.ok()), name,
                     style.dim(fmt::format("({}{}{})", took, facts.empty() ? "" : ", ", clean(facts)))));
  } else {
    std::string what = fmt::format("failed with exit code {}", ended.exit_code);
    if (ended.exit_code == 127) what += " (command not found)";
    if (ended.exit_code == 0) what = "failed although it exited with code 0";
    if (ended.outcome == CheckOutcome::kTimedOut) what = "timed out";
    if (ended.outcome == CheckOutcome::kInterrupted || ended.outcome == CheckOutcome::kOverBudget) what = "was ended";
    const std::string head = fmt::format("{} {} {}", name, what, style.dim(fmt::format("({})", took)));
    const bool in_project = !ended.log_file.starts_with('/');  // that of a task is in the task's folder
    const std::string log = in_project ? join_path(".ralph", base_name(ended.log_file)) : ended.log_file;
    const std::string facts = fmt::format("{}{}{}", next_prompt_phrase(ended.fail_action), style.dot(), log);
    // On a terminal too narrow for both, the facts get their own line.
    const size_t width =
        display_width(fmt::format("{} {} {} ({}){}{}", style.error(), name, what, took, style.dot(), facts));
    const bool fits = !style.terminal || width <= style.width;
    line(fmt::format(
        "{} {}{}", style.red(style.error()), head,
        style.dim(fits ? std::string(style.dot()) + facts : "\n    " + wrap_words(facts, style.width, 4, 4))));
    for (const std::string& said : glimpse_of(ended.feedback)) {
      line("    " + style.dim(fit_to_width(said, std::max<size_t>(style.width, 24) - 4)));
    }
  }
  on_detail(fmt::format("Guardrail exited with code {} ({})", ended.exit_code, took));
}

void Console::show(const record::ScmStarted& started) {
  begin_step(clean(started.task, 20));
}

void Console::show(const record::ScmEnded& ended) {
  const Style& style = options_.style;
  step_.clear();
  if (ended.outcome == ScmOutcome::kDone) {
    line(fmt::format("{} {} {}", style.green(style.ok()), clean(ended.task), style.dim(clean(ended.note))));
  } else if (ended.outcome == ScmOutcome::kNothingToCommit) {
    line(fmt::format("{} {}: nothing to commit", style.note(), clean(ended.task)));
  } else {
    line(fmt::format("{} {} failed: {}", style.red(style.error()), clean(ended.task), clean(ended.note)));
  }
}

void Console::show(const record::FilesChanged& changed) {
  const Style& style = options_.style;
  for (const record::ChangedFile& file : changed.files) {
    const bool bad = file.action != WatchAction::kReported;
    line(fmt::format("{} {}", bad ? style.red(style.error()) : style.yellow(style.note()),
                     fit_to_width(changed_file_text(file), 400)));
  }
  if (changed.more > 0) line(fmt::format("{} and {} more; the journal counts them", style.note(), changed.more));
}

void Console::show(const record::TriggersChanged& changed) {
  show(static_cast<const record::FilesChanged&>(changed));
}

void Console::show(const record::SignalReceived& received) {
  start_line();
  const std::string_view text =
      received.count == 1 ? "Received signal, shutting down... (the current step may finish; a second one ends it)\n"
                          : "Received signal, ending everything now...\n";
  write_error(stamped(text, true));
}

void Console::show(const record::Diagnosed& said) {
  const Style& style = options_.style;
  const std::string took = style.dim(fmt::format("({})", human_duration(ms(said.duration_ms))));
  if (said.baseline) {
    line(fmt::format("{} diagnostics before the first agent: {} {}", style.note(), clean(said.summary), took));
  } else if (said.unmet.empty()) {
    line(fmt::format("{} diagnostics: {} {}", style.green(style.ok()), clean(said.summary), took));
  } else {
    line(fmt::format("{} diagnostics: {} {}{}", style.red(style.error()), clean(join(said.unmet, ", ")), took,
                     style.dim(fmt::format("{}the next prompt says so", style.dot()))));
  }
}

void Console::show(const record::SandboxNoted& noted) {
  const Style& style = options_.style;
  if (!noted.in_force.empty()) line(style.dim(fmt::format("Sandbox: {}", clean(noted.in_force))));
  for (const std::string& one : noted.blocked) line(fmt::format("{} {}", style.yellow(style.note()), clean(one)));
  for (const std::string& one : noted.taken) line(fmt::format("{} {}", style.yellow(style.note()), clean(one)));
}

void Console::show(const record::ProcessesSwept& swept) {
  const Style& style = options_.style;
  constexpr size_t kNamed = 3;
  const std::string_view step = swept.after == StepKind::kNone ? "setup" : to_string(swept.after);  // of a clean room
  for (const std::string& process : std::span(swept.ended).first(std::min(swept.ended.size(), kNamed))) {
    line(fmt::format("{} ended a process that the {} left behind: {}", style.yellow(style.note()), step,
                     clean(process)));
  }
  if (swept.ended.size() > kNamed)
    line(fmt::format("{} ended {} more that the {} left behind; the journal names them", style.yellow(style.note()),
                     swept.ended.size() - kNamed, step));
  for (const std::string& process : swept.survivors) {
    line(fmt::format("{} could not end a process of the {}: {}", style.red(style.error()), step, clean(process)));
  }
}

void Console::show(const record::Decided& decided) {
  on_detail(fmt::format("Decision: {} ({}): {}", to_string(decided.decision), decided.rule, decided.reason));
  const bool before = decided.moment == Moment::kBeforeIteration;
  waits_for_ = decided.decision == Action::kWait    ? before ? "waiting" : "waiting for the usage limit to end"
               : decided.decision == Action::kRetry ? "waiting before the next try"
                                                    : "";
  if (decided.decision == Action::kRetry || decided.decision == Action::kWait ||
      decided.decision == Action::kCheckAgain)
    line(fmt::format("{} {}", options_.style.yellow(options_.style.again()),
                     clean(decided.reason, display_width(options_.style.again()) + 1)));
}

void Console::show(const record::PlanWork& work) {
  line("  " + options_.style.bold(clean(plan_work_text(work))));
}

void Console::show(const record::PlanChecked& checked) {
  const Style& style = options_.style;
  // Never cut: rule violations matter most to the reader.
  for (const std::string& violation : checked.violations) {
    line(fmt::format("{} {}", style.red(style.error()), whole(violation, display_width(style.error()) + 1)));
  }
  for (const std::string& note : checked.notes)
    line(fmt::format("{} {}", style.yellow(style.note()), whole(note, display_width(style.note()) + 1)));
  if (checked.iteration == 0 && !checked.mode) return;  // the start of the run, which the title line has reported
  const bool back = checked.outcome == StoryStep::kNone || checked.outcome == StoryStep::kSentBack ||
                    checked.outcome == StoryStep::kChangesRequested;
  line(fmt::format("{} {}", back ? style.yellow(style.again()) : style.green(style.ok()),
                   clean(plan_outcome_text(checked))));
}

void Console::show(const record::RunEnded& ended) {
  const Style& style = options_.style;
  const bool complete = ended.status == StopStatus::kComplete;
  const std::string title = complete                                   ? "Complete"
                            : ended.status == StopStatus::kLimit       ? "Stopped at a limit"
                            : ended.status == StopStatus::kStagnant    ? "Stopped without progress"
                            : ended.status == StopStatus::kInterrupted ? "Interrupted"
                            : ended.status == StopStatus::kWaiting     ? "Waiting for you"
                                                                       : "Failed";
  const std::string mark = complete ? style.green(style.ok()) : style.red(style.error());
  line("");
  // Never cut, because it matters most. Only control characters are removed.
  const size_t used = display_width(complete ? style.ok() : style.error()) + 1 + title.size() + 2;
  line(fmt::format("{} {}: {}", mark, style.bold(title), whole(ended.reason, used)));
  std::vector<std::string> facts = {iterations(ended.iterations), human_duration(ms(ended.duration_ms))};
  const Progress::Totals& totals = progress_->totals;
  if (totals.turns > 0) {
    facts.push_back(fmt::format("agent {} in {}", count_of(totals.turns, "turn"), human_duration(totals.agent_time)));
  }
  if (ended.cost_usd > 0) facts.push_back(human_cost(ended.cost_usd));
  if (ended.tokens > 0) facts.push_back(fmt::format("{} tokens", human_count(ended.tokens)));
  if (totals.passed + totals.failed > 0) {
    facts.push_back(fmt::format("guardrails {} passed, {} failed", totals.passed, totals.failed));
  }
  if (const std::string trend = progress_->diagnostics_trend(); !trend.empty())
    facts.push_back(fmt::format("diagnostics {}", trend));
  if (totals.commits > 0) facts.push_back(count_of(totals.commits, "commit"));
  if (totals.scm_failures > 0)
    facts.push_back(style.red(fmt::format("{} failed", count_of(totals.scm_failures, "SCM task"))));
  if (totals.violations > 0)
    facts.push_back(style.red(fmt::format("{} reverted", count_of(totals.violations, "rule violation"))));
  if (totals.swept > 0) facts.push_back(fmt::format("{} ended", count_of(totals.swept, "leftover process")));
  if (totals.blocked > 0) facts.push_back(fmt::format("{} blocked", count_of(totals.blocked, "request")));
  line("  " + style.dim(wrap_facts(facts, style.dot())));
  const std::string folder = options_.folder.empty() ? ".ralph/runs/" + run_id_ : clean(options_.folder);
  line("  " + style.dim(wrap_facts({"everything is in " + folder, fmt::format("(ralph runs show {})", run_id_)}, " ")));
  if (!ended.resume.empty()) line("  " + style.dim("to go on: ") + ended.resume);
}

}  // namespace ralph
