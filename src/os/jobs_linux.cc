#include <cerrno>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/job_messages.h"
#include "os/jobs.h"
#include "os/packets.h"
#include "os/poll.h"

namespace ralph {
namespace {

// Beyond the stop sequence itself: a keeper checks its processes only now and then, and the machine may be busy.
constexpr Milliseconds kEndMargin{5'000};

Milliseconds length_of(const StopSequence& sequence) {
  Milliseconds length{0};
  for (const StopStep& step : sequence) length += step.grace;
  return length;
}

Status check_stop(const JobRequest& request) {
  const StopSequence& stop = request.stop;
  bool good = !stop.empty() && stop.size() <= kMaxJobStopSteps && stop.back().signal == SIGKILL;
  for (const StopStep& step : stop)
    good = good && step.signal >= 0 && step.signal < NSIG && step.grace.count() >= 0 && step.grace <= kMaxJobStopTime;
  if (good && length_of(stop) <= kMaxJobStopTime) return {};
  return fail(ErrorKind::kInternal,
              "the job {} can't be stopped as it asks: at most {} steps and {} s, and the last one must be SIGKILL",
              request.name, kMaxJobStopSteps, kMaxJobStopTime.count() / 1000);
}

Status check_request(const JobRequest& request) {
  if (request.name.empty() || request.name.size() > kMaxJobNameBytes)
    return fail(ErrorKind::kInternal, "the name of a job has 1 to {} bytes, not {}", kMaxJobNameBytes,
                request.name.size());
  if (request.launch.argv.empty()) return fail(ErrorKind::kInternal, "the job {} has no program", request.name);
  if (!is_directory(request.launch.folder))
    return fail(ErrorKind::kNotFound, "cannot start the job {}: there is no folder {}", request.name,
                request.launch.folder);
  return check_stop(request);
}

// A stream as a descriptor: `opened` owns it if it had to be opened.
struct OpenStream {
  Fd opened;
  int borrowed = -1;
  int get() const { return opened ? opened.get() : borrowed; }
};

Result<OpenStream> open_input(const JobRequest& request) {
  if (request.in.fd >= 0) return OpenStream{{}, request.in.fd};
  if (request.in.path.empty()) {
    TRY_VALUE(Fd input, input_of(request.launch.input));
    return OpenStream{std::move(input)};
  }
  Fd file(::open(request.in.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return fail(ErrorKind::kIo, "cannot read {}: {}", request.in.path, errno_text(errno));
  return OpenStream{std::move(file)};
}

Result<OpenStream> open_output(const JobStream& stream) {
  if (stream.fd >= 0) return OpenStream{{}, stream.fd};
  if (!stream.path.empty()) {
    TRY_VALUE(Fd file, open_for_append(stream.path));
    return OpenStream{std::move(file)};
  }
  Fd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (!null) return fail(ErrorKind::kIo, "cannot open /dev/null: {}", errno_text(errno));
  return OpenStream{std::move(null)};
}

// Everything the guardian gets with an order to start.
struct JobFiles {
  Fd content;
  OpenStream in, out, err;
};

Result<JobFiles> open_files(const JobRequest& request) {
  const std::string bytes = encode(request);
  if (bytes.size() > kMaxJobBytes)
    return fail(ErrorKind::kIo, "cannot start the job {}: arguments and environment together are too large",
                request.name);
  JobFiles files;
  TRY_VALUE(files.content, file_of(bytes));
  TRY_VALUE(files.in, open_input(request));
  TRY_VALUE(files.out, open_output(request.out));
  if (request.launch.merge_streams) {
    files.err.borrowed = files.out.get();
  } else {
    TRY_VALUE(files.err, open_output(request.err));
  }
  return files;
}

// Waits for the keeper's first answer. If the socket closes without one, the guardian or the keeper was killed.
Status wait_until_started(int socket, const std::string& name) {
  const SystemClock clock;
  if (!wait_readable(socket, clock.monotonic() + kMaxJobStartTime))
    return fail(ErrorKind::kIo, "cannot start the job {}: the guardian of this run does not answer", name);
  const auto packet = receive_packet(socket);
  if (!packet) return fail(ErrorKind::kIo, "cannot start the job {}: the guardian of this run has ended", name);
  TRY_VALUE(const JobReply reply, decode_reply(packet->bytes));
  const auto* error = std::get_if<Error>(&reply);
  if (error) return fail(error->kind, "cannot start the job {}: {}", name, error->message);
  return {};
}

// The keeper's last message. A killed keeper sends none, and the kernel has killed its job with it.
JobEnded end_in(const std::optional<Packet>& packet) {
  JobEnded killed;
  killed.status = {128 + SIGKILL, SIGKILL};
  if (!packet) return killed;
  const auto reply = decode_reply(packet->bytes);
  const auto* ended = reply ? std::get_if<JobEnded>(&*reply) : nullptr;
  return ended ? *ended : killed;
}

Status order(int guardian, JobOrder::Kind kind, JobId job, Milliseconds stop_time, std::span<const int> descriptors) {
  const JobOrder order{kind, static_cast<std::uint32_t>(job), static_cast<std::int32_t>(stop_time.count())};
  const Status sent = send_packet(guardian, encode(order), descriptors);
  if (!sent) return fail(ErrorKind::kIo, "the guardian of this run can't be reached: {}", sent.error().message);
  return {};
}

}  // namespace

Jobs::Jobs(int guardian) : guardian_(guardian), ends_(::epoll_create1(EPOLL_CLOEXEC)) {}

Result<JobId> Jobs::start(const JobRequest& request) {
  TRY(check_request(request));
  if (jobs_.size() >= kMaxJobs)
    return fail(ErrorKind::kIo, "cannot start the job {}: {} jobs are running, and more are not allowed at once",
                request.name, kMaxJobs);
  TRY_VALUE(const JobFiles files, open_files(request));
  TRY_VALUE(PacketPair pair, make_packet_pair());
  const JobId job{++last_};
  TRY(listen_to(pair.one.get(), job));
  const Milliseconds stop_time = length_of(request.stop);
  const int descriptors[kJobDescriptors] = {pair.other.get(), files.content.get(), files.in.get(), files.out.get(),
                                            files.err.get()};
  if (Status ordered = order(guardian_, JobOrder::Kind::kStart, job, stop_time, descriptors); !ordered) {
    stop_listening(pair.one.get());
    return tl::unexpected<Error>(std::move(ordered).error());
  }
  pair.other.close();
  if (Status started = wait_until_started(pair.one.get(), request.name); !started) {
    // A guardian that was only late would start a job that nobody is waiting for any more.
    static_cast<void>(order(guardian_, JobOrder::Kind::kEnd, job, stop_time, {}));
    stop_listening(pair.one.get());
    return tl::unexpected<Error>(std::move(started).error());
  }
  jobs_.emplace(job, Job{request.name, std::move(pair.one), stop_time});
  return job;
}

Status Jobs::listen_to(int socket, JobId job) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u32 = static_cast<std::uint32_t>(job);
  if (::epoll_ctl(ends_.get(), EPOLL_CTL_ADD, socket, &event) == 0) return {};
  return fail(ErrorKind::kIo, "cannot listen to a job: {}", errno_text(errno));
}

// Closing it is not enough: a child between fork and exec has a copy, so the epoll would keep reporting it.
void Jobs::stop_listening(int socket) {
  ::epoll_ctl(ends_.get(), EPOLL_CTL_DEL, socket, nullptr);
}

Result<Jobs::Job*> Jobs::running(JobId job) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return fail(ErrorKind::kInternal, "no job {} is running", static_cast<unsigned>(job));
  return &found->second;
}

Status Jobs::request_end(JobId job) {
  TRY_VALUE(const Job* found, running(job));
  return order(guardian_, JobOrder::Kind::kEnd, job, found->stop_time, {});
}

Result<JobEnded> Jobs::end(JobId job) {
  TRY_VALUE(const Job* found, running(job));
  const Status asked = request_end(job);
  // Without a guardian the keeper ends the job by itself, so wait in that case too.
  const SystemClock clock;
  const bool ended = wait_readable(found->socket.get(), clock.monotonic() + found->stop_time + kEndMargin);
  if (ended) return take_end(job);
  TRY(asked);
  return fail(ErrorKind::kIo, "the job {} did not end in time", found->name);
}

Result<std::optional<ExitStatus>> Jobs::state(JobId job) const {
  if (const auto ended = ended_.find(job); ended != ended_.end()) return ended->second;
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return fail(ErrorKind::kInternal, "there is no job {}", static_cast<unsigned>(job));
  const int socket = found->second.socket.get();
  if (!wait_readable(socket, {})) return std::nullopt;
  return end_in(receive_packet(socket, Taking::kPeek)).status;
}

JobEnded Jobs::take_end(JobId job) {
  const auto found = jobs_.find(job);
  const int socket = found->second.socket.get();
  JobEnded ended = end_in(receive_packet(socket));
  stop_listening(socket);
  ended.job = job;
  ended_[job] = ended.status;
  jobs_.erase(found);
  return ended;
}

std::vector<JobEnded> Jobs::take_ended() {
  epoll_event events[kMaxJobs];
  const int count = ::epoll_wait(ends_.get(), events, kMaxJobs, 0);
  std::vector<JobEnded> ended;
  if (count < 0) {  // epoll_wait was refused
    std::vector<JobId> silent_no_more;
    for (const auto& [job, running] : jobs_) {
      if (wait_readable(running.socket.get(), {})) silent_no_more.push_back(job);
    }
    for (const JobId job : silent_no_more) ended.push_back(take_end(job));
  }
  for (int i = 0; i < count; ++i) {
    const JobId job{events[i].data.u32};
    if (jobs_.contains(job)) ended.push_back(take_end(job));
  }
  return ended;
}

}  // namespace ralph
