// `ralph task run`: restarts an agent until the file DONE exists in the task's folder. Each attempt is an iteration.
// This class observes the folder, and engine/decide decides.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/way.h"
#include "task/attempt_folder.h"
#include "task/bus.h"
#include "task/children.h"

namespace ralph {

struct TaskRequest {
  TaskPlace place;
  std::optional<std::string> prompt;  // as given; nullopt: TASK.md, read again for each attempt
  std::string prompt_file;            // read again for each attempt; empty: none
  std::vector<std::string> depends;   // tasks of the same project
  std::vector<std::string> checks;    // commands that must exit with 0 for DONE to count
  bool is_command = false;            // -- COMMAND, which needs no prompt
  std::vector<std::string> reach{};   // folders that sandboxed agents can write to: see read_within()
  bool was_complete = false;          // before this process started
};

// The instructions of the task: the given prompt, or TASK.md. Empty for a command without instructions.
Result<std::string> instructions_of(const TaskRequest& request);

// The prompt of an attempt. From the second attempt on, it begins with a line that says so.
std::string attempt_prompt(const TaskPlace& place, const std::string& instructions, int attempt,
                           const std::string& previous);

class TaskWay : public Way {
 public:
  // All references must outlive the way. `children` may be nullptr: no child runs then.
  TaskWay(Run& run, const TaskRequest& request, Agents agents, bool events, Children* children,
          std::vector<std::pair<std::string, std::string>> environment, std::string parent);

  Result<std::optional<Agents>> begin() override;
  bool watches_triggers() const override;  // only if it works in a project
  Result<NextTurn> next() override;
  Status after_turn(const Decision& decision) override;
  Result<IterationChecks> checks() override;
  Status after_checks(const Decision& decision) override;
  Result<Observation> observe() override;
  std::vector<std::string> files() const override;
  bool file_arrived() const override;
  void look(Observation& now) const override;
  Status handle_event(const Event& event) override;
  std::string resume_command() const override;
  Status finish(const Decision& decision) override;

 private:
  std::string waits() const;
  bool has_done_to_check() const;
  void post(std::string_view type, const std::string& body, const std::string& bus = {});

  Run& run_;
  const TaskRequest& request_;
  const TaskPlace& place_;
  Agents agents_;
  bool events_;
  Children* children_;
  std::vector<std::pair<std::string, std::string>> environment_;
  AttemptFolder attempt_;
  mutable BusReader bus_;
  mutable std::string asked_on_bus_;
  std::pair<std::uint64_t, std::uint64_t> folder_;  // the task's folder, by device and inode
  int number_ = 0;                                  // of the attempt
  bool proved_ = false;                             // the checks of DONE passed
  std::string_view refusal_{};                      // why DONE was taken back, for the next prompt; empty: it was not
  mutable std::optional<MonotonicTime> done_since_, awaiting_since_;
};

// A child run: one attempt of a command or an agent.
class ChildWay : public Way {
 public:
  ChildWay(Agents agents, bool events, std::string prompt, TurnRecorder& recorder)
      : agents_(agents), events_(events), prompt_(std::move(prompt)), recorder_(recorder) {}
  bool watches_triggers() const override { return false; }
  Result<NextTurn> next() override {
    NextTurn next{prompt_, agents_, events_};
    next.recorder = &recorder_;
    return next;
  }

 private:
  Agents agents_;
  bool events_;
  std::string prompt_;
  TurnRecorder& recorder_;
};

}  // namespace ralph
