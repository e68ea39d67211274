#include <cerrno>

#include "json/value.h"
#include "os/files.h"
#include "sandbox/attacks.h"

namespace ralph {

std::string to_text(const AttackPlace& place) {
  return to_compact_json(json::object{{"base", to_json_string(place.base)},
                                      {"project", to_json_string(place.project)},
                                      {"worktree", to_json_string(place.worktree)},
                                      {"home", to_json_string(place.home)},
                                      {"canary", to_json_string(place.canary)},
                                      {"socket", to_json_string(place.socket)},
                                      {"abstract", to_json_string(place.abstract)},
                                      {"tcp", place.tcp_port},
                                      {"udp", place.udp_port},
                                      {"victim", place.victim},
                                      {"processes", place.processes},
                                      {"memory", place.memory_bytes}});
}

Result<AttackPlace> attack_place_from(std::string_view text) {
  TRY_VALUE(const json::value value, parse_json(text, "the place of an attack"));
  const auto string = [&](std::string_view key) { return std::string(find_string(value, key).value_or("")); };
  const auto number = [&](std::string_view key) { return find_integer(value, key).value_or(0); };
  AttackPlace place;
  place.base = string("base");
  place.project = string("project");
  place.worktree = string("worktree");
  place.home = string("home");
  place.canary = string("canary");
  place.socket = string("socket");
  place.abstract = string("abstract");
  place.tcp_port = static_cast<int>(number("tcp"));
  place.udp_port = static_cast<int>(number("udp"));
  place.victim = static_cast<int>(number("victim"));
  place.processes = number("processes");
  place.memory_bytes = number("memory");
  if (place.base.empty() || place.canary.empty())
    return fail(ErrorKind::kUsage, "the place of an attack is not complete");
  return place;
}

std::string harm_file(const AttackPlace& place) {
  return join_path(place.base, "harm");
}

std::string victim_secret(const AttackPlace& place) {
  return "victim-" + place.canary;
}

Attempt attempt_of(long result, std::string_view done) {
  if (result >= 0) return {true, std::string(done)};
  return {false, errno_text(errno)};
}

}  // namespace ralph
