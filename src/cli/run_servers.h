// The language servers that a run keeps warm for its criteria. They are a job of its guardian, in the sandbox of the
// checks if there is one, because servers run the project's code. They end with the run, whichever process is killed.
//
//   RunServers servers;
//   servers.start({policy, project, environment, shelter, in_machine}, jobs);
//   parts.lsp_socket = servers.socket();
#pragma once

#include <string>

#include "engine/policy.h"
#include "engine/shelter.h"
#include "os/helper_socket.h"
#include "os/jobs.h"

namespace ralph::cli {

struct RunServersOrder {
  const Policy& policy;
  std::string project;  // absolute
  const Environment& environment;
  Shelter* shelter = nullptr;  // nullptr: they run directly
  bool in_machine = false;     // the checks run in a virtual machine, which no socket reaches: no servers are kept
};

class RunServers {
 public:
  RunServers() = default;
  ~RunServers() { helper_socket_.remove(); }
  RunServers(const RunServers&) = delete;
  RunServers& operator=(const RunServers&) = delete;

  // Does nothing if the criteria need no server. A server is started when it is first asked.
  Status start(const RunServersOrder& order, Jobs& jobs);

  const std::string& socket() const { return helper_socket_.socket; }  // empty: none are kept

 private:
  HelperSocket helper_socket_;
};

}  // namespace ralph::cli
