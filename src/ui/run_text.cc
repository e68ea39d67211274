#include "ui/run_text.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/utf8.h"
#include "journal/changed_file.h"
#include "ui/phrases.h"

namespace ralph {
namespace {

constexpr size_t kLongestText = 400;  // columns of one text in a line that may wrap

std::string clean(std::string_view text, size_t columns = kLongestText) {
  return fit_to_width(trim(text), columns);
}

std::string shown_time(WallTime time) {
  const std::string iso = to_iso8601(time);
  return fmt::format("{} {} UTC", iso.substr(0, 10), iso.substr(11, 8));
}

std::string shown_duration(std::int64_t milliseconds) {
  return human_duration(Milliseconds(std::max<std::int64_t>(0, milliseconds)));
}

std::string shown_bytes(std::int64_t bytes) {
  return human_bytes(static_cast<unsigned long long>(std::max<std::int64_t>(0, bytes)));
}

// timed_out: "timed out"
std::string words(std::string_view name) {
  return replace_all(clean(name), "_", " ");
}

std::string painted_state(const ShownRun& run, const Style& style) {
  const std::string state = words(run.view.state(run.alive));
  if (state == "complete") return style.green(state);
  if (state == "running") return style.cyan(state);
  return state == "fatal" || state == "crashed" ? style.red(state) : style.yellow(state);
}

// Writes the steps of one iteration, one line each.
class StepWriter {
 public:
  StepWriter(std::string& out, const Style& style, bool alive) : out_(out), style_(style), alive_(alive) {}

  void operator()(const AgentTurn& turn) {
    const Purpose purpose = turn.ended ? turn.ended->purpose : turn.started.purpose;
    const std::string what = purpose == Purpose::kWork ? "" : fmt::format("{}: ", to_string(purpose));
    const std::string argv = turn.started.argv.empty() ? "" : clean(turn.started.argv[0]) + ": ";
    if (!turn.ended) return unfinished("agent", argv + what, turn.started.stdout_file);
    const record::AgentEnded& ended = *turn.ended;
    std::string text = argv + what + words(to_string(ended.outcome));
    if (ended.outcome != TurnOutcome::kOk && !ended.reason.empty()) text += fmt::format(" ({})", clean(ended.reason));
    if (ended.attempt > 1) text += fmt::format(", attempt {}", ended.attempt);
    text += fmt::format(", {}, {} of output", shown_duration(ended.duration_ms), shown_bytes(ended.output_bytes));
    if (ended.cost_usd > 0) text += ", " + human_cost(ended.cost_usd);
    if (ended.unknown_events > 0)
      text += fmt::format(", {} of its stream not understood", count_of(ended.unknown_events, "line"));
    if (ended.response) text += fmt::format(", answered \"{}\"", clean(*ended.response, 60));
    line(ended.outcome == TurnOutcome::kOk ? Mark::kGood : Mark::kBad, "agent", text, turn.started.stdout_file);
  }

  void operator()(const GuardrailCheck& check) {
    if (!check.ended) return unfinished("guardrail", clean(check.started.name) + ": ", check.started.log_file);
    const record::GuardrailEnded& ended = *check.ended;
    std::string text = fmt::format("{}: {}", clean(ended.name), words(to_string(ended.outcome)));
    if (ended.outcome == CheckOutcome::kFailed) text += fmt::format(" (exit code {})", ended.exit_code);
    if (const std::string more = check_facts(ended); !more.empty()) text += ", " + clean(more);
    text += ", " + shown_duration(ended.duration_ms);
    const bool good = ended.outcome == CheckOutcome::kPassed && ended.tests_lost.empty();
    line(good             ? Mark::kGood
         : ended.baseline ? Mark::kNote
                          : Mark::kBad,
         ended.baseline ? "baseline" : "guardrail", text, ended.log_file);
  }

  void operator()(const record::Diagnosed& said) {
    const std::string text = fmt::format("{}, {}", clean(said.summary), shown_duration(said.duration_ms));
    line(said.unmet.empty() ? Mark::kGood
         : said.baseline    ? Mark::kNote
                            : Mark::kBad,
         said.baseline ? "baseline" : "diagnosed", text, said.report_file);
  }

