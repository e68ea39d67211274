#include "engine/engine.h"

#include "engine/attempts.h"
#include "engine/guardrails.h"
#include "engine/iterations.h"
#include "engine/prompt.h"
#include "engine/scm_tasks.h"

namespace ralph {
namespace {

class Engine {
 public:
  explicit Engine(PromptLoop loop) : loop_(loop), context_(loop.context) {}

  Result<Decision> iterate() {
    const MonotonicTime started = context_.clock.monotonic();
    const int iteration = context_.log.progress().iteration + 1;
    TRY_VALUE(const std::string base, loop_.prompt.read());
    TRY(context_.log.note(record::IterationStarted{iteration}));

    TRY_VALUE(const Decision after_turn,
              take_turn(context_, loop_.agents, prompt_from(base), loop_.settings.stream_agent_output));
    if (after_turn.action == Action::kStop) return after_turn;

    TRY_VALUE(const Decision after_guardrails, run_guardrails(context_, {loop_.settings.guardrails, excerpt_size()}));
    if (after_guardrails.action == Action::kStop) return after_guardrails;

    if (context_.log.progress().guardrails_failed.empty() && loop_.settings.scm) {
      ScmPlan scm{*loop_.settings.scm, loop_.settings.stream_agent_output};
      if (!loop_.settings.guardrails.empty()) {
        scm.check_again = [this] {
          return run_guardrails(context_, {loop_.settings.guardrails, excerpt_size(), true});
        };
      }
      TRY_VALUE(const Decision after_scm, run_scm_tasks(context_, agent_to_start(context_, loop_.agents), scm));
      if (after_scm.action == Action::kStop) return after_scm;
    }

    TRY_VALUE(const Decision decision, ask(context_, {Moment::kAfterChecks}));
    const Milliseconds duration = context_.clock.monotonic() - started;
    TRY(context_.log.note(record::IterationEnded{iteration, duration.count()}));
    TRY(context_.log.sync());
    return decision;
  }

 private:
  std::string prompt_from(const std::string& base) const {
    std::string prompt = compose_prompt(base, context_.log.progress().feedback);
    if (!loop_.settings.include_iteration_count_in_prompt) return prompt;
    return with_iteration_count(prompt, context_.log.progress().iteration, context_.policy.max_iterations);
  }

  size_t excerpt_size() const { return static_cast<size_t>(loop_.settings.output_truncate_chars); }

  PromptLoop loop_;
  RunContext& context_;
};

}  // namespace

Result<Decision> run_prompt_loop(PromptLoop loop) {
  Engine engine(loop);
  return run_iterations(loop.context, [&] { return engine.iterate(); });
}

}  // namespace ralph
