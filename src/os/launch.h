// The description of every child process that ralph starts: agents, guardrails, SCM commands. A launch is data, so a
// sandbox or a resource limit is a function from one Launch to another, never a second way to spawn.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "os/environment.h"
#include "os/files.h"

namespace ralph {

struct Launch {
  std::vector<std::string> argv;  // argv[0] is resolved by resolve_program()
  Environment environment;        // complete: nothing else is inherited
  std::string folder;             // the working directory
  std::string input;              // standard input; empty: end of file at once
  bool may_clean_up = false;      // if ralph is killed it gets SIGTERM, not SIGKILL: git removes its locks then
  bool merge_streams = false;     // standard error goes to standard output, in the order written

  // For a sandbox: the folder that takes the project's place, if it works elsewhere than in the run's project, and what
  // it reads outside of it.
  std::string project{};
  std::vector<std::string> reads{};

  // For a program that starts another one in a sandbox.
  std::vector<std::string> files{};   // anonymous files with this content: descriptors 3, 4, ... of the child
  std::vector<std::string> groups{};  // cgroup.procs files: the child enters these groups before it begins
  bool deaf = false;                  // begins with the signals that ask for an end blocked: what it starts gets them
  std::vector<std::string> writes{};  // files that it is to write, outside of the folders that are its own
};

// A started process. It leads its own session: it has no terminal, and a signal to its group spares ralph.
struct Spawned {
  int pid = 0;
  Fd out;
  Fd err;  // invalid if the streams are merged
};

// Fails with kNotFound (no such program, not executable), kBusy (it may work in a moment) or kIo. The child gets
// default signal handlers (a SIGHUP that nohup ignores stays ignored) and only descriptors 0, 1 and 2; the kernel kills
// it if its parent dies.
Result<Spawned> spawn(const Launch& launch);

// What the standard streams of a child are connected to. The descriptors stay the caller's.
struct Streams {
  int in, out, err;
};

// As spawn(), on streams that are there already; `input` and `merge_streams` are not looked at. Returns the pid.
Result<int> spawn_on(const Launch& launch, const Streams& streams);

// An anonymous file at its beginning: nobody has to feed a pipe, so a child that never reads can't block ralph.
Result<Fd> file_of(std::string_view bytes);

// Standard input that gives `bytes`, or the end of file at once.
Result<Fd> input_of(std::string_view bytes);

// For exec: pointers to the strings, and a final nullptr. Valid as long as they are.
std::vector<char*> pointers_to(const std::vector<std::string>& strings);

// The largest single argument that the kernel accepts, less its terminator.
inline constexpr size_t kMaxArgumentBytes = 131072 - 1;

}  // namespace ralph
