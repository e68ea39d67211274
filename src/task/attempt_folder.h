// The folder of one attempt, runs/<id>/: run-info.yaml, prompt.md, output.md, agent-stdout.txt, agent-stderr.txt. It is
// created before the agent starts, so every attempt is visible. Child runs have the same kind of folder.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "engine/turn.h"
#include "journal/raw_file.h"
#include "os/clock.h"
#include "task/run_info.h"

namespace ralph {

// Creates a folder with its first run-info.yaml for an attempt or a child run. Ids sort in starting order. `info`
// contains what is known before the start.
Result<RunInfo> create_attempt(const TaskPlace& place, RunInfo info, WallTime now);

// The variables that identify an agent's run: RUN_FOLDER, RALPH_ATTEMPT_ID, the parent's id, and their JRUN_ names.
std::map<std::string, std::string> attempt_variables(const RunInfo& info);
std::map<std::string, std::string> task_variables(const TaskPlace& place);

class AttemptFolder : public TurnRecorder {
 public:
  // `info` has what all attempts have in common, or describes a child run whose folder already exists. File names in
  // records are relative to `run_folder`.
  AttemptFolder(TaskPlace place, RunInfo info, std::string run_folder, const Clock& clock, const Redactor& redactor)
      : place_(std::move(place)),
        info_(std::move(info)),
        run_folder_(std::move(run_folder)),
        clock_(clock),
        redactor_(redactor) {}

  // `callback` is called when an attempt has its id and folder, before its agent starts.
  void on_begin(std::function<void()> callback) { on_begin_ = std::move(callback); }

  // Makes the command run without a prompt: the user gave none.
  void give_no_prompt() { gives_prompt_ = false; }

  Result<TurnFiles> begin(Launch& launch, const std::string& prompt, const std::string& agent) override;
  Status started(int pid) override;
  void on_event(const AgentEvent& event) override;
  Status ended(const record::AgentEnded& ended) override;

  // Sets the last attempt's status to stopped: its agent waits for a person.
  Status mark_stopped();

  const RunInfo& info() const { return info_; }
  std::optional<MonotonicTime> last_end() const { return last_end_; }

 private:
  Status write_info();

  TaskPlace place_;
  RunInfo info_;
  std::function<void()> on_begin_;
  std::string run_folder_;
  const Clock& clock_;
  const Redactor& redactor_;
  bool gives_prompt_ = true;
  std::optional<RawFile> output_;
  std::optional<MonotonicTime> last_end_;
};

}  // namespace ralph
