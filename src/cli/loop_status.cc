// ralph loop status and ralph loop cancel: show and end the loops of host sessions.
#include <algorithm>
#include <array>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/loop_options.h"
#include "cli/loop_report.h"
#include "cli/output_options.h"
#include "cli/registry.h"
#include "journal/redactor.h"
#include "os/files.h"
#include "session/contract.h"
#include "session/loop_store.h"
#include "ui/style.h"

namespace ralph::cli {
namespace {

constexpr std::array kStatusOptions = {
    Option{"session", 0, "ID",
           "Only loops of this session (default: $CLAUDE_CODE_SESSION_ID, else all of this project)."},
    Option{"all", 0, "", "All loops of this project, even inside a session."},
    Option{"json", 0, "", "Print JSON."},
};
constexpr std::array kCancelOptions = {
    Option{"session", 0, "ID",
           "The session (default: $CLAUDE_CODE_SESSION_ID, then a waiting loop, else the only one)."},
    Option{"all", 0, "", "Every active loop of this project."},
    Option{"json", 0, "", "Print the cancelled loops as JSON."},
};

// Where the loop of this session is, or would be.
Result<LoopStore> store_for(const std::string& session, const Environment& environment) {
  TRY_VALUE(const std::string folder, current_directory());
  const auto project = project_of_session(environment, session);
  return LoopStore(project ? *project : project_for_loop(folder), environment);
}

// 0, or an error if damaged loops make the result incomplete.
Result<int> none_of(const std::vector<std::string>& damaged) {
  if (damaged.empty()) return 0;
  return fail(ErrorKind::kInput, "{}", join(damaged, "\n"));
}

// Inside a session without a loop: a note about the loops of other sessions.
std::string of_others(const LoopStore& store, bool inside_session) {
  const size_t others = inside_session ? store.active().size() : 0;
  return others == 0 ? ""
                     : fmt::format(" Not of this session: {} (ralph loop status --all).", count_of(others, "loop"));
}

// Removes the promise: an agent that repeats what it was shown must not give it.
void replace_in(json::value& value, const LoopRequest& request) {
  if (auto* text = value.if_string()) *text = without_promise_tag(std::string(*text), request);
  if (auto* array = value.if_array()) {
    for (json::value& one : *array) replace_in(one, request);
  }
  if (auto* object = value.if_object()) {
    for (auto& member : *object) replace_in(member.value(), request);
  }
}

json::value shown_json(const LoopState& state) {
  json::value shown = to_json(state);
  replace_in(shown, state.request);
  return shown;
}

Result<int> show(const Arguments& arguments) {
  const Environment environment = Environment::of_this_process();
  TRY_VALUE(const std::string session, session_from(arguments, environment));
  TRY_VALUE(const LoopStore store, store_for(session, environment));
  std::vector<std::string> damaged;
  std::vector<LoopState> states = store.active(session, &damaged);
  const std::vector<LoopState> ended = store.history(session, &damaged);
  states.insert(states.end(), ended.begin(), ended.end());
  const Redactor redactor(environment.as_lines());
  if (arguments.has("json")) {
    json::array array;
    for (const LoopState& state : states) array.push_back(shown_json(state));
    fmt::print("{}", redactor.redact(to_pretty_json(array)));
    return none_of(damaged);
  }
  const Style style = style_of_output(environment);
  std::string out;
  for (const LoopState& state : states) {
    if (!out.empty()) out += '\n';
    out += loop_report(state, style);
  }
  const bool inside_session = !session.empty() && !arguments.value("session");
  if (states.empty() && damaged.empty())
    out = fmt::format("No loops here. In Claude Code: /ralph:loop TASK; in a terminal: ralph loop start TASK.{}\n",
                      of_others(store, inside_session));
  fmt::print("{}", redactor.redact(out));
  return none_of(damaged);
}

Result<int> cancel(const Arguments& arguments) {
  const Environment environment = Environment::of_this_process();
  const bool all = arguments.has("all");
  TRY_VALUE(const std::string session, session_from(arguments, environment));
  TRY_VALUE(LoopStore store, store_for(session, environment));
  std::vector<std::string> damaged;
  std::vector<LoopState> states = store.active(session, &damaged);
  const bool inside_session = !session.empty() && !arguments.value("session");
  if (states.empty() && damaged.empty() && inside_session) {
    // This session has no loop, so the one that is waiting for a session must be meant.
    states = store.active();
    std::erase_if(states, [](const LoopState& state) { return !state.host.session.empty(); });
  }
  // If some sessions have ended, the active one must be meant.
  if (!all &&
      std::any_of(states.begin(), states.end(), [](const LoopState& s) { return s.status == LoopStatus::kActive; }))
    std::erase_if(states, [](const LoopState& state) { return state.status == LoopStatus::kSessionEnded; });
  if (states.size() > 1 && !all)
    return fail(ErrorKind::kUsage,
                "{} are active here; say which one with --session ID, or --all ('ralph loop status' lists them)",
                count_of(states.size(), "loop"));
  const Redactor redactor(environment.as_lines());
  json::array cancelled;
  for (const LoopState& state : states) {
    TRY_VALUE(const auto done, store.cancel(state.host.session));
    if (!done) continue;
    write_loop_receipt(store.project(), *done);
    cancelled.push_back(shown_json(*done));
    if (arguments.has("json")) continue;
    fmt::print("Cancelled in iteration {} of {}: {}\n", done->iteration, done->request.max_iterations,
               redactor.redact(
                   fit_to_width(without_promise_tag(std::string(first_line(done->request.task)), done->request), 80)));
  }
  if (arguments.has("json")) {
    fmt::print("{}", redactor.redact(to_pretty_json(cancelled)));
    return none_of(damaged);
  }
  if (cancelled.empty() && damaged.empty()) fmt::print("No loop is active here.{}\n", of_others(store, inside_session));
  return none_of(damaged);
}

}  // namespace

const Command kLoopStatus = {
    "loop status",
    "Show the loops of host sessions: state, iteration, every decision and its reason.",
    "Each loop is a run in this project's .ralph/runs and stays there after it has ended. Inside a Claude Code\n"
    "session, the loops of that session are shown, whichever folder it has moved to; --all shows those of the\n"
    "project.",
    "ralph loop status\n       ralph loop status --session 26d69ff4-4761-40bc --json",
    kStatusOptions,
    {},
    show,
};

const Command kLoopCancel = {
    "loop cancel",
    "End a loop of a host session, so that its next stop is allowed.",
    "The session itself finishes what it is doing; it is just not continued after that.",
    "ralph loop cancel\n       ralph loop cancel --all",
    kCancelOptions,
    {},
    cancel,
};

const Command kHooksCancelLoop = {
    "hooks cancel-loop",
    "End a loop of a host session, as `ralph loop cancel` does.",
    "The session itself finishes what it is doing; it is just not continued "
    "after that.",
    "ralph hooks cancel-loop",
    kCancelOptions,
    {},
    cancel,
};

}  // namespace ralph::cli
