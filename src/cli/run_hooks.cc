#include "cli/run_hooks.h"

#include <array>

#include "base/text.h"
#include "hooks/host.h"
#include "hooks/own_file.h"
#include "os/files.h"

namespace ralph::cli {
namespace {

// A run needs no other hooks: it does its own looping.
constexpr std::array<std::string_view, 3> kDuties = {"stop", "pre-tool", "post-tool"};

std::string names_of_kinds(const std::vector<Agent>& agents) {
  std::vector<std::string> names;
  for (const Agent& agent : agents) {
    if (!is_one_of(agent.name(), names)) names.push_back(agent.name());
  }
  return join_for_people(names);
}

}  // namespace

bool give_hooks(Agent& agent) {
  const Host* const host = find_host(agent.adapter().name);
  const auto program = path_of_this_program();
  if (!host || !program) return false;
  std::vector<AgentHook> hooks;
  for (const HookWire& wire : host->wires) {
    if (!is_one_of(wire.hook, kDuties)) continue;
    hooks.push_back({std::string(wire.event), std::string(wire.matcher), command_of(*host, wire, *program),
                     timeout_of(*host, wire)});
  }
  return agent.use_hooks(std::move(hooks), own_file_text(*host, *program));
}

std::string describe_hooks(const std::vector<Agent>& with, const std::vector<Agent>& without) {
  std::string text;
  std::vector<Agent> by_flags, by_file, without_stop;
  for (const Agent& agent : with)
    (!agent.adapter().hooks.can_block_stop ? without_stop
     : agent.adapter().hooks.flags         ? by_flags
                                           : by_file)
        .push_back(agent);
  if (!by_flags.empty())
    text +=
        fmt::format("For this run {} gets ralph's hooks through flags: stop check, context monitor, command policy.\n",
                    names_of_kinds(by_flags));
  if (!by_file.empty())
    text += fmt::format(
        "For this run {} gets ralph's hooks through its environment: stop check, context monitor, command policy.\n",
        names_of_kinds(by_file));
  if (!without_stop.empty())
    text += fmt::format(
        "For this run {} gets ralph's hooks through its environment: context monitor, command policy. It can't be "
        "kept from stopping; problems that it leaves are found after its turn.\n",
        names_of_kinds(without_stop));
  for (const Agent& agent : without) {
    const Host* const host = find_host(agent.adapter().name);
    const std::string line =
        !host ? fmt::format("{} has no hooks: no command policy checks its commands.\n", agent.name())
        : agent.adapter().hooks.any()
            ? fmt::format("{} does not get ralph's hooks: {}.{}\n", agent.name(), agent.why_no_hooks(),
                          agent.adapter().hooks.flags
                              ? ""
                              : fmt::format(" 'ralph hooks install --host {}' sets up the command policy.", host->name))
            : fmt::format(
                  "{} takes no hooks through flags; 'ralph hooks install --host {}' sets up the command policy.\n",
                  agent.name(), host->name);
    if (text.find(line) == std::string::npos) text += line;
  }
  return text;
}

}  // namespace ralph::cli