  void operator()(const ScmTask& task) {
    if (!task.ended) return unfinished("scm", clean(task.started.task) + ": ", "");
    const record::ScmEnded& ended = *task.ended;
    std::string text = fmt::format("{}: {}", clean(ended.task), words(to_string(ended.outcome)));
    if (!ended.note.empty()) text += fmt::format(" ({})", clean(ended.note));
    text += ", " + shown_duration(ended.duration_ms);
    line(ended.outcome == ScmOutcome::kFailed ? Mark::kBad : Mark::kGood, "scm", text);
  }

  void operator()(const record::ProcessesSwept& swept) {
    if (!swept.ended.empty()) {
      line(Mark::kNote, "swept",
           fmt::format("left by the {}, ended: {}", to_string(swept.after), clean(join(swept.ended, "; "))));
    }
    if (!swept.survivors.empty()) {
      line(Mark::kBad, "swept",
           fmt::format("left by the {}, still there: {}", to_string(swept.after), clean(join(swept.survivors, "; "))),
           "");
    }
  }

  void operator()(const record::SandboxNoted& noted) {
    if (!noted.in_force.empty()) line(Mark::kNote, "sandbox", clean(noted.in_force));
    for (const std::string& one : noted.blocked) line(Mark::kBad, "sandbox", clean(one), "");
    for (const std::string& one : noted.taken) line(Mark::kBad, "sandbox", clean(one), "");
  }

  void operator()(const record::SignalReceived& received) {
    line(Mark::kNote, "signal", fmt::format("{}, number {}", clean(received.signal), received.count));
  }

  void operator()(const record::Decided& decided) {
    // Most decisions only start the next step; show those that say why a turn ended and what followed.
    if (decided.decision == Action::kContinue &&
        (decided.reason.empty() || (decided.moment != Moment::kAfterChecks && decided.moment != Moment::kAtStop)))
      return;
    std::string text = words(to_string(decided.decision));
    if (decided.status != StopStatus::kNone) text += fmt::format(" ({})", words(to_string(decided.status)));
    if (decided.delay_ms > 0) text += " after " + shown_duration(decided.delay_ms);
    if (!decided.reason.empty()) text += ": " + clean(decided.reason);
    line(Mark::kNote, "decided", text);
  }

  void operator()(const record::RunResumed& resumed) {
    line(Mark::kNote, "resumed", fmt::format("by pid {}, ralph {}", resumed.pid, clean(resumed.ralph_version)), "");
  }

  void operator()(const record::SessionBound& bound) {
    line(Mark::kNote, "session", clean(bound.session.empty() ? "waits for the next one to start" : bound.session));
  }

  void operator()(const record::SessionEnded& ended) {
    line(Mark::kNote, "session", ended.reason.empty() ? "goes on" : fmt::format("ended ({})", clean(ended.reason)));
  }

  void operator()(const record::FilesWatched&) {}  // nothing has happened to them yet
  void operator()(const record::TriggersWatched&) {}
  void operator()(const record::TriggersChanged& changed) {
    (*this)(static_cast<const record::FilesChanged&>(changed));
  }

  void operator()(const record::FilesChanged& changed) {
    for (const record::ChangedFile& file : changed.files)
      line(file.action == WatchAction::kReported ? Mark::kNote : Mark::kBad, "files",
           clean(changed_file_text(file), 400));
    if (changed.more > 0) line(Mark::kNote, "files", fmt::format("and {} more", changed.more));
  }

  void operator()(const record::PlanWork& work) { line(Mark::kNote, "story", clean(plan_work_text(work)), ""); }

  void operator()(const record::PlanChecked& checked) {
    const std::string outcome = plan_outcome_text(checked);
    const bool good = checked.outcome != StoryStep::kSentBack && checked.outcome != StoryStep::kChangesRequested;
    if (!outcome.empty()) line(good ? Mark::kGood : Mark::kNote, "plan", clean(outcome));
    for (const std::string& violation : checked.violations) line(Mark::kBad, "plan", clean(violation, 400));
    for (const std::string& note : checked.notes) line(Mark::kNote, "plan", clean(note, 400));
  }

 private:
  enum class Mark { kGood, kBad, kNote };

  void unfinished(std::string_view kind, const std::string& what, std::string_view file) {
    line(Mark::kNote, kind, what + (alive_ ? "under way" : "not finished"), file);
  }

