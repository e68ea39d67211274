#include "sandbox/docker_machine.h"

#include <filesystem>
#include <sys/stat.h>

#include "base/text.h"
#include "base/utf8.h"
#include "os/files.h"
#include "os/run_command.h"
#include "sandbox/enclosure.h"
#include "sandbox/private_home.h"

namespace ralph {
namespace {

namespace fs = std::filesystem;

constexpr Milliseconds kAnswerTime{20'000}, kCommandTime{600'000};  // a machine's image may have to be fetched
constexpr size_t kMostWrites = 64;                                  // beyond this, a restart is cheaper
constexpr long long kMostBytesOfFile = 64 << 20;                    // per file

std::optional<FileStamp> stamp_of(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0 || S_ISDIR(info.st_mode)) return std::nullopt;
  return FileStamp{info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_size, info.st_mode};
}

// Files that ralph writes for itself all the time and nobody inside needs: everything in .ralph except the settings.
bool is_own_record(const std::string& project, const std::string& path) {
  const std::string_view rest = std::string_view(path).substr(project.size());
  return rest.starts_with("/.ralph/") && !(rest.starts_with("/.ralph/settings.") && rest.ends_with(".json"));
}

}  // namespace

Result<DockerCli> find_docker_cli(const Environment& environment, const std::string& folder) {
  std::vector<std::string> why;
  for (const auto& words : {Words{"docker", "sandbox"}, Words{"sbx"}}) {
    DockerCli cli{words};
    const auto program = program_outside(words[0], environment, folder);
    if (!program) continue;
    cli.words[0] = *program;
    Launch launch;
    launch.argv = machine_list(cli);
    launch.environment = environment;
    launch.folder = folder;
    const auto answered = run_command(std::move(launch), kAnswerTime);
    if (answered && answered->exit_code == 0) return cli;
    why.push_back(fmt::format("'{} ls' {}", join(words, " "),
                              answered ? fmt::format("says: {}", first_line(answered->output)) : "can't be started"));
  }
  return fail(ErrorKind::kNotFound, "{}", why.empty() ? "neither docker nor sbx is installed" : join(why, "; "));
}

FileStamps stamps_below(const std::string& folder) {
  FileStamps stamps;
  std::error_code error;
  for (auto at = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    const std::string path = at->path().string();
    if (is_own_record(folder, path)) {
      at.disable_recursion_pending();
    } else if (const auto stamp = stamp_of(path)) {
      stamps.emplace(path, *stamp);
    }
  }
  return stamps;
}

std::vector<std::string> changed_between(const FileStamps& then, const FileStamps& now) {
  std::vector<std::string> changed;
  for (const auto& [path, stamp] : now) {
    const auto before = then.find(path);
    if (before == then.end() || !(before->second == stamp)) changed.push_back(path);
  }
  for (const auto& [path, stamp] : then)
    if (!now.contains(path)) changed.push_back(path);
  return changed;
}

Launch DockerMachine::launch_of(Words words) const {
  Launch launch;
  launch.argv = std::move(words);
  launch.environment = environment_;
  launch.folder = plan_.project;
  return launch;
}

Status DockerMachine::run(const Words& words, std::string_view what, std::string input) const {
  Launch launch = launch_of(words);
  launch.input = std::move(input);
  TRY_VALUE(const CommandResult ran,
            begun_ ? run_command(std::move(launch), kCommandTime) : run_until_signal(std::move(launch), kCommandTime));
  if (ran.exit_code == 0) return {};
  return fail(ErrorKind::kIo, "cannot {} the Docker Sandbox {}: {} (exit code {})", what, plan_.name,
              trim(ran.output).empty() ? "no output" : fit_to_width(trim(ran.output), 300), ran.exit_code);
}

// The login survives when a machine is recreated. An empty .json file is not valid JSON, and the agent would not start.
Status DockerMachine::prepare_state() const {
  if (plan_.state.empty()) return {};
  TRY(make_private_home(plan_.state));
  for (const std::string& name : plan_.kept) {
    const std::string path = join_path(plan_.state, name);
    if (!name.ends_with(".json")) {
      TRY(make_directories(path));
    } else if (!path_exists(path) || trim(read_file(path).value_or("x")).empty()) {
      TRY(write_file_atomically(path, "{}\n", 0600));
    }
  }
  return {};
}

