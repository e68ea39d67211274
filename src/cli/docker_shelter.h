// Puts the protection of Docker Sandbox in force for one run: a virtual machine for agents, and another one, without
// their login, for checks. A supervised task has the image of its folder there (task/annex), and its child runs are
// started in the same machine.
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
  // `folder`: of the run, for what Docker's client says. `jobs`: the outer end of a task's image is one.
  static Result<std::unique_ptr<DockerShelter>> make(const Protection& protection, const Environment& environment,
                                                     const std::string& folder, Jobs& jobs);

  // For a child run, in the machine of its task, which is in use already.
  static Result<std::unique_ptr<DockerShelter>> for_child(const Protection& protection, const Environment& environment);
  ~DockerShelter() override;

  Result<Launch> enclose(StepKind kind, Launch launch) override;
  Milliseconds settling_time() const override { return last_ ? protection_.sync : Milliseconds(0); }
  Result<record::SandboxNoted> settle(bool forced) override;
  std::string describe() const override;

  // While child runs live, the machine is not stopped, and what they may have changed is not taken for the beginning.
  void mind_children(std::function<int()> alive) { children_ = std::move(alive); }

  // Puts back what must not change in the project. Returns a line for each.
  Result<std::vector<std::string>> put_back() const;

 private:
  explicit DockerShelter(const Protection& protection) : protection_(protection) {}
  Status start_annex(const Environment& environment, const std::string& folder, Jobs& jobs);
  Status level();
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
