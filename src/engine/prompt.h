// The prompt: the base prompt, the failures of the last iteration, and the iteration count.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "settings/settings.h"

namespace ralph {

// The message of a failed guardrail for the next iteration.
struct Feedback {
  FailAction action = FailAction::kAppend;
  std::string message;
  bool operator==(const Feedback&) const = default;
  template <class V>
  void fields(V&& v) {
    v("action", action), v("message", message);
  }
};

// Joins the parts with exactly one blank line between them, whatever newlines they end with.
std::string join_prompt_parts(std::span<const std::string> parts);

// REPLACE messages replace the base prompt; PREPEND messages go before it and APPEND messages after it. Each kind keeps
// its order; parts are separated by a blank line.
std::string compose_prompt(std::string_view base, std::span<const Feedback> feedback);

// Puts "Iteration X of Y, Z remaining." and a blank line before the prompt.
std::string with_iteration_count(std::string_view prompt, int iteration, int maximum);

}  // namespace ralph