  void line(Mark mark, std::string_view kind, std::string_view text, std::string_view file = {}) {
    const std::string_view plain = mark == Mark::kGood  ? style_.ok()
                                   : mark == Mark::kBad ? style_.error()
                                                        : style_.note();
    const std::string sign = mark == Mark::kGood  ? style_.green(plain)
                             : mark == Mark::kBad ? style_.red(plain)
                                                  : std::string(plain);
    const size_t widest = display_width(style_.error()), begin = 2 + widest + 1 + 9 + 2;
    const std::string where = clean(file);
    const bool fits = !style_.terminal || begin + display_width(text) + 2 + display_width(where) <= style_.width;
    out_ += fmt::format("  {}{:{}} {:<9}  {}", sign, "", widest - std::min(widest, display_width(plain)), kind,
                        fits ? std::string(text) : wrap_words(text, style_.width, begin, begin));
    if (!where.empty()) out_ += (fits ? "  " : "\n" + std::string(begin, ' ')) + style_.dim(where);
    out_ += '\n';
  }

  std::string& out_;
  const Style& style_;
  bool alive_;
};

// An agent that repeats this text must not make a promise.
std::string without_promise_tags(std::string_view text) {
  return replace_all(replace_all(text, "<promise>", ""), "</promise>", "");
}

void write_head(std::string& out, const ShownRun& run, const Style& style) {
  const RunView& view = run.view;
  constexpr size_t kBegin = 13;
  const auto row = [&](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    out += fmt::format("  {:<9}  {}\n", name, style.terminal ? wrap_words(value, style.width, kBegin, kBegin) : value);
  };
  out += fmt::format("{} {}: {}\n", style.bold("Run"), style.bold(run.id), painted_state(run, style));
  row("why", clean(view.reason(run.alive)));
  row("stuck", clean(run.stuck, 400));
  if (view.records > 0) row("began", shown_time(view.first_time));
  row("took",
      human_duration(view.duration()) + style.dot().data() + count_of(view.iteration_count(), "iteration") +
          (view.start && view.start->max_iterations > 0 ? fmt::format(" of at most {}", view.start->max_iterations)
                                                        : ""));
  std::vector<std::string> spent;
  if (view.progress.cost_usd > 0) spent.push_back(human_cost(view.progress.cost_usd));
  if (view.progress.tokens.total() > 0)
    spent.push_back(fmt::format("{} tokens", human_count(view.progress.tokens.total())));
  row("cost", join(spent, style.dot()));
  if (view.start) {
    row("agent", clean(view.start->agent));
    const std::string prompt = clean(first_line(view.start->prompt), 100);  // empty if it was a file
    row("prompt", clean(view.start->prompt_source) + (prompt.empty() ? "" : ": " + prompt));
    row("ralph", clean(view.start->ralph_version));
  }
  row("files", run.folder);
}

std::string padded(const std::string& text, size_t width) {
  const size_t used = display_width(text);
  return used < width ? text + std::string(width - used, ' ') : text;
}

}  // namespace

bool is_resumable(const ShownRun& run) {
  return (run.problems.empty() || run.torn) && run.stuck.empty() && run.view.is_resumable(run.alive);
}

std::string run_text(const ShownRun& run, const Style& style) {
  std::string out;
  write_head(out, run, style);
  const bool alive = run.alive && !run.view.end;
  StepWriter writer(out, style, alive);
  for (const RunStep& step : run.view.before) std::visit(writer, step);
  for (const IterationView& iteration : run.view.iterations) {
    const std::string took = iteration.duration
                                 ? human_duration(*iteration.duration)
                                 : (alive && &iteration == &run.view.iterations.back() ? "under way" : "not finished");
    out += fmt::format("\n{} ({})\n", style.bold(fmt::format("Iteration {}", iteration.number)), took);
    for (const RunStep& step : iteration.steps) std::visit(writer, step);
  }
  if (run.view.unknown_records > 0) {
    out += fmt::format("\n{} of a kind that this version of ralph does not know\n",
                       count_of(run.view.unknown_records, "record"));
  }
  if (!run.problems.empty())
    out += fmt::format("\n{}\n", style.yellow("The journal is damaged; its good records are shown above:"));
  for (const std::string& problem : run.problems) out += fmt::format("  {}\n", clean(problem));
  return without_promise_tags(out);
}

namespace {

// The run's task, with its project if that is another one; empty: none.
std::string task_of(const ShownRun& run, const std::string& project) {
  if (run.task.empty() || !run.view.start || run.view.start->project == project) return clean(run.task, 60);
  return fmt::format("{} in {}", clean(run.task, 60), clean(run.view.start->project, 100));
}

}  // namespace

std::string run_table(std::span<const ShownRun> runs, const std::string& project, const Style& style) {
  enum Column : size_t { kId, kTask, kBegan, kAgent, kIterations, kTime, kCost, kTokens, kEnd, kColumns };
  using Row = std::array<std::string, kColumns>;
  std::vector<Row> rows = {{"RUN", "TASK", "BEGAN", "AGENT", "ITER", "TIME", "COST", "TOKENS", "END"}};
  for (const ShownRun& run : runs) {
    const RunView& view = run.view;
    std::string end = words(view.state(run.alive)) + (is_resumable(run) ? ", resumable" : "");
    if (const std::string reason = view.reason(run.alive); !reason.empty()) end += ": " + clean(reason);
    if (view.unreadable && !run.problems.empty()) {
      const std::string& problem = run.problems.front();
      end = fmt::format("unreadable: {} ({})", view.reason(run.alive), clean(problem.substr(problem.rfind(": ") + 2)));
    } else if (!run.problems.empty() && !run.torn) {
      end += " (its journal is damaged)";
    }
    const Progress& progress = view.progress;
    rows.push_back({run.id, task_of(run, project), view.records > 0 ? shown_time(view.first_time) : "-",
                    view.start ? clean(view.start->agent, 20) : "-", std::to_string(view.iteration_count()),
                    human_duration(view.duration()), progress.cost_usd > 0 ? human_cost(progress.cost_usd) : "-",
                    progress.tokens.total() > 0 ? human_count(progress.tokens.total()) : "-", end});
  }
  std::array<size_t, kColumns> widths{};
  for (const Row& row : rows) {
    for (size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  if (std::ranges::all_of(runs, [](const ShownRun& run) { return run.task.empty(); })) widths[kTask] = 0;
  // On a terminal each run gets one line: columns that don't fit are dropped, starting with those that `runs show`
  // covers best. The id says when a run began. A file gets all columns.
  constexpr size_t kRoomForEnd = 20;
  const auto used = [&] {
    size_t sum = 0;
    for (size_t i = 0; i < kEnd; ++i) sum += widths[i] > 0 ? widths[i] + 2 : 0;
    return sum;
  };
  for (const Column column : {kBegan, kTokens, kTime, kAgent, kIterations, kCost, kTask}) {
    if (style.terminal && used() + kRoomForEnd > style.width) widths[column] = 0;
  }
  std::string out;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < kEnd; ++i) line += widths[i] > 0 ? padded(row[i], widths[i]) + "  " : "";
    line += style.terminal ? fit_to_width(row[kEnd], std::max(style.width, used() + 1) - used()) : row[kEnd];
    out += (&row == &rows.front() ? style.bold(line) : line) + "\n";
  }
  return out;
}

json::object run_summary(const ShownRun& run) {
  const RunView& view = run.view;
  json::object summary;
  summary["id"] = run.id;
  summary["folder"] = to_json_string(run.folder);
  if (!run.task.empty()) summary["task"] = to_json_string(run.task);
  if (!run.task.empty() && view.start) summary["project"] = to_json_string(view.start->project);
  summary["state"] = to_json_string(view.state(run.alive));
  summary["reason"] = to_json_string(view.reason(run.alive));
  if (view.records > 0) summary["began"] = to_iso8601(view.first_time);
  if (view.start) summary["agent"] = to_json_string(view.start->agent);
  summary["iterations"] = view.iteration_count();
  summary["durationMs"] = view.duration().count();
  summary["resumable"] = is_resumable(run);
  if (!run.stuck.empty()) summary["stuck"] = to_json_string(run.stuck);
  summary["costUsd"] = view.progress.cost_usd;
  summary["tokens"] = view.progress.tokens.total();
  if (view.end) summary["exitCode"] = view.end->exit_code;
  json::array problems;
  for (const std::string& problem : run.problems) problems.emplace_back(to_json_string(problem));
  summary["problems"] = std::move(problems);
  return summary;
}

}  // namespace ralph
