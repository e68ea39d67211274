#include "checks/lsp/hub.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "checks/diagnostics/report.h"
#include "json/fields.h"
#include "os/guardian.h"
#include "os/poll.h"
#include "os/process_tree.h"
#include "os/unix_socket.h"

namespace ralph::lsp {
namespace {

constexpr size_t kMostRequest = 8 << 20, kMostClients = 64, kInFlight = 8;
constexpr Milliseconds kGoodbye{2'000};           // for shutdown and exit
constexpr Milliseconds kRequestPatience{10'000};  // for a client that has connected but sends nothing
constexpr Milliseconds kStartPatience{60'000};    // for servers that load the project, until a client is told so

// Whether the peer is this user or root.
bool is_own_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == ::geteuid() || peer.uid == 0);
}

json::object failure(std::string_view why) {
  return {{"failure", to_json_string(why)}, {"findings", json::array()}};
}

}  // namespace

Hub::Hub(HubSetup setup) : setup_(std::move(setup)) {
  become_subreaper();
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGCHLD}) ::sigaddset(&set, signal);
  ::sigprocmask(SIG_BLOCK, &set, &old_mask_);
  ::signal(SIGPIPE, SIG_IGN);
  signals_ = Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  for (const ServerChoice& choice : setup_.servers)
    servers_.push_back(std::make_unique<Server>(choice, setup_.project, setup_.environment));
  used_ = clock_.monotonic();
}

Hub::~Hub() {
  signals_.close();
  ::sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
}

Server* Hub::server_named(std::string_view name) {
  for (const auto& server : servers_) {
    if (server->row().name == name) return server.get();
  }
  return nullptr;
}

void Hub::serve(Fd listener) {
  listener_ = std::move(listener);
  ::fcntl(listener_.get(), F_SETFL, ::fcntl(listener_.get(), F_GETFL) | O_NONBLOCK);
  if (!setup_.owned) {
    for (const auto& server : servers_) server->start(clock_.monotonic());
  }
  while (!stopped_) {
    const bool busy = !clients_.empty() || setup_.owned;
    if (!busy && clock_.monotonic() >= used_ + setup_.idle) break;
    wait(busy ? std::nullopt : std::optional(used_ + setup_.idle));
    settle();
  }
  // From here on nobody can find this hub; new clients start another one.
  if (!setup_.socket.empty()) ::unlink(setup_.socket.c_str());
  listener_.close();
  end_servers();
  for (Client& client : clients_) {
    if (client.waits_for_end) reply(client, {{"stopped", true}});
    if (!client.answered) reply(client, failure("the language servers were stopped"));
    write(client);
  }
}

Result<json::object> Hub::ask(const json::object& request) {
  Client& client = clients_.emplace_back();
  client.local = client.asked = true;
  handle_request(client, to_compact_json(request));
  settle();
  while (!client.answered && !stopped_) {
    wait(std::nullopt);
    settle();
  }
  end_servers();
  if (!client.answered) return fail(ErrorKind::kInterrupted, "interrupted");
  TRY_VALUE(const json::value answer, parse_json(client.out, "the answer"));
  return answer.as_object();
}

void Hub::wait(std::optional<MonotonicTime> until) {
  std::vector<pollfd> fds = {{signals_.get(), POLLIN, 0},
                             {setup_.guardian, POLLIN, 0},
                             {clients_.size() < kMostClients ? listener_.get() : -1, POLLIN, 0}};
  for (const auto& server : servers_) {
    if (const auto deadline = server->deadline()) until = until ? std::min(*until, *deadline) : *deadline;
    fds.push_back({server->stdout_fd(), POLLIN, 0});
    fds.push_back({server->stderr_fd(), POLLIN, 0});
    fds.push_back({server->pending_stdin_fd(), POLLOUT, 0});
  }
  const size_t of_clients = fds.size(), clients = clients_.size();
  for (const Client& client : clients_) {
    fds.push_back({client.fd.get(), static_cast<short>(client.out.empty() ? POLLIN : POLLOUT), 0});
    if (client.asked && !client.waits_for_start) continue;
    const MonotonicTime end = client.came + (client.asked ? kStartPatience : kRequestPatience);
    if (!client.answered) until = until ? std::min(*until, end) : end;
  }
  int timeout = -1;
  if (until) timeout = static_cast<int>(std::clamp<long long>((*until - clock_.monotonic()).count(), 0, 1 << 30));
  poll_or_look(fds, timeout);
  if (fds[0].revents) take_signals();
  if (fds[1].revents) {
    if (!setup_.socket.empty()) ::unlink(setup_.socket.c_str());
    exit_without_guardian("");
  }
  for (size_t i = 0; i < servers_.size(); ++i) {
    Server& server = *servers_[i];
    // Handling an earlier descriptor may have closed this one.
    if (fds[3 + 3 * i].revents && server.stdout_fd() >= 0) server.read(clock_.monotonic());
    if (fds[4 + 3 * i].revents && server.stderr_fd() >= 0) server.read_stderr();
    if (fds[5 + 3 * i].revents) server.write();
  }
  for (size_t i = 0; i < clients; ++i) {
    if (!fds[of_clients + i].revents) continue;
    if (clients_[i].out.empty()) {
      read(clients_[i]);
    } else {
      write(clients_[i]);
    }
  }
  if (fds[2].revents) accept_clients();
}

