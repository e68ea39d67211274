#include "sandbox/bubblewrap.h"

#include <algorithm>

#include "base/text.h"
#include "git/quiet.h"
#include "sandbox/places.h"

namespace ralph {
namespace {

constexpr int kOptionsFile = 3, kFilterFile = 4, kFirstText = 5;

// Whether the variable names a folder of the user's that is hidden inside. It is dropped, so programs use the default
// in the private home.
bool names_hidden_folder(std::string_view line, const SandboxPlan& plan) {
  const auto home = plan.set.find("HOME");
  const size_t equals = line.find('=');
  return home != plan.set.end() &&
         is_one_of(line.substr(0, equals), {"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"}) &&
         !line.substr(equals + 1).starts_with(home->second + "/");
}

Environment cleared(const SandboxPlan& plan, const Environment& environment) {
  Environment inside;
  for (const std::string& line : environment.as_lines()) {
    if (is_listed(plan.variables, std::string_view(line).substr(0, line.find('='))) && !names_hidden_folder(line, plan))
      inside.set_line(line);
  }
  for (const auto& [name, value] : plan.set) inside.set(name, value);
  if (environment.get(kQuietGitVariable)) {
    for (const auto& [name, value] : quiet_git(inside)) inside.set(name, value);
  }
  return inside;
}

bool is_for_files(const std::string& folder) {
  return folder.ends_with("/tmp") || folder.ends_with("/shm");
}

// No process is charged for files in memory. Without a cgroup, only the size of their file systems limits them, and all
// of them together must stay below the limit.
long long most_bytes_in(const std::string& folder, long long limit) {
  constexpr long long kSmall = 64 << 20, kEmpty = 1 << 20;
  if (folder == "/tmp") return limit / 2;
  if (is_for_files(folder)) return limit / 8;
  return folder.starts_with("/etc/") || folder.starts_with("/proc/") ? kEmpty : std::min(kSmall, limit / 16);
}

void add_mount(const Mount& mount, long long memory, int first_file, std::vector<std::string>& files,
               std::vector<std::string>& words) {
  const auto add = [&](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  switch (mount.kind) {
    case MountKind::kReadOnly:
      return add({"--ro-bind", mount.from, mount.at});
    case MountKind::kWritable:
      return add({"--bind", mount.from, mount.at});
    case MountKind::kTmpfs:
      if (memory > 0) add({"--size", std::to_string(std::max(most_bytes_in(mount.at, memory), 1LL))});
      return add({"--perms", is_for_files(mount.at) ? "1777" : "0755", "--tmpfs", mount.at});
    // The mount does not allow devices, so opening it is refused.
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
  for (const Mount& mount : plan.mounts) add_mount(mount, plan.limits.memory_bytes, first_file, files, words);
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
  if (bubblewrap.terminal) words.emplace_back("--terminal");
  words.emplace_back("--");
  words.insert(words.end(), inside.argv.begin(), inside.argv.end());
  inside.argv = std::move(words);
  inside.groups = bubblewrap.groups;
  inside.blocks_signals = true;
  inside.writes.clear();
  return inside;
}

}  // namespace ralph
