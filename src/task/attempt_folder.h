// The folder of one attempt, runs/<id>/: run-info.yaml, prompt.md, output.md, agent-stdout.txt, agent-stderr.txt. Made
// before the agent starts, so that an attempt is never invisible. Child runs have the same.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/turn.h"
#include "journal/raw_file.h"
#include "os/clock.h"
#include "task/run_info.h"

namespace ralph {

// A new folder for an attempt or a child run with its first run-info.yaml. Ids sort in the order in which they began.
// `info` has what is known before the start.
Result<RunInfo> create_attempt(const TaskPlace& place, RunInfo info, WallTime now);

// The variables that tell an agent where it is: RUN_FOLDER, RALPH_ATTEMPT_ID, the parent's id, and the seed's names.
std::map<std::string, std::string> attempt_variables(const RunInfo& info);
std::map<std::string, std::string> task_variables(const TaskPlace& place);

class AttemptFolder : public TurnRecorder {
 public:
  // `info` is what all attempts have in common, or a child run whose folder is there already. `run_folder`: the names
  // of files in records are relative to it.
  AttemptFolder(TaskPlace place, RunInfo info, std::string run_folder, const Clock& clock, const Redactor& redactor)
      : place_(std::move(place)),
        info_(std::move(info)),
        run_folder_(std::move(run_folder)),
        clock_(clock),
        redactor_(redactor) {}

  // Called when an attempt has its id and its folder, before its agent starts.
  void on_begin(std::function<void()> told) { on_begin_ = std::move(told); }

  // The command gets no prompt: the user gave none.
  void give_no_prompt() { gives_prompt_ = false; }

  Result<TurnFiles> begin(Launch& launch, const std::string& prompt, const std::string& agent) override;
  Status started(int pid) override;
  void on_event(const AgentEvent& event) override;
  Status ended(const record::AgentEnded& ended) override;

  // The last attempt told that it waits for a person.
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
