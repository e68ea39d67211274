// ralph lsp start, status, stop: language servers that stay warm between edits.
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "checks/lsp/warm.h"
#include "cli/accept.h"
#include "cli/lsp_setup.h"
#include "cli/project.h"
#include "cli/registry.h"
#include "engine/diagnostics_setup.h"
#include "os/descriptors.h"
#include "os/files.h"
#include "os/poll.h"
#include "os/process_end.h"
#include "os/tty.h"

namespace ralph::cli {
namespace {

constexpr Milliseconds kLspStartPatience{90'000}, kLspStatusPatience{5'000}, kLspStopPatience{10'000},
    kTakeoverPatience{15'000};
constexpr std::string_view kDefaultIdle = "30m";

constexpr std::array kLspStartOptions = {
    Option{"idle", 0, "TIME", "End after this long without a request (default 30m)."},
    Option{"json", 0, "", "Print JSON."},
    kTrustOption,
};
constexpr std::array kServerNames = {
    Positional{"SERVER", "The name of a server (default: all that fit).", false, true,
               "clangd|pyright-langserver|gopls|rust-analyzer|typescript-language-server"}};
constexpr std::array kLspJsonOption = {Option{"json", 0, "", "Print JSON."}};

std::string status_text(const json::object& status) {
  const json::value value = status;
  const auto servers = status.at("servers").as_array();
  std::string text =
      fmt::format("{}: language servers, pid {}, end after {} without a request\n",
                  find_string(value, "project").value_or(""), find_integer(value, "pid").value_or(0),
                  human_duration(Milliseconds(find_integer(value, "endsAfterIdleSeconds").value_or(0) * 1000)));
  for (const json::value& server : servers) {
    const std::string reason(find_string(server, "reason").value_or(""));
    const long long answers = find_integer(server, "answers").value_or(0);
    text +=
        fmt::format("  {:<27}{:<9}{}\n", find_string(server, "name").value_or(""),
                    find_string(server, "state").value_or(""), reason.empty() ? count_of(answers, "answer") : reason);
  }
  return printable_lines(text);
}

bool some_have_failed(const json::object& status) {
  for (const json::value& server : status.at("servers").as_array()) {
    if (find_string(server, "state") == "failed") return true;
  }
  return false;
}

void print_servers(const json::object& status, bool as_json) {
  fmt::print("{}", as_json ? to_pretty_json(status) : status_text(status));
}

// Starts the process that keeps the servers. Returns what it reports: "ready", "busy", or why it failed.
Result<std::string> start_keeper(KeepRequest request) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(ErrorKind::kIo, "cannot make a pipe: {}", errno_text(errno));
  const Fd reads(ends[0]);
  Fd writes(ends[1]);
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) return fail(ErrorKind::kIo, "cannot start the language servers: {}", errno_text(errno));
  if (pid == 0) {
    leave_caller();
    constexpr int kKept = 3;
    if (writes.get() != kKept) ::dup2(writes.get(), kKept);
    release_descriptors(kKept + 1, ~0U, Descriptors::kClose);
    request.ready = kKept;
    ::_exit(keep_servers(request));
  }
  writes.close();
  std::string line;
  while (!line.ends_with('\n')) {
    char byte[512];
    const ssize_t n = ::read(reads.get(), byte, sizeof byte);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail(ErrorKind::kIo, "the process for the language servers was killed before it was ready");
    line.append(byte, static_cast<size_t>(n));
  }
  return std::string(trim(line));
}

std::vector<std::string> kept_names(const json::object& status) {
  std::vector<std::string> names;
  for (const json::value& server : status.at("servers").as_array())
    names.emplace_back(find_string(server, "name").value_or(""));
  return names;
}

// The status of the servers kept for this project, including those asked for, whichever process starts them.
Result<json::object> start_all(const std::string& socket, LspRequest request, Milliseconds idle,
                               const Environment& environment) {
  TRY_VALUE(auto choices, choose_servers(request, environment));
  const SystemClock clock;
  const MonotonicTime until = clock.monotonic() + kTakeoverPatience;
  for (;;) {
    const auto there = lsp::ask_hub(socket, {{"do", "status"}}, kLspStatusPatience);
    if (there) {
      std::vector<std::string> kept = kept_names(*there);
      const bool all = std::all_of(choices.begin(), choices.end(),
                                   [&](const lsp::ServerChoice& choice) { return is_one_of(choice.row->name, kept); });
      if (all) return lsp::ask_hub(socket, {{"do", "start"}}, kLspStartPatience);
      // One process keeps them all, so it is restarted with the old servers and the new ones.
      request.names = std::move(kept);
      for (const lsp::ServerChoice& choice : choices) request.names.emplace_back(choice.row->name);
      TRY_VALUE(choices, choose_servers(request, environment));
      TRY(lsp::ask_hub(socket, {{"do", "stop"}}, kLspStopPatience));
    } else if (there.error().kind != ErrorKind::kNotFound) {
      return tl::unexpected(there.error());
    }
    TRY_VALUE(const std::string said, start_keeper({request.project, choices, idle}));
    if (said == kReady && clock.monotonic() < until) continue;
    if (said != kBusyLine && said != kReady) return fail(ErrorKind::kIo, "{}", said);
    // Another process was faster, or the previous one is about to end.
    if (clock.monotonic() >= until)
      return fail(ErrorKind::kBusy, "another process is about to start or end the language servers of {}; try again",
                  request.project);
    sleep_for(Milliseconds(50));  // until the other one is ready or gone
  }
}

Result<std::string> lsp_socket_of(const Environment& environment, const std::string& project) {
  std::string socket = warm_socket(environment, project);
  if (!socket.empty()) return socket;
  return fail(ErrorKind::kInput, "neither XDG_STATE_HOME nor HOME is set; set one of them to an absolute path");
}

Result<int> lsp_start(const Arguments& typed) {
  const Environment environment = Environment::of_this_process();
  const std::string_view idle_text = typed.value("idle").value_or(kDefaultIdle);
  const auto idle = parse_duration(idle_text);
  if (!idle || idle->count() <= 0)
    return fail(ErrorKind::kUsage, "--idle: \"{}\" is not a duration; expected 10m, 2h or the like", idle_text);
  if (is_below_agent(environment))
    return fail(ErrorKind::kUsage,
                "ralph lsp start: what an agent starts in a run is ended with its turn; start the servers outside "
                "of the run");
  TRY_VALUE(const Project place, enter_project());
  TRY_VALUE(const LoadedSettings loaded, load_settings(place.folder));
  print_notes(loaded);
  TRY(accept_project({loaded, place.folder, typed.has("trust"), typed.has("json")}));
  TRY_VALUE(const std::string socket, lsp_socket_of(environment, place.folder));
  LspRequest request{place.folder, {}, typed.has("trust"), excluded_paths(loaded.settings.diagnostics)};
  request.names.assign(typed.positionals().begin(), typed.positionals().end());
  // Some servers read the whole project first, which takes a while.
  if (is_terminal(STDERR_FILENO)) fmt::print(stderr, "Starting language servers …\n");
  TRY_VALUE(const json::object status, start_all(socket, request, *idle, environment));
  const json::value* ends = status.if_contains("endsAfterIdleSeconds");
  if (typed.has("idle") && ends && ends->is_int64() && ends->as_int64() != idle->count() / 1000)
    fmt::print(stderr,
               "ralph: --idle {} has no effect: the servers are already running, and end after {} without a request; "
               "run 'ralph lsp stop' first\n",
               idle_text, human_duration(Milliseconds(ends->as_int64() * 1000)));
  print_servers(status, typed.has("json"));
  return some_have_failed(status) ? 1 : 0;
}

int print_no_servers(bool as_json, const std::string& project) {
  if (as_json) {
    fmt::print("{}", to_pretty_json(json::object{{"project", to_json_string(project)}, {"servers", json::array()}}));
  } else {
    fmt::print("No language servers are kept warm for this project; 'ralph lsp start' starts them.\n");
  }
  return 1;
}

Result<int> lsp_status(const Arguments& typed) {
  TRY_VALUE(const Project place, enter_project());
  TRY_VALUE(const std::string socket, lsp_socket_of(Environment::of_this_process(), place.folder));
  const auto said = lsp::ask_hub(socket, {{"do", "status"}}, kLspStatusPatience);
  if (!said && said.error().kind == ErrorKind::kNotFound) return print_no_servers(typed.has("json"), place.folder);
  if (!said) return tl::unexpected(said.error());
  print_servers(*said, typed.has("json"));
  return some_have_failed(*said) ? 1 : 0;
}

// For a process that does not answer: kills its guardian, so that its loop ends everything it has started.
Result<int> kill_keeper(const std::string& lock, const Error& why) {
  ProcessInfo keeper;
  const std::vector<std::string> words = split(trim(read_file(lock).value_or("")), ' ');
  if (words.size() == 2) {
    keeper.pid = static_cast<int>(parse_count(words[0]).value_or(0));
    keeper.start_time = static_cast<unsigned long long>(parse_count(words[1]).value_or(0));
  }
  if (keeper.pid <= 0 || start_time_of(keeper.pid) != keeper.start_time || !send_signal(keeper, SIGKILL))
    return tl::unexpected(why);
  const SystemClock clock;
  wait_for_end(keeper, clock.monotonic() + kLspStopPatience);
  fmt::print("They did not answer, and were killed (pid {}).\n", keeper.pid);
  return 0;
}

Result<int> lsp_stop(const Arguments&) {
  const Environment environment = Environment::of_this_process();
  TRY_VALUE(const Project place, enter_project());
  TRY_VALUE(const std::string socket, lsp_socket_of(environment, place.folder));
  const auto said = lsp::ask_hub(socket, {{"do", "stop"}}, kLspStopPatience);
  if (said) {
    fmt::print("Stopped.\n");
    return 0;
  }
  if (said.error().kind != ErrorKind::kNotFound) return kill_keeper(warm_lock(environment, place.folder), said.error());
  fmt::print("No language servers are kept warm for this project.\n");
  return 0;
}

}  // namespace

const Command kLspStart = {
    "lsp start",
    "Keep language servers warm, so that checks after an edit don't wait for them to start.",
    R"(Starts the installed language servers that fit this project, or those that you
name, and keeps them running in the background until `ralph lsp stop`, or until
nobody has asked them anything for a while. `ralph hooks post-tool-lsp` and
`ralph hooks post-tool` then ask them about edited files; without them, type
checkers and compilers answer. `ralph check --only clangd` asks them too, and
starts a server for that one check if none is running.

Servers: clangd, pyright-langserver, gopls, rust-analyzer and
typescript-language-server. A server inside the project, such as
node_modules/.bin/pyright-langserver, is started only if you have accepted the
project (`ralph trust`).

Exit codes: 0 all are ready, or still reading the project after a minute, 1 one
has failed, 2 bad usage.)",
    "ralph lsp start\n"
    "ralph lsp start clangd --idle 2h\n"
    "ralph lsp start pyright-langserver gopls",
    kLspStartOptions,
    kServerNames,
    lsp_start,
};

const Command kLspStatus = {
    "lsp status",
    "Show the language servers that are kept warm for this project.",
    "Exit codes: 0 all are well, 1 there are none or one has failed, 2 bad usage.",
    "ralph lsp status\nralph lsp status --json",
    kLspJsonOption,
    {},
    lsp_status,
};

const Command kLspStop = {
    "lsp stop",
    "Stop the language servers of this project.",
    "Exits with 0 even if there are none.",
    "ralph lsp stop",
    {},
    {},
    lsp_stop,
};

}  // namespace ralph::cli
