// What the agent is told: the base prompt, what failed last time, and where the loop stands.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "journal/words.h"
#include "settings/settings.h"

namespace ralph {

template <>
inline constexpr auto kWords<FailAction> = words({"APPEND", "PREPEND", "REPLACE"});

// What a failed guardrail says to the next iteration.
struct Feedback {
  FailAction action = FailAction::kAppend;
  std::string message;
  bool operator==(const Feedback&) const = default;
  template <class V>
  void fields(V&& v) {
    v("action", action), v("message", message);
  }
};

// REPLACE messages, in order, take the place of the base prompt; PREPEND messages stand before it and APPEND messages
// after it, each in their order; two newlines between parts.
std::string compose_prompt(std::string_view base, std::span<const Feedback> feedback);

// "Iteration X of Y, Z remaining." and two newlines before the prompt.
std::string with_iteration_count(std::string_view prompt, int iteration, int maximum);

}  // namespace ralph
