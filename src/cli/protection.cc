#include "cli/protection.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include "base/text.h"
#include "os/clock.h"
#include "os/files.h"
#include "policy/paths.h"
#include "sandbox/egress.h"
#include "sandbox/settle.h"

namespace ralph::cli {
namespace {

enum class Where { kAgentSandbox, kCheckSandbox, kHost };

// Source control is ralph's own work: it has the user's credentials and hooks, and its commands are the settings'.
Where place_of(StepKind kind, bool checks_on_host) {
  switch (kind) {
    case StepKind::kNone:
    case StepKind::kAgent:
      return Where::kAgentSandbox;
    case StepKind::kGuardrail:
      return checks_on_host ? Where::kHost : Where::kCheckSandbox;
    case StepKind::kScm:
      return Where::kHost;
  }
  return Where::kAgentSandbox;
}

constexpr std::string_view kOn = "on", kOff = "off", kAuto = "auto";

std::string mode_of(const Settings& settings, bool by_default) {
  if (!settings.sandbox.mode.empty()) return settings.sandbox.mode;
  return std::string(by_default ? kAuto : kOff);
}

// Tried out, not concluded.
Status works(const SandboxRequest& request, const Environment& environment) {
  TRY_VALUE(const SandboxPlan plan, plan_sandbox(request, this_machine()));
  TRY(prepare_home(request));
  TRY_VALUE(const Enclosure enclosure, Enclosure::make(request.limits, environment, request.project));
  return enclosure.try_out(plan, environment);
}

}  // namespace

Status set_sandbox(const Arguments& arguments, Overrides& overrides) {
  const bool on = arguments.has("sandbox"), off = arguments.has("no-sandbox");
  if (on && off) return fail(ErrorKind::kUsage, "--sandbox and --no-sandbox are both given; choose one");
  if (on) overrides.set("/sandbox/mode", json::string(kOn), "--sandbox");
  if (off) overrides.set("/sandbox/mode", json::string(kOff), "--no-sandbox");
  return {};
}

Result<Protection> choose_protection(const SandboxSubject& subject, bool by_default) {
  Protection protection;
  const std::string mode = mode_of(subject.settings, by_default);
  if (mode == kOff) return protection;
  protection.checks_on_host = subject.settings.sandbox.checks_on_host;
  protection.resolve = subject.settings.sandbox.resolve;
  TRY_VALUE(protection.agent, sandbox_request(subject, SandboxFor::kAgent));
  TRY_VALUE(protection.check, sandbox_request(subject, SandboxFor::kCheck));
  TRY(Allowlist::from(protection.agent.hosts, protection.resolve));
  const Status tried = works(protection.agent, subject.environment);
  protection.on = tried.has_value();
  if (tried) return protection;
  // What is wrong with the settings is wrong in any mode.
  if (mode == kOn || tried.error().kind != ErrorKind::kNotFound) {
    return fail(tried.error().kind,
                "there is no sandbox: {}. Nothing was started; 'ralph sandbox check' tells more, and --no-sandbox runs "
                "the agent directly (you asked for --sandbox, or sandbox.mode is on)",
                tried.error().message);
  }
  protection.why_not = tried.error().message;
  return protection;
}

std::string opening_line(const Protection& protection) {
  if (protection.on) return "";
  const std::string direct = "The agent runs directly, with your rights, not in a sandbox.\n";
  if (protection.why_not.empty()) return direct;
  return fmt::format("No sandbox: {}.\n{}", protection.why_not, direct);
}

Result<std::unique_ptr<RunShelter>> RunShelter::make(const Protection& protection, const Environment& environment,
                                                     const std::string& folder, Jobs& jobs) {
  std::unique_ptr<RunShelter> shelter(new RunShelter(protection));
  TRY_VALUE(shelter->enclosure_, Enclosure::make(protection.agent.limits, environment, protection.agent.project));
  shelter->log_ = join_path(folder, "egress.jsonl");
  if (protection.agent.network == Network::kAllowlist || protection.check.network == Network::kAllowlist)
    TRY(shelter->start_proxy(jobs, environment));
  return shelter;
}

RunShelter::~RunShelter() {
  if (socket_folder_.empty()) return;
  ::unlink(socket_.c_str());
  ::rmdir(socket_folder_.c_str());
}

Status RunShelter::start_proxy(Jobs& jobs, const Environment& environment) {
  TRY_VALUE(EgressDoor door, open_egress_door());
  socket_folder_ = door.folder;
  socket_ = door.socket;
  JobRequest job;
  job.name = "proxy";
  job.launch =
      proxy_launch({protection_.agent.helper, protection_.agent.hosts, protection_.resolve, log_}, environment);
  job.in.fd = door.listener.get();
  TRY(jobs.start(job));
  return {};
}

Result<Launch> RunShelter::enclose(StepKind kind, Launch launch) {
  const Where where = place_of(kind, protection_.checks_on_host);
  plan_ = {};
  if (where == Where::kHost) return launch;
  SandboxRequest request = where == Where::kCheckSandbox ? protection_.check : protection_.agent;
  request.socket = socket_;
  if (!is_within(real_path(launch.folder), request.project)) request.writable.push_back(real_path(launch.folder));
  for (const std::string& path : launch.writes) {
    const Fd made(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!made && errno != EEXIST) return fail(ErrorKind::kIo, "cannot create {}: {}", path, errno_text(errno));
  }
  // Anew for each step: files that it must protect may have come since.
  TRY(prepare_home(request));
  TRY_VALUE(plan_, plan_sandbox(request, this_machine()));
  return enclosure_.inside(plan_, std::move(launch));
}

Result<record::SandboxNoted> RunShelter::settle() {
  record::SandboxNoted noted;
  if (plan_.folder.empty()) return noted;
  TRY_VALUE(noted.taken, take_away_forbidden(plan_, to_iso8601(SystemClock().wall())));
  for (const Refusal& refusal : read_refusals(log_)) {
    const std::string what = fmt::format("{}:{} ({})", refusal.host, refusal.port, refusal.why);
    const int news = refusal.count - told_[what];
    if (news <= 0) continue;
    told_[what] = refusal.count;
    noted.requests += news;
    noted.blocked.push_back(fmt::format(
        "blocked {} to {}; to allow it, add \"{}\" to sandbox.hosts", count_of(static_cast<unsigned>(news), "request"),
        what,
        refusal.port == 443 || refusal.port == 80 ? refusal.host : fmt::format("{}:{}", refusal.host, refusal.port)));
  }
  return noted;
}

std::string RunShelter::describe() const {
  const SandboxRequest& agent = protection_.agent;
  std::string network(to_string(agent.network));
  if (agent.network == Network::kAllowlist)
    network += agent.hosts.empty() ? " (no hosts)" : fmt::format(" ({})", join(agent.hosts, ", "));
  return fmt::format("bubblewrap; network {}; {}; checks {}", network, enclosure_.group.describe(),
                     protection_.checks_on_host ? "on the host (sandbox.checksOnHost)"
                                                : fmt::format("in another one, without secrets, network {}",
                                                              to_string(protection_.check.network)));
}

}  // namespace ralph::cli
