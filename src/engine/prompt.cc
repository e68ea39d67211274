#include "engine/prompt.h"

#include <vector>

#include "base/text.h"
#include "base/utf8.h"

namespace ralph {
namespace {

constexpr size_t kMostFeedback = 200 * 1024;  // bytes in one prompt

// For a message whose output does not fit: keeps the part before it, which names the command and its log.
std::string without_output(const std::string& message) {
  const size_t output = message.find("\nOutput (truncated):\n");
  return std::string(prefix_of_characters(message.substr(0, output), 2000)) +
         "\nIts output is not shown here: the feedback of all checks together is too long. Read it in the log.";
}

// Keeps the messages that fit, in the order of the checks, and shortens the others.
std::vector<Feedback> fitting(std::span<const Feedback> feedback) {
  std::vector<Feedback> result(feedback.begin(), feedback.end());
  size_t total = 0;
  for (Feedback& item : result) {
    if (total + item.message.size() > kMostFeedback) item.message = without_output(item.message);
    total += item.message.size();
  }
  return result;
}

std::vector<std::string> messages_of(std::span<const Feedback> feedback, FailAction action) {
  std::vector<std::string> messages;
  for (const Feedback& item : feedback) {
    if (item.action == action) messages.push_back(item.message);
  }
  return messages;
}

}  // namespace

std::string compose_prompt(std::string_view base, std::span<const Feedback> all) {
  const std::vector<Feedback> feedback = fitting(all);
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
