// `ralph run`: the prompt, plus the failures of the last iteration.
#pragma once

#include "engine/prompt_source.h"
#include "engine/way.h"

namespace ralph {

class PromptWay : public Way {
 public:
  // All arguments must outlive this object. `agents`: preferred one first.
  PromptWay(const Run& run, const Settings& settings, Agents agents, const PromptSource& prompt)
      : run_(run), settings_(settings), agents_(agents), prompt_(prompt) {}

  std::span<const GuardrailSettings> baselines() const override { return settings_.guardrails; }
  Result<NextTurn> next() override;
  Result<IterationChecks> checks() override;

 private:
  const Run& run_;
  const Settings& settings_;
  Agents agents_;
  const PromptSource& prompt_;
};

}  // namespace ralph
