// One run: one loop over one piece of work. It owns the journal and the progress folded from it, and makes the only
// call to decide(). Every note goes first to the journal, then into the progress, then to the observers, so nothing is
// shown or acted on that a crash could lose.
//
//   TRY_VALUE(Run run, Run::open(folder, policy, parts));   // a new journal, or one to continue
//   TRY(run.note(record::IterationStarted{1}));
//   TRY_VALUE(const Decision decision, run.ask({Moment::kAfterChecks}));
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/decide.h"
#include "engine/listener.h"
#include "engine/shelter.h"
#include "git/own_index.h"
#include "journal/redactor.h"
#include "journal/run_folder.h"
#include "journal/seal.h"
#include "journal/writer.h"
#include "os/clock.h"
#include "os/processes.h"

namespace ralph {

// The dependencies of a run, which must outlive it.
struct RunParts {
  Processes& processes;
  const Clock& clock;
  const Redactor& redactor;
  RunListener& listener;
  std::string project;         // absolute
  Environment environment;     // of every child process, including RALPH_RUN_ID
  std::string store{};         // a folder outside the project for copies of watched files; empty: in the run's folder
  std::string seal{};          // a file outside the project for the hash of the last synced record; empty: none
  Shelter* shelter = nullptr;  // nullptr: programs run directly
  std::string lsp_socket{};    // of the language servers that the run keeps warm; empty: it keeps none
  // Gets every record of the journal in its order: those found when the run is opened, and each new one.
  std::function<void(const record::Record&)> on_record{};
};

class Run {
 public:
  // Folds the existing records. Fails with kBusy while another process is writing the journal, and with kInput if the
  // journal does not lead to the record that the seal names, or is damaged before its last line.
  static Result<Run> open(const RunFolder& folder, Policy policy, RunParts parts);

  // Opens a session's run. Its decision records carry the progress, so a hook reads only the journal's tail. Waits up
  // to `patience` for another hook of the session to finish.
  static Result<Run> open_session(const RunFolder& folder, Policy policy, RunParts parts, Milliseconds patience);

  // A run that records nothing, for a hook inside a run whose journal another process is writing.
  static Run read_only(Policy policy, RunParts parts);

  Status note(record::Body body);
  Status note_pause();  // if the time of day went on without the run: a resumed run would count that time otherwise
  Status sync();        // before external effects, and at the end of an iteration and of the run

  // Lists in `resumed` the claims that the journal's seal does not vouch for.
  void list_unsealed_claims(record::RunResumed& resumed) const;

  // The only caller of decide(). Fills in the observation's clock and random number. Records every decision, with its
  // observation, except a silent "continue".
  Result<Decision> ask(Observation observation);

  // The limit at which a run with this progress would stop if it continued now. Records nothing, because it is called
  // before a run is opened and after one has ended.
  static Limit limit_met(const Policy& policy, Progress progress, Milliseconds run_time);

  // How long until time alone can change the answer. nullopt: never, so a wait needs no timeout.
  std::optional<Milliseconds> time_until_change(Observation observation) const;

  // Watches these files from now on. `arrived` says whether the awaited file exists, which ends a wait or a turn. If
  // the system is out of file watches, the files are polled every policy.file_poll and the listener is informed.
  Status await_files(const std::vector<std::string>& paths, std::function<bool()> arrived);
  bool awaited_file_is_there() const { return arrived_ && arrived_(); }
  std::optional<Milliseconds> file_poll() const { return polls_ ? std::optional(policy.file_poll) : std::nullopt; }

  // Callbacks of the way: `look` adds to every observation, `handle_event` handles events that belong to no step.
  void look_with(std::function<void(Observation&)> look) { look_ = std::move(look); }
  void handle_events_with(std::function<Status(const Event&)> handle_event) { handle_event_ = std::move(handle_event); }
  Observation look(Observation observation) const;
  Status handle_event(const Event& event) { return handle_event_ ? handle_event_(event) : Status{}; }

  const Progress& progress() const { return progress_; }
  bool is_resumed() const { return resumed_; }  // it has records of an earlier process
  bool has_seal() const { return seal_.is_kept(); }
  bool is_in_project() const;       // its folder is in the project's .ralph
  Milliseconds time_spent() const;  // by the run, including earlier processes
  const std::string& journal_hash() const { return writer_->last_hash(); }
  std::string journal_fault() { return writer_ ? writer_->fault() : ""; }  // see JournalWriter
  Milliseconds since(MonotonicTime time) const { return clock.monotonic() - time; }

  Policy policy;
  Processes& processes;
  const Clock& clock;
  const Redactor& redactor;
  RunListener& listener;
  Shelter* const shelter;
  const std::string project, id, folder, store, lsp_socket;
  const Environment environment;
  // Determined before the first agent.
  std::shared_ptr<const OwnIndex> index{};  // null: no repository
  std::string scm_program{};                // the executable of policy.scm_command; empty: none, or not found
  SweepReport swept_before{};  // leftovers of a killed process of this run, ended before this one started anything

 private:
  Run(const RunFolder& folder, Policy policy, RunParts parts);

  std::optional<JournalWriter> writer_;
  bool carries_progress_ = false, resumed_ = false;
  Progress progress_;
  std::function<void(const record::Record&)> on_record_;
  std::function<bool()> arrived_;
  std::function<void(Observation&)> look_;
  std::function<Status(const Event&)> handle_event_;
  bool polls_ = false;
  Seal seal_;
  std::optional<Progress> sealed_;  // at the journal's sealed record when it was opened, if other records follow it
  MonotonicTime opened_;
  Milliseconds spent_before_{0};
  std::uint64_t random_;  // for jitter only
};

}  // namespace ralph
