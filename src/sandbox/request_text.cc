#include "sandbox/request_text.h"


namespace ralph {
namespace {

// A single list of members, with their keys, for both writing and reading. `io` writes or reads.
template <class Io, class Agent>
void members_of_agent(Io&& io, Agent& agent) {
  io("name", agent.name);
  io("programs", agent.programs);
  io("variables", agent.variables);
  io("copied", agent.copied);
  io("readOnly", agent.read_only);
  io("machine", agent.machine);
  io("kept", agent.kept);
  io("machineRuns", agent.machine_runs);
  io("anyMachine", agent.any_machine);
}

template <class Io, class One>
void members_of_mount(Io&& io, One& mount) {
  io("kind", mount.kind);
  io("at", mount.at);
  io("from", mount.from);
  io("why", mount.why);
}

template <class Io, class Request>
void members_of_request(Io&& io, Request& request) {
  io("project", request.project);
  io("home", request.home);
  io("privateHome", request.private_home);
  io("concealed", request.concealed);
  io("helper", request.helper);
  io("path", request.path);
  io("secrets", request.secrets);
  io("agents", request.agents);
  io("variables", request.variables);
  io("readOnly", request.read_only);
  io("writable", request.writable);
  io("guarded", request.guarded);
  io("ownState", request.own_state);
  io("beside", request.beside);
  io("network", request.network);
  io("hosts", request.hosts);
  io("socket", request.socket);
  io("processes", request.limits.processes);
  io("memory", request.limits.memory_bytes);
  io("cpu", request.limits.cpu_percent);
  io("groups", request.groups);
  io("task", request.task);
  io("uid", request.uid);
  io("gid", request.gid);
}

struct Writer {
  json::object& object;

  void operator()(std::string_view key, const std::string& text) { object[key] = to_json_string(text); }
  void operator()(std::string_view key, const std::vector<std::string>& texts) { object[key] = to_json_array(texts); }
  void operator()(std::string_view key, bool yes) { object[key] = yes; }
  void operator()(std::string_view key, int number) { object[key] = number; }
  void operator()(std::string_view key, long long number) { object[key] = number; }
  void operator()(std::string_view key, Network network) { object[key] = static_cast<int>(network); }
  void operator()(std::string_view key, MountKind kind) { object[key] = static_cast<int>(kind); }
  void operator()(std::string_view key, const std::vector<AgentPlace>& agents) {
    json::array& list = object[key].emplace_array();
    for (const AgentPlace& agent : agents)
      members_of_agent(Writer{list.emplace_back(json::object()).get_object()}, agent);
  }
  void operator()(std::string_view key, const std::vector<Mount>& mounts) {
    json::array& list = object[key].emplace_array();
    for (const Mount& mount : mounts) members_of_mount(Writer{list.emplace_back(json::object()).get_object()}, mount);
  }
};

struct Reader {
  const json::value& value;
  std::string& bad;  // the first key that is missing or has the wrong type

  void refuse(std::string_view key) const {
    if (bad.empty()) bad = key;
  }
  const json::array* list(std::string_view key) const {
    const json::value* found = find(value, key);
    if (found && found->is_array()) return &found->get_array();
    refuse(key);
    return nullptr;
  }
  void operator()(std::string_view key, std::string& text) const {
    const auto found = find_string(value, key);
    if (!found) return refuse(key);
    text = *found;
  }
  void operator()(std::string_view key, std::vector<std::string>& texts) const {
    if (const json::array* all = list(key)) {
      for (const json::value& one : *all) one.is_string() ? void(texts.emplace_back(one.get_string())) : refuse(key);
    }
  }
  void operator()(std::string_view key, bool& yes) const {
    const auto found = find_bool(value, key);
    if (!found) return refuse(key);
    yes = *found;
  }
  template <class Number>
  void number(std::string_view key, Number& to, long long least, long long most) const {
    const auto found = find_integer(value, key);
    if (!found || *found < least || *found > most) return refuse(key);
    to = static_cast<Number>(*found);
  }
  void operator()(std::string_view key, int& to) const { number(key, to, 0, 0x7fffffff); }
  void operator()(std::string_view key, long long& to) const { number(key, to, 0, 1LL << 62); }
  void operator()(std::string_view key, Network& to) const { number(key, to, 0, static_cast<int>(Network::kOpen)); }
  void operator()(std::string_view key, MountKind& to) const {
    number(key, to, 0, static_cast<int>(MountKind::kDevices));
  }
  void operator()(std::string_view key, std::vector<AgentPlace>& agents) const {
    if (const json::array* all = list(key))
      for (const json::value& one : *all) members_of_agent(Reader{one, bad}, agents.emplace_back());
  }
  void operator()(std::string_view key, std::vector<Mount>& mounts) const {
    if (const json::array* all = list(key))
      for (const json::value& one : *all)
        members_of_mount(Reader{one, bad}, mounts.emplace_back(Mount{MountKind::kTmpfs, {}}));
  }
};

}  // namespace

json::object to_json(const SandboxRequest& request) {
  json::object object;
  members_of_request(Writer{object}, request);
  return object;
}

Result<SandboxRequest> sandbox_request_from(const json::value& value) {
  SandboxRequest request;
  std::string bad;
  members_of_request(Reader{value, bad}, request);
  if (bad.empty()) return request;
  return fail(ErrorKind::kInput, "cannot read the description of a sandbox: {}", bad);
}

}  // namespace ralph
