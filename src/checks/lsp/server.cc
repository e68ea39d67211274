#include "checks/lsp/server.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "os/process_tree.h"

namespace ralph::lsp {
namespace {

constexpr Milliseconds kMuteLimit{1'000};
constexpr size_t kShownWidth = 160;
constexpr size_t kMostUnsent = 64 << 20, kKeptComplaints = 4096, kReadAtOnce = 64 * 1024;

struct PipeEnds {
  Fd read, write;
};

Result<PipeEnds> make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return fail(ErrorKind::kIo, "cannot make a pipe: {}", errno_text(errno));
  return PipeEnds{Fd(fds[0]), Fd(fds[1])};
}

void do_not_block(const Fd& fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

}  // namespace

Server::Server(ServerChoice choice, const std::string& root, const Environment& environment)
    : choice_(std::move(choice)), root_(root), environment_(environment), disk_(root, *choice_.row) {}

ServerState Server::state() const {
  if (!reason_.empty() || !talk_) return ServerState::kFailed;
  return talk_->is_ready() ? ServerState::kReady : ServerState::kStarting;
}

void Server::start(MonotonicTime now) {
  ++starts_;
  earlier_reason_ = std::exchange(reason_, {});
  output_closed_at_.reset();
  unsent_.clear();
  stderr_.clear();
  Launch launch;
  launch.argv = choice_.argv;
  launch.environment = environment_;
  launch.folder = root_;
  auto in = make_pipe(), out = make_pipe(), err = make_pipe();
  if (!in || !out || !err) {
    reason_ = "cannot make pipes";
    return;
  }
  const auto pid = spawn_on(launch, {in->read.get(), out->write.get(), err->write.get()});
  if (!pid) {
    reason_ = pid.error().message;
    return;
  }
  pid_ = *pid;
  in_ = std::move(in->write);
  out_ = std::move(out->read);
  err_ = std::move(err->read);
  for (const Fd* fd : {&in_, &out_, &err_}) do_not_block(*fd);
  started_ = now;
  static_cast<void>(disk_.look());  // whatever it reads from now on is at least as recent
  talk_ = std::make_unique<Conversation>(row(), root_, ::getpid());
  say();
}

// The last line that starts with "error", which a backtrace may follow; otherwise the last line.
std::string Server::last_words() const {
  std::string last, last_error;
  for (const std::string& line : split(without_escapes(stderr_), '\n')) {
    if (trim(line).empty()) continue;
    last = trim(line);
    if (to_lower(last).starts_with("error")) last_error = last;
  }
  const std::string& words = last_error.empty() ? last : last_error;
  return words.empty() ? "" : ": " + fit_to_width(words, kShownWidth);
}

// Describes what it has printed so far, for people.
std::string Server::printed() const {
  const std::string_view first = first_line(trim(talk_->unread()));
  const std::string said = first.empty() ? "" : fmt::format("; it printed \"{}\"", fit_to_width(first, kShownWidth));
  const std::string complaint = last_words();
  return said + (complaint.empty() ? "" : fmt::format("; its last words were{}", complaint));
}

void Server::fail_with(std::string reason) {
  if (reason_.empty()) reason_ = std::move(reason);
  for (Fd* fd : {&in_, &out_, &err_}) fd->close();
}

void Server::say() {
  if (!talk_) return;
  unsent_ += talk_->take_output();
  if (!talk_->broken().empty()) return kill(talk_->broken());
  if (unsent_.size() > kMostUnsent) return kill(fmt::format("{} does not read what it is sent", row().name));
  write();
}

void Server::write() {
  while (in_ && !unsent_.empty()) {
    const ssize_t n = ::write(in_.get(), unsent_.data(), unsent_.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) {  // it has exited or is about to; its exit status will say how
      in_.close();
      unsent_.clear();
      return;
    }
    unsent_.erase(0, static_cast<size_t>(n));
  }
}

void Server::read(MonotonicTime now) {
  char buffer[kReadAtOnce];
  const ssize_t n = ::read(out_.get(), buffer, sizeof buffer);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) {
    out_.close();
    output_closed_at_ = now;  // it is about to exit, and its exit status will say why
    return;
  }
  talk_->receive(std::string_view(buffer, static_cast<size_t>(n)));
  say();
}

void Server::read_stderr() {
  char buffer[kReadAtOnce];
  const ssize_t n = ::read(err_.get(), buffer, sizeof buffer);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) {
    err_.close();
    return;
  }
  stderr_.append(buffer, static_cast<size_t>(n));
  if (stderr_.size() > 2 * kKeptComplaints) stderr_.erase(0, stderr_.size() - kKeptComplaints);
}

void Server::ended(const ExitStatus& status) {
  if (err_) read_stderr();
  const int leader = std::exchange(pid_, 0);
  // This process has inherited what it had started; those processes are the ones in its session.
  for (const ProcessInfo& process : descendants_of_this_process()) {
    if (process.session == leader) send_signal(process, SIGKILL);
  }
  fail_with(status.signal != 0
                ? fmt::format("{} was killed by {}{}", row().name, signal_name(status.signal), last_words())
                : fmt::format("{} ended with exit code {}{}", row().name, status.code, last_words()));
}

std::optional<MonotonicTime> Server::deadline() const {
  if (!is_running() || !reason_.empty()) return std::nullopt;
  if (output_closed_at_) return *output_closed_at_ + kMuteLimit;
  return talk_->has_begun() ? std::nullopt : std::optional(started_ + kStartLimit);
}

void Server::enforce_deadline(MonotonicTime now) {
  const auto until = deadline();
  if (!until || now < *until) return;
  kill(output_closed_at_ ? fmt::format("{} has closed its output", row().name)
                         : fmt::format("{} did not answer initialize within {}{}", row().name,
                                       human_duration(kStartLimit), printed()));
}

void Server::kill(std::string reason) {
  if (pid_ > 0) {
    const std::vector<ProcessInfo> below = descendants_of(pid_);
    ::kill(-pid_, SIGKILL);  // it leads its own process group
    ::kill(pid_, SIGKILL);
    for (const ProcessInfo& process : below) send_signal(process, SIGKILL);
  }
  fail_with(std::move(reason));
}

void Server::look_at_disk() {
  const std::vector<ChangedOnDisk> changes = disk_.look();
  talk_->tell(changes);
  for (const ChangedOnDisk& one : changes) {
    if (!talk_->is_open(one.path)) continue;
    if (const auto text = read_before_end(one.path, kMostText, kMostText)) talk_->update(one.path, *text);
  }
}

}  // namespace ralph::lsp
