// Runs the programs of one run in Docker Sandbox: a virtual machine for agents, and another one, without their login,
// for checks. The machine of a supervised task has a mirror of the task's folder (task/annex), and the task's child
// runs are started in the same machine.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "cli/protection.h"
#include "sandbox/docker_machine.h"
#include "sandbox/guarded_copy.h"

namespace ralph::cli {

class DockerShelter : public Shelter {
 public:
  // `folder`: the run's, for the output of Docker's client. `jobs` runs the outer end of a task's mirror.
  static Result<std::unique_ptr<DockerShelter>> make(const Protection& protection, const Environment& environment,
                                                     const std::string& folder, Jobs& jobs);

  // For a child run, in the machine of its task, which is already in use.
  static Result<std::unique_ptr<DockerShelter>> for_child(const Protection& protection, const Environment& environment);
  ~DockerShelter() override;

  Result<Launch> enclose(StepKind kind, Launch launch) override;
  Milliseconds settling_time() const override { return last_ ? protection_.sync : Milliseconds(0); }
  Result<record::SandboxNoted> settle(bool forced) override;
  std::string describe() const override;

  // While child runs are alive, the machine is not stopped, and files that they may have changed are not used as the
  // reference to restore from.
  void watch_children(std::function<int()> alive) { children_ = std::move(alive); }

  // Restores protected files of the project. Returns a line for each.
  Result<std::vector<std::string>> put_back() const;

 private:
  explicit DockerShelter(const Protection& protection) : protection_(protection) {}
  Status start_annex(const Environment& environment, const std::string& folder, Jobs& jobs);
  Status synchronize();
  bool is_seen(const std::string& folder) const;
  Launch started(Launch launch, bool check, const std::string& variables) const;
  Status end_attempt();

  const Protection& protection_;
  std::optional<DockerMachine> agent_, check_;
  DockerMachine* last_ = nullptr;  // of the step under way
  GuardedCopy guarded_;
  bool is_child_ = false;
  std::string attempt_;  // of a task: the step under way
  std::function<int()> children_ = [] { return 0; };
  Fd control_;  // of the outer end of the annex
};

}  // namespace ralph::cli
