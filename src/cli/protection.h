// Protects the host from the programs of a run: by a sandbox or not at all, chosen before anything is started.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "cli/command.h"
#include "cli/sandbox_setup.h"
#include "engine/shelter.h"
#include "os/helper_socket.h"
#include "os/jobs.h"
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
  std::string why_not;  // why none was found; empty: one was, or none was looked for
  std::string limits;   // of bubblewrap: which limits apply here, and what enforces them
  SandboxRequest agent, check;
  bool checks_on_host = false;
  std::map<std::string, std::string> resolve;  // of the proxy
  bool confined = false;  // folders outside the project and `beside` are refused: agents choose those of child runs
  std::optional<AnnexPlace> annex;  // of a task in a machine

  bool checks_in_machine() const { return on && in_machine && !checks_on_host; }
};

// `by_default`: look for a sandbox even if the settings don't mention it. Fails, before anything is started, if a
// sandbox is required and there is none.
Result<Protection> choose_protection(const SandboxSubject& subject, bool by_default);

// One line that says what is in force, or would be.
std::string describe(const Protection& protection);

// One line for people, before a run. Empty if a sandbox is on, because the run reports that itself.
std::string opening_line(const Protection& protection);

// Creates the shelter of one run for this protection. `folder` and `jobs` are as in RunShelter::make().
Result<std::unique_ptr<Shelter>> make_shelter(const Protection& protection, const Environment& environment,
                                              const std::string& folder, Jobs& jobs);

// The launch of a step that runs outside the sandbox even though there is one.
Launch on_host(StepKind kind, Launch launch, const std::string& project);

// The shelter of a child run, in the sandbox of its task.
Result<std::unique_ptr<Shelter>> shelter_for_child(const Protection& protection, const Environment& environment);

// Runs the programs of one run in bubblewrap. The proxy is a job of the guardian.
class RunShelter : public Shelter {
 public:
  // `folder`: the run's, for the log of the proxy.
  static Result<std::unique_ptr<RunShelter>> make(const Protection& protection, const Environment& environment,
                                                  const std::string& folder, Jobs& jobs);

  // For a child run, in the sandbox of its task: the task's proxy is already running, and its limits are shared.
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
  HelperSocket helper_socket_;
  std::string socket_, log_;
  std::map<std::string, int> reported_;  // how often each refusal has been reported
};

}  // namespace ralph::cli
