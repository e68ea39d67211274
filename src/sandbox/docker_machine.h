// A running Docker Sandbox virtual machine: created if it is missing, set up, and kept in sync with the host's files.
#pragma once

#include <map>
#include <string>

#include "base/time.h"
#include "os/environment.h"
#include "os/launch.h"
#include "sandbox/docker.h"

namespace ralph {

// The program that answers `ls`: `docker sandbox`, else `sbx`. If neither does, fails with kNotFound and the reason.
Result<DockerCli> find_docker_cli(const Environment& environment, const std::string& folder);

// A stamp of every file in a project except ralph's own records, to detect later changes. Links are not followed.
struct FileStamp {
  long long seconds = 0, nanoseconds = 0, size = 0;
  unsigned mode = 0;
  bool operator==(const FileStamp&) const = default;
};
using FileStamps = std::map<std::string, FileStamp>;
FileStamps stamps_below(const std::string& folder);

// Files that were changed, added or removed, sorted.
std::vector<std::string> changed_between(const FileStamps& then, const FileStamps& now);

class DockerMachine {
 public:
  // `environment` is used for the commands on the host.
  DockerMachine(DockerCli cli, MachinePlan plan, const Environment& environment)
      : cli_(std::move(cli)), plan_(std::move(plan)), environment_(environment) {}

  const MachinePlan& plan() const { return plan_; }
  const DockerCli& cli() const { return cli_; }

  // Creates the machine, or stops an existing one: it then starts with the host's current files, and without anything
  // that a killed run left running. A machine that may reach more than it should now is recreated; one that ralph did
  // not create for this project is refused. Sets it up, copies ralph into it, and sets and verifies its network rules.
  // Can be interrupted by a termination signal, since pulling an image may take minutes.
  Status begin();

  // Call before a program starts. Writes what the host has changed since the last program into the machine. If that is
  // a lot and `may_restart` says nothing else runs there, the machine is restarted instead.
  Status catch_up(bool may_restart);

  // Call after a program has ended and its files are on the host. `stops`: it did not end by itself, so the machine is
  // stopped to end whatever it left running.
  Status settle(bool stops);

  // For a machine that begin() has started, possibly in another process.
  Status make_folder(const std::string& path) const { return run(machine_make_folder(cli_, plan_, path), "write to"); }
  Status command(const Words& words) const { return run(machine_exec(cli_, plan_, {}, words), "use"); }

  // Stops the machine and everything that runs in it.
  void end();

  Status write(const std::string& path, std::string_view content, bool executable, bool as_root);
  Status set_environment(const std::map<std::string, std::string>& variables);
  Environment environment() const { return environment_; }

 private:
  Launch launch_of(Words words) const;
  Status run(const Words& words, std::string_view what, std::string input = {}) const;
  Status make_or_stop() const;
  Status check_rules() const;
  Status prepare_state() const;

  DockerCli cli_;
  MachinePlan plan_;
  Environment environment_;
  FileStamps seen_;  // of the project on the host, when the machine last had the same files
  bool begun_ = false;
};

}  // namespace ralph
