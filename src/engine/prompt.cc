#include "engine/prompt.h"

#include <vector>

namespace ralph {
namespace {

std::vector<std::string> messages_of(std::span<const Feedback> feedback, FailAction action) {
  std::vector<std::string> messages;
  for (const Feedback& item : feedback) {
    if (item.action == action) messages.push_back(item.message);
  }
  return messages;
}

}  // namespace

std::string compose_prompt(std::string_view base, std::span<const Feedback> feedback) {
  std::vector<std::string> parts = messages_of(feedback, FailAction::kPrepend);
  std::vector<std::string> middle = messages_of(feedback, FailAction::kReplace);
  if (middle.empty()) middle.emplace_back(base);
  const std::vector<std::string> after = messages_of(feedback, FailAction::kAppend);
  parts.insert(parts.end(), middle.begin(), middle.end());
  parts.insert(parts.end(), after.begin(), after.end());
  return join_prompt_parts(parts);
}

std::string join_prompt_parts(std::span<const std::string> parts) {
  std::string prompt;
  for (const std::string& part : parts) {
    if (!prompt.empty()) {
      prompt.resize(prompt.find_last_not_of("\r\n") + 1);
      prompt += "\n\n";
    }
    prompt += part;
  }
  return prompt;
}

std::string with_iteration_count(std::string_view prompt, int iteration, int maximum) {
  return fmt::format("Iteration {} of {}, {} remaining.\n\n{}", iteration, maximum, maximum - iteration, prompt);
}

}  // namespace ralph
