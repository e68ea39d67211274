#include "cli/sandbox_range.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <netinet/in.h>

#include "base/text.h"
#include "git/new_repository.h"
#include "os/run_command.h"
#include "sandbox/private_home.h"
#include "sandbox/settle.h"

namespace ralph::cli {
namespace {

constexpr Milliseconds kRangePatience{30'000};
constexpr long long kProcesses = 64, kMemory = 256 << 20;
constexpr std::string_view kPath = "/usr/local/bin:/usr/bin:/bin";

Status put(const std::string& path, std::string_view text, unsigned mode = 0644) {
  TRY(make_directories(parent_path(path)));
  TRY(write_file_atomically(path, text));
  if (::chmod(path.c_str(), mode) != 0) return fail(ErrorKind::kIo, "cannot prepare {}: {}", path, errno_text(errno));
  return {};
}

std::string canary() {
  std::random_device random;
  return fmt::format("canary{:08x}{:08x}", random(), random());
}

Result<Fd> listener(int family, int type, const void* address, socklen_t size) {
  Fd socket(::socket(family, type | SOCK_CLOEXEC, 0));
  if (!socket || ::bind(socket.get(), static_cast<const sockaddr*>(address), size) != 0 ||
      (type == SOCK_STREAM && ::listen(socket.get(), 16) != 0))
    return fail(ErrorKind::kIo, "cannot listen for the attacks: {}", errno_text(errno));
  return socket;
}

Result<Fd> on_loopback(int type, int& port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  TRY_VALUE(Fd socket, listener(AF_INET, type, &address, sizeof address));
  socklen_t size = sizeof address;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  port = ntohs(address.sin_port);
  return socket;
}

Result<Fd> on_name(const std::string& name, bool abstract) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + (abstract ? 1 : 0), name.data(), std::min(name.size(), sizeof address.sun_path - 2));
  return listener(AF_UNIX, SOCK_STREAM, &address,
                  static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + 1));
}

}  // namespace

std::vector<const Attack*> all_attacks() {
  std::vector<const Attack*> all;
  for (const std::span<const Attack> group :
       {file_attacks(), git_attacks(), process_attacks(), kernel_attacks(), network_attacks()}) {
    for (const Attack& attack : group) all.push_back(&attack);
  }
  return all;
}

Result<std::unique_ptr<AttackRange>> AttackRange::set_up(bool direct) {
  std::unique_ptr<AttackRange> range(new AttackRange);
  range->direct_ = direct;
  std::string name = "/tmp/ralph-check-XXXXXX";  // short, because socket paths have a length limit
  if (!::mkdtemp(name.data())) return fail(ErrorKind::kIo, "cannot create {}: {}", name, errno_text(errno));
  range->base_ = name;
  AttackPlace& place = range->place_;
  place.base = real_path(name);
  place.project = join_path(place.base, "project");
  place.worktree = join_path(place.base, "worktree");
  place.home = join_path(place.base, "home");
  place.canary = canary();
  place.processes = kProcesses;
  place.memory_bytes = kMemory;
  TRY(put(join_path(place.home, ".ssh/id_ed25519"), place.canary, 0600));
  TRY(put(join_path(place.home, ".aws/credentials"), place.canary, 0600));
  TRY(put(join_path(place.home, ".bashrc"), "# mine\n"));
  TRY(put(join_path(place.home, ".gitconfig"), "[user]\n\tname = R\n\temail = r@example.org\n"));
  TRY(put(join_path(place.base, "other/secret"), place.canary));
  TRY(make_private_home(join_path(place.base, "private")));
  TRY_VALUE(range->helper_, path_of_this_program());
  Environment& environment = range->environment_;
  for (const std::string& line : Environment::of_this_process().as_lines()) {
    if (line.starts_with("ASAN_OPTIONS=") || line.starts_with("UBSAN_OPTIONS=")) environment.set_line(line);
  }
  environment.set("PATH", std::string(kPath));
  environment.set("HOME", place.home);
  environment.set("AWS_SECRET_ACCESS_KEY", place.canary);
  environment.set("RALPH_ATTACK", place.canary);
  TRY(range->listen());
  TRY(range->start_victim());
  TRY(range->fresh_project());
  if (direct) return range;
  // Find the same bubblewrap as a run would, or none.
  Environment outside = environment;
  outside.set("PATH", Environment::of_this_process().get("PATH").value_or(""));
  TRY_VALUE(range->enclosure_, Enclosure::make({kProcesses, kMemory, 0}, outside, "/"));
  TRY_VALUE(const SandboxPlan plan, range->plan_for(place.project));
  TRY(range->enclosure_.try_out(plan, outside));
  return range;
}

AttackRange::~AttackRange() {
  end_victim();
  std::error_code ignored;
  if (!base_.empty()) std::filesystem::remove_all(base_, ignored);
}

