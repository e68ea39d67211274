#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "os/keepers.h"

namespace ralph {

void Keepers::carry_out(Packet packet) {
  const auto order = decode_order(packet.bytes);
  if (!order) return;
  if (order->kind == JobOrder::Kind::kEnd) {
    if (const auto found = keepers_.find(order->job); found != keepers_.end()) end(found->second);
    return;
  }
  // Descriptors are missing if the guardian has reached its limit of open files. If the job's socket is missing, the
  // loop sees its end close.
  packet.descriptors.resize(kJobDescriptors);
  const auto fd = [&](JobDescriptor which) { return std::move(packet.descriptors[which]); };
  const Fd to_loop(::fcntl(packet.descriptors[kJobSocket].get(), F_DUPFD_CLOEXEC, 0));
  const Status started = start(*order, {fd(kJobSocket), fd(kJobRequest), fd(kJobIn), fd(kJobOut), fd(kJobErr), {}});
  if (!started) static_cast<void>(send_packet(to_loop.get(), encode(JobReply(started.error()))));
}

Status Keepers::start(const JobOrder& order, KeeperFiles files) {
  int ends[2];
  if (!files.err || ::pipe2(ends, O_CLOEXEC) != 0)
    return fail(ErrorKind::kIo, "the guardian of this run can't open more files");
  Fd held(ends[1]);
  files.guardian = Fd(ends[0]);
  const pid_t pid = ::fork();
  if (pid == 0) keep_job(std::move(files));
  if (pid < 0) return fail(ErrorKind::kIo, "{}", errno_text(errno));
  keepers_.emplace(order.job, Keeper{pid, std::move(held), Milliseconds(order.stop_milliseconds)});
  return {};
}

bool Keepers::has(pid_t pid) const {
  return std::ranges::any_of(keepers_, [&](const auto& entry) { return entry.second.pid == pid; });
}

void Keepers::forget(pid_t pid) {
  std::erase_if(keepers_, [&](const auto& entry) { return entry.second.pid == pid; });
}

void Keepers::end(const Keeper& keeper) {
  ::kill(keeper.pid, SIGTERM);
  ::kill(keeper.pid, SIGCONT);  // wakes a keeper that an agent has stopped
}

Milliseconds Keepers::end_all() {
  Milliseconds longest{0};
  for (const auto& [job, keeper] : keepers_) {
    end(keeper);
    longest = std::max(longest, keeper.stop_time);
  }
  return longest;
}

void Keepers::abandon_all() {
  for (auto& [job, keeper] : keepers_) {
    keeper.held.close();
    ::kill(keeper.pid, SIGCONT);
  }
}

}  // namespace ralph
