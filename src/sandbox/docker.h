// Docker Sandbox: a virtual machine as data, and the command lines that create and use it. `docker sandbox` and its
// successor `sbx` differ in command names and in the syntax of network rules. Project files are synchronized from the
// machine to the host, but files overwritten on the host later never reach the machine, so ralph writes them through
// `exec`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "json/value.h"
#include "sandbox/plan.h"

namespace ralph {

// The available program: {"/usr/bin/docker", "sandbox"} or {"/usr/bin/sbx"}.
struct DockerCli {
  std::vector<std::string> words;
  bool is_sbx() const { return words.size() == 1; }
};

struct MachinePlan {
  std::string name;               // derived from the project's path: the same for every run there
  std::string from;               // the template, which is also the name of its agent's program
  bool runs = false;              // `run` starts the agent; otherwise `exec` does
  std::string project;            // at the same path inside
  std::string state;              // a host folder with the agent's login, at the same path inside; empty: none
  std::vector<std::string> kept;  // paths below the home inside that are links into `state`
  std::string helper;             // ralph's own program, copied to the same path inside
  Network network = Network::kNone;
  HostList hosts;      // everything it may reach
  std::string record;  // a host file: what the machine was created for, and every rule it ever got
};

// `request` is for an agent or for checks; a machine for checks has a different name and no state. Fails if the agents
// can't share one machine.
Result<MachinePlan> plan_machine(const SandboxRequest& request, const DockerCli& cli);

using Words = std::vector<std::string>;
Words machine_list(const DockerCli& cli);
Words machine_create(const DockerCli& cli, const MachinePlan& plan);
Words machine_stop(const DockerCli& cli, const MachinePlan& plan);
Words machine_discard(const DockerCli& cli, const MachinePlan& plan);
Words machine_exec(const DockerCli& cli, const MachinePlan& plan, const Words& options, const Words& command);
// `prompt` becomes the argument of -p unless it is too long for the kernel. Whatever is left in it goes to standard
// input.
Words machine_run(const DockerCli& cli, const MachinePlan& plan, const Words& arguments, std::string& prompt);

// The same through `exec`: the command runs with the variables of environment_script(), which are in a file inside.
// `options` as for exec.
inline constexpr std::string_view kTurnVariables = "/etc/ralph-turn.sh";
Words machine_start(const DockerCli& cli, const MachinePlan& plan, const Words& options, const Words& command,
                    std::string_view variables = kTurnVariables);

// One-time setup of a new machine, in this order: links to the kept state, git's identity.
std::vector<Words> machine_setup(const DockerCli& cli, const MachinePlan& plan);

// Deny by default: only `hosts` are allowed.
Words machine_policy(const DockerCli& cli, const MachinePlan& plan);

// The user's global sbx rules also apply to our machines, so ralph asks sbx about hosts that must be refused. Empty:
// nothing to check.
std::vector<std::string> hosts_to_be_refused(const DockerCli& cli, const MachinePlan& plan);
Words machine_policy_check(const DockerCli& cli, const MachinePlan& plan, const std::string& host);
enum class Reach { kUnknown, kAllowed, kRefused };
Reach reach_in(std::string_view answer);  // of machine_policy_check

// What the record says about an existing machine. Rules can be added but not removed.
enum class Fit { kAsItIs, kRecreate, kNotOurs };
std::string record_text(const MachinePlan& plan);
Fit fit_of(const MachinePlan& plan, std::string_view record);

// Writes all of standard input to a file inside.
Words machine_write(const DockerCli& cli, const MachinePlan& plan, const std::string& path, bool executable,
                    bool as_root);
Words machine_remove(const DockerCli& cli, const MachinePlan& plan, const std::string& path);

// Creates a folder inside that the agent owns, with its parents.
Words machine_make_folder(const DockerCli& cli, const MachinePlan& plan, const std::string& path);

// For people: a description of the machine, and the commands that create and use it.
std::string describe(const DockerCli& cli, const MachinePlan& plan);
json::object to_json(const DockerCli& cli, const MachinePlan& plan);

// Whether a listing of machines contains this one.
bool lists_machine(std::string_view listing, std::string_view name);

// The variables of a turn. `run` takes no environment, so they go into kMachineEnvironment, which the machine's shells
// read. Its other lines are kept.
inline constexpr std::string_view kMachineEnvironment = "/etc/sandbox-persistent.sh";
std::string environment_script(const std::map<std::string, std::string>& variables);
Words machine_set_environment(const DockerCli& cli, const MachinePlan& plan);  // reads the script from standard input

}  // namespace ralph
