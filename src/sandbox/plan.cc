#include "sandbox/plan.h"

#include <algorithm>
#include <array>
#include <span>
#include <unistd.h>

#include "base/text.h"
#include "git/git_places.h"
#include "os/files.h"
#include "sandbox/places.h"
#include "sandbox/private_home.h"

namespace ralph {
namespace {

using Kind = MachineView::Kind;

// Builds the mounts in order, and tracks what is visible so far.
class Planner {
 public:
  Planner(const SandboxRequest& request, const MachineView& machine) : request_(request), machine_(machine) {}

  Result<SandboxPlan> plan() {
    TRY(check());
    system();
    own_folders();
    toolchains();
    for (const AgentPlace& agent : request_.agents) agent_files(agent);
    beside(true);
    TRY(project());
    beside(false);
    TRY(chosen());
    ralphs_own();
    identity_and_environment();
    return std::move(plan_);
  }

 private:
  Status check() const {
    const std::string& project = request_.project;
    if (project == "/" || is_within(request_.home, project)) {
      return fail(
          ErrorKind::kInput,
          "the project {} can't be put into a sandbox: it is, or contains, your home {}, which a sandbox hides; "
          "work in a folder of its own",
          project, request_.home);
    }
    if (!is_within(request_.home, "/home") && is_one_of(request_.home, {"/", "/usr", "/etc", "/var", "/tmp"}))
      return fail(ErrorKind::kInput, "HOME is {}, which a sandbox can't hide", request_.home);
    return {};
  }

  Kind kind(const std::string& path) const { return machine_.kind(path); }
  bool path_exists(const std::string& path) const { return kind(path) != Kind::kNothing; }

  void add(MountKind mount, const std::string& at, std::string from = {}, std::string_view why = {}) {
    plan_.mounts.push_back({mount, at, std::move(from), std::string(why)});
  }

  // Whether the host's file is already visible at this path.
  bool is_visible(const std::string& path) const {
    for (auto mount = plan_.mounts.rbegin(); mount != plan_.mounts.rend(); ++mount) {
      if (!is_within(path, mount->at)) continue;
      if (mount->kind == MountKind::kLink) return true;
      return (mount->kind == MountKind::kReadOnly || mount->kind == MountKind::kWritable) && mount->from == mount->at;
    }
    return false;
  }

  void show(const std::string& path, std::string_view why) {
    if (path_exists(path) && !is_visible(path)) add(MountKind::kReadOnly, path, path, why);
  }

  void hide(const std::string& path, std::string_view why) {
    const Kind what = kind(path);
    if (what == Kind::kNothing || what == Kind::kLink) return;
    add(what == Kind::kFolder ? MountKind::kTmpfs : MountKind::kHidden, path, {}, why);
  }

  void system() {
    for (const std::string_view folder : kSystemFolders) {
      const std::string path(folder);
      const Kind what = kind(path);
      if (what == Kind::kLink) add(MountKind::kLink, path, machine_.link(path), "system");
      if (what == Kind::kFolder) add(MountKind::kReadOnly, path, path, "system");
    }
    for (const std::string_view secret : kSystemSecrets) hide(std::string(secret), "the system's secrets");
    if (is_root()) {
      for (const std::string_view folder : kSearchedForRoot)
        for (const std::string& secret : machine_.closed_below(std::string(folder)))
          if (is_visible(secret)) hide(secret, "for root only");
    }
    const std::string user =
        fmt::format("user:x:{}:{}::{}:/bin/sh\n", inside_id(request_.uid), inside_id(request_.gid), request_.home);
    add(MountKind::kText, "/etc/passwd", "root:x:0:0::/root:/bin/sh\n" + user + "nobody:x:65534:65534::/:/bin/false\n",
        "the user inside");
    add(MountKind::kText, "/etc/group",
        fmt::format("root:x:0:\nuser:x:{}:\nnogroup:x:65534:\n", inside_id(request_.gid)), "the user inside");
    add(MountKind::kProc, "/proc");
    keep_from_writing(kKernelSettings, "the kernel's settings: core_pattern names a program");
    if (is_root()) {
      keep_from_writing(kReadOnlyForRoot, "for root only");
      for (const std::string_view path : kHiddenFromRoot) hide(std::string(path), "for root only");
    }
    add(MountKind::kDevices, "/dev");
    for (const std::string_view folder : {"/dev/shm", "/tmp", "/run", "/var"})
      add(MountKind::kTmpfs, std::string(folder));
    add(MountKind::kTmpfs, "/var/tmp");
    // systemd keeps resolv.conf below /run.
    if (request_.network == Network::kOpen && kind("/etc/resolv.conf") == Kind::kLink)
      show(machine_.real("/etc/resolv.conf"), "names of hosts");
  }

