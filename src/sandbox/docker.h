// Docker Sandbox: a virtual machine as data, and the command lines that make and use it. `docker sandbox` and its
// successor `sbx` differ in names and in the words for network rules. Files of the project are carried from the machine
// to the host; what the host overwrites later never arrives in the machine, so ralph writes through `exec`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "json/value.h"
#include "sandbox/plan.h"

namespace ralph {

// The program that answers: {"/usr/bin/docker", "sandbox"} or {"/usr/bin/sbx"}.
struct DockerCli {
  std::vector<std::string> words;
  bool is_sbx() const { return words.size() == 1; }
};

struct MachinePlan {
  std::string name;               // from the project's path: the same for every run there
  std::string from;               // the template, and the name of its agent's program
  bool runs = false;              // `run` starts its agent; else `exec` does
  std::string project;            // at the same path inside
  std::string state;              // a folder of the host with the agent's login, at the same path inside; empty: none
  std::vector<std::string> kept;  // names below the home inside that are links into `state`
  std::string helper;             // ralph's own program, copied to the same path inside
  Network network = Network::kNone;
  HostList hosts;      // all that it may reach
  std::string record;  // a file of the host: what the machine was made for, and which rules it ever got
};

// `request` is that of an agent or of checks; a machine for checks has another name and no state. Fails if its agents
// can't all be in one machine.
Result<MachinePlan> plan_machine(const SandboxRequest& request, const DockerCli& cli);

using Words = std::vector<std::string>;
Words machine_list(const DockerCli& cli);
Words machine_create(const DockerCli& cli, const MachinePlan& plan);
Words machine_stop(const DockerCli& cli, const MachinePlan& plan);
Words machine_discard(const DockerCli& cli, const MachinePlan& plan);
Words machine_exec(const DockerCli& cli, const MachinePlan& plan, const Words& options, const Words& command);
// `prompt` becomes the argument of -p, as far as the kernel takes one of its length; what remains of it is for standard
// input.
Words machine_run(const DockerCli& cli, const MachinePlan& plan, const Words& arguments, std::string& prompt);

// The same by `exec`: `program` and `arguments`, with the variables of environment_script(), which are in a file
// inside. `options` as for exec.
inline constexpr std::string_view kTurnVariables = "/etc/ralph-turn.sh";
Words machine_start(const DockerCli& cli, const MachinePlan& plan, const Words& options, const Words& command,
                    std::string_view variables = kTurnVariables);

// What is done once in a new machine, in this order: links to the kept state, git's identity.
std::vector<Words> machine_setup(const DockerCli& cli, const MachinePlan& plan);

// Deny by default: only `hosts` are let through. Empty: nothing has to be said.
Words machine_policy(const DockerCli& cli, const MachinePlan& plan);

// Rules of the user's for all machines of sbx hold in ours too, so what must be refused is asked for. Empty: nothing.
std::vector<std::string> hosts_to_be_refused(const DockerCli& cli, const MachinePlan& plan);
Words machine_policy_check(const DockerCli& cli, const MachinePlan& plan, const std::string& host);
enum class Reach { kUnknown, kAllowed, kRefused };
Reach reach_in(std::string_view answer);  // of machine_policy_check

// What a record says about a machine that is there. Rules can be added and not taken back.
enum class Fit { kAsItIs, kMadeAnew, kNotOurs };
std::string record_text(const MachinePlan& plan);
Fit fit_of(const MachinePlan& plan, std::string_view record);

// Writes standard input to a file inside, whole.
Words machine_write(const DockerCli& cli, const MachinePlan& plan, const std::string& path, bool executable,
                    bool as_root);
Words machine_remove(const DockerCli& cli, const MachinePlan& plan, const std::string& path);

// A folder of the agent's own inside, with those above it.
Words machine_make_folder(const DockerCli& cli, const MachinePlan& plan, const std::string& path);

// For people: what the machine is, and the commands that make and use it.
std::string describe(const DockerCli& cli, const MachinePlan& plan);
json::object to_json(const DockerCli& cli, const MachinePlan& plan);

// Whether a list of machines has this one.
bool lists_machine(std::string_view listing, std::string_view name);

// The variables of a turn. `run` takes no environment: shells of a machine read kMachineEnvironment, whose other lines
// are kept.
inline constexpr std::string_view kMachineEnvironment = "/etc/sandbox-persistent.sh";
std::string environment_script(const std::map<std::string, std::string>& variables);
Words machine_set_environment(const DockerCli& cli, const MachinePlan& plan);  // the script is its standard input

}  // namespace ralph
