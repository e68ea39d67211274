// Finds and ends all descendants of this process. ralph is a subreaper: a process whose parent dies becomes ralph's
// child, so neither a double fork nor a new session escapes.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace ralph {

// How to stop processes, as data: each step signals all that are still alive, then waits for at most its grace period.
// Signal 0 sends nothing and only waits.
struct StopStep {
  int signal;
  Milliseconds grace;
};
using StopSequence = std::vector<StopStep>;

StopSequence stop_gently();     // SIGTERM, 5 s, SIGKILL: for an agent
StopSequence stop_leftovers();  // a short wait, SIGTERM, 2 s, SIGKILL: for processes that an agent left behind
StopSequence stop_abandoned();  // SIGTERM, 1 s, SIGKILL: for the guardian, after the loop has died

struct ProcessInfo {
  int pid = 0;
  int parent = 0;
  int session = 0;
  unsigned long long start_time =
      0;                // clock ticks since boot; unique together with the pid. 0: /proc hides the process
  char state = '?';     // Z: ended but not reaped
  std::string command;  // its command line, shortened to one line; may be empty
};

// From now on orphans below this process become its children. Not inherited by a fork. On failure, errno says why.
bool become_subreaper();

// From now on this process gets `signal` when its parent ends. Survives exec.
void end_with_parent(int signal);

// True if this process has any child, including unreaped ones. A subreaper adopts orphans, so having no child means
// having no descendant: the only proof that nothing is left.
bool has_children();

// Direct children of this process, including zombies. The kernel lists them for us even if /proc hides them.
std::vector<int> child_pids();

// The information in /proc about a process, without its command line. nullopt: it does not exist or is hidden.
std::optional<ProcessInfo> read_process(int pid);

// Descendants that ralph did not start: they were below this process before it started anything. That happens if a
// shell executes a program in its own place (`gzip` in `ralph run > >(gzip)`). They and their descendants are never
// signalled and never counted.
class Bystanders {
 public:
  // The current descendants of this process. With `sessions`, every process in one of their sessions, or in the session
  // of this process, counts as theirs too, even as an orphan: for a caller whose own children all leave its session.
  static Bystanders of_this_process(bool sessions);

  bool none() const { return processes_.empty(); }
  bool include(const ProcessInfo& process) const;

 private:
  std::vector<ProcessInfo> processes_;
  std::set<int> sessions_;
};

// A snapshot of all living descendants of `root`. It can miss a process that forks meanwhile: repeat until
// has_children() is false.
std::vector<ProcessInfo> descendants_of(int root, const Bystanders& bystanders = {});

// The same for this process, including children that /proc hides (hidepid=2), as far as their pids can be determined.
std::vector<ProcessInfo> descendants_of_this_process(const Bystanders& bystanders = {});

bool contains(const std::vector<ProcessInfo>& processes, const ProcessInfo& wanted);

// Start time of a process; 0 if it does not exist.
unsigned long long start_time_of(int pid);

// The nearest ancestor that is not a shell: the program that called this one, if it was not a person.
std::optional<ProcessInfo> caller_of_this_process();

// When this process was forked, at most a clock tick (10 ms) too early. WallTime::max(): unknown.
WallTime start_of_this_process();

// Sends the signal if the pid still belongs to the process described. Without process descriptors (Linux before 5.3,
// old seccomp profiles) it signals by pid after checking the start time, which leaves a gap of a few microseconds.
bool send_signal(const ProcessInfo& process, int signal);

// Starts a process that only waits, and ends it with send_signal(): tests what works here instead of inferring it.
enum class EndingWorks { kByDescriptor, kByPid, kNot };
EndingWorks try_to_end_a_process();

// Reaps children that have ended; returns how many.
int reap_children();

// All processes of this user whose environment contains this line ("RALPH_RUN_ID=…"), except this process and its
// parent.
std::vector<ProcessInfo> processes_with(std::string_view variable);

// Whether any process has the file open.
bool is_open_somewhere(const std::string& path);

struct SweepReport {
  std::vector<ProcessInfo> ended;      // needed a signal
  std::vector<ProcessInfo> survivors;  // outlived the sequence
  bool unseen = false;                 // something else is left that /proc does not show
};

// Runs the whole sequence on all descendants and waits for it (os/sweep.h). For the guardian, which has nothing else to
// do; the loop takes the same steps while it keeps reading output.
SweepReport end_all_descendants(const StopSequence& sequence, const Bystanders& bystanders = {});

// The same for the processes that processes_with() finds: those that a killed ralph left behind.
SweepReport end_processes_with(std::string_view variable, const StopSequence& sequence);

}  // namespace ralph
