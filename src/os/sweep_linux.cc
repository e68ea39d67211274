#include <algorithm>
#include <signal.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/freeze.h"
#include "os/poll.h"
#include "os/sweep.h"

namespace ralph {
namespace {

// How often to check. SIGCHLD reports our own children at once; this is for those that still have another parent.
constexpr Milliseconds kLookAgain{20};

SweepReport run_to_its_end(Sweep sweep) {
  const SystemClock clock;
  while (!sweep.advance(clock.monotonic())) {
    sleep_for(Milliseconds(10));
  }
  return sweep.report();
}

}  // namespace

Sweep::Sweep(StopSequence sequence, std::function<Remaining(int signal)> look)
    : sequence_(std::move(sequence)), look_(std::move(look)) {}

void Sweep::restart(StopSequence sequence) {
  sequence_ = std::move(sequence);
  step_ = 0;
  step_begun_ = false;
  next_look_ = {};
}

bool Sweep::advance(MonotonicTime now) {
  if (now < next_look_) return false;  // limits the rate of checks under a flood of output
  next_look_ = now + kLookAgain;
  if (step_begun_ && now >= step_ends_) {
    step_begun_ = false;
    ++step_;
  }
  const bool over = step_ >= sequence_.size();
  const int signal = over ? 0 : sequence_[step_].signal;
  left_ = look_(signal);
  if (left_.none() || over) return true;
  const bool first_look = !step_begun_;
  if (first_look) {
    step_begun_ = true;
    step_ends_ = now + sequence_[step_].grace;
  }
  if (signal != 0) signal_all(signal, first_look);
  return false;
}

// Moves only children of this process by pid, because their pids can't be reused before they are reaped. Whatever they
// fork meanwhile is in the group too, and orphans are our children at the next check.
void Sweep::kill_by_group() {
  const int self = ::getpid();
  const auto is_child = [&](const ProcessInfo& process) { return process.parent == self; };
  if (std::ranges::none_of(left_.living, is_child)) return;
  if (!group_) group_.emplace();
  if (!group_->exists()) return;
  for (const ProcessInfo& process : left_.living) {
    if (is_child(process)) write_control(group_->entry(), std::to_string(process.pid));
  }
  kill_group(group_->folder());
}

void Sweep::signal_all(int signal, bool first_look) {
  if (signal == SIGKILL) kill_by_group();
  for (const ProcessInfo& process : left_.living) {
    const bool is_new = signalled_.emplace(process.pid, process).second;
    // SIGKILL is repeated at every check, to catch processes that fork meanwhile.
    if (first_look || is_new || signal == SIGKILL) send_signal(process, signal);
  }
}

SweepReport Sweep::report() const {
  SweepReport report;
  report.survivors = left_.living;
  report.unseen = left_.unseen;
  for (const auto& [pid, process] : signalled_) {
    if (!contains(report.survivors, process)) report.ended.push_back(process);
  }
  return report;
}

SweepReport end_all_descendants(const StopSequence& sequence, const Bystanders& bystanders) {
  return run_to_its_end(Sweep(sequence, [&](int signal) {
    if (signal == SIGKILL) freeze_descendants(0, bystanders);
    reap_children();
    Remaining left;
    if (!has_children()) return left;
    left.living = descendants_of_this_process(bystanders);
    left.unseen = left.living.empty() && bystanders.none();
    return left;
  }));
}

SweepReport end_processes_with(std::string_view variable, const StopSequence& sequence) {
  return run_to_its_end(Sweep(sequence, [&](int) { return Remaining{processes_with(variable)}; }));
}

}  // namespace ralph
