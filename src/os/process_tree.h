// Finding and ending every process below this one. ralph is a subreaper: a process whose parent dies becomes ralph's
// child, so a double fork or a session of its own hides nothing.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"

namespace ralph {

// Stopping is data: each step sends its signal to everything that still lives, then waits at most its grace.
// Signal 0 sends nothing and only waits.
struct StopStep {
  int signal;
  Milliseconds grace;
};
using StopSequence = std::vector<StopStep>;

StopSequence stop_gently();     // SIGTERM, 5 s, SIGKILL: ends an agent that is to stop
StopSequence stop_leftovers();  // a moment to end by itself, SIGTERM, 2 s, SIGKILL: after an agent has ended
StopSequence stop_abandoned();  // SIGTERM, 1 s, SIGKILL: the guardian's, when the loop itself has died

struct ProcessInfo {
  int pid = 0;
  int parent = 0;
  unsigned long long start_time = 0;  // clock ticks since boot: with the pid it names a process for good
  char state = '?';                   // Z for one that has ended but was not collected
  std::string command;                // its command line, on one line and short; may be empty
};

// From now on orphans below this process become its children.
void become_subreaper();

// From now on this process gets `signal` when its parent ends. It stays so over exec.
void end_with_parent(int signal);

// True if this process has any child, ended ones that were not collected included. Since orphans come to a subreaper,
// no child means no descendant: this is the one proof that nothing is left.
bool has_children();

// All living descendants of `root`, found in one look. A process that forks meanwhile can be missed: look again until
// has_children() says no.
std::vector<ProcessInfo> descendants_of(int root);

// Start time of a process, 0 if there is none.
unsigned long long start_time_of(int pid);

// Sends the signal if the process is still the one described.
bool send_signal(const ProcessInfo& process, int signal);

// Collects children that have ended; returns how many.
int reap_children();

// The whole sequence over all descendants, waiting for it. Returns what could not be ended. For the guardian, which
// has nothing else to do; the loop does the same step by step while it goes on reading output.
struct SweepReport {
  std::vector<ProcessInfo> ended;      // those that had to be sent a signal
  std::vector<ProcessInfo> survivors;  // those that outlived the sequence
};
SweepReport end_all_descendants(const StopSequence& sequence);

}  // namespace ralph
