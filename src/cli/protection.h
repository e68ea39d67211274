// What protects the host from the programs of a run: a sandbox or nothing, chosen before anything is started.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/sandbox_setup.h"
#include "engine/shelter.h"
#include "os/jobs.h"
#include "sandbox/enclosure.h"

namespace ralph::cli {

inline constexpr std::array kSandboxOptions = {
    on_resume({"sandbox", 0, "", "Run the agent and the checks in a sandbox; an error if there is none."}),
    on_resume({"no-sandbox", 0, "", "Run the agent and the checks directly."}),
};

// Sets /sandbox/mode to what was given.
Status set_sandbox(const Arguments& arguments, Overrides& overrides);

struct Protection {
  bool on = false;
  std::string why_not;  // if it is not on, although it was looked for
  SandboxRequest agent, check;
  bool checks_on_host = false;
  std::map<std::string, std::string> resolve;  // of the proxy
};

// `by_default`: looked for if the settings don't say anything. Fails, before anything is started, if a sandbox is
// demanded and there is none.
Result<Protection> choose_protection(const SandboxSubject& subject, bool by_default);

// For people, before a run: one line, or nothing if a sandbox is on and will say so itself.
std::string opening_line(const Protection& protection);

// Puts a protection in force for one run. The proxy is a job of the guardian.
class RunShelter : public Shelter {
 public:
  // `folder`: of the run, for the log of the proxy.
  static Result<std::unique_ptr<RunShelter>> make(const Protection& protection, const Environment& environment,
                                                  const std::string& folder, Jobs& jobs);
  ~RunShelter() override;

  Result<Launch> enclose(StepKind kind, Launch launch) override;
  Result<record::SandboxNoted> settle() override;
  std::string describe() const override;

 private:
  explicit RunShelter(const Protection& protection) : protection_(protection) {}
  Status start_proxy(Jobs& jobs, const Environment& environment);

  const Protection& protection_;
  Enclosure enclosure_;
  SandboxPlan plan_;  // of the last step
  std::string socket_folder_, socket_, log_;
  std::map<std::string, int> told_;  // refusals, by what they say
};

}  // namespace ralph::cli
