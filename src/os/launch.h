// The description of every child process that ralph starts: agents, guardrails, SCM commands. A launch is data, so a
// sandbox or a resource limit is a function from one Launch to another, never a second way to spawn.
#pragma once

#include <string>
#include <vector>

#include "os/environment.h"
#include "os/files.h"

namespace ralph {

struct Launch {
  std::vector<std::string> argv;  // argv[0] is resolved by resolve_program()
  Environment environment;        // complete: nothing else is inherited
  std::string folder;             // the working directory
  std::string input;              // standard input; empty: end of file at once
  bool merge_streams = false;     // standard error goes to standard output, in the order written
};

// A started process. It leads its own session: it has no terminal, and a signal to its group spares ralph.
struct Spawned {
  int pid = 0;
  Fd out;
  Fd err;  // invalid if the streams are merged
};

// Fails with kNotFound (no such program, not executable) or kIo. The child gets default signal handlers and only
// descriptors 0, 1 and 2; the kernel kills it if its parent dies.
Result<Spawned> spawn(const Launch& launch);

// For exec: pointers to the strings, and a final nullptr. Valid as long as they are.
std::vector<char*> pointers_to(const std::vector<std::string>& strings);

// The largest single argument that the kernel accepts, less its terminator.
inline constexpr size_t kMaxArgumentBytes = 131072 - 1;

}  // namespace ralph
