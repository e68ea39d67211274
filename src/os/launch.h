// One description for every child process that ralph starts: agents, guardrails, SCM commands. Starting is data, so a
// sandbox or a resource limit is a function from one Launch to another, never a second way to spawn.
#pragma once

#include <string>
#include <vector>

#include "os/environment.h"
#include "os/files.h"

namespace ralph {

struct Launch {
  std::vector<std::string> argv;  // argv[0] is looked up as resolve_program() does
  Environment environment;        // all of it; nothing else is inherited
  std::string folder;             // where it starts
  std::string input;              // what it reads on standard input; empty: nothing, at once
  bool merge_streams = false;     // standard error joins standard output, in the order written
};

// A started process. It leads a session of its own: no terminal, and a signal to its group spares ralph.
struct Spawned {
  int pid = 0;
  Fd out;
  Fd err;  // none if the streams are merged
};

// Fails with kNotFound (no such program, not executable) or kIo. The child gets default signals, descriptors 0, 1 and
// 2 only, and is killed by the kernel if the process that started it dies.
Result<Spawned> spawn(const Launch& launch);

// The largest single argument that the kernel takes, with room for its terminator.
inline constexpr size_t kMaxArgumentBytes = 131072 - 1;

}  // namespace ralph
