// Attempts to escape from a sandbox, or to leave something behind that the host obeys. Each is bounded in processes,
// memory and time, targets only what `ralph sandbox check` has set up for it, and undoes its effects.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ralph {

// The targets that are set up for the attacks on the host.
struct AttackPlace {
  std::string base;      // a scratch folder that contains everything else
  std::string project;   // writable inside; a repository
  std::string worktree;  // a work tree of that repository
  std::string home;      // hidden inside
  std::string canary;    // a text that every secret contains
  std::string socket;    // a listening socket
  std::string abstract;  // the name of an abstract one
  int tcp_port = 0, udp_port = 0;
  int victim = 0;                             // a process with victim_secret() in its environment
  long long processes = 0, memory_bytes = 0;  // the limits

  template <class V>
  void fields(V&& v) {
    v("base", base), v("project", project), v("worktree", worktree), v("home", home), v("canary", canary);
    v("socket", socket), v("abstract", abstract), v("tcp", tcp_port), v("udp", udp_port), v("victim", victim);
    v("processes", processes), v("memory", memory_bytes);
  }
};

std::string to_text(const AttackPlace& place);
Result<AttackPlace> attack_place_from(std::string_view text);

struct Attempt {
  bool through = false;
  std::string how;  // what stopped it, or what it achieved
};

enum class AttackIn { kProject, kWorktree };

struct Attack {
  std::string_view name;
  std::string_view what;  // one line
  Attempt (*attempt)(const AttackPlace& place);
  // Runs on the host afterwards: whether the attack did harm. This counts even if the attempt itself reported no
  // success.
  bool (*harmed)(const AttackPlace& place) = nullptr;
  // Runs git on the host, as a user would, before `harmed` is called.
  bool runs_git = false;
  AttackIn in = AttackIn::kProject;
  bool sends_packet = false;  // a packet that arrives is the harm
};

std::span<const Attack> file_attacks();
std::span<const Attack> git_attacks();
std::span<const Attack> process_attacks();
std::span<const Attack> kernel_attacks();
std::span<const Attack> network_attacks();

// If this file exists, the host ran something that an attack left behind.
std::string harm_file(const AttackPlace& place);

std::string victim_secret(const AttackPlace& place);

// The outcome of a system call. A negative result means it was refused, and errno says why.
Attempt attempt_of(long result, std::string_view done);

}  // namespace ralph
