// The child runs of a task: asked for by its agents with `ralph job`, started by the guardian, outside of what is swept
// after an attempt. At most kMaxChildren live at once, at most kMaxChildDepth below each other.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "journal/redactor.h"
#include "os/jobs.h"
#include "os/processes_linux.h"
#include "task/job_protocol.h"
#include "task/run_info.h"

namespace ralph {

inline constexpr int kMaxChildren = 64, kMaxChildDepth = 8;

// Where child runs belong to and what starts them. All that is referred to must outlive the child runs.
struct ChildrenSetup {
  TaskPlace place;
  std::string ralph_run_id;
  std::string program;  // ralph's own
  std::string socket;
  Environment environment;  // of the supervisor
  std::string project;      // where the supervisor's agent works
  Jobs& jobs;               // watched by the supervisor's processes
  const Clock& clock;
  const Redactor& redactor;
  std::optional<SandboxRequest> sandbox{};  // in which all child runs are; nullopt: they run directly
  std::vector<std::string> machine{};       // Docker's program, if that sandbox is a machine; see ChildOrder
  int sync_ms = 0;
  std::function<void()> on_end = [] {};  // called when one has ended
};

class Children {
 public:
  static Result<std::unique_ptr<Children>> open(ChildrenSetup setup, LinuxProcesses& processes);
  ~Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  int alive() const { return static_cast<int>(children_.size()); }

  // Requests and ends of jobs; other events are none of its business.
  void heed(const Event& event);

  // An attempt that may ask.
  void add_root(const std::string& id) { depths_[id] = 0; }

  // Ends those that live, and returns their ids.
  std::vector<std::string> end_all();

 private:
  explicit Children(ChildrenSetup setup) : setup_(std::move(setup)) {}
  struct Child {
    RunInfo info;
    Fd client;  // who waits for its end
  };

  std::vector<int> ready_sockets() const;
  void serve();
  void answer(Fd client, const Packet& packet);
  Result<ChildStarted> start(const ChildRequest& request, Fd& client);
  ChildOrder order_for(const ChildRequest& request, const RunInfo& info) const;
  void ended(const JobEnded& ended);
  void tell_bus(std::string_view type, const RunInfo& info, const std::string& text);

  const ChildrenSetup setup_;
  Fd door_;  // an epoll of the socket and of those who have not asked yet
  Fd listener_;
  std::map<int, Fd> clients_;  // connected, without a request yet
  std::map<JobId, Child> children_;
  std::map<std::string, int> depths_;  // of all that may ask
};

}  // namespace ralph
