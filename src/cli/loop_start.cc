// ralph loop start: starts a loop inside a host agent's session by hand.
#include <array>
#include <unistd.h>

#include "base/text.h"
#include "cli/loop_options.h"
#include "cli/output_options.h"
#include "cli/registry.h"
#include "journal/redactor.h"
#include "journal/run_folder.h"
#include "os/files.h"
#include "session/contract.h"
#include "session/diagnose.h"
#include "session/loop_store.h"
#include "ui/style.h"

namespace ralph::cli {
namespace {

constexpr auto kOptions = joined(
    std::array{
        Option{"session", 0, "ID", "The session (default: $CLAUDE_CODE_SESSION_ID, else the next one to start here)."},
        Option{"max-iterations", 'n', "N", "Continue at most N times (default 100)."},
    },
    kLoopOptions, kCriteriaOptions,
    std::array{
        kCheckOption,
        Option{"json", 0, "", "Print the loop's state as JSON."},
    });
constexpr std::array kPositionals = {kTaskPositional};

Result<int> start_unbound_loop(const Arguments& arguments) {
  const Environment environment = Environment::of_this_process();
  if (const std::string run = enclosing_run_id(environment); !run.empty())
    return fail(ErrorKind::kUsage, "this agent is run by ralph itself (run {}); it needs no second loop", run);
  TRY_VALUE(const std::string here, current_directory());
  LoopStore store(project_for_loop(here), environment);
  TRY_VALUE(const LoopRequest request, loop_request_from(arguments, here, store.project()));
  TRY_VALUE(const std::string session, session_from(arguments, environment));
  TRY(check_criteria(store.project(), environment, request.criteria()));
  TRY_VALUE(const LoopState state, store.start(request, session, ""));
  if (arguments.has("json")) {
    fmt::print("{}", Redactor(environment.as_lines()).redact(to_pretty_json(to_json(state))));
    return 0;
  }
  const Style style = style_of_output(environment);
  std::vector<std::string> needs;
  if (!request.no_promise) needs.push_back("the promise " + request.promise);
  if (request.has_criteria()) needs.emplace_back("the criteria over what the project's tools say");
  for (const std::string& check : request.checks) needs.push_back(Redactor(environment.as_lines()).redact(check));
  fmt::print("{} Loop started: at most {}, complete with {}\n", style.green(style.ok()),
             count_of(static_cast<unsigned>(request.max_iterations), "iteration"), join_for_people(needs));
  fmt::print("{}\n\n{}",
             session.empty() ? "The next session that starts in this project adopts it."
                             : fmt::format("It is bound to session {}.", session),
             Redactor(environment.as_lines()).redact(prompt_contract(request)));
  return 0;
}

}  // namespace

const Command kLoopStart = {
    "loop start",
    "Start a loop inside a host's session: it continues until the agent gives its promise.",
    R"(The host's Stop hook (`ralph hooks stop`, see `ralph hooks install`) does the looping. In Claude Code,
/ralph:loop does the same, bound to the session it is typed in.)",
    R"(ralph loop start 'Make the tests pass' --max-iterations 20
       ralph loop start 'Make the tests pass' --check 'make test'
       ralph loop start 'Port it to C++20' --completion-promise PORTED --min-tool-calls 5)",
    kOptions,
    kPositionals,
    start_unbound_loop,
};

}  // namespace ralph::cli
