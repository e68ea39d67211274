// Owns the language servers of one project: starts them, queries them, ends them. `serve` answers on a socket until it
// is stopped or idle; `ask` answers a single request without warm servers. One process without threads, one poll().
//
// Requests and replies are one line of JSON each: docs/formats/lsp.md.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/time.h"
#include "checks/lsp/server.h"
#include "os/clock.h"
#include "os/processes.h"

namespace ralph::lsp {

inline constexpr int kProtocolVersion = 1;

struct HubSetup {
  std::string project;  // absolute
  Environment environment;
  std::vector<ServerChoice> servers;
  int guardian = -1;  // from run_guarded(): if it closes, everything is ended
  Milliseconds idle{30 * 60 * 1000};
  std::string socket{};  // removed at the end
  // Owned by a run: a server is started when it is first asked, and neither idleness nor a request ends the hub.
  bool owned = false;
};

class Hub {
 public:
  // Takes over the termination signals and SIGCHLD.
  explicit Hub(HubSetup setup);
  ~Hub();
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  // Starts all servers and answers requests until it is stopped or idle; see HubSetup::owned.
  void serve(Fd listener);

  // Answers one request in this process. Fails with kInterrupted if a signal arrived.
  Result<json::object> ask(const json::object& request);

 private:
  struct Check {
    Server* server;
    std::deque<std::string> files;  // not asked about yet; absolute
    std::map<QuestionId, std::string> in_flight{};
    std::vector<diagnostics::Finding> findings{};
    int starts = 0;       // of the server when it was asked: a restarted server forgets its questions
    bool looked = false;  // the disk was scanned
  };
  struct Client {
    Fd fd;
    MonotonicTime came{};
    std::string in{}, out{};
    bool local = false;  // from ask(): it has no descriptor
    bool asked = false, answered = false;
    std::optional<Check> check{};
    bool waits_for_start = false, waits_for_end = false;
  };

  void wait(std::optional<MonotonicTime> until);
  void take_signals();
  void reap();
  void accept_clients();
  void read(Client& client);
  void write(Client& client);
  void handle_request(Client& client, std::string_view line);
  void reply(Client& client, json::object answer) const;
  void begin_check(Client& client, const json::value& request);
  void go_on(Client& client);
  void go_on_with_check(Client& client);
  bool take_answers(Client& client);
  bool ask_more(Client& client);
  void settle();
  void forget(Client& client);
  json::object status() const;
  void end_servers();
  Server* server_named(std::string_view name);

  HubSetup setup_;
  const SystemClock clock_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::deque<Client> clients_;
  Fd listener_, signals_;
  sigset_t old_mask_{};
  bool stopped_ = false;
  MonotonicTime used_{};
};

}  // namespace ralph::lsp
