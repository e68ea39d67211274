// Attempts to get out of a sandbox, or to leave something behind that the host obeys. Each is bounded in processes,
// memory and time, aims only at what `ralph sandbox check` has put up for it, and undoes what it achieves.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ralph {

// What is put up for the attacks, on the host.
struct AttackPlace {
  std::string base;      // a scratch folder with all the rest
  std::string project;   // writable inside; a repository
  std::string worktree;  // a work tree of that repository
  std::string home;      // hidden inside
  std::string canary;    // a text that is in every secret
  std::string socket;    // a listener
  std::string abstract;  // another one's name
  int tcp_port = 0, udp_port = 0;
  int victim = 0;                             // a process with victim_secret() in its environment
  long long processes = 0, memory_bytes = 0;  // the limits
};

std::string to_text(const AttackPlace& place);
Result<AttackPlace> attack_place_from(std::string_view text);

struct Attempt {
  bool through = false;
  std::string how;  // what stopped it, or what it did
};

enum class AttackIn { kProject, kWorktree };

struct Attack {
  std::string_view name;
  std::string_view what;  // one line
  Attempt (*attempt)(const AttackPlace& place);
  // On the host, afterwards: whether it did harm. It counts even if the attempt itself saw no success.
  bool (*harmed)(const AttackPlace& place) = nullptr;
  // What is done on the host before `harmed` looks: git, as a person would run it.
  bool runs_git = false;
  AttackIn in = AttackIn::kProject;
  bool sends_packet = false;  // harm is a packet that arrives
};

std::span<const Attack> file_attacks();
std::span<const Attack> git_attacks();
std::span<const Attack> process_attacks();
std::span<const Attack> kernel_attacks();
std::span<const Attack> network_attacks();

// The file whose existence means that the host ran what an attack left.
std::string harm_file(const AttackPlace& place);

std::string victim_secret(const AttackPlace& place);

// For attacks: what a call returned. Negative: it was refused, and errno says why.
Attempt attempt_of(long result, std::string_view done);

}  // namespace ralph
