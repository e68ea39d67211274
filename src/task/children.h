// The child runs of a task. Its agents request them with `ralph job`; the guardian starts them outside the process tree
// that is swept after an attempt. At most kMaxChildren run at once, nested at most kMaxChildDepth deep.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "journal/redactor.h"
#include "os/jobs.h"
#include "os/processes_linux.h"
#include "task/job_protocol.h"
#include "task/run_info.h"

namespace ralph {

inline constexpr int kMaxChildren = 64, kMaxChildDepth = 8;

// The task of the child runs, and what is needed to start them. All references must outlive them.
struct ChildrenSetup {
  TaskPlace place;
  std::string ralph_run_id;
  std::string program;  // ralph's own executable
  std::string socket;
  Environment environment;  // the supervisor's
  std::string project;      // the folder where the supervisor's agent works
  Jobs& jobs;               // watched by the supervisor
  const Clock& clock;
  const Redactor& redactor;
  std::optional<SandboxRequest> sandbox{};  // for all child runs; nullopt: none
  std::vector<std::string> machine{};       // Docker's command, if that sandbox is a machine; see ChildOrder
  int sync_ms = 0;
  std::function<void()> on_end = [] {};  // called when a child run has ended
};

class Children {
 public:
  static Result<std::unique_ptr<Children>> open(ChildrenSetup setup, LinuxProcesses& processes);
  ~Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  int alive() const { return static_cast<int>(children_.size()); }

  // Handles requests and ends of jobs; ignores other events.
  void handle_event(const Event& event);

  // Adds an attempt that may request child runs.
  void add_root(const std::string& id) { depths_[id] = 0; }

  // Ends all running child runs, and returns their ids.
  std::vector<std::string> end_all();

 private:
  explicit Children(ChildrenSetup setup) : setup_(std::move(setup)) {}
  struct Child {
    RunInfo info;
    Fd client;  // waits for its end
  };

  std::vector<int> ready_sockets() const;
  void serve();
  void answer(Fd client, const Packet& packet);
  Result<ChildStarted> start(const ChildRequest& request, Fd& client);
  ChildOrder order_for(const ChildRequest& request, const RunInfo& info) const;
  void ended(const JobEnded& ended);
  void tell_bus(std::string_view type, const RunInfo& info, const std::string& text);

  const ChildrenSetup setup_;
  Fd arrivals_;  // an epoll of the socket and of clients without a request yet
  Fd listener_;
  std::map<int, Fd> clients_;  // connected, without a request yet
  std::map<JobId, Child> children_;
  std::map<std::string, int> depths_;  // of all runs that may request child runs
};

}  // namespace ralph
