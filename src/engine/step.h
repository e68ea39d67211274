// One contained process of a run (an agent, a guardrail or an SCM command), from its start until it and all its
// children are gone. Its output is redacted before anything else sees it. Signals and timeouts go to Run::ask(), whose
// decision is carried out.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "engine/run.h"

namespace ralph {

struct StepRequest {
  Launch launch;
  Moment moment = Moment::kDuringCheck;
  Milliseconds limit{0};
  StepKind kind = StepKind::kAgent;
  std::function<Status(StreamName, std::string_view)> on_output;  // an error ends the step and the run

  // For steps whose output is interpreted: `observe` adds what is known to the observation; `has_news` says whether
  // anything that may change a decision has arrived since the last call.
  std::function<void(Observation&, MonotonicTime now)> observe{};
  std::function<bool()> has_news{};
  std::function<Status(int pid)> on_started{};
};

struct StepEnd {
  ExitStatus status;
  EndCause cause = EndCause::kNone;  // why ralph ended it; kNone: it exited by itself
  std::string reason{};              // the same, as a sentence
  Milliseconds duration{0};
};

// Errors: the program could not be started (kNotFound), or something could not be recorded (kIo).
Result<StepEnd> run_step(Run& run, const StepRequest& request);

// The sweep report as a record.
record::ProcessesSwept swept_after(StepKind step, const SweepReport& swept);

// Waits for `delay`, or until a stop signal arrives, an awaited file appears, or time alone changes what decide() says
// about the next step (the run's time is over). With kTimeOfDay, time in which the machine slept counts too.
enum class PauseBy { kTimeSpent, kTimeOfDay };
Status pause(Run& run, Milliseconds delay, PauseBy clock = PauseBy::kTimeSpent);

// The same before an iteration, when any change in what the way observes also ends the wait.
// `before`: an observation from before the decision to wait, so that no change in between is missed.
Status pause_until_news(Run& run, Milliseconds delay, const Observation& before);

}  // namespace ralph
