#include "ui/console.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/utf8.h"
#include "os/clock.h"
#include "os/files.h"
#include "ui/check_text.h"
#include "ui/figures.h"
#include "ui/plan_text.h"

namespace ralph {
namespace {

constexpr Milliseconds kTerminalTick{1000};
constexpr Milliseconds kLogTick{60000};
constexpr size_t kTimeWidth = std::string_view("[HH:MM:SS] ").size();

Milliseconds ms(std::int64_t count) {
  return Milliseconds(count);
}

std::string next_prompt_phrase(std::string_view action) {
  if (action == "PREPEND") return "PREPEND to the next prompt";
  if (action == "REPLACE") return "REPLACE the next prompt";
  return "APPEND to the next prompt";
}

// A few lines of a failed guardrail's output: the last ones, or the first ones of truncated output. The log has all of
// it.
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

Console::Console(ConsoleOptions options)
    : options_(std::move(options)),
      out_filter_(options_.style.color),
      err_filter_(options_.style.color),
      formatter_(
          options_.format, options_.style,
          [this](std::string_view text) {
            erase_passing_line();
            write(text);
          },
          [] { return SystemClock().wall(); }) {
  // The formatter leaves room for the time itself.
  if (options_.format.timestamps) options_.style.width = std::max(options_.style.width, kTimeWidth + 20) - kTimeWidth;
}

void Console::write(std::string_view bytes) {
  if (bytes.empty()) return;
  out_.write(bytes);
  at_line_start_ = bytes.back() == '\n';
}

void Console::start_line() {
  formatter_.finish();
  if (std::exchange(colored_, false)) {  // the agent may have left a colour on
    const bool at_start = at_line_start_;
    write("\033[0m");
    at_line_start_ = at_start;
  }
  if (!passing_ && !at_line_start_) write("\n");
  erase_passing_line();
}

void Console::erase_passing_line() {
  if (!std::exchange(passing_, false)) return;
  write("\r\033[K");
  at_line_start_ = true;
}

std::string Console::stamped(std::string_view text, bool at_line_start) const {
  if (!options_.format.timestamps) return std::string(text);
  const std::string stamp = options_.style.dim(fmt::format("[{}]", time_of_day(SystemClock().wall()))) + " ";
  std::string result;
  for (const char c : text) {
    if (at_line_start && c != '\n' && c != '\r') result += stamp;
    at_line_start = c == '\n' || (at_line_start && c == '\r');
    result += c;
  }
  return result;
}

void Console::line(std::string_view text) {
  start_line();
  write(stamped(text, true) + "\n");
  formatter_.interrupted();
}

void Console::passing_line(std::string_view text) {
  if (!options_.style.terminal) return;
  start_line();
  draw(text);
}

void Console::draw(std::string_view text) {
  erase_passing_line();
  write(options_.style.dim(fit_to_width(text, options_.style.width - 1)));
  passing_ = true;
}

void Console::begin_step(std::string what, std::string agent) {
  step_ = std::move(what);
  turn_agent_ = std::move(agent);
  tool_.clear();
  passing_line(fmt::format("  {} {}", options_.style.begin(), step_));
}

std::string Console::clean(std::string_view text, size_t used) const {
  const size_t width = options_.style.terminal ? options_.style.width : 200;
  return fit_to_width(text, std::max(width, used + 1) - used);
}

void Console::on_record(const record::Record& record, const Progress& progress) {
  if (std::holds_alternative<record::SignalReceived>(record.body)) {
    out_.hurry();
    err_.hurry();
  }
  if (std::holds_alternative<record::RunEnded>(record.body)) out_.keep_all();
  progress_ = &progress;
  std::visit([this](const auto& body) { show(body); }, record.body);
}

void Console::on_agent_output(std::string_view bytes) {
  if (!options_.agent_output) return;
  const std::string text = out_filter_.feed(bytes);
  if (text.empty()) return;
  erase_passing_line();
  colored_ = colored_ || contains(text, '\033');
  write(stamped(text, at_line_start_));
}

void Console::on_agent_error_output(std::string_view bytes) {
  if (!options_.agent_output) return;
  const std::string text = err_filter_.feed(bytes);
  if (text.empty()) return;
  erase_passing_line();
  const bool terminal = options_.style.terminal;  // then both streams usually share their lines
  if (terminal) colored_ = colored_ || contains(text, '\033');
  write_error(stamped(text, terminal ? at_line_start_ : error_line_start_));
  if (terminal) at_line_start_ = text.back() == '\n';
}

// Half a character at the end of its output is none.
void Console::end_of_agent_output() {
  if (!options_.agent_output) return;
  if (const std::string rest = out_filter_.finish(); !rest.empty()) write(rest);
  if (const std::string rest = err_filter_.finish(); !rest.empty()) write_error(rest);
}

void Console::write_error(std::string_view bytes) {
  err_.write(bytes);
  error_line_start_ = bytes.ends_with('\n');
}

void Console::on_event(const AgentEvent& event) {
  if (const auto* start = std::get_if<event::ToolStart>(&event)) {
    constexpr size_t kToolWidth = 40;
    tool_ = fit_to_width(
        start->summary.empty() ? std::string(start->name) : fmt::format("{}({})", start->name, start->summary),
        kToolWidth);
  } else if (std::holds_alternative<event::ToolEnd>(event)) {
    tool_.clear();
  }
  if (options_.agent_output) formatter_.on_event(event);
}

void Console::on_detail(std::string_view line) {
  if (!options_.verbose) return;
  start_line();
  write_error(stamped(fmt::format("[ralph] {}\n", line), true));
}

void Console::on_trouble(std::string_view line) {
  start_line();
  write_error(stamped(fmt::format("ralph: {}\n", clean(line)), true));
}

std::optional<Milliseconds> Console::tick_interval() const {
  if (step_.empty()) return std::nullopt;
  if (options_.style.terminal) return kTerminalTick;
  return turn_agent_.empty() ? std::optional(kLogTick) : std::nullopt;
}

void Console::on_tick(const Tick& tick) {
  const Style& style = options_.style;
  const std::string took = human_duration(tick.running);
  if (!style.terminal) return line(fmt::format("  {} still running: {} ({})", style.note(), step_, took));
  if (!passing_ && !at_line_start_) return;  // the agent is in the middle of a line
  std::vector<std::string> facts = {step_};
  if (tick.ended_in) {
    facts = {fmt::format("{} is done but still runs", turn_agent_),
             fmt::format("ended in {}", human_duration(std::chrono::ceil<std::chrono::seconds>(
                                            std::max(*tick.ended_in, Milliseconds(0)))))};
  } else if (!tool_.empty()) {
    facts.push_back(tool_);
  }
  facts.push_back(took);
  const double cost = progress_->cost_usd + tick.cost_usd;
  const std::int64_t tokens = progress_->tokens.total() + tick.tokens;
  if (cost > 0) {
    facts.push_back(fmt::format("{} so far", human_cost(cost)));
  } else if (tokens > 0) {
    facts.push_back(fmt::format("{} tokens so far", human_count(tokens)));
  }
  if (std::exchange(colored_, false)) write("\033[0m");
  draw(fmt::format("  {} {}", style.begin(), join(facts, style.dot())));
}

std::optional<Milliseconds> Console::countdown_interval() const {
  return options_.style.terminal ? std::optional(kTerminalTick) : std::nullopt;
}

void Console::on_countdown(Milliseconds left) {
  // Whole seconds, so that the line changes only when necessary.
  const Milliseconds seconds = std::chrono::ceil<std::chrono::seconds>(left);
  const Style& style = options_.style;
  passing_line(fmt::format("  {} {}{}going on in {}, at {}", style.begin(), waits_for_,
                           waits_for_.empty() ? "" : style.dot(), human_duration(seconds),
                           time_of_day(SystemClock().wall() + left)));
}

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
  line("");
  const Style& style = options_.style;
  if (progress_->iteration_open)
    line(style.cyan(fmt::format("{} Iteration {}/{}, resumed", style.step(), iteration_, max_iterations_)));
}

void Console::show_title(std::vector<std::string> facts) {
  const Style& style = options_.style;
  facts.push_back(fmt::format("agent {}", agent_));
  facts.push_back(fmt::format("up to {}", count_of(max_iterations_, "iteration")));
  if (options_.guardrails > 0) facts.push_back(count_of(options_.guardrails, "guardrail"));
  line(style.bold("ralph") + style.dim(std::string(style.dot()) + join(facts, style.dot())));
}

void Console::show(const record::IterationStarted& started) {
  iteration_ = started.iteration;
  line("");
  line(options_.style.cyan(fmt::format("{} Iteration {}/{}", options_.style.step(), iteration_, max_iterations_)));
  on_detail(fmt::format("Iteration {}/{} starting", iteration_, max_iterations_));
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
  } else {
    const bool by_ralph = ended.outcome == TurnOutcome::kTimedOut || ended.outcome == TurnOutcome::kIdle ||
                          ended.outcome == TurnOutcome::kOverBudget || ended.outcome == TurnOutcome::kInterrupted ||
                          ended.outcome == TurnOutcome::kFileAppeared;
    const std::string_view what = ended.outcome == TurnOutcome::kCrashed      ? "crashed"
                                  : ended.outcome == TurnOutcome::kNotStarted ? "could not be started"
                                  : ended.outcome == TurnOutcome::kEmpty      ? "ended"
                                  : by_ralph                                  ? "was ended"
                                                                              : "failed";
    line(fmt::format("{} agent {}: {} {}", style.red(style.error()), what, clean(ended.reason), took));
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
    const std::string facts = fmt::format("{}{}{}", next_prompt_phrase(ended.fail_action), style.dot(),
                                          join_path(".ralph", base_name(ended.log_file)));
    // On a terminal too narrow for both, the facts get their own line.
    const size_t width =
        display_width(fmt::format("{} {} {} ({}){}{}", style.error(), name, what, took, style.dot(), facts));
    const bool fits = !style.terminal || width <= style.width;
    line(fmt::format("{} {}{}", style.red(style.error()), head,
                     style.dim((fits ? std::string(style.dot()) : "\n    ") + facts)));
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

void Console::show(const record::SignalReceived& received) {
  start_line();
  const std::string_view text =
      received.count == 1 ? "Received signal, shutting down... (the current step may finish; a second one ends it)\n"
                          : "Received signal, ending everything now...\n";
  write_error(stamped(text, true));
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
  for (const std::string& process : std::span(swept.ended).first(std::min(swept.ended.size(), kNamed))) {
    line(fmt::format("{} ended a process that the {} left behind: {}", style.yellow(style.note()),
                     to_string(swept.after), clean(process)));
  }
  if (swept.ended.size() > kNamed)
    line(fmt::format("{} ended {} more that the {} left behind; the journal names them", style.yellow(style.note()),
                     swept.ended.size() - kNamed, to_string(swept.after)));
  for (const std::string& process : swept.survivors) {
    line(fmt::format("{} could not end a process of the {}: {}", style.red(style.error()), to_string(swept.after),
                     clean(process)));
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
  // Never cut: broken rules matter most to the reader.
  const auto whole = [](const std::string& text) { return fit_to_width(text, text.size() * 2 + 1); };
  for (const std::string& violation : checked.violations) {
    line(fmt::format("{} {}", style.red(style.error()), whole(violation)));
  }
  for (const std::string& note : checked.notes) line(fmt::format("{} {}", style.yellow(style.note()), whole(note)));
  if (checked.iteration == 0 && !checked.mode) return;  // the start: the opening line has reported it
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
  line(fmt::format("{} {}: {}", mark, style.bold(title), fit_to_width(ended.reason, ended.reason.size() * 2 + 1)));
  std::vector<std::string> facts = {count_of(ended.iterations, "iteration"), human_duration(ms(ended.duration_ms))};
  const Progress::Totals& totals = progress_->totals;
  if (totals.turns > 0) {
    facts.push_back(fmt::format("agent {} in {}", count_of(totals.turns, "turn"), human_duration(totals.agent_time)));
  }
  if (ended.cost_usd > 0) facts.push_back(human_cost(ended.cost_usd));
  if (ended.tokens > 0) facts.push_back(fmt::format("{} tokens", human_count(ended.tokens)));
  if (totals.passed + totals.failed > 0) {
    facts.push_back(fmt::format("guardrails {} passed, {} failed", totals.passed, totals.failed));
  }
  if (totals.commits > 0) facts.push_back(count_of(totals.commits, "commit"));
  if (totals.scm_failures > 0)
    facts.push_back(style.red(fmt::format("{} failed", count_of(totals.scm_failures, "SCM task"))));
  if (totals.violations > 0)
    facts.push_back(style.red(fmt::format("{} taken back", count_of(totals.violations, "rule break"))));
  if (totals.swept > 0) facts.push_back(fmt::format("{} ended", count_of(totals.swept, "leftover process")));
  if (totals.blocked > 0) facts.push_back(fmt::format("{} blocked", count_of(totals.blocked, "request")));
  line("  " + style.dim(join(facts, style.dot())));
  const std::string folder = options_.folder.empty() ? ".ralph/runs/" + run_id_ : clean(options_.folder);
  line("  " + style.dim(fmt::format("everything is in {} (ralph runs show {})", folder, run_id_)));
  if (!ended.resume.empty()) line("  " + style.dim("to go on: ") + ended.resume);
}

}  // namespace ralph
