// A virtual machine of Docker Sandbox in use: made if it is missing, set up, kept in step with the host's files.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/time.h"
#include "os/environment.h"
#include "os/launch.h"
#include "sandbox/docker.h"

namespace ralph {

// The program that answers to `ls`: `docker sandbox`, else `sbx`. kNotFound if neither does; it says why.
Result<DockerCli> find_docker_cli(const Environment& environment, const std::string& folder);

// How every file of a project looks, so that what was changed later can be told: but for ralph's own records. Links are
// not followed.
struct FileStamp {
  long long seconds = 0, nanoseconds = 0, size = 0;
  unsigned mode = 0;
  bool operator==(const FileStamp&) const = default;
};
using FileStamps = std::map<std::string, FileStamp>;
FileStamps stamps_below(const std::string& folder);

// Files that were changed, are new, or are gone, sorted.
std::vector<std::string> changed_between(const FileStamps& then, const FileStamps& now);

class DockerMachine {
 public:
  // `environment` is that of the commands on the host.
  DockerMachine(DockerCli cli, MachinePlan plan, const Environment& environment)
      : cli_(std::move(cli)), plan_(std::move(plan)), environment_(environment) {}

  const MachinePlan& plan() const { return plan_; }
  const DockerCli& cli() const { return cli_; }

  // Makes it, or stops it if it is there: so it begins with the host's files as they are now, and without anything that
  // a killed run left running. One that may reach more than it should now is made anew; one that ralph did not make for
  // this project is refused. Sets it up, copies ralph into it, sets its network rules and has them checked. A signal
  // that asks for an end ends it: an image may take minutes to arrive.
  Status begin();

  // Before a program starts: what the host has changed since the last one is written into the machine, or, if that is
  // much and nothing else is at work there, the machine is restarted.
  Status catch_up(bool may_restart);

  // After a program has ended and its files are on the host. `stops`: it did not end by itself, and what it left in the
  // machine is ended by stopping that.
  Status settle(bool stops);

  // In a machine that begin() has made, also one of another process's.
  Status make_folder(const std::string& path) const { return run(machine_make_folder(cli_, plan_, path), "write to"); }
  Status command(const Words& words) const { return run(machine_exec(cli_, plan_, {}, words), "use"); }

  // Stops it: nothing in it runs on.
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
  FileStamps seen_;  // of the project on the host, when the machine was last known to have the same
  bool begun_ = false;
};

}  // namespace ralph