  void keep_from_writing(std::span<const std::string_view> paths, std::string_view why) {
    for (const std::string_view path : paths)
      if (path_exists(std::string(path))) add(MountKind::kReadOnly, std::string(path), std::string(path), why);
  }

  void own_folders() {
    if (request_.private_home.empty()) {
      add(MountKind::kTmpfs, request_.home, {}, "your home is hidden");
    } else {
      add(MountKind::kWritable, request_.home, request_.private_home, "a private home; yours is hidden");
    }
    for (const std::string& name : request_.concealed) {
      if (!request_.private_home.empty() && kind(join_path(request_.private_home, name)) == Kind::kFolder)
        add(MountKind::kTmpfs, join_path(request_.home, name), {}, "the login of an agent that is not in use");
    }
    for (const std::string_view name : kHomeConfiguration) show(join_path(request_.home, name), "git's configuration");
  }

  void toolchains() {
    for (const std::string_view name : kToolchains) show(join_path(request_.home, name), "a toolchain");
    for (const std::string& entry : split(request_.path, ':')) {
      if (!entry.starts_with('/') || kind(machine_.real(entry)) != Kind::kFolder) continue;
      if (is_within(request_.home, entry) || is_within(request_.project, entry)) continue;
      show(machine_.real(entry), "in PATH");
      show_link(entry);
    }
  }

  // If the path is a link, it becomes a link inside, too.
  void show_link(const std::string& path) {
    const std::string real = machine_.real(path);
    if (real != path && !is_visible(path) && kind(path) == Kind::kLink) add(MountKind::kLink, path, real, "in PATH");
  }

  void agent_files(const AgentPlace& agent) {
    for (const std::string& path : agent.programs) program(path, "the agent " + agent.name);
    if (!request_.secrets) return;
    for (const std::string& name : agent.copied) {
      const std::string path = join_path(request_.home, without_slash(name));
      if (!request_.private_home.empty() && path_exists(path)) plan_.copied.push_back(path);
    }
    for (const std::string& name : agent.read_only) {
      const std::string path = join_path(request_.home, name);
      if (path_exists(path)) add(MountKind::kReadOnly, path, path, agent.name + "'s own settings");
    }
  }

  // A program, and the package it belongs to.
  void program(const std::string& path, std::string_view why) {
    const std::string real = machine_.real(path);
    show(package_of(real), why);
    const std::string beside = package_of(path);
    if (real != path && beside != path && kind(beside) == Kind::kFolder) show(beside, why);
    if (real != path && !is_visible(path) && kind(path) == Kind::kLink) add(MountKind::kLink, path, real, why);
  }

  // For /x/node_modules/.bin/agent this is /x/node_modules, which contains the package's dependencies; otherwise the
  // program alone.
  static std::string package_of(const std::string& real) {
    constexpr std::string_view kModules = "/node_modules/";
    if (const size_t at = real.find(kModules); at != std::string::npos) return real.substr(0, at + kModules.size() - 1);
    return real;
  }

  Status project() {
    const auto git = find_git_places(request_.project, machine_);
    if (kind(join_path(request_.project, ".git")) == Kind::kLink) {
      return fail(
          ErrorKind::kInput,
          "{} is a symbolic link, which a sandbox can't keep an agent from replacing; use a file `.git` with the "
          "line 'gitdir: PATH' instead",
          join_path(request_.project, ".git"));
    }
    if (git) TRY(expect_own_repository(*git, request_.project, machine_));
    if (git && git->top != request_.project)
      add(MountKind::kReadOnly, git->top, git->top, "the work tree around the project");
    add(MountKind::kWritable, request_.project, request_.project, "the project");
    if (git) {
      for (const GitAccess& access : git_access(*git, machine_, plan_.forbidden))
        add(access.writable ? MountKind::kWritable : MountKind::kReadOnly, access.path, access.path, access.why);
    }
    for (const std::string_view name : kProjectSettings) guard(join_path(request_.project, name), "settings of agents");
    if (path_exists(join_path(request_.project, ".ralph"))) guard(join_path(request_.project, ".ralph"), "ralph's own");
    guard(join_path(request_.project, ".ralph-active"), "ralph's own");
    for (const std::string& path : request_.guarded) {
      pin_folders_of(path);
      guard(path, "runs as a check");
    }
    if (!request_.secrets) {
      const std::string local = join_path(request_.project, ".ralph/settings.local.json");
      if (path_exists(local)) hide(local, "may have secrets");
    }
    return {};
  }

  // A mount point can't be renamed to put another folder in its place.
  void pin_folders_of(const std::string& path) {
    for (size_t slash = path.find('/', request_.project.size() + 1); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      const std::string folder = path.substr(0, slash);
      const auto over = std::find_if(plan_.mounts.rbegin(), plan_.mounts.rend(),
                                     [&](const Mount& mount) { return is_within(folder, mount.at); });
      const bool writable = over != plan_.mounts.rend() && over->kind == MountKind::kWritable && over->at != folder;
      if (writable && kind(folder) == Kind::kFolder)
        add(MountKind::kWritable, folder, folder, "has a check in it, and can't be renamed");
    }
  }

