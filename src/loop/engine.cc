#include "loop/engine.h"

#include "loop/guardrails.h"
#include "loop/prompt.h"
#include "loop/scm_tasks.h"
#include "loop/turn.h"

namespace ralph {
namespace {

// What a session that was cut off is told when it is resumed: it has the task in its history.
constexpr std::string_view kGoOn = "You were interrupted. Go on with the task where you left off.";

class Engine {
 public:
  explicit Engine(PromptLoop loop) : loop_(loop), context_(loop.context) {}

  // Every iteration ends in a decision; the first that stops ends the run.
  Result<Decision> run() {
    for (;;) {
      TRY_VALUE(const Decision begin, ask(context_, {Moment::kBeforeIteration}));
      if (begin.action == Action::kStop) return begin;
      TRY_VALUE(const Decision end, iterate());
      if (end.action == Action::kStop) return end;
    }
  }

 private:
  Result<Decision> iterate() {
    const MonotonicTime started = context_.clock.monotonic();
    const int iteration = context_.log.progress().iteration + 1;
    TRY_VALUE(const std::string base, loop_.prompt.read());
    TRY(context_.log.note(record::IterationStarted{iteration}));

    TRY_VALUE(const Decision after_turn, take_turn(base));
    if (after_turn.action == Action::kStop) return after_turn;

    TRY_VALUE(const Decision after_guardrails, run_guardrails(context_, {loop_.settings.guardrails, excerpt_size()}));
    if (after_guardrails.action == Action::kStop) return after_guardrails;

    if (context_.log.progress().guardrails_failed.empty() && loop_.settings.scm) {
      TRY_VALUE(const Decision after_scm,
                run_scm_tasks(context_, agent_to_start(), {*loop_.settings.scm, loop_.settings.stream_agent_output}));
      if (after_scm.action == Action::kStop) return after_scm;
    }

    TRY_VALUE(const Decision decision, ask(context_, {Moment::kAfterChecks}));
    const Milliseconds duration = context_.clock.monotonic() - started;
    TRY(context_.log.note(record::IterationEnded{iteration, duration.count()}));
    TRY(context_.log.sync());
    return decision;
  }

  // The agent's turn, with its retries: after a crash, an overload or a limit, by the same agent or another.
  Result<Decision> take_turn(const std::string& base) {
    std::string prompt = compose_prompt(base, context_.log.progress().feedback);
    if (loop_.settings.include_iteration_count_in_prompt) {
      prompt = with_iteration_count(prompt, context_.log.progress().iteration, context_.policy.max_iterations);
    }
    for (int attempt = 1;; ++attempt) {
      const Agent& agent = agent_to_start();
      TurnRequest request{prompt, "work", attempt, loop_.settings.stream_agent_output};
      if (const auto& session = context_.log.progress().session; session && session->agent == agent.name()) {
        request.resume = session;
        request.prompt = kGoOn;
      }
      TRY(run_turn(context_, agent, request));
      TRY_VALUE(const Decision decision, ask(context_, {Moment::kAfterTurn}));
      if (decision.action != Action::kRetry && decision.action != Action::kWait) return decision;
      TRY(pause(context_, decision.delay));
      TRY_VALUE(const Decision after_pause, ask(context_, {Moment::kBetweenSteps}));
      if (after_pause.action == Action::kStop) return after_pause;
    }
  }

  const Agent& agent_to_start() const {
    return loop_.agents[agent_to_ask(context_.policy, context_.log.progress(), context_.clock.wall())];
  }

  size_t excerpt_size() const { return static_cast<size_t>(loop_.settings.output_truncate_chars); }

  PromptLoop loop_;
  RunContext& context_;
};

Status note_end(RunContext& context, StopStatus status, const std::string& reason) {
  record::RunEnded ended;
  ended.status = to_string(status);
  ended.reason = reason;
  ended.exit_code = exit_code_of(status);
  ended.iterations = context.log.progress().iteration;
  ended.duration_ms = (context.clock.monotonic() - context.started).count();
  ended.tokens = context.log.progress().tokens.total();
  ended.cost_usd = context.log.progress().cost_usd;
  TRY(context.log.note(std::move(ended)));
  return context.log.sync();
}

}  // namespace

Result<Decision> run_prompt_loop(PromptLoop loop) {
  Result<Decision> decision = Engine(loop).run();
  if (!decision) {
    // Where the disk is full this note fails too; the error itself says so to the user.
    static_cast<void>(note_end(loop.context, StopStatus::kFatal, decision.error().message));
    return decision;
  }
  TRY(note_end(loop.context, decision->status, decision->reason));
  return decision;
}

}  // namespace ralph
