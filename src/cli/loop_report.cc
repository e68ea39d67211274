#include "cli/loop_report.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "history/receipt.h"
#include "os/files.h"
#include "session/contract.h"

namespace ralph::cli {
namespace {

std::string clean(const std::string& text, size_t width = 100) {
  return fit_to_width(text, width);
}

std::string result_of(const std::string& command, const LoopState& state) {
  if (state.checking) return "running now";
  const auto found = std::find_if(state.results.begin(), state.results.end(),
                                  [&](const LoopCheck& one) { return one.command == command; });
  if (found == state.results.end()) return "has not run yet";
  return fmt::format("{} at {}{}", replace_all(to_string(found->outcome), "_", " "), found->time,
                     found->log_file.empty() ? "" : ", see " + found->log_file);
}

std::string criteria_of(const LoopRequest& request) {
  std::vector<std::string> words;
  if (request.zero_errors) words.emplace_back("no errors");
  if (request.zero_warnings) words.emplace_back("no warnings");
  if (request.zero_security) words.emplace_back("no security findings");
  if (request.tests_pass) words.emplace_back("tests pass");
  return join(words, ", ");
}

}  // namespace

std::string loop_report(const LoopState& state, const Style& style) {
  std::string out;
  const LoopRequest& request = state.request;
  const std::string status(to_string(state.status));
  out += fmt::format("{}  {}\n",
                     state.active() ? style.cyan(status)
                     : state.status == LoopStatus::kPromiseAccepted || state.status == LoopStatus::kComplete
                         ? style.green(status)
                         : style.yellow(status),
                     clean(std::string(first_line(request.task)), 80));
  out += fmt::format("  session    {}\n", state.host.session.empty() ? "none yet: the next that starts here adopts it"
                                                                     : clean(state.host.session));
  if (!request.paths.empty()) out += fmt::format("  about      {}\n", clean(join_for_people(request.paths)));
  out += fmt::format("  iteration  {} of {}\n", state.iteration, request.max_iterations);
  for (const std::string& command : request.checks)
    out += fmt::format("  check      {} ({})\n", clean(command), result_of(command, state));
  if (request.has_criteria()) out += fmt::format("  criteria   {}\n", criteria_of(request));
  if (!state.trend.empty()) out += fmt::format("  trend      {}\n", clean(state.trend, 200));
  if (!request.no_promise)
    out += fmt::format("  promise    {}, after at least {} (else {})\n", clean(request.promise),
                       count_of(static_cast<unsigned>(request.min_tool_calls), "tool call"),
                       to_string(request.on_promise_no_work));
  const std::string began = to_iso8601(state.host.since);
  out += fmt::format("  began      {}{}\n", began, state.updated == began ? "" : ", last update " + state.updated);
  if (state.status == LoopStatus::kSessionEnded)
    out += fmt::format("  ended      its session, not the loop: it goes on when the session is resumed ({})\n",
                       clean(state.host.ended));
  if (!state.reason.empty()) out += fmt::format("  ended      {}\n", clean(state.reason, 200));
  for (const LoopDecision& one : state.decisions) {
    out += style.dim(fmt::format("  {}  {}: {} ({})", one.time, one.decision, clean(one.reason, 200), one.rule)) + "\n";
  }
  return without_promise_tag(out, request);
}

void write_loop_receipt(const std::string& project, const LoopState& state) {
  if (!state.run.empty()) static_cast<void>(write_receipt(join_path(join_path(project, ".ralph/runs"), state.run)));
}

}  // namespace ralph::cli
