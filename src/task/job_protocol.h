// The protocol between `ralph job` and the supervisor of a task, over the task's socket. Specified in
// docs/formats/task.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/environment.h"
#include "os/files.h"
#include "os/packets.h"
#include "sandbox/plan.h"
#include "task/place.h"

namespace ralph {

// A request for a child run.
struct ChildRequest {
  std::string parent;              // the attempt or child run that requests it
  std::vector<std::string> words;  // the command; empty: an agent from the settings
  std::string agent;               // the agent's name; empty: the settings' default
  std::string prompt, folder;
  std::vector<std::string> environment;  // "NAME=value"
  template <class V>
  void fields(V&& v) {
    v("parent", parent), v("words", words), v("agent", agent), v("prompt", prompt), v("folder", folder);
    v("environment", environment);
  }
};

// The supervisor's order to the process of a child run, on its standard input. That process has the supervisor's own
// environment: an agent's request must not choose the settings, or the programs that set up a sandbox.
struct ChildOrder {
  std::string prompt;
  std::vector<std::string> environment;   // for the program, "NAME=value"
  std::string project;                    // whose settings apply; empty: those of the folder
  std::optional<SandboxRequest> sandbox;  // that it must run in
  std::vector<std::string> machine{};     // Docker's command, if the sandbox is a machine; empty: bubblewrap
  int sync_ms = 0;                        // how long files take to arrive from the machine
  template <class V>
  void fields(V&& v) {  // without the sandbox, which is encoded separately
    v("prompt", prompt), v("environment", environment), v("project", project);
    v("machine", machine), v("syncMs", sync_ms);
  }
};
std::string encode(const ChildOrder& order);
Result<ChildOrder> decode_child_order(std::string_view text);

// The first answer: the run has started, or why not.
struct ChildStarted {
  std::string id, folder, error;
  template <class V>
  void fields(V&& v) {
    v("id", id), v("folder", folder), v("error", error);
  }
};
// The second answer.
struct ChildEnded {
  std::optional<int> exit_code{};  // nullopt: the answer is invalid
  std::string error{};             // why its program could not be started; empty if it was
  template <class V>
  void fields(V&& v) {
    v("exitCode", exit_code), v("error", error);
  }
};

std::string encode(const ChildRequest& request);
Result<ChildRequest> decode_child_request(std::string_view text);

// A request may be larger than a packet, so it is passed in an anonymous file.
Status send_request(int socket, const ChildRequest& request);
Result<ChildRequest> receive_request(const Packet& packet);
std::string encode(const ChildStarted& started);
std::string encode(const ChildEnded& ended);
Result<ChildStarted> decode_started(std::string_view bytes);
Result<ChildEnded> decode_ended(std::string_view bytes);

// Where the supervisor listens: in the task's folder, or in the runtime folder if that path is too long for a socket.
Result<std::string> job_socket_path(const TaskPlace& place, const Environment& environment);

}  // namespace ralph
