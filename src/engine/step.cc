#include "engine/step.h"

#include <algorithm>
#include <signal.h>

#include "base/text.h"
#include "engine/resume.h"
#include "os/guardian.h"

namespace ralph {
namespace {

// A timer does not count time in which the machine sleeps, so a wait until a time of day rechecks the clock at this
// interval.
constexpr Milliseconds kClockCheckInterval{60'000};

// Records a signal as a stop request. SIGHUP and SIGQUIT leave no time for a graceful stop, so they count as the second
// one. Killing the guardian kills the run: nothing more is decided or written, so the state to resume from is the same
// whichever of the two processes was killed.
Status note_if_signal(Run& run, const Event& event) {
  if (std::holds_alternative<GuardianLost>(event))
    exit_without_guardian(fmt::format("To go on: {}", command_to_continue(run.project, run.id)));
  if (const auto* failed = std::get_if<WaitFailed>(&event))
    return fail(ErrorKind::kIo,
                "cannot wait for events: {}; the run ends, because time-outs and signals could come too late",
                errno_text(failed->error));
  const auto* const signal = std::get_if<SignalArrived>(&event);
  if (!signal) return {};
  const bool at_once = signal->signal == SIGHUP || signal->signal == SIGQUIT;
  const int count = run.progress().stop_requests + 1;
  return run.note(record::SignalReceived{signal_name(signal->signal), at_once ? std::max(count, 2) : count});
}

std::vector<std::string> lines_for(const std::vector<ProcessInfo>& processes) {
  std::vector<std::string> lines;
  for (const ProcessInfo& process : processes) lines.push_back(fmt::format("pid {}: {}", process.pid, process.command));
  return lines;
}

// The state of one running step.
class Step {
 public:
  Step(Run& run, const StepRequest& request) : run_(run), request_(request), out_(run.redactor), err_(run.redactor) {}

  Result<StepEnd> run() {
    Launch launch = request_.launch;
    if (run_.shelter) {
      TRY_VALUE(launch, run_.shelter->enclose(request_.kind, std::move(launch)));
    }
    TRY(run_.processes.start(launch));
    started_ = last_output_ = last_tick_ = run_.clock.monotonic();
    if (request_.on_started) keep_error(request_.on_started(run_.processes.child()));
    for (;;) {
      const Event event = run_.processes.next(deadline());
      if (const auto* finished = std::get_if<Finished>(&event)) return finish(*finished);
      keep_error(handle(event));
      keep_error(run_.note_pause());
      const bool output = std::holds_alternative<Output>(event);
      if (!output || (request_.has_news && request_.has_news())) keep_error(judge());
    }
  }

 private:
  Status handle(const Event& event) {
    if (const auto* output = std::get_if<Output>(&event)) {
      last_output_ = run_.clock.monotonic();
      if (error_) return {};  // draining only
      Redactor::Stream& stream = output->stream == StreamName::kOut ? out_ : err_;
      return pass_on(output->stream, stream.feed(output->bytes));
    }
    if (const auto* exited = std::get_if<Exited>(&event)) {
      end_.status = exited->status;
      end_.duration = run_.since(started_);
      exited_ = true;
    }
    TRY(run_.handle_event(event));
    return note_if_signal(run_, event);
  }

  Status pass_on(StreamName stream, std::string_view bytes) {
    return bytes.empty() ? Status{} : request_.on_output(stream, bytes);
  }

  // Asks whether the step may continue, and ends it if not.
  Status judge() {
    tick();
    if (exited_ || error_ || end_.cause != EndCause::kNone) return {};  // it has ended, or is being ended
    TRY_VALUE(const Decision decision, run_.ask(observe()));
    if (decision.action != Action::kEndNow) return {};
    end_.cause = decision.cause;
    end_.reason = decision.reason;
    run_.processes.end(stop_gently());
    return {};
  }

  // A failure to record ends the step: nothing may happen unrecorded.
  void keep_error(Status status) {
    if (status || error_) return;
    error_ = std::move(status).error();
    run_.processes.end(stop_gently());
  }

  // Files may still be arriving from a virtual machine. Signals are handled in the meantime; one that ends the step
  // ends the wait.
  Status await_files() {
    const MonotonicTime until = run_.clock.monotonic() + run_.shelter->settling_time();
    for (bool asks = true; run_.clock.monotonic() < until;) {
      if (asks) {
        Observation now;
        now.moment = request_.moment;
        TRY_VALUE(const Decision decision, run_.ask(now));
        if (decision.action == Action::kEndNow) {
          end_.cause = decision.cause;
          end_.reason = decision.reason;
          return {};
        }
      }
      const Event event = run_.processes.next(until);
      TRY(run_.handle_event(event));
      TRY(note_if_signal(run_, event));
      asks = std::holds_alternative<SignalArrived>(event);
    }
    return {};
  }

  Status settle() {
    TRY_VALUE(record::SandboxNoted noted, run_.shelter->settle(end_.cause != EndCause::kNone || error_));
    if (noted.blocked.empty() && noted.taken.empty()) return {};
    return run_.note(std::move(noted));
  }

  void tick() {
    const auto interval = run_.listener.tick_interval();
    if (!interval || exited_ || run_.since(last_tick_) < *interval) return;
    last_tick_ = run_.clock.monotonic();
    const Observation now = observe();
    Tick tick{now.clock.step_time, now.turn.cost_usd, now.turn.tokens, {}};
    if (now.turn.since_result) tick.ended_in = run_.policy.linger_limit - *now.turn.since_result;
    run_.listener.on_tick(tick);
  }

  Observation observe() const {
    Observation now;
    now.moment = request_.moment;
    now.clock.step_time = run_.since(started_);
    now.clock.quiet_time = run_.since(last_output_);
    now.clock.step_limit = request_.limit;
    if (request_.observe) request_.observe(now, run_.clock.monotonic());
    return now;
  }

  // The next time at which something may be due without an event.
  std::optional<MonotonicTime> deadline() const {
    std::optional<Milliseconds> wait;
    if (!exited_ && end_.cause == EndCause::kNone && !error_) wait = run_.time_until_change(observe());
    if (const auto interval = run_.listener.tick_interval(); interval && !exited_) {
      const Milliseconds tick = std::max(*interval - run_.since(last_tick_), Milliseconds(0));
      wait = wait ? std::min(*wait, tick) : tick;
    }
    if (const auto poll = run_.file_poll(); poll && !exited_) wait = wait ? std::min(*wait, *poll) : *poll;
    if (!wait) return std::nullopt;
    return run_.clock.monotonic() + *wait;
  }

  Result<StepEnd> finish(const Finished& finished) {
    if (!error_) keep_error(pass_on(StreamName::kOut, out_.finish()));
    if (!error_) keep_error(pass_on(StreamName::kErr, err_.finish()));
    const SweepReport& swept = finished.swept;
    // Processes that ralph asked to end are not leftovers; survivors are always recorded.
    const bool leftovers = end_.cause == EndCause::kNone && !swept.ended.empty();
    if (leftovers || finished.child_lives || !swept.survivors.empty() || swept.unseen) {
      record::ProcessesSwept record = swept_after(request_.kind, swept);
      record.agent_lives = finished.child_lives && request_.kind == StepKind::kAgent;
      keep_error(run_.note(std::move(record)));
    }
    if (run_.shelter && !error_) keep_error(await_files());
    if (run_.shelter) keep_error(settle());
    if (error_) return tl::unexpected(*error_);
    return std::move(end_);
  }

  Run& run_;
  const StepRequest& request_;
  Redactor::Stream out_, err_;
  MonotonicTime started_{}, last_output_{}, last_tick_{};
  StepEnd end_;
  bool exited_ = false;
  std::optional<Error> error_;
};

}  // namespace

Result<StepEnd> run_step(Run& run, const StepRequest& request) {
  return Step(run, request).run();
}

record::ProcessesSwept swept_after(StepKind step, const SweepReport& swept) {
  record::ProcessesSwept record{step, lines_for(swept.ended), lines_for(swept.survivors)};
  if (swept.unseen) record.survivors.emplace_back("something unknown that /proc does not show");
  return record;
}

namespace {

// `next`: when the next decision is requested.
Status pause_while(Run& run, Milliseconds delay, PauseBy clock, Moment next, const std::function<bool()>& is_over) {
  Observation before;
  before.moment = next;
  const auto change = run.time_until_change(before);
  const MonotonicTime began = run.clock.monotonic();
  const WallTime time_of_day = run.clock.wall() + delay;
  if (is_over()) return {};  // it happened after the decision to wait
  for (;;) {
    const MonotonicTime now = run.clock.monotonic();
    Milliseconds left = clock == PauseBy::kTimeOfDay ? time_of_day - run.clock.wall() : began + delay - now;
    if (change) left = std::min(left, began + *change - now);
    if (left.count() <= 0) return {};
    Milliseconds wait = clock == PauseBy::kTimeOfDay ? std::min(left, kClockCheckInterval) : left;
    if (const auto poll = run.file_poll()) wait = std::min(wait, *poll);
    // Wake up for a countdown only if there is an observer.
    if (const auto interval = run.listener.countdown_interval()) {
      run.listener.on_countdown(left);
      wait = std::min(wait, *interval);
    }
    const Event event = run.processes.next(now + wait);
    TRY(run.handle_event(event));
    TRY(note_if_signal(run, event));
    if (run.progress().stop_requests > 0 || is_over()) return {};
  }
}

}  // namespace

Status pause(Run& run, Milliseconds delay, PauseBy clock) {
  return pause_while(run, delay, clock, Moment::kBetweenSteps, [&] { return run.awaited_file_is_there(); });
}

Status pause_until_news(Run& run, Milliseconds delay, const Observation& before) {
  return pause_while(run, delay, PauseBy::kTimeSpent, Moment::kBeforeIteration, [&] {
    const auto now = run.look({Moment::kBeforeIteration}).task;
    return before.task && now ? !now->same_signs(*before.task) : run.awaited_file_is_there();
  });
}

}  // namespace ralph
