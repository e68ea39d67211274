// A sandbox as data: what is mounted where, which variables pass, which network there is, what is limited, and as whom
// a program runs. The plan is computed from a request and a view of the machine's files; nothing is started or changed.
// `ralph sandbox plan` prints it, sandbox/bubblewrap turns it into a command line.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ralph {

enum class MountKind {
  kReadOnly,  // `from` of the host
  kWritable,  // `from` of the host
  kTmpfs,     // an empty folder of its own
  kHidden,    // a file of the host that can't be opened
  kLink,      // a symlink to `from`
  kText,      // a file with the text `from`
  kProc,
  kDevices,
};

struct Mount {
  MountKind kind;
  std::string at;
  std::string from{};
  std::string why{};
};

enum class Network { kNone, kAllowlist, kOpen };
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
  std::vector<std::string> variables;      // of the environment that pass: "LANG", "LC_*"
  std::map<std::string, std::string> set;  // variables that are set
  Network network = Network::kNone;
  HostList hosts;      // if the network is an allowlist
  std::string socket;  // of the proxy, on the host
  SandboxLimits limits;
  int uid = 0, gid = 0;
  std::string folder;                  // the project
  std::string helper;                  // ralph's own program
  std::vector<std::string> forbidden;  // paths that are not there and must not appear; see sandbox/settle
  std::vector<std::string> copied;     // of the user's home, into the private one: files that are newer there
};

// What an agent needs besides the system. Paths are below the home.
struct AgentPlace {
  std::string name;
  std::vector<std::string> programs;   // absolute: the program itself, scripts of its command
  std::vector<std::string> variables;  // "ANTHROPIC_*"
  std::vector<std::string> copied;     // into the private home, before it starts; "x/" is a folder
  std::vector<std::string> read_only;
  std::string machine{};            // the template of Docker Sandbox that has it; empty: none
  std::vector<std::string> kept{};  // in such a machine: what stays when that is made anew
  bool machine_runs = false;        // its `run` starts the agent; else `exec` does
  bool any_machine = false;         // a command that was typed: a machine of any template can start it
};

struct SandboxRequest {
  std::string project, home;           // absolute and real
  std::string private_home;            // a folder that is the home inside; empty: an empty one
  std::vector<std::string> concealed;  // folders below it with logins of others, which an earlier program left there
  std::string helper;                  // ralph's own program
  std::string path;                    // $PATH
  bool secrets = true;                 // false: for checks; what agents need is hidden
  std::vector<AgentPlace> agents;
  std::vector<std::string> variables;  // further ones that pass
  std::vector<std::string> read_only;  // further folders and files
  std::vector<std::string> writable;
  std::vector<std::string> guarded;    // files of the project that must not change
  std::vector<std::string> own_state;  // ralph's files outside of the project that hooks read
  // Of the way in, in this order: the folder of a task. One that has the project in it is mounted before the project.
  // What is to be read-only and is not there must not appear.
  std::vector<Mount> beside;
  Network network = Network::kNone;
  HostList hosts;
  std::string socket;
  SandboxLimits limits;
  std::vector<std::string> groups;  // cgroups with these limits that are there already: a task's, for its child runs
  std::string task;                 // "PROJECT/TASK" of a supervised task: it has a virtual machine of its own
  int uid = 0, gid = 0;             // of this process
};

// The files that a plan depends on. Tests describe a machine that is not there.
struct MachineView {
  enum class Kind { kNothing, kFile, kFolder, kLink, kOther };
  std::function<Kind(const std::string& path)> kind;                        // does not follow a link
  std::function<std::string(const std::string& path)> link;                 // what a link says
  std::function<std::string(const std::string& path)> real;                 // without links
  std::function<std::optional<std::string>(const std::string& path)> text;  // of a small file
  // Files and folders below that others than their owner and group can't read, as far as they are found quickly.
  std::function<std::vector<std::string>(const std::string& folder)> closed_below = [](const std::string&) {
    return std::vector<std::string>();
  };
};
MachineView this_machine();

// Fails if the project can't be shut in: it is the root, or has the home in it.
Result<SandboxPlan> plan_sandbox(const SandboxRequest& request, const MachineView& machine);

// Whether `name` is among the patterns: "LANG", "LC_*".
bool is_listed(const std::vector<std::string>& patterns, std::string_view name);

}  // namespace ralph
