#include "sandbox/plan_text.h"

#include "base/text.h"

namespace ralph {

json::object to_json(const SandboxPlan& plan) {
  json::array mounts;
  for (const Mount& mount : plan.mounts) {
    json::object one{{"kind", to_string(mount.kind)}, {"path", to_json_string(mount.at)}};
    if (!mount.from.empty() && mount.from != mount.at) one["from"] = to_json_string(mount.from);
    if (!mount.why.empty()) one["why"] = to_json_string(mount.why);
    mounts.push_back(std::move(one));
  }
  json::object set;
  for (const auto& [name, value] : plan.set) set[name] = to_json_string(value);
  return {{"mode", "bubblewrap"},
          {"folder", to_json_string(plan.folder)},
          {"uid", plan.uid},
          {"gid", plan.gid},
          {"network", to_string(plan.network)},
          {"hosts", to_json_array(plan.hosts)},
          {"limits", json::object{{"processes", plan.limits.processes},
                                  {"memoryBytes", plan.limits.memory_bytes},
                                  {"cpuPercent", plan.limits.cpu_percent}}},
          {"environment", json::object{{"pass", to_json_array(plan.variables)}, {"set", std::move(set)}}},
          {"mounts", std::move(mounts)},
          {"copied", to_json_array(plan.copied)},
          {"mustNotAppear", to_json_array(plan.forbidden)}};
}

std::string describe(const SandboxPlan& plan) {
  std::string out =
      fmt::format("Folder       {}\nIdentity     uid {}, gid {}, no capabilities\n", plan.folder, plan.uid, plan.gid);
  out += fmt::format("Network      {}{}\n", to_string(plan.network),
                     plan.hosts.empty() ? "" : fmt::format(": {}", join(plan.hosts, ", ")));
  const SandboxLimits& limits = plan.limits;
  out += fmt::format(
      "Limits       {} processes, {} of memory, {} of a processor\n",
      limits.processes > 0 ? std::to_string(limits.processes) : "any number of",
      limits.memory_bytes > 0 ? human_bytes(static_cast<unsigned long long>(limits.memory_bytes)) : "any amount",
      limits.cpu_percent > 0 ? fmt::format("{} %", limits.cpu_percent) : "all");
  out += fmt::format("Environment  {}\n", join(plan.variables, " "));
  for (const auto& [name, value] : plan.set) out += fmt::format("             {}={}\n", name, value);
  out += "Files\n";
  for (const Mount& mount : plan.mounts) {
    const bool elsewhere = !mount.from.empty() && mount.from != mount.at && mount.kind != MountKind::kText;
    out += fmt::format("  {:<9}  {}{}{}\n", to_string(mount.kind), mount.at,
                       elsewhere ? fmt::format(" = {}", mount.from) : "",
                       mount.why.empty() ? "" : fmt::format("   ({})", mount.why));
  }
  if (!plan.copied.empty()) out += fmt::format("Copied into the private home\n  {}\n", join(plan.copied, "\n  "));
  if (!plan.forbidden.empty()) out += fmt::format("Must not appear\n  {}\n", join(plan.forbidden, "\n  "));
  return out;
}

}  // namespace ralph
