// What protects the host from the programs of a run: a sandbox or nothing, chosen before anything is started.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "cli/command.h"
#include "cli/sandbox_setup.h"
#include "engine/shelter.h"
#include "os/jobs.h"
#include "os/socket_door.h"
#include "sandbox/docker.h"
#include "sandbox/enclosure.h"
#include "task/annex.h"

namespace ralph::cli {

inline constexpr std::array kSandboxOptions = {
    on_resume({"sandbox", 0, "", "Run the agent and the checks in a sandbox; fail if there is none."}),
    on_resume({"no-sandbox", 0, "", "Run the agent and the checks directly, without a sandbox."}),
};

// Sets /sandbox/mode to what was given.
Status set_sandbox(const Arguments& arguments, Overrides& overrides);

struct Protection {
  bool on = false;
  bool in_machine = false;  // by Docker Sandbox; else by bubblewrap
  DockerCli docker;
  Milliseconds sync{0};
  std::string why_not;  // if it is not on, although it was looked for
  std::string limits;   // of bubblewrap: which there are here, and by what
  SandboxRequest agent, check;
  bool checks_on_host = false;
  std::map<std::string, std::string> resolve;  // of the proxy
  bool confined = false;  // programs work in the project and beside it only: agents choose the folders of child runs
  std::optional<AnnexPlace> annex;  // of a task in a machine
};

// `by_default`: looked for if the settings don't say anything. Fails, before anything is started, if a sandbox is
// demanded and there is none.
Result<Protection> choose_protection(const SandboxSubject& subject, bool by_default);

// One line: what is in force, or would be.
std::string describe(const Protection& protection);

// For people, before a run: one line, or nothing if a sandbox is on and will say so itself.
std::string opening_line(const Protection& protection);

// The shelter of one run, as the protection says. `folder` and `jobs` as below.
Result<std::unique_ptr<Shelter>> put_in_force(const Protection& protection, const Environment& environment,
                                              const std::string& folder, Jobs& jobs);

// The launch of a step that is not shut in although there is a sandbox.
Launch on_host(StepKind kind, Launch launch, const std::string& project);

// For a child run, in the sandbox of its task.
Result<std::unique_ptr<Shelter>> shelter_for_child(const Protection& protection, const Environment& environment);

// Puts bubblewrap in force for one run. The proxy is a job of the guardian.
class RunShelter : public Shelter {
 public:
  // `folder`: of the run, for the log of the proxy.
  static Result<std::unique_ptr<RunShelter>> make(const Protection& protection, const Environment& environment,
                                                  const std::string& folder, Jobs& jobs);

  // For a child run, in the sandbox of its task, whose proxy runs already and whose limits it shares.
  static Result<std::unique_ptr<RunShelter>> for_child(const Protection& protection, const Environment& environment);
  ~RunShelter() override;

  const std::string& socket() const { return socket_; }  // of the proxy; empty: there is none
  const std::vector<std::string>& groups() const { return enclosure_.group.files(); }  // of limits

  Result<Launch> enclose(StepKind kind, Launch launch) override;
  Result<record::SandboxNoted> settle(bool forced) override;
  std::string describe() const override;

 private:
  explicit RunShelter(const Protection& protection) : protection_(protection) {}
  Status start_proxy(Jobs& jobs, const Environment& environment);

  const Protection& protection_;
  Enclosure enclosure_;
  SandboxPlan plan_;  // of the last step
  SocketDoor door_;
  std::string socket_, log_;
  std::map<std::string, int> told_;  // refusals, by what they say
};

}  // namespace ralph::cli
