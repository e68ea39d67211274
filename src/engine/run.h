// One run: one loop over one piece of work. It owns the journal, the progress that is a fold over it, and the only call
// of decide(). Every note goes to the journal, then into progress, then to whoever watches; in this order, always, so
// that nothing is shown or acted on that a crash could make unsaid.
//
//   TRY_VALUE(Run run, Run::open(folder, policy, parts));   // a new journal, or one to go on with
//   TRY(run.note(record::IterationStarted{1}));
//   TRY_VALUE(const Decision decision, run.ask({Moment::kAfterChecks}));
#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "engine/decide.h"
#include "engine/listener.h"
#include "journal/redactor.h"
#include "journal/run_folder.h"
#include "journal/writer.h"
#include "os/clock.h"
#include "os/processes.h"

namespace ralph {

// What a run works with. All of it outlives the run.
struct RunParts {
  Processes& processes;
  const Clock& clock;
  const Redactor& redactor;
  RunListener& listener;
  std::string project;      // absolute
  Environment environment;  // of every child, RALPH_RUN_ID included
};

class Run {
 public:
  // Folds the records that are there already. Fails with kBusy while another process writes the journal.
  static Result<Run> open(const RunFolder& folder, Policy policy, RunParts parts);

  // A session's run, whose last decision carries its progress: a hook reads the journal's tail only, and waits for
  // another hook of the session up to `patience`. The run writes its progress with every decision.
  static Result<Run> open_session(const RunFolder& folder, Policy policy, RunParts parts, Milliseconds patience);

  // Asks and records nothing: for a hook inside a run that another process writes.
  static Run read_only(Policy policy, RunParts parts);

  Status note(record::Body body);
  Status sync();  // before effects outside, and at the end of an iteration

  // Asks decide(), the only place that does. Whatever is not a silent "go on" is recorded with what was seen. The clock
  // and the dice of the observation are filled in here.
  Result<Decision> ask(Observation observation);

  // When time alone can change the answer: how long from now. Nothing: never, so a wait may be endless.
  std::optional<Milliseconds> time_until_change(Observation observation) const;

  // From now on the appearance of one of these files ends a wait and a turn.
  Status await_files(std::vector<std::string> paths);
  bool awaited_file_is_there() const;

  const Progress& progress() const { return progress_; }
  Milliseconds time_spent() const;  // by the run, with what it had spent before it was opened
  const std::string& journal_hash() const { return writer_->last_hash(); }
  Milliseconds since(MonotonicTime time) const { return clock.monotonic() - time; }

  Policy policy;
  Processes& processes;
  const Clock& clock;
  const Redactor& redactor;
  RunListener& listener;
  const std::string project, id, folder;
  const Environment environment;

 private:
  Run(const RunFolder& folder, Policy policy, RunParts parts);

  std::optional<JournalWriter> writer_;
  bool carries_progress_ = false;
  Progress progress_;
  std::vector<std::string> awaited_;
  MonotonicTime opened_;
  Milliseconds spent_before_{0};
  std::minstd_rand random_{std::random_device{}()};  // for jitter only
};

}  // namespace ralph
