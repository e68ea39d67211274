// The child runs of a task: asked for by its agents with `ralph job`, started by the guardian, outside of what is swept
// after an attempt. At most kMaxChildren live at once, at most kMaxChildDepth below each other.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "journal/redactor.h"
#include "os/jobs.h"
#include "os/processes_linux.h"
#include "task/job_protocol.h"
#include "task/run_info.h"

namespace ralph {

inline constexpr int kMaxChildren = 64, kMaxChildDepth = 8;

class Children {
 public:
  // `guardian` as for Jobs. All must outlive this. `program` is ralph's own.
  static Result<std::unique_ptr<Children>> open(TaskPlace place, std::string ralph_run_id, std::string program,
                                                std::string socket, LinuxProcesses& processes, int guardian,
                                                const Clock& clock, const Redactor& redactor);
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
  Children(TaskPlace place, std::string ralph_run_id, std::string program, std::string socket, int guardian,
           const Clock& clock, const Redactor& redactor);
  struct Child {
    RunInfo info;
    Fd client;  // who waits for its end
  };

  void serve();
  void answer(Fd client, const Packet& packet);
  Result<ChildStarted> start(const ChildRequest& request, Fd& client);
  void ended(const JobEnded& ended);
  void tell_bus(std::string_view type, const RunInfo& info, const std::string& text);

  TaskPlace place_;
  std::string ralph_run_id_, program_, socket_path_;
  const Clock& clock_;
  const Redactor& redactor_;
  Jobs jobs_;
  Fd door_;  // an epoll of the socket and of those who have not asked yet
  Fd listener_;
  std::map<int, Fd> clients_;  // connected, without a request yet
  std::map<JobId, Child> children_;
  std::map<std::string, int> depths_;  // of all that may ask
};

}  // namespace ralph
