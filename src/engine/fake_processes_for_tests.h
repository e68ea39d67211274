// Scripted processes and a manually advanced clock, for testing the loop without real ones.
#pragma once

#include <deque>
#include <fstream>

#include "os/clock.h"
#include "os/processes.h"

namespace ralph {

class FakeClock : public Clock {
 public:
  WallTime wall() const override { return WallTime(Milliseconds(1763238153123)) + now_.time_since_epoch() + slept_; }
  MonotonicTime monotonic() const override { return now_; }
  void advance(Milliseconds time) { now_ += time; }
  void sleep(Milliseconds time) { slept_ += time; }  // the machine sleeps: only the time of day advances

 private:
  MonotonicTime now_{};
  Milliseconds slept_{0};
};

// What one started process does.
struct Act {
  std::string out{};
  int exit_code = 0;
  Milliseconds takes{0};              // before it prints and exits; it can be ended meanwhile
  std::vector<int> signals{};         // that ralph receives while it runs
  std::vector<std::string> leaves{};  // processes it leaves behind
  std::string touches{};              // a file that it creates when it starts
  Milliseconds sleeps{0};             // the machine, while it runs
};

class FakeProcesses : public Processes {
 public:
  explicit FakeProcesses(FakeClock& clock) : clock_(clock) {}

  void expect(Act act) { script_.push_back(std::move(act)); }
  const std::vector<Launch>& launches() const { return launches_; }
  bool script_is_over() const { return script_.empty(); }
  int ended() const { return ended_; }
  void signal_later(int signal) { pending_.push_back(SignalArrived{signal}); }

  Status start(const Launch& launch) override {
    launches_.push_back(launch);
    if (script_.empty()) return fail(ErrorKind::kInternal, "the script has no act for: {}", launch.argv[0]);
    act_ = std::move(script_.front());
    script_.pop_front();
    exits_at_ = clock_.monotonic() + act_.takes;
    for (int signal : act_.signals) pending_.push_back(SignalArrived{signal});
    running_ = true;
    if (!act_.touches.empty()) make_file(act_.touches);
    return {};
  }

  // The machine sleeps during the next wait in which no process runs.
  void sleeps_during_next_wait(Milliseconds time) { sleep_ = time; }

  // Creates a file during the next wait, while no process runs.
  void appears_during_next_wait(std::string path) { appearing_ = std::move(path); }

  Event next(std::optional<MonotonicTime> deadline) override {
    if (!pending_.empty()) {
      Event event = pending_.front();
      pending_.pop_front();
      return event;
    }
    if (running_ && (!deadline || exits_at_ <= *deadline)) {
      if (exits_at_ > clock_.monotonic()) clock_.advance(exits_at_ - clock_.monotonic());
      clock_.sleep(act_.sleeps);
      running_ = false;
      Finished finished;
      for (const std::string& command : act_.leaves)
        finished.swept.ended.push_back({.pid = 99, .start_time = 1, .command = command});
      pending_.push_back(Exited{{act_.exit_code, 0}});
      pending_.push_back(finished);
      if (!act_.out.empty()) return Output{StreamName::kOut, act_.out};
      return next(deadline);
    }
    if (!running_ && !appearing_.empty()) {
      make_file(std::exchange(appearing_, {}));
      return next(deadline);
    }
    if (!deadline) std::abort();  // this wait would never end
    clock_.sleep(std::exchange(sleep_, Milliseconds(0)));
    if (*deadline > clock_.monotonic()) clock_.advance(*deadline - clock_.monotonic());
    return DeadlinePassed{};
  }

  void end(const StopSequence&) override {
    if (!running_) return;
    ++ended_;
    running_ = false;
    pending_.push_back(Exited{{143, 15}});
    pending_.push_back(Finished{});
  }

  Status watch_file(const std::string&) override { return {}; }

 private:
  void make_file(const std::string& path) {
    std::ofstream(path) << "";
    pending_.push_back(FileChanged{path});
  }

  FakeClock& clock_;
  std::string appearing_;
  Milliseconds sleep_{0};
  std::deque<Act> script_;
  std::vector<Launch> launches_;
  Act act_;
  MonotonicTime exits_at_{};
  bool running_ = false;
  int ended_ = 0;
  std::deque<Event> pending_;
};

}  // namespace ralph
