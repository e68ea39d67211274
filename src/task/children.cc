#include "task/children.h"

#include <cerrno>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "os/clock.h"
#include "os/poll.h"
#include "os/unix_socket.h"
#include "task/attempt_folder.h"
#include "task/bus.h"

namespace ralph {
namespace {

constexpr size_t kMostSilentClients = 64;

Status add_to(int epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0) return {};
  return fail(ErrorKind::kIo, "cannot listen to a socket: {}", errno_text(errno));
}

bool is_same_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::getuid();
}

}  // namespace

Children::~Children() {
  ::unlink(setup_.socket.c_str());
}

Result<std::unique_ptr<Children>> Children::open(ChildrenSetup setup, LinuxProcesses& processes) {
  std::unique_ptr<Children> children(new Children(std::move(setup)));
  TRY_VALUE(children->listener_, listen_at(children->setup_.socket, SocketKind::kPackets));
  TRY(set_nonblocking(children->listener_.get()));
  children->arrivals_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
  TRY(add_to(children->arrivals_.get(), children->listener_.get()));
  processes.watch_descriptor(children->arrivals_.get());
  return children;
}

void Children::handle_event(const Event& event) {
  if (const auto* ready = std::get_if<DescriptorReady>(&event); ready && ready->fd == arrivals_.get()) serve();
  if (const auto* job = std::get_if<JobEnded>(&event)) ended(*job);
}

std::vector<int> Children::ready_sockets() const {
  epoll_event events[16];
  std::vector<int> ready;
  const int count = ::epoll_wait(arrivals_.get(), events, 16, 0);
  for (int i = 0; i < count; ++i) ready.push_back(events[i].data.fd);
  if (count >= 0) return ready;
  // epoll failed: check each socket.
  ready.push_back(listener_.get());
  for (const auto& [fd, client] : clients_) {
    if (wait_readable(fd, {})) ready.push_back(fd);
  }
  return ready;
}

void Children::serve() {
  for (const int fd : ready_sockets()) {
    if (fd == listener_.get()) {
      Fd client(::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!client || !is_same_user(client.get())) continue;
      if (clients_.size() >= kMostSilentClients) {  // drop a client that requests nothing
        // Remove it before closing it: a child between fork and exec may still have a copy.
        ::epoll_ctl(arrivals_.get(), EPOLL_CTL_DEL, clients_.begin()->first, nullptr);
        clients_.erase(clients_.begin());
      }
      if (add_to(arrivals_.get(), client.get())) clients_[client.get()] = std::move(client);
      continue;
    }
    const auto found = clients_.find(fd);
    if (found == clients_.end()) continue;
    Fd client = std::move(found->second);
    clients_.erase(found);
    ::epoll_ctl(arrivals_.get(), EPOLL_CTL_DEL, fd, nullptr);
    if (auto packet = receive_packet(fd)) answer(std::move(client), *packet);
  }
}

void Children::answer(Fd client, const Packet& packet) {
  const int socket = client.get();
  const auto request = receive_request(packet);
  Result<ChildStarted> started = request ? start(*request, client) : tl::unexpected(request.error());
  // Ignore errors: the client may be gone.
  if (!started) static_cast<void>(send_packet(socket, encode(ChildStarted{{}, {}, started.error().message})));
}