Status DockerMachine::make_or_stop() const {
  TRY_VALUE(const CommandResult listed, ask_command(launch_of(machine_list(cli_)), kAnswerTime, 1 << 20));
  const bool there = lists_machine(listed.output, plan_.name);
  const Fit fit = there ? fit_of(plan_, read_file(plan_.record).value_or("")) : Fit::kRecreate;
  if (fit == Fit::kNotOurs)
    return fail(ErrorKind::kInput,
                "there is a Docker Sandbox {} that ralph did not create for this project and agent, or no longer "
                "knows; remove it: {}",
                plan_.name, quote_shell_words(machine_discard(cli_, plan_)));
  if (there && fit == Fit::kRecreate) TRY(run(machine_discard(cli_, plan_), "remove"));
  // Write the record before any rule is set, so that the machine never may reach more than the record says.
  TRY(make_directories(parent_path(plan_.record)));
  TRY(write_file_atomically(plan_.record, record_text(plan_), 0600));
  return fit == Fit::kAsItIs ? run(machine_stop(cli_, plan_), "stop") : run(machine_create(cli_, plan_), "create");
}

// An unknown answer counts as a failure.
Status DockerMachine::check_rules() const {
  for (const std::string& host : hosts_to_be_refused(cli_, plan_)) {
    TRY_VALUE(const CommandResult answer,
              ask_command(launch_of(machine_policy_check(cli_, plan_, host)), kAnswerTime, 64 * 1024));
    const Reach reach = reach_in(answer.output);
    if (reach == Reach::kAllowed)
      return fail(ErrorKind::kInput,
                  "the Docker Sandbox {} may reach {}, which is not in sandbox.hosts, by the rules of sbx for all "
                  "sandboxes; have those deny by default ('sbx policy reset', then 'sbx policy init deny-all'), or set "
                  "sandbox.network to \"open\"",
                  plan_.name, host);
    if (reach == Reach::kUnknown)
      return fail(ErrorKind::kInput,
                  "sbx does not say which hosts the Docker Sandbox {} may reach: {}; 'sbx policy check network' is "
                  "needed (sbx 0.35 or later), or sandbox.network \"open\"",
                  plan_.name, fit_to_width(first_line(trim(answer.output + answer.errors)), 200));
  }
  return {};
}

Status DockerMachine::begin() {
  TRY(prepare_state());
  TRY(make_or_stop());
  // Rules come first: nothing from the project may run before they are set.
  TRY(run(machine_policy(cli_, plan_), "set the network rules of"));
  TRY(check_rules());
  for (const Words& step : machine_setup(cli_, plan_)) TRY(run(step, "set up"));
  if (!plan_.helper.starts_with(plan_.project + "/")) {
    TRY_VALUE(const std::string program, read_file(plan_.helper));
    TRY(write(plan_.helper, program, true, true));
  }
  seen_ = stamps_below(plan_.project);
  begun_ = true;
  return {};
}

Status DockerMachine::write(const std::string& path, std::string_view content, bool executable, bool as_root) {
  return run(machine_write(cli_, plan_, path, executable, as_root), "write to", std::string(content));
}

Status DockerMachine::set_environment(const std::map<std::string, std::string>& variables) {
  return run(machine_set_environment(cli_, plan_), "write to", environment_script(variables));
}

Status DockerMachine::catch_up(bool may_restart) {
  FileStamps now = stamps_below(plan_.project);
  const std::vector<std::string> changed = changed_between(seen_, now);
  bool restart = changed.size() > kMostWrites;
  for (const std::string& path : changed) {
    const auto stamp = now.find(path);
    restart =
        restart || (stamp != now.end() && (!S_ISREG(stamp->second.mode) || stamp->second.size > kMostBytesOfFile));
  }
  if (restart && may_restart) {
    TRY(run(machine_stop(cli_, plan_), "restart"));
  } else {
    for (const std::string& path : changed) {
      if (const auto stamp = now.find(path); stamp == now.end()) {
        TRY(run(machine_remove(cli_, plan_, path), "remove a file of"));
      } else if (S_ISLNK(stamp->second.mode)) {
        std::error_code ignored;
        TRY(run(machine_exec(cli_, plan_, {}, {"ln", "-sfn", "--", fs::read_symlink(path, ignored).string(), path}),
                "write to"));
      } else if (const auto content = read_without_links(path, static_cast<size_t>(kMostBytesOfFile))) {
        TRY(write(path, *content, (stamp->second.mode & 0100) != 0, false));
      }
    }
  }
  seen_ = std::move(now);
  return {};
}

Status DockerMachine::settle(bool stops) {
  if (stops) TRY(run(machine_stop(cli_, plan_), "stop"));
  seen_ = stamps_below(plan_.project);
  return {};
}

void DockerMachine::end() {
  if (begun_) static_cast<void>(run(machine_stop(cli_, plan_), "stop"));  // nobody is left to report an error to
  begun_ = false;
}

}  // namespace ralph