  void guard(const std::string& path, std::string_view why) {
    const Kind what = kind(path);
    if (what == Kind::kNothing) {
      plan_.forbidden.push_back(path);
    } else if (what != Kind::kLink) {
      add(MountKind::kReadOnly, path, path, why);
    }
  }

  void beside(bool around_the_project) {
    for (const Mount& mount : request_.beside) {
      if (is_within(request_.project, mount.at) != around_the_project) continue;
      if (mount.kind == MountKind::kReadOnly && !path_exists(mount.from)) {
        plan_.forbidden.push_back(mount.at);
      } else {
        plan_.mounts.push_back(mount);
      }
    }
  }

  // Mounts from the settings.
  Status chosen() {
    for (const std::string& path : request_.read_only) {
      TRY(expect(path, "sandbox.readOnly"));
      add(MountKind::kReadOnly, path, path, "sandbox.readOnly");
    }
    for (const std::string& path : request_.writable) {
      TRY(expect(path, "sandbox.writable"));
      if (is_within(request_.project, path) || is_within(path, request_.project)) {
        return fail(ErrorKind::kInput,
                    "sandbox.writable: {} is in the project, or contains it; the project is writable already, except "
                    "what ralph protects there",
                    path);
      }
      add(MountKind::kWritable, path, path, "sandbox.writable");
    }
    return {};
  }

  Status expect(const std::string& path, std::string_view setting) const {
    if (path_exists(path)) return {};
    return fail(ErrorKind::kInput, "{}: there is no {}; create it, or remove it from the settings", setting, path);
  }

  void ralphs_own() {
    show(request_.helper, "ralph itself, for hooks");
    for (const std::string& path : request_.own_state) {
      if (path_exists(path)) add(MountKind::kReadOnly, path, path, "ralph's copy, for hooks");
    }
    if (request_.network == Network::kAllowlist)
      add(MountKind::kWritable, std::string(kSocketInside), request_.socket, "the way to the proxy");
  }

  bool is_root() const { return request_.uid == 0; }
  static int inside_id(int id) { return id == 0 ? kIdForRoot : id; }

  void identity_and_environment() {
    plan_.uid = inside_id(request_.uid);
    plan_.gid = inside_id(request_.gid);
    plan_.folder = request_.project;
    plan_.helper = request_.helper;
    plan_.network = request_.network;
    plan_.limits = request_.limits;
    for (const std::string_view name : kVariables) plan_.variables.emplace_back(name);
    if (request_.secrets) {
      for (const AgentPlace& agent : request_.agents)
        plan_.variables.insert(plan_.variables.end(), agent.variables.begin(), agent.variables.end());
    }
    plan_.variables.insert(plan_.variables.end(), request_.variables.begin(), request_.variables.end());
    std::sort(plan_.variables.begin(), plan_.variables.end());
    plan_.variables.erase(std::unique(plan_.variables.begin(), plan_.variables.end()), plan_.variables.end());
    plan_.set["TMPDIR"] = "/tmp";
    plan_.set["HOME"] = request_.home;
    plan_.set[std::string(kSandboxVariable)] = "bubblewrap";
    if (request_.network != Network::kAllowlist) return;
    plan_.hosts = request_.hosts;
    plan_.socket = request_.socket;
    for (const std::string_view name : {"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"})
      plan_.set[std::string(name)] = kProxyAddress;
    for (const std::string_view name : {"NO_PROXY", "no_proxy"})
      plan_.set[std::string(name)] = "localhost,127.0.0.1,::1";
    plan_.set["NODE_USE_ENV_PROXY"] = "1";
  }

  const SandboxRequest& request_;
  const MachineView& machine_;
  SandboxPlan plan_;
};

}  // namespace

std::string_view to_string(Network network) {
  constexpr std::array<std::string_view, 3> kNames = {"none", "allowlist", "open"};
  return kNames[static_cast<size_t>(network)];
}

std::string_view to_string(MountKind kind) {
  constexpr std::array<std::string_view, 8> kNames = {"read-only", "writable", "empty",   "hidden",
                                                      "link",      "text",     "process", "devices"};
  return kNames[static_cast<size_t>(kind)];
}

bool is_listed(const std::vector<std::string>& patterns, std::string_view name) {
  return std::ranges::any_of(patterns, [&](std::string_view pattern) {
    if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
    return name == pattern;
  });
}

Result<SandboxPlan> plan_sandbox(const SandboxRequest& request, const MachineView& machine) {
  return Planner(request, machine).plan();
}

}  // namespace ralph
