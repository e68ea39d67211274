// What `ralph job` and the supervisor of a task say to each other over the task's socket. Specified in
// docs/formats/task.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/environment.h"
#include "os/files.h"
#include "os/packets.h"
#include "task/place.h"

namespace ralph {

// A child run that is asked for.
struct ChildRequest {
  std::string parent;              // the attempt or child run that asks
  std::vector<std::string> words;  // of the command; empty: an agent of the settings
  std::string agent;               // its name; empty: that of the settings
  std::string prompt, folder;
  std::vector<std::string> environment;  // "NAME=value"
};

// The first answer: it runs, or why not.
struct ChildStarted {
  std::string id, folder, error;
};
// The second one.
struct ChildEnded {
  int exit_code = 0;
};

// A request is larger than a packet: it goes in an anonymous file.
Status send_request(int socket, const ChildRequest& request);
Result<ChildRequest> receive_request(const Packet& packet);
std::string encode(const ChildStarted& started);
std::string encode(const ChildEnded& ended);
Result<ChildStarted> decode_started(std::string_view bytes);
Result<ChildEnded> decode_ended(std::string_view bytes);

// Where the supervisor listens: in the task's folder, or in the runtime folder if that path is too long for a socket.
Result<std::string> job_socket_path(const TaskPlace& place, const Environment& environment);

Result<Fd> listen_for_jobs(const std::string& path);
Result<Fd> connect_to_jobs(const std::string& path);

}  // namespace ralph