Status AttackRange::listen() {
  place_.socket = join_path(place_.base, "host.sock");
  place_.abstract = "ralph-check-" + place_.canary;
  TRY_VALUE(tcp_, on_loopback(SOCK_STREAM, place_.tcp_port));
  TRY_VALUE(udp_, on_loopback(SOCK_DGRAM, place_.udp_port));
  TRY_VALUE(unix_, on_name(place_.socket, false));
  TRY_VALUE(abstract_, on_name(place_.abstract, true));
  return {};
}

Status AttackRange::start_victim() {
  Launch launch = launch_in("/", {"/bin/sleep", "600"});
  launch.environment = Environment();
  launch.environment.set("SECRET", victim_secret(place_));
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  TRY_VALUE(place_.victim, spawn_on(launch, {null.get(), null.get(), null.get()}));
  return {};
}

void AttackRange::end_victim() {
  if (place_.victim <= 0) return;
  ::kill(place_.victim, SIGKILL);
  while (::waitpid(place_.victim, nullptr, 0) < 0 && errno == EINTR) {
  }
  place_.victim = 0;
}

Launch AttackRange::launch_in(const std::string& folder, std::vector<std::string> words) const {
  Launch launch;
  launch.argv = std::move(words);
  launch.environment = environment_;
  launch.folder = folder;
  return launch;
}

// Recreates the repository and its work tree, which the last attack may have damaged.
Status AttackRange::fresh_project() {
  std::error_code ignored;
  std::filesystem::remove_all(place_.project, ignored);
  std::filesystem::remove_all(place_.worktree, ignored);
  std::filesystem::remove_all(harm_file(place_), ignored);
  TRY(put(join_path(place_.project, ".ralph/settings.json"), "{}\n"));
  TRY(put(join_path(place_.project, ".ralph/runs/1/journal.jsonl"), "{}\n"));
  TRY(put(join_path(place_.project, ".claude/settings.json"), "{}\n"));
  TRY(put(join_path(place_.project, "check.sh"), "#!/bin/sh\n", 0755));
  for (const auto& words : new_repository_with_work_tree("ralph/x", place_.worktree)) {
    TRY_VALUE(const CommandResult ran, run_command(launch_in(place_.project, words), kRangePatience));
    if (ran.exit_code != 0) return fail(ErrorKind::kIo, "{} failed: {}", join(words, " "), ran.output);
  }
  return {};
}

Result<SandboxPlan> AttackRange::plan_for(const std::string& project) const {
  SandboxRequest request;
  request.project = project;
  request.home = place_.home;
  request.private_home = join_path(place_.base, "private");
  request.helper = helper_;
  request.path = kPath;
  if (project == place_.project) request.guarded = {join_path(project, "check.sh")};
  request.limits = {kProcesses, kMemory, 0};
  request.uid = static_cast<int>(::geteuid());
  request.gid = static_cast<int>(::getegid());
  return plan_sandbox(request, this_machine());
}

bool AttackRange::harms(const Attack& attack, const std::string& folder) const {
  if (attack.runs_git) {
    for (const auto& words : everyday_commands())
      static_cast<void>(run_command(launch_in(folder, words), kRangePatience));
  }
  char byte = 0;
  if (attack.sends_packet) return ::recv(udp_.get(), &byte, 1, MSG_DONTWAIT) == 1;
  return attack.harmed && attack.harmed(place_);
}

Result<AttackResult> AttackRange::run(const Attack& attack) {
  if (attack.runs_git) TRY(fresh_project());
  const std::string& folder = attack.in == AttackIn::kWorktree ? place_.worktree : place_.project;
  Launch launch = launch_in(folder, {helper_, "sandbox", "attack", std::string(attack.name), to_text(place_)});
  AttackResult result{&attack, false, {}};
  TRY_VALUE(const SandboxPlan plan, plan_for(folder));
  TRY_VALUE(const CommandResult ran,
            run_command(direct_ ? std::move(launch) : enclosure_.inside(plan, std::move(launch)), kRangePatience));
  result.through = ran.exit_code == kAttackThrough;
  result.how = first_line(ran.output);
  if (!is_one_of(ran.exit_code, std::array{kAttackStopped, kAttackThrough}))
    result.how = fmt::format("the attacker ended with {}: {}", ran.exit_code, result.how);
  if (!direct_) TRY(take_away_forbidden(plan, "now"));
  if (harms(attack, folder)) {
    result.how = result.through ? result.how + ", and the host obeyed" : "the host obeyed";
    result.through = true;
  }
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(place_.victim), &info, WEXITED | WNOHANG | WNOWAIT);
  if (info.si_pid != 0) {
    end_victim();
    TRY(start_victim());
  }
  return result;
}

}  // namespace ralph::cli