Result<ChildStarted> Children::start(const ChildRequest& request, Fd& client) {
  const auto parent = depths_.find(request.parent);
  if (parent == depths_.end())
    return fail(ErrorKind::kUsage, "\"{}\" is not an attempt or child run of this task", request.parent);
  const int depth = parent->second + 1;
  if (depth > kMaxChildDepth)
    return fail(ErrorKind::kUsage, "child runs can be nested at most {} deep", kMaxChildDepth);
  if (alive() >= kMaxChildren)
    return fail(ErrorKind::kUsage, "this task already has {} child runs; more are not allowed at once", kMaxChildren);
  RunInfo info;
  info.parent_run_id = request.parent;
  info.ralph_run_id = setup_.ralph_run_id;
  info.agent = request.words.empty() ? request.agent : base_name(request.words[0]);
  info.cwd = request.folder;
  info.commandline = setup_.redactor.redact(quote_shell_words(request.words));
  TRY_VALUE(info, create_attempt(setup_.place, std::move(info), setup_.clock.wall()));

  JobRequest job;
  job.name = info.run_id;
  job.launch.argv = {setup_.program, "job-child", "--folder", info.folder};
  if (!request.agent.empty()) job.launch.argv.insert(job.launch.argv.end(), {"--agent", request.agent});
  if (!request.words.empty()) {
    job.launch.argv.emplace_back("--");
    job.launch.argv.insert(job.launch.argv.end(), request.words.begin(), request.words.end());
  }
  job.launch.environment = setup_.environment;
  job.launch.folder = setup_.place.folder();
  job.launch.input = encode(order_for(request, info));
  const auto started = setup_.jobs.start(job);
  if (!started) {
    static_cast<void>(correct_dead_attempt(info, AttemptStatus::kFailed, started.error().message));
    return tl::unexpected(started.error());
  }
  depths_[info.run_id] = depth;
  ChildStarted answer{info.run_id, info.folder, {}};
  static_cast<void>(send_packet(client.get(), encode(answer)));
  tell_bus(bus_type::kRunStart, info, fmt::format("child run of {}", request.parent));
  children_.emplace(*started, Child{std::move(info), std::move(client)});
  return answer;
}

ChildOrder Children::order_for(const ChildRequest& request, const RunInfo& info) const {
  Environment environment;
  for (const std::string& line : request.environment) environment.set_line(line);
  environment.set("RALPH_RUN_ID", setup_.ralph_run_id);
  for (const auto& variables : {task_variables(setup_.place), attempt_variables(info)})
    for (const auto& [name, value] : variables) environment.set(name, value);
  environment.set("RALPH_JOB_SOCKET", setup_.socket);
  return {request.prompt, environment.as_lines(), setup_.sandbox ? setup_.project : "",
          setup_.sandbox, setup_.machine,         setup_.sync_ms};
}

void Children::ended(const JobEnded& ended) {
  const auto found = children_.find(ended.job);
  if (found == children_.end()) return;
  const Child child = std::move(found->second);
  children_.erase(found);
  int code = ended.status.code;
  auto info = read_run_info(child.info.folder);
  // It was killed before it could record its end.
  if (!info || info->status == AttemptStatus::kRunning) {
    const bool asked = ended.status.signal != 0;
    static_cast<void>(correct_dead_attempt(info.value_or(child.info),
                                           asked ? AttemptStatus::kStopped : AttemptStatus::kFailed,
                                           asked ? "it was ended" : "it ended without a trace", code));
    info = read_run_info(child.info.folder);
  } else if (info->exit_code >= 0) {
    code = info->exit_code;
  }
  const bool never_ran = info && info->pid == 0 && ended.status.signal == 0;
  const std::string error = never_ran ? info->error_summary : "";
  static_cast<void>(send_packet(child.client.get(), encode(ChildEnded{code, error})));
  setup_.on_end();
  const bool good = code == 0;
  tell_bus(good ? bus_type::kRunStop : bus_type::kRunCrash, child.info,
           error.empty() ? fmt::format("exit code {}", code) : error);
}

std::vector<std::string> Children::end_all() {
  std::vector<std::string> ids;
  std::vector<JobId> jobs;
  for (const auto& [job, child] : children_) {
    ids.push_back(child.info.run_id);
    jobs.push_back(job);
    static_cast<void>(setup_.jobs.request_end(job));
  }
  for (const JobId job : jobs) {
    if (const auto end = setup_.jobs.end(job)) {
      ended(*end);
    } else if (const auto state = setup_.jobs.state(job); state && *state) {  // its end was just consumed
      ended({job, **state, {}});
    }
  }
  return ids;
}

void Children::tell_bus(std::string_view type, const RunInfo& info, const std::string& text) {
  BusMessage message;
  message.type = type;
  message.project = setup_.place.project;
  message.task = setup_.place.task;
  message.run = info.run_id;
  message.body = text;
  static_cast<void>(post_message(setup_.place.bus(), std::move(message)));  // a child run does not depend on the bus
}

}  // namespace ralph
