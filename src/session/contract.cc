#include "session/contract.h"

#include "base/text.h"

namespace ralph {
namespace {

constexpr std::string_view kUltrawork =
    "ULTRAWORK MODE: work with full intensity until the task is completely done. Plan the remaining steps, take "
    "them one after the other, use every tool that helps, delegate what can be done side by side, verify each result "
    "by running "
    "it, and do not stop for questions that you can answer yourself.\n\n";

std::string task_of(const LoopRequest& request) {
  if (request.paths.empty()) return request.task;
  return fmt::format("{}\n(This is about {}: leave everything else as it is.)", request.task,
                     join_for_people(request.paths));
}

}  // namespace

std::string without_marker(const std::string& text, const LoopRequest& request) {
  return replace_all(text, promise_marker(request), request.promise);
}

std::string promise_marker(const LoopRequest& request) {
  return fmt::format("<promise>{}</promise>", request.promise);
}

std::string prompt_contract(const LoopRequest& request) {
  const std::string marker = promise_marker(request);
  return fmt::format(
      "{}You are in a ralph loop: this session goes on until the task is fully done.\n\n"
      "Task:\n{}\n\n"
      "STRICT REQUIREMENTS, do not violate:\n"
      "- Only when the task is fully done and you have verified it, output the completion promise {} alone on a line.\n"
      "- It must match exactly: this spelling and case, no whitespace inside the tag, no variants.\n"
      "- If the task is not done, do not output the promise, not even to announce or quote it. Keep working instead.\n"
      "- A promise {} does not count. When you stop without the promise, you are sent on, for at most "
      "{}.\n",
      request.ultrawork ? kUltrawork : "", task_of(request), marker,
      request.min_tool_calls > 1 ? fmt::format("after fewer than {} tool calls", request.min_tool_calls)
                                 : "without work",
      count_of(static_cast<unsigned>(request.max_iterations), "iteration"));
}

std::string continuation(const LoopRequest& request, int iteration, std::string_view rule, int background_tasks,
                         int tool_calls) {
  const std::string marker = promise_marker(request);
  std::string text(request.ultrawork ? kUltrawork : "");
  text += fmt::format("{}{} of {}]\n", kContinuationMark, iteration, request.max_iterations);
  if (rule == "promise_without_work") {
    text += fmt::format(
        "Promise detected, but {} performed; you must actually complete the task before emitting the promise {}.",
        tool_calls > 0 ? fmt::format("only {} of at least {} tool calls were", tool_calls, request.min_tool_calls)
                       : "no tool calls/work were",
        marker);
  } else if (rule == "promise_mentioned") {
    text += fmt::format(
        "You mentioned the completion promise {} inside a sentence, which does not count: if you mean it, say it alone "
        "on a line.",
        marker);
  } else {
    text += fmt::format("You attempted to end the loop, but you did not output the completion promise {}.", marker);
  }
  text += " Continue working on the original task below. Only output the promise when the task is fully complete.";
  if (background_tasks > 0) {
    text += fmt::format(
        " {} still running in the background: wait for what you need of it.",
        background_tasks == 1 ? "One task of yours is" : fmt::format("{} tasks of yours are", background_tasks));
  }
  text += fmt::format("\n\nOriginal task:\n{}", task_of(request));
  return text;
}

std::string all_that_is_told(const LoopRequest& request, int iteration) {
  std::string told = prompt_contract(request);
  for (const std::string_view rule : {"promise_missing", "promise_without_work", "promise_mentioned"})
    told += fmt::format("\n{}", continuation(request, iteration, rule, 0));
  return told;
}

}  // namespace ralph
