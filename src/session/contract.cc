#include "session/contract.h"

#include "base/text.h"
#include "engine/rules.h"

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

// "`make test` and `make lint`"
std::string commands_of(const LoopRequest& request) {
  std::vector<std::string> quoted;
  for (const std::string& command : request.checks) quoted.push_back(fmt::format("`{}`", command));
  if (request.zero_errors) quoted.emplace_back("no errors from the project's compilers, type checkers and linters");
  if (request.zero_warnings) quoted.emplace_back("no warnings from them");
  if (request.zero_security) quoted.emplace_back("no security issues");
  if (request.tests_pass) quoted.emplace_back("all tests pass");
  return join_for_people(quoted);
}

// Whether exactly one thing is checked.
bool is_one(const LoopRequest& request) {
  return request.checks.size() + (request.zero_errors ? 1 : 0) + (request.zero_warnings ? 1 : 0) +
             (request.zero_security ? 1 : 0) + (request.tests_pass ? 1 : 0) ==
         1;
}

}  // namespace

std::string without_promise_tag(const std::string& text, const LoopRequest& request) {
  return replace_all(text, promise_tag(request), request.promise);
}

std::string promise_tag(const LoopRequest& request) {
  return fmt::format("<promise>{}</promise>", request.promise);
}

std::string prompt_contract(const LoopRequest& request) {
  const std::string marker = promise_tag(request);
  std::string text = fmt::format(
      "{}You are in a ralph loop: this session goes on until the task is fully done.\n\n"
      "Task:\n{}\n\n"
      "STRICT REQUIREMENTS, do not violate:\n",
      request.ultrawork ? kUltrawork : "", task_of(request));
  if (request.checks_in_all() > 0)
    text += fmt::format(
        "- {} ralph runs {} itself, in the project: {}. What fails is sent to you.\n"
        "- Don't weaken what {}: no test is deleted, skipped or made to pass without the work.\n",
        request.no_promise ? "Whenever you stop," : "Before a promise counts,",
        is_one(request) ? "this check" : "these checks", commands_of(request),
        is_one(request) ? "it proves" : "they prove");
  if (request.no_promise) {
    text += fmt::format("- The loop ends when {}. Until then this session continues, for at most {}.\n",
                        is_one(request) ? "it passes" : "they all pass",
                        count_of(static_cast<unsigned>(request.max_iterations), "iteration"));
    return text;
  }
  return text +
         fmt::format(
             "- Only when the task is fully done and you have verified it, output the completion promise {} alone on a "
             "line.\n"
             "- It must match exactly: this spelling and case, no whitespace inside the tag, no variants.\n"
             "- If the task is not done, do not output the promise, not even to announce or quote it. Keep working "
             "instead.\n"
             "- A promise {} does not count. When you stop without it, the session continues, for at most "
             "{}.\n",
             marker,
             request.min_tool_calls > 1 ? fmt::format("after fewer than {} tool calls", request.min_tool_calls)
                                        : "without work",
             count_of(static_cast<unsigned>(request.max_iterations), "iteration"));
}

namespace {

// Why the session must continue.
std::string objection(const LoopRequest& request, std::string_view rule, int tool_calls) {
  const std::string marker = promise_tag(request);
  if (rule == rules::kChecksRunning)
    return fmt::format(
        "The checks ({}) are still running on the files as they are. Change nothing, and just stop again: the next "
        "stop "
        "gets their result.",
        commands_of(request));
  if (rule == rules::kChecksUnfinished)
    return fmt::format("You changed files while the checks ({}) were running, so they run again.",
                       commands_of(request));
  if (rule == rules::kChecksUnmet)
    return request.no_promise ? "ralph has run the checks itself, and they don't pass:"
                              : "You made the promise, but ralph has run the checks itself, and they don't pass:";
  if (rule == rules::kFilesHeld)
    return request.no_promise ? "The checks pass, but the work is not complete:"
                              : "You made the promise, but it does not count:";
  if (rule == rules::kPromiseWithoutWork)
    return fmt::format(
        "Promise detected, but {} performed; you must actually complete the task before emitting the promise {}.",
        tool_calls > 0 ? fmt::format("only {} of at least {} tool calls were", tool_calls, request.min_tool_calls)
                       : "no tool calls/work were",
        marker);
  if (rule == rules::kPromiseMentioned)
    return fmt::format(
        "You mentioned the completion promise {} inside a sentence or a quotation, which does not count: if you mean "
        "it, "
        "say it alone on a line.",
        marker);
  return fmt::format("You attempted to end the loop, but you did not output the completion promise {}.", marker);
}

}  // namespace

std::string continuation(const LoopRequest& request, int iteration, std::string_view rule, int background_tasks,
                         int tool_calls, std::string_view failures) {
  std::string text(request.ultrawork ? kUltrawork : "");
  text += fmt::format("{}{} of {}]\n", kContinuationMark, iteration, request.max_iterations);
  text += objection(request, rule, tool_calls);
  if (rule == rules::kChecksRunning) return text;
  if (!failures.empty()) text += fmt::format("\n\n{}\n\n", failures);
  text += failures.empty() ? " Continue"
                           : (rule == rules::kFilesHeld ? "Continue" : "Make them pass by doing the work. Continue");
  text += " working on the original task below.";
  if (!request.no_promise)
    text += fmt::format(" Only output the promise{} when the task is fully complete.",
                        failures.empty() ? "" : fmt::format(" {}", promise_tag(request)));
  if (background_tasks > 0) {
    text += fmt::format(
        " {} still running in the background: wait for what you need from it.",
        background_tasks == 1 ? "One task of yours is" : fmt::format("{} tasks of yours are", background_tasks));
  }
  text += fmt::format("\n\nOriginal task:\n{}", task_of(request));
  return text;
}

std::string all_loop_texts(const LoopRequest& request, int iteration) {
  std::string texts = prompt_contract(request);
  for (const std::string_view rule : {rules::kPromiseMissing, rules::kPromiseWithoutWork, rules::kPromiseMentioned})
    texts += fmt::format("\n{}", continuation(request, iteration, rule, 0));
  if (request.checks_in_all() > 0)
    texts += fmt::format("\n{}", continuation(request, iteration, rules::kChecksUnmet, 0, 0, "…"));
  return texts;
}

}  // namespace ralph
