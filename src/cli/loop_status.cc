// ralph loop status and ralph loop cancel: what loops of host sessions there are, and the way out of one.
#include <array>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/registry.h"
#include "os/environment.h"
#include "os/files.h"
#include "session/contract.h"
#include "session/loop_store.h"
#include "ui/style.h"

namespace ralph::cli {
namespace {

constexpr std::array kStatusOptions = {
    Option{"session", 0, "ID", "Of this session only."},
    Option{"json", 0, "", "Print it as JSON."},
};
constexpr std::array kCancelOptions = {
    Option{"session", 0, "ID", "The session (default: $CLAUDE_CODE_SESSION_ID; else the only active loop)."},
    Option{"all", 0, "", "Every active loop of this project."},
};

std::string clean(const std::string& text, size_t width = 100) {
  return fit_to_width(text, width);
}

void print(std::string& out, const LoopState& state, const Style& style) {
  const LoopRequest& request = state.request;
  const std::string status(to_string(state.status));
  out += fmt::format("{}  {}\n",
                     state.active()                                 ? style.cyan(status)
                     : state.status == LoopStatus::kPromiseAccepted ? style.green(status)
                                                                    : style.yellow(status),
                     clean(std::string(first_line(request.task)), 80));
  out += fmt::format("  session    {}\n",
                     state.session.empty() ? "none yet: the next that starts here adopts it" : clean(state.session));
  out += fmt::format("  iteration  {} of {}\n", state.iteration, request.max_iterations);
  out += fmt::format("  promise    {}, after at least {} (else {})\n", clean(promise_marker(request)),
                     count_of(static_cast<unsigned>(request.min_tool_calls), "tool call"),
                     to_string(request.on_promise_no_work));
  out += fmt::format("  began      {}{}\n", state.started,
                     state.updated == state.started ? "" : ", last heard of " + state.updated);
  if (!state.reason.empty()) out += fmt::format("  ended      {}\n", clean(state.reason, 200));
  for (const LoopDecision& one : state.decisions) {
    out += style.dim(fmt::format("  {}  {}: {} ({})", one.time, one.decision, clean(one.reason, 200), one.rule)) + "\n";
  }
}

// The session that is asked for: with --session, or (for `own`) the one in which this runs. Empty: none.
Result<std::string> session_from(const Arguments& arguments, const Environment& environment, bool own) {
  if (arguments.value("session") == "")
    return fail(ErrorKind::kUsage, "--session is empty; leave it out, or give the session's id");
  if (const auto session = arguments.value("session")) return std::string(*session);
  return own ? environment.get("CLAUDE_CODE_SESSION_ID").value_or("") : "";
}

// Where the loop of this session is, or would be.
Result<LoopStore> store_for(const std::string& session, const Environment& environment) {
  TRY_VALUE(const std::string folder, current_directory());
  const auto project = project_of_session(environment, session, folder);
  return LoopStore(project ? *project : project_for_loop(folder), environment);
}

Status show(const Arguments& arguments) {
  const Environment environment = Environment::of_this_process();
  TRY_VALUE(const std::string session, session_from(arguments, environment, false));
  TRY_VALUE(const LoopStore store, store_for(session, environment));
  std::vector<LoopState> states = store.active();
  const std::vector<LoopState> ended = store.history();
  states.insert(states.end(), ended.begin(), ended.end());
  if (!session.empty()) std::erase_if(states, [&](const LoopState& state) { return state.session != session; });
  if (arguments.has("json")) {
    json::array array;
    for (const LoopState& state : states) array.push_back(to_json(state));
    fmt::print("{}", to_pretty_json(array));
    return {};
  }
  const Style style = style_for(STDOUT_FILENO, environment);
  std::string out;
  for (const LoopState& state : states) {
    if (!out.empty()) out += '\n';
    print(out, state, style);
  }
  if (states.empty()) out = "No loops here. In Claude Code: /ralph:loop TASK; in a terminal: ralph loop start TASK\n";
  fmt::print("{}", out);
  return {};
}

Status cancel(const Arguments& arguments) {
  const Environment environment = Environment::of_this_process();
  const bool all = arguments.has("all");
  TRY_VALUE(const std::string session, session_from(arguments, environment, !all));
  TRY_VALUE(LoopStore store, store_for(session, environment));
  std::vector<LoopState> states = store.active();
  if (!session.empty()) std::erase_if(states, [&](const LoopState& state) { return state.session != session; });
  if (states.size() > 1 && !all)
    return fail(ErrorKind::kUsage,
                "{} are active here; say which one with --session ID, or --all ('ralph loop status' lists them)",
                count_of(states.size(), "loop"));
  int cancelled = 0;
  for (const LoopState& state : states) {
    TRY_VALUE(const auto done, store.update(state.session, mark_cancelled));
    if (!done) continue;
    ++cancelled;
    fmt::print("Cancelled in iteration {} of {}: {}\n", done->iteration, done->request.max_iterations,
               clean(std::string(first_line(done->request.task)), 80));
  }
  if (cancelled == 0) fmt::print("No loop is active here.\n");
  return {};
}

int finish(const Status& done) {
  return done ? 0 : report(done.error());
}

}  // namespace

const Command kLoopStatus = {
    "loop status",
    "Show the loops of host sessions: state, iteration, every decision and its reason.",
    "Reads .ralph/loop of this project; ended loops are kept as history.",
    "ralph loop status\n       ralph loop status --session 26d69ff4-4761-40bc --json",
    kStatusOptions,
    {},
    [](const Arguments& arguments) { return finish(show(arguments)); },
};

const Command kLoopCancel = {
    "loop cancel",
    "End a loop of a host session: its next stop is let pass.",
    "The session itself goes on with what it is doing; it is only no longer sent on.",
    "ralph loop cancel\n       ralph loop cancel --all",
    kCancelOptions,
    {},
    [](const Arguments& arguments) { return finish(cancel(arguments)); },
};

}  // namespace ralph::cli
