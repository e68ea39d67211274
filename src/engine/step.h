// One contained process of a run: an agent, a guardrail or an SCM command, from its start until nothing of it is left.
// Its output passes redaction first; signals and time go to decide(), and what it decides is done.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <string_view>

#include "journal/redactor.h"
#include "engine/decide.h"
#include "engine/run_log.h"
#include "os/clock.h"
#include "os/processes.h"

namespace ralph {

// What every step of a run needs. The owner of a run makes one; all parts outlive it.
struct RunContext {
  const Policy& policy;
  Processes& processes;
  const Clock& clock;
  const Redactor& redactor;
  RunLog& log;
  RunListener& listener;
  EventSink& events;  // what an agent does, where its output is a stream of events
  MonotonicTime started;
  std::string project;  // absolute
  std::string run_id;
  std::string run_folder;                           // absolute
  Environment environment;                          // of every child, RALPH_RUN_ID included
  std::minstd_rand random{std::random_device{}()};  // for jitter only
};

struct StepRequest {
  Launch launch;
  Moment moment = Moment::kDuringCheck;
  Milliseconds limit{0};
  std::string_view who;  // for the record of swept processes: "agent", "guardrail", "scm"
  std::function<Status(StreamName, std::string_view)> on_output;  // an error ends the step and the run

  // For steps that tell more than bytes: adds what they know to the situation, and says whether, since it was last
  // asked, anything came that may change a decision.
  std::function<void(Observation&, MonotonicTime now)> observe{};
  std::function<bool()> has_news{};
};

struct StepEnd {
  ExitStatus status;
  std::string outcome{};  // why it was ended (timed_out, idle, over_budget, interrupted); empty: it ended by itself
  std::string reason{};   // the same, as a sentence
  Milliseconds duration{0};
};

// Errors: the program could not be started (kNotFound), or something could not be recorded (kIo).
Result<StepEnd> run_step(RunContext& context, const StepRequest& request);

// Waits for `delay`, or until a signal asks to stop.
Status pause(RunContext& context, Milliseconds delay);

// Asks decide() and, when it is of consequence, records the answer.
Result<Decision> ask(RunContext& context, Observation observation);

}  // namespace ralph
