// One contained process of a run: an agent, a guardrail or an SCM command, from its start until nothing of it is left.
// Its output passes redaction first; signals and time go to Run::ask(), and what it decides is done.
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

  // For steps that tell more than bytes: adds what they know to the situation, and says whether, since it was last
  // asked, anything came that may change a decision.
  std::function<void(Observation&, MonotonicTime now)> observe{};
  std::function<bool()> has_news{};
};

struct StepEnd {
  ExitStatus status;
  EndCause cause = EndCause::kNone;  // why ralph ended it; none: it ended by itself
  std::string reason{};              // the same, as a sentence
  Milliseconds duration{0};
};

// Errors: the program could not be started (kNotFound), or something could not be recorded (kIo).
Result<StepEnd> run_step(Run& run, const StepRequest& request);

// Waits for `delay`, or until a signal asks to stop or a file that the run waits for appears.
Status pause(Run& run, Milliseconds delay);

}  // namespace ralph
