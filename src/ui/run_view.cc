#include "ui/run_view.h"

#include <algorithm>

#include "base/text.h"

namespace ralph {
namespace {

class Adder {
 public:
  explicit Adder(RunView& run) : run_(run) {}

  void operator()(const record::RunStarted& started) { run_.start = started; }
  void operator()(const record::RunEnded& ended) { run_.end = ended; }
  void operator()(const record::RunResumed& resumed) {
    run_.end.reset();
    if (run_.start && resumed.max_iterations > 0) run_.start->max_iterations = resumed.max_iterations;
    steps().push_back(resumed);
  }
  void operator()(const record::IterationStarted& started) { run_.iterations.push_back({started.iteration, {}, {}}); }
  void operator()(const record::IterationEnded& ended) {
    if (IterationView* iteration = find(ended.iteration)) iteration->duration = Milliseconds(ended.duration_ms);
  }

  void operator()(const record::AgentStarted& started) { steps().push_back(AgentTurn{started, {}}); }
  void operator()(const record::AgentEnded& ended) {
    end<AgentTurn>(ended, [&](const record::AgentStarted& started) {
      return started.attempt == ended.attempt && started.purpose == ended.purpose;
    });
  }
  void operator()(const record::GuardrailStarted& started) { steps().push_back(GuardrailCheck{started, {}}); }
  void operator()(const record::GuardrailEnded& ended) {
    record::GuardrailEnded brief = ended;
    brief.feedback.clear();  // long, and available in the journal
    end<GuardrailCheck>(std::move(brief), [&](const record::GuardrailStarted& s) { return s.index == ended.index; });
  }
  void operator()(const record::ScmStarted& started) {
    // A task may need several commands (add, commit); it ends once, with the last of them.
    ScmTask* last = steps().empty() ? nullptr : std::get_if<ScmTask>(&steps().back());
    if (last && !last->ended && last->started.task == started.task) {
      last->started = started;
    } else {
      steps().push_back(ScmTask{started, {}});
    }
  }
  void operator()(const record::ScmEnded& ended) {
    end<ScmTask>(ended, [&](const record::ScmStarted& started) { return started.task == ended.task; });
  }

  void operator()(const record::Diagnosed& said) {
    record::Diagnosed brief = said;
    brief.feedback.clear();
    brief.snapshot = brief.collectors = nullptr;
    steps().push_back(std::move(brief));
  }

  template <class Step>
  void operator()(const Step& step) {
    steps().push_back(step);
  }
  void operator()(const record::PlanChecked& checked) {
    record::PlanChecked brief = checked;
    brief.feedback.clear();  // its violations and notes say the same
    steps().push_back(std::move(brief));
  }
  void operator()(const record::PlanBegan&) {}  // nothing has happened yet
  void operator()(const record::RunPaused&) {}  // the run did nothing
  void operator()(const record::Unknown&) { ++run_.unknown_records; }

 private:
  std::vector<RunStep>& steps() { return run_.iterations.empty() ? run_.before : run_.iterations.back().steps; }

  IterationView* find(std::int64_t number) {
    const auto found = std::find_if(run_.iterations.rbegin(), run_.iterations.rend(),
                                    [&](const IterationView& iteration) { return iteration.number == number; });
    return found == run_.iterations.rend() ? nullptr : &*found;
  }

  // Ends the last unfinished step that matches. An end whose start is missing becomes a separate step.
  template <class Step, class Ended, class Belongs>
  void end(Ended ended, Belongs belongs) {
    std::vector<RunStep>& all = steps();
    for (auto step = all.rbegin(); step != all.rend(); ++step) {
      Step* candidate = std::get_if<Step>(&*step);
      if (!candidate || candidate->ended || !belongs(candidate->started)) continue;
      candidate->ended = std::move(ended);
      return;
    }
    Step step;
    step.ended = std::move(ended);
    all.push_back(std::move(step));
  }

  RunView& run_;
};

}  // namespace

void RunView::add(const record::Record& record) {
  if (records++ == 0) first_time = record.time;
  progress = fold(std::move(progress), record);
  std::visit(Adder(*this), record.body);
}

std::string_view RunView::state(bool alive) const {
  if (end) return end->status == StopStatus::kNone ? "ended" : to_string(end->status);
  if (is_session()) return "active";
  return alive ? "running" : "crashed";
}

std::string RunView::reason(bool alive) const {
  if (end) return end->reason;
  if (alive) return iterations.empty() ? "starting" : fmt::format("in iteration {}", iterations.back().number);
  if (is_session()) return fmt::format("in iteration {}", progress.iteration);
  if (unreadable) return "its journal can't be read";
  if (records == 0) return "its journal is empty";
  if (iterations.empty()) return "it was killed before its first iteration";
  return fmt::format("it was killed in iteration {}", iterations.back().number);
}

bool RunView::is_resumable(bool alive) const {
  return !alive && start && !is_session() && progress.status != StopStatus::kComplete && !progress.repository_is_gone();
}

std::int64_t RunView::iteration_count() const {
  return is_session() ? progress.iteration : static_cast<std::int64_t>(iterations.size());
}

Milliseconds RunView::duration() const {
  return end ? Milliseconds(end->duration_ms) : progress.run_time;
}

}  // namespace ralph