void Hub::take_signals() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (info.ssi_signo != SIGCHLD) stopped_ = true;
  }
  reap();
}

void Hub::reap() {
  int raw = 0;
  for (pid_t pid = ::waitpid(-1, &raw, WNOHANG); pid > 0; pid = ::waitpid(-1, &raw, WNOHANG)) {
    for (const auto& server : servers_) {
      if (server->pid() != pid) continue;
      while (server->stdout_fd() >= 0 && wait_readable(server->stdout_fd(), clock_.monotonic()))
        server->read(clock_.monotonic());  // its remaining output
      server->ended(WIFSIGNALED(raw) ? ExitStatus{128 + WTERMSIG(raw), WTERMSIG(raw)}
                                     : ExitStatus{WEXITSTATUS(raw), 0});
    }
  }
}

void Hub::accept_clients() {
  for (;;) {
    Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) return;
    if (!is_own_user(fd.get())) continue;
    Client& client = clients_.emplace_back();
    client.fd = std::move(fd);
    client.came = clock_.monotonic();
  }
}

void Hub::read(Client& client) {
  char buffer[65536];
  const ssize_t n = ::recv(client.fd.get(), buffer, sizeof buffer, 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) {
    client.fd.close();  // the client has disconnected; drop its question
    return;
  }
  if (client.asked) return;
  client.in.append(buffer, static_cast<size_t>(n));
  const size_t end = client.in.find('\n');
  if (end == std::string::npos && client.in.size() <= kMostRequest) return;
  client.asked = true;
  handle_request(client, end == std::string::npos ? std::string_view() : std::string_view(client.in).substr(0, end));
}

void Hub::write(Client& client) {
  while (client.fd && !client.out.empty()) {
    const ssize_t n = ::send(client.fd.get(), client.out.data(), client.out.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) return client.fd.close();
    client.out.erase(0, static_cast<size_t>(n));
  }
}

void Hub::reply(Client& client, json::object answer) const {
  answer["version"] = kProtocolVersion;
  client.out = to_compact_json(answer) + "\n";
  client.answered = true;
}

void Hub::handle_request(Client& client, std::string_view line) {
  const auto request = parse_json(line, "a request");
  const std::string_view what = request ? find_string(*request, "do").value_or("") : "";
  if (what == "status") return reply(client, status());
  used_ = clock_.monotonic();
  if (setup_.owned && what != "check") {
    reply(client, failure("these servers belong to a run, and end with it"));
  } else if (what == "stop") {
    client.waits_for_end = stopped_ = true;
  } else if (what == "start") {
    for (const auto& server : servers_) {
      if (!server->is_running()) server->start(clock_.monotonic());
    }
    client.waits_for_start = true;
  } else if (what == "check") {
    begin_check(client, *request);
  } else {
    reply(client, failure("this is no request of ralph's, or one of another version"));
  }
}

void Hub::begin_check(Client& client, const json::value& request) {
  Server* server = server_named(find_string(request, "server").value_or(""));
  const json::value* files = find(request, "files");
  if (!server || !files || !files->is_array()) return reply(client, failure("there is no such server here"));
  if (!server->is_running()) server->start(clock_.monotonic());
  Check check{server, {}};
  check.starts = server->starts();
  for (const json::value& file : files->get_array()) {
    if (!file.is_string()) continue;
    const std::string path = absolute_path(std::string_view(file.get_string()), setup_.project);
    // A file that is not checked must not appear clean.
    if (!path.starts_with(setup_.project + "/"))
      return reply(client, failure(fmt::format("{} is not in {}", path, setup_.project)));
    if (!language_of(server->row(), path).empty()) check.files.push_back(path);
  }
  client.check = std::move(check);
}

