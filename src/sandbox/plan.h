// A sandbox as data: the mounts, the variables that pass, the network, the limits, and the user a program runs as. The
// plan is computed from a request and a view of the machine's files; nothing is started or changed. `ralph sandbox
// plan` prints it, and sandbox/bubblewrap turns it into a command line.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/fields.h"

namespace ralph {

enum class MountKind {
  kReadOnly,  // `from` of the host
  kWritable,  // `from` of the host
  kTmpfs,     // an empty private folder
  kHidden,    // a host file that can't be opened
  kLink,      // a symlink to `from`
  kText,      // a file with the text `from`
  kProc,
  kDevices,
};
template <>
inline constexpr int kNumbered<MountKind> = 8;

struct Mount {
  MountKind kind;
  std::string at;
  std::string from{};
  std::string why{};

  template <class V>
  void fields(V&& v) {
    v("kind", kind), v("at", at), v("from", from), v("why", why);
  }
};

enum class Network { kNone, kAllowlist, kOpen };
template <>
inline constexpr int kNumbered<Network> = 3;
std::string_view to_string(Network network);  // "none", "allowlist", "open"
std::string_view to_string(MountKind kind);

struct SandboxLimits {
  long long processes = 1024;  // 0: none
  long long memory_bytes = 0;  // 0: none
  int cpu_percent = 0;         // of one processor; 0: none
};

// A checked list of hosts, "name", "*.name" or with ":port"; see sandbox/allowlist.
using HostList = std::vector<std::string>;

struct SandboxPlan {
  std::vector<Mount> mounts;               // in this order: later ones cover earlier ones
  std::vector<std::string> variables;      // of the environment that are passed on: "LANG", "LC_*"
  std::map<std::string, std::string> set;  // additional variables
  Network network = Network::kNone;
  HostList hosts;      // if the network is an allowlist
  std::string socket;  // of the proxy, on the host
  SandboxLimits limits;
  int uid = 0, gid = 0;
  std::string folder;                  // the project
  std::string helper;                  // ralph's own program
  std::vector<std::string> forbidden;  // missing paths that must not appear; see sandbox/settle
  std::vector<std::string> copied;     // copied from the user's home to the private one if newer
};

// What an agent needs in addition to the system. Paths are below the home.
struct AgentPlace {
  std::string name;
  std::vector<std::string> programs;   // absolute: the program itself and scripts in its command
  std::vector<std::string> variables;  // "ANTHROPIC_*"
  std::vector<std::string> copied;     // into the private home, before it starts; "x/" is a folder
  std::vector<std::string> read_only;
  std::string machine{};            // the template of Docker Sandbox that has it; empty: none
  std::vector<std::string> kept{};  // in such a machine: what survives when it is recreated
  bool machine_runs = false;        // its `run` starts the agent; otherwise `exec` does
  bool any_machine = false;         // a custom command: a machine of any template can start it

  template <class V>
  void fields(V&& v) {
    v("name", name), v("programs", programs), v("variables", variables), v("copied", copied);
    v("readOnly", read_only), v("machine", machine), v("kept", kept), v("machineRuns", machine_runs);
    v("anyMachine", any_machine);
  }
};

struct SandboxRequest {
  std::string project, home;           // absolute and real
  std::string private_home;            // the folder used as the home inside; empty: a tmpfs
  std::vector<std::string> concealed;  // folders below it with the logins of other agents, left by earlier programs
  std::string helper;                  // ralph's own program
  std::string path;                    // $PATH
  bool secrets = true;                 // false: for checks; what agents need is hidden
  std::vector<AgentPlace> agents;
  std::vector<std::string> variables;  // additional ones that pass
  std::vector<std::string> read_only;  // additional folders and files
  std::vector<std::string> writable;
  std::vector<std::string> guarded;    // files of the project that must not change
  std::vector<std::string> own_state;  // ralph's files outside the project that hooks read
  // Additional mounts, in this order: the folder of a task. One that contains the project is mounted before the
  // project. A read-only one whose source is missing must not appear.
  std::vector<Mount> beside;
  Network network = Network::kNone;
  HostList hosts;
  std::string socket;
  SandboxLimits limits;
  std::vector<std::string> groups;  // existing cgroups with these limits: a task's, for its child runs
  std::string task;                 // "PROJECT/TASK" of a supervised task: it has its own virtual machine
  int uid = 0, gid = 0;             // of this process

  template <class V>
  void fields(V&& v) {
    v("project", project), v("home", home), v("privateHome", private_home), v("concealed", concealed);
    v("helper", helper), v("path", path), v("secrets", secrets), v("agents", agents), v("variables", variables);
    v("readOnly", read_only), v("writable", writable), v("guarded", guarded), v("ownState", own_state);
    v("beside", beside), v("network", network), v("hosts", hosts), v("socket", socket);
    v("processes", limits.processes), v("memory", limits.memory_bytes), v("cpu", limits.cpu_percent);
    v("groups", groups), v("task", task), v("uid", uid), v("gid", gid);
  }
};

// The files that a plan depends on. Tests describe a fictional machine.
struct MachineView {
  enum class Kind { kNothing, kFile, kFolder, kLink, kOther };
  std::function<Kind(const std::string& path)> kind;                        // does not follow a link
  std::function<std::string(const std::string& path)> link;                 // the target of a link
  std::function<std::string(const std::string& path)> real;                 // with all links resolved
  std::function<std::optional<std::string>(const std::string& path)> text;  // of a small file
  // Files and folders below `folder` that only their owner and group can read. The search is limited in depth and
  // number.
  std::function<std::vector<std::string>(const std::string& folder)> closed_below = [](const std::string&) {
    return std::vector<std::string>();
  };
};
MachineView this_machine();

// Fails if the project can't be sandboxed: it is the root folder, or contains the home.
Result<SandboxPlan> plan_sandbox(const SandboxRequest& request, const MachineView& machine);

// Whether `name` matches one of the patterns: "LANG", "LC_*".
bool is_listed(const std::vector<std::string>& patterns, std::string_view name);

}  // namespace ralph
