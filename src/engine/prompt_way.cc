#include "engine/prompt_way.h"

#include "engine/prompt.h"

namespace ralph {

Result<NextTurn> PromptWay::next() {
  TRY_VALUE(const std::string base, prompt_.read());
  std::string prompt = compose_prompt(base, run_.progress().feedback);
  if (settings_.include_iteration_count_in_prompt)
    prompt = with_iteration_count(prompt, run_.progress().iteration, run_.policy.max_iterations);
  return NextTurn{std::move(prompt), agents_, settings_.stream_agent_output};
}

Result<IterationChecks> PromptWay::checks() {
  return IterationChecks{settings_.guardrails, static_cast<size_t>(settings_.output_truncate_chars),
                         settings_.scm ? &*settings_.scm : nullptr, settings_.stream_agent_output};
}

}  // namespace ralph
