#include "engine/step.h"

#include <algorithm>
#include <random>
#include <signal.h>

namespace ralph {
namespace {

// A signal as a request to stop. SIGHUP, SIGQUIT and a lost guardian leave no time for manners: they count as the
// second one.
Status note_stop_request(RunContext& context, const std::string& name, bool at_once) {
  const int count = context.log.progress().stop_requests + 1;
  return context.log.note(record::SignalReceived{name, at_once ? std::max(count, 2) : count});
}

Status note_if_signal(RunContext& context, const Event& event) {
  if (const auto* signal = std::get_if<SignalArrived>(&event)) {
    const bool at_once = signal->signal == SIGHUP || signal->signal == SIGQUIT;
    return note_stop_request(context, signal_name(signal->signal), at_once);
  }
  if (std::holds_alternative<GuardianLost>(event)) return note_stop_request(context, "guardian lost", true);
  return {};
}

std::vector<std::string> lines_for(const std::vector<ProcessInfo>& processes) {
  std::vector<std::string> lines;
  for (const ProcessInfo& process : processes) lines.push_back(fmt::format("pid {}: {}", process.pid, process.command));
  return lines;
}

Milliseconds since(const RunContext& context, MonotonicTime time) {
  return context.clock.monotonic() - time;
}

Status note_decision(RunContext& context, Moment moment, const Decision& decision) {
  record::Decided note;
  note.iteration = context.log.progress().iteration;
  note.moment = to_string(moment);
  note.rule = decision.rule;
  note.decision = to_string(decision.action);
  note.status = to_string(decision.status);
  note.reason = decision.reason;
  note.delay_ms = decision.delay.count();
  return context.log.note(std::move(note));
}

// The state of one running step.
class Step {
 public:
  Step(RunContext& context, const StepRequest& request)
      : context_(context), request_(request), out_(context.redactor), err_(context.redactor) {}

  Result<StepEnd> run() {
    TRY(context_.processes.start(request_.launch));
    started_ = last_output_ = last_tick_ = context_.clock.monotonic();
    for (;;) {
      const Event event = context_.processes.next(deadline());
      if (const auto* finished = std::get_if<Finished>(&event)) return finish(*finished);
      keep_error(handle(event));
      const bool output = std::holds_alternative<Output>(event);
      if (!output || (request_.has_news && request_.has_news())) keep_error(judge());
    }
  }

 private:
  Status handle(const Event& event) {
    if (const auto* output = std::get_if<Output>(&event)) {
      last_output_ = context_.clock.monotonic();
      if (error_) return {};  // draining only
      Redactor::Stream& stream = output->stream == StreamName::kOut ? out_ : err_;
      return pass_on(output->stream, stream.feed(output->bytes));
    }
    if (const auto* exited = std::get_if<Exited>(&event)) {
      end_.status = exited->status;
      end_.duration = since(context_, started_);
      exited_ = true;
    }
    return note_if_signal(context_, event);
  }

  Status pass_on(StreamName stream, std::string_view bytes) {
    return bytes.empty() ? Status{} : request_.on_output(stream, bytes);
  }

  // Asks whether it may go on, and ends it if not.
  Status judge() {
    tick();
    if (exited_ || error_ || !end_.outcome.empty()) return {};  // it has ended, or is being ended
    const Decision decision = decide(context_.policy, context_.log.progress(), observe());
    if (decision.action != Action::kEndNow) return {};
    end_.outcome = decision.outcome;
    end_.reason = decision.reason;
    context_.processes.end(stop_gently());
    return note_decision(context_, request_.moment, decision);
  }

  // What could not be recorded ends the step: nothing may happen that is not written down.
  void keep_error(Status status) {
    if (status || error_) return;
    error_ = std::move(status).error();
    context_.processes.end(stop_gently());
  }

  void tick() {
    const auto interval = context_.listener.tick_interval();
    if (!interval || request_.moment != Moment::kDuringCheck || since(context_, last_tick_) < *interval) return;
    last_tick_ = context_.clock.monotonic();
    context_.listener.on_tick(since(context_, started_));
  }

  Observation observe() const {
    Observation now{request_.moment, since(context_, context_.started), since(context_, started_),
                    since(context_, last_output_), request_.limit};
    if (request_.observe) request_.observe(now, context_.clock.monotonic());
    return now;
  }

  // The next time at which something may have to be done although nothing happens.
  std::optional<MonotonicTime> deadline() const {
    std::optional<Milliseconds> wait;
    if (!exited_ && end_.outcome.empty() && !error_) wait = time_until_change(context_.policy, observe());
    if (const auto interval = context_.listener.tick_interval(); interval && request_.moment == Moment::kDuringCheck) {
      const Milliseconds tick = std::max(*interval - since(context_, last_tick_), Milliseconds(0));
      wait = wait ? std::min(*wait, tick) : tick;
    }
    if (!wait) return std::nullopt;
    return context_.clock.monotonic() + *wait;
  }

  Result<StepEnd> finish(const Finished& finished) {
    if (!error_) keep_error(pass_on(StreamName::kOut, out_.finish()));
    if (!error_) keep_error(pass_on(StreamName::kErr, err_.finish()));
    const SweepReport& swept = finished.swept;
    // What was asked to end is no leftover; what outlived even that is worth a record in any case.
    const bool leftovers = end_.outcome.empty() && !swept.ended.empty();
    if (leftovers || !swept.survivors.empty()) {
      keep_error(context_.log.note(
          record::ProcessesSwept{std::string(request_.who), lines_for(swept.ended), lines_for(swept.survivors)}));
    }
    if (error_) return tl::unexpected(*error_);
    return std::move(end_);
  }

  RunContext& context_;
  const StepRequest& request_;
  Redactor::Stream out_, err_;
  MonotonicTime started_{}, last_output_{}, last_tick_{};
  StepEnd end_;
  bool exited_ = false;
  std::optional<Error> error_;
};

}  // namespace

Result<StepEnd> run_step(RunContext& context, const StepRequest& request) {
  return Step(context, request).run();
}

Status pause(RunContext& context, Milliseconds delay) {
  const MonotonicTime until = context.clock.monotonic() + delay;
  for (;;) {
    const MonotonicTime now = context.clock.monotonic();
    if (now >= until) return {};
    // A countdown where somebody watches it; nobody is woken where nobody does.
    const auto interval = context.listener.countdown_interval();
    if (interval) context.listener.on_countdown(until - now);
    const Event event = context.processes.next(interval ? std::min(until, now + *interval) : until);
    TRY(note_if_signal(context, event));
    if (context.log.progress().stop_requests > 0) return {};
  }
}

Result<Decision> ask(RunContext& context, Observation observation) {
  observation.run_time = since(context, context.started);
  observation.now = context.clock.wall();
  observation.random = std::uniform_real_distribution<double>()(context.random);
  Decision decision = decide(context.policy, context.log.progress(), observation);
  // A step that simply follows another is no news; everything else is.
  if (decision.action == Action::kContinue && decision.reason.empty()) return decision;
  TRY(note_decision(context, observation.moment, decision));
  return decision;
}

}  // namespace ralph
