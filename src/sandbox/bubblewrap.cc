#include "sandbox/bubblewrap.h"

#include "base/text.h"
#include "sandbox/places.h"

namespace ralph {
namespace {

constexpr int kOptionsFile = 3, kFilterFile = 4, kFirstText = 5;

Environment cleared(const SandboxPlan& plan, const Environment& environment) {
  Environment inside;
  for (const std::string& line : environment.as_lines()) {
    if (is_listed(plan.variables, std::string_view(line).substr(0, line.find('=')))) inside.set_line(line);
  }
  for (const auto& [name, value] : plan.set) inside.set(name, value);
  return inside;
}

void add_mount(const Mount& mount, int first_file, std::vector<std::string>& files, std::vector<std::string>& words) {
  const auto add = [&](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  switch (mount.kind) {
    case MountKind::kReadOnly:
      return add({"--ro-bind", mount.from, mount.at});
    case MountKind::kWritable:
      return add({"--bind", mount.from, mount.at});
    case MountKind::kTmpfs:
      return add({"--perms", mount.at.ends_with("/tmp") ? "1777" : "0755", "--tmpfs", mount.at});
    // A mount without devices: opening it is refused.
    case MountKind::kHidden:
      return add({"--ro-bind", "/dev/null", mount.at});
    case MountKind::kLink:
      return add({"--symlink", mount.from, mount.at});
    case MountKind::kProc:
      return add({"--proc", mount.at});
    case MountKind::kDevices:
      return add({"--dev", mount.at});
    case MountKind::kText:
      add({"--perms", "0644", "--ro-bind-data", std::to_string(first_file + static_cast<int>(files.size())), mount.at});
      files.push_back(mount.from);
  }
}

}  // namespace

std::vector<std::string> bubblewrap_options(const SandboxPlan& plan, int first_file, std::vector<std::string>& files) {
  std::vector<std::string> words = {"--unshare-user",
                                    "--unshare-pid",
                                    "--unshare-ipc",
                                    "--unshare-uts",
                                    "--unshare-cgroup",
                                    "--disable-userns",
                                    "--uid",
                                    std::to_string(plan.uid),
                                    "--gid",
                                    std::to_string(plan.gid),
                                    "--hostname",
                                    "sandbox",
                                    "--die-with-parent",
                                    "--new-session",
                                    "--cap-drop",
                                    "ALL"};
  if (plan.network != Network::kOpen) words.emplace_back("--unshare-net");
  for (const Mount& mount : plan.mounts) add_mount(mount, first_file, files, words);
  words.insert(words.end(), {"--remount-ro", "/"});
  return words;
}

Launch in_bubblewrap(const SandboxPlan& plan, const Bubblewrap& bubblewrap, Launch launch) {
  SandboxPlan with_files = plan;
  for (const std::string& path : launch.writes)
    with_files.mounts.push_back({MountKind::kWritable, path, path, "written by this program"});
  std::vector<std::string> texts;
  std::vector<std::string> options = bubblewrap_options(with_files, kFirstText, texts);
  options.insert(options.end(), {"--chdir", launch.folder});
  std::string packed;
  for (const std::string& word : options) packed.append(word).push_back('\0');

  Launch inside = std::move(launch);
  inside.files = {std::move(packed), bubblewrap.seccomp};
  inside.files.insert(inside.files.end(), texts.begin(), texts.end());
  inside.environment = cleared(plan, inside.environment);
  std::vector<std::string> words = {bubblewrap.program,
                                    "--args",
                                    std::to_string(kOptionsFile),
                                    "--seccomp",
                                    std::to_string(kFilterFile),
                                    "--",
                                    plan.helper,
                                    "sandbox",
                                    "enter"};
  if (bubblewrap.limits.processes > 0) words.push_back(fmt::format("--processes={}", bubblewrap.limits.processes));
  if (bubblewrap.limits.data_bytes > 0) words.push_back(fmt::format("--data={}", bubblewrap.limits.data_bytes));
  if (plan.network == Network::kAllowlist) words.push_back(fmt::format("--bridge={}", kSocketInside));
  words.emplace_back("--");
  words.insert(words.end(), inside.argv.begin(), inside.argv.end());
  inside.argv = std::move(words);
  inside.groups = bubblewrap.groups;
  inside.deaf = true;
  inside.writes.clear();
  return inside;
}

}  // namespace ralph
