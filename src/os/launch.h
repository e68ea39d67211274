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
  bool may_clean_up = false;      // if ralph is killed it gets SIGTERM, not SIGKILL, so that git can remove its locks
  bool merge_streams = false;     // standard error goes to standard output, in the order written

  // For a sandbox: the folder that takes the project's place, if the child works somewhere other than the run's
  // project, and the paths outside of it that the child reads.
  std::string project{};
  std::vector<std::string> reads{};

  // For a program that starts another one in a sandbox.
  std::vector<std::string> files{};   // anonymous files with this content: descriptors 3, 4, ... of the child
  std::vector<std::string> groups{};  // cgroup.procs files: the child enters these groups before it starts
  bool blocks_signals = false;        // starts with termination signals blocked: its own child handles them
  std::vector<std::string> writes{};  // files that it may write outside its own folders
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

// The descriptors for a child's standard streams. The caller keeps ownership.
struct Streams {
  int in, out, err;
};

// Like spawn(), on existing streams; `input` and `merge_streams` are ignored. Returns the pid.
Result<int> spawn_on(const Launch& launch, const Streams& streams);

// An anonymous file with these bytes, positioned at its start. Unlike a pipe nobody has to feed it, so a child that
// never reads can't block ralph.
Result<Fd> file_of(std::string_view bytes);

// Standard input that yields `bytes`, or end of file at once if there are none.
Result<Fd> input_of(std::string_view bytes);

// For exec: pointers to the strings, and a final nullptr. Valid as long as the strings are.
std::vector<char*> pointers_to(const std::vector<std::string>& strings);

// The largest single argument that the kernel accepts, less its terminator.
inline constexpr size_t kMaxArgumentBytes = 131072 - 1;

}  // namespace ralph