void Hub::settle() {
  const MonotonicTime now = clock_.monotonic();
  for (const auto& server : servers_) server->enforce_deadline(now);
  for (Client& client : clients_) {
    if (!client.asked && now >= client.came + kRequestPatience) client.fd.close();
    if (!client.answered) go_on(client);
    if (client.answered && !client.local) write(client);
  }
  for (auto client = clients_.begin(); client != clients_.end();) {
    const bool over = !client->local && (!client->fd || (client->answered && client->out.empty()));
    if (over) forget(*client);
    client = over ? clients_.erase(client) : std::next(client);
  }
}

void Hub::forget(Client& client) {
  if (!client.check || client.check->starts != client.check->server->starts()) return;
  for (const auto& [question, path] : client.check->in_flight) client.check->server->talk().forget(question);
}

void Hub::go_on(Client& client) {
  if (client.waits_for_start) {
    const bool all = std::all_of(servers_.begin(), servers_.end(),
                                 [](const auto& server) { return server->state() != ServerState::kStarting; });
    if (all || clock_.monotonic() >= client.came + kStartPatience) reply(client, status());
  }
  if (client.check) go_on_with_check(client);
}

void Hub::go_on_with_check(Client& client) {
  Check& check = *client.check;
  Server& server = *check.server;
  if (check.starts != server.starts()) return reply(client, failure(server.earlier_reason()));
  if (server.state() == ServerState::kFailed) return reply(client, failure(server.reason()));
  if (server.state() == ServerState::kStarting) return;
  if (!check.looked) {
    check.looked = true;
    server.look_at_disk();
  }
  // Some answers are known without asking the server.
  while (take_answers(client) || ask_more(client)) {
    if (client.answered) return;
  }
  server.say();
  if (server.state() == ServerState::kFailed) return reply(client, failure(server.reason()));
  if (!check.in_flight.empty()) return;
  server.count_answer();
  json::array findings;
  for (const diagnostics::Finding& finding : check.findings) findings.push_back(json_from(finding));
  reply(client, {{"failure", ""}, {"findings", std::move(findings)}});
}

// False if there are none.
bool Hub::take_answers(Client& client) {
  Check& check = *client.check;
  bool some = false;
  for (auto question = check.in_flight.begin(); question != check.in_flight.end();) {
    const auto answer = check.server->talk().take_answer(question->first);
    if (!answer) {
      ++question;
      continue;
    }
    some = true;
    used_ = clock_.monotonic();
    question = check.in_flight.erase(question);
    check.findings.insert(check.findings.end(), answer->findings.begin(), answer->findings.end());
    if (answer->failure.empty()) continue;
    reply(client, failure(answer->failure));
    break;
  }
  return some;
}

// False if there is nothing to ask now.
bool Hub::ask_more(Client& client) {
  Check& check = *client.check;
  bool some = false;
  while (check.in_flight.size() < kInFlight && !check.files.empty()) {
    some = true;
    const std::string path = std::move(check.files.front());
    check.files.pop_front();
    if (!path_exists(path)) continue;  // it was removed, so there is nothing to find
    const auto text = read_before_end(path, kMostText + 1, kMostText + 1);
    if (!text || text->size() > kMostText) {
      reply(client,
            failure(text ? fmt::format("{} has more than {}", path, human_bytes(kMostText)) : text.error().message));
      break;
    }
    check.in_flight[check.server->talk().ask(path, *text)] = path;
  }
  return some;
}

json::object Hub::status() const {
  json::array servers;
  for (const auto& server : servers_) {
    servers.push_back(json::object{{"name", to_json_string(server->row().name)},
                                   {"state", to_json_string(to_string(server->state()))},
                                   {"pid", server->pid()},
                                   {"reason", to_json_string(server->reason())},
                                   {"answers", server->answers()}});
  }
  return {{"project", to_json_string(setup_.project)},
          {"pid", guardian_pid()},
          {"idleSeconds", (clock_.monotonic() - used_).count() / 1000},
          {"endsAfterIdleSeconds", setup_.idle.count() / 1000},
          {"servers", std::move(servers)}};
}

// Uses their own protocol first, then ends them like any other child process.
void Hub::end_servers() {
  for (const auto& server : servers_) {
    if (!server->is_running()) continue;
    if (server->state() == ServerState::kFailed || !server->talk().has_begun()) {
      server->kill("stopped");
      continue;
    }
    server->talk().end();
    server->say();
  }
  const MonotonicTime until = clock_.monotonic() + kGoodbye;
  const auto runs = [](const auto& server) { return server->is_running(); };
  while (std::any_of(servers_.begin(), servers_.end(), runs) && clock_.monotonic() < until) {
    listener_.close();
    wait(until);
  }
  if (has_children()) end_all_descendants(stop_abandoned());
}

}  // namespace ralph::lsp
