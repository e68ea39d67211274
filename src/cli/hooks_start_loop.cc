// ralph hooks start-loop: starts a diagnostics loop inside a host's session, without a promise.
#include <array>

#include "base/text.h"
#include "cli/loop_options.h"
#include "cli/registry.h"
#include "journal/redactor.h"
#include "journal/run_folder.h"
#include "os/files.h"
#include "session/contract.h"
#include "session/diagnose.h"
#include "session/loop_command.h"
#include "session/loop_store.h"

namespace ralph::cli {
namespace {

constexpr std::array kOptions = {
    Option{"task", 't', "TEXT", "What to do."},
    Option{"session", 0, "ID", "The session (default: $CLAUDE_CODE_SESSION_ID, else the next one to start here)."},
    Option{"max-iterations", 'n', "N", "Continue at most N times (default 10)."},
    Option{.name = "zero-errors", .letter = 0, .value = "", .help = "No errors (the default).", .negatable = true},
    Option{"zero-warnings", 0, "", "No warnings."},
    Option{"zero-security", 0, "", "No security findings."},
    Option{"tests-pass", 0, "", "The project's tests pass."},
    Option{"stagnation-limit", 0, "N", "End as STAGNANT after N snapshots without improvement (default 3; 0: off)."},
    Option{"json", 0, "", "Print the loop's state as JSON."},
};

Result<int> start_diagnostic_loop(const Arguments& arguments) {
  const Environment environment = Environment::of_this_process();
  if (const std::string run = enclosing_run_id(environment); !run.empty())
    return fail(ErrorKind::kUsage, "this agent is run by ralph itself (run {}); it needs no second loop", run);
  LoopRequest request;
  request.task = arguments.value("task").value_or("Fix what the project's tools find");
  request.no_promise = true;
  request.max_iterations = 10;
  request.zero_errors = arguments.flag("zero-errors").value_or(true);
  for (const std::string_view name : {"max-iterations", "stagnation-limit"}) {
    if (const auto value = arguments.value(name)) TRY(set_loop_option(request, name, *value));
  }
  for (const std::string_view name : {"zero-warnings", "zero-security", "tests-pass"}) {
    if (arguments.has(name)) TRY(set_loop_option(request, name, ""));
  }
  if (!request.has_criteria())
    return fail(
        ErrorKind::kUsage,
        "--no-zero-errors: what ends the loop then? Give another criterion: --zero-warnings, --zero-security or "
        "--tests-pass");
  TRY(check_request(request));
  TRY_VALUE(const std::string session, session_from(arguments, environment));
  TRY_VALUE(const std::string here, current_directory());
  LoopStore store(project_for_loop(here), environment);
  TRY(check_criteria(store.project(), environment, request.criteria()));
  TRY_VALUE(const LoopState state, store.start(request, session, ""));
  const Redactor redactor(environment.as_lines());
  if (arguments.has("json")) {
    fmt::print("{}", redactor.redact(to_pretty_json(to_json(state))));
    return 0;
  }
  fmt::print("{}", redactor.redact(prompt_contract(request)));
  return 0;
}

}  // namespace

const Command kHooksStartLoop = {
    "hooks start-loop",
    "Start a diagnostics loop in a host's session: it continues until the tools find nothing.",
    R"(The project's tools run at each stop, and the session continues until the criteria hold, the limit is reached, or
nothing improves any more. It needs no promise; <ralph>DONE</ralph> alone on a line ends it despite errors, unless
diagnostics.strict is set. `ralph loop start` with --zero-errors and the like requires a promise as well. A criterion
whose tool is missing is refused.)",
    R"(ralph hooks start-loop --task 'Fix all errors' --max-iterations 10 --zero-errors --tests-pass
       ralph hooks cancel-loop)",
    kOptions,
    {},
    start_diagnostic_loop,
};

}  // namespace ralph::cli
