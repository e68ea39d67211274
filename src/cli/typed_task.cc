#include "cli/typed_task.h"

#include <array>

#include "base/text.h"
#include "cli/agent_options.h"
#include "cli/durations.h"
#include "cli/limits.h"
#include "cli/project.h"

namespace ralph::cli {
namespace {

Result<TaskRequest> request_from(const Arguments& arguments, const std::string& typed_in) {
  const auto root = arguments.value("root"), project = arguments.value("project"), task = arguments.value("task");
  if (!root || !project || !task)
    return fail(ErrorKind::kUsage, "which task? Give --root DIR, --project P and --task T; missing ones are created");
  TaskRequest request;
  TRY_VALUE(request.place, task_place(absolute_path(*root, typed_in), *project, *task));
  const auto prompt = arguments.value("prompt"), file = arguments.value("prompt-file");
  if (prompt && file) return fail(ErrorKind::kUsage, "give --prompt or --prompt-file, not both");
  if (prompt) {
    if (trim(*prompt).empty()) return fail(ErrorKind::kUsage, "--prompt is blank");
    request.prompt = *prompt;
  }
  if (file) request.prompt_file = absolute_path(*file, typed_in);
  request.is_command = !arguments.positionals().empty();
  request.checks = arguments.values("check");
  for (const std::string& check : request.checks)
    if (trim(check).empty())
      return fail(ErrorKind::kUsage, "--check is blank; give a command that exits with 0 when the work is done");
  return request;
}

// The options that override settings.
Status set_task_options(const Arguments& arguments, Overrides& overrides) {
  constexpr std::array<std::array<std::string_view, 2>, 6> kDurations = {
      {{"restart-delay", "/task/restartDelaySeconds"},
       {"child-wait", "/task/childWaitSeconds"},
       {"done-grace", "/task/doneGraceSeconds"},
       {"poll", "/task/pollSeconds"},
       {"idle-timeout", "/task/idleTimeoutSeconds"},
       {"run-timeout", "/task/runTimeoutSeconds"}}};
  for (const auto& [option, pointer] : kDurations) {
    if (!arguments.value(option)) continue;
    TRY_VALUE(const Milliseconds duration, duration_from(arguments, option, {}));
    if (option == "poll" && duration.count() == 0) return fail(ErrorKind::kUsage, "--poll must be longer than 0");
    overrides.set(std::string(pointer), static_cast<double>(duration.count()) / 1000, fmt::format("--{}", option));
  }
  const auto text = arguments.value("max-restarts");
  if (!text) return {};
  const auto count = parse_count(*text);
  if (!count || *count > 1'000'000)
    return fail(ErrorKind::kUsage, "--max-restarts: \"{}\" is not a whole number from 1 to 1000000", *text);
  overrides.set("/task/maxRestarts", static_cast<std::int64_t>(*count), "--max-restarts");
  return {};
}

// The given criteria in addition to those of the settings.
std::optional<CriteriaSettings> criteria_with(const Arguments& arguments, std::optional<CriteriaSettings> criteria) {
  const auto add = [&](std::string_view option, bool CriteriaSettings::* criterion) {
    if (!arguments.has(option)) return;
    if (!criteria) criteria = CriteriaSettings{.zero_errors = false};
    (*criteria).*criterion = true;
  };
  add("zero-errors", &CriteriaSettings::zero_errors);
  add("zero-warnings", &CriteriaSettings::zero_warnings);
  add("zero-security", &CriteriaSettings::zero_security);
  add("tests-pass", &CriteriaSettings::tests_pass);
  return criteria;
}

}  // namespace

Result<TypedTask> task_from_arguments(const Arguments& arguments) {
  TypedTask task;
  TRY_VALUE(const std::string here, current_directory());
  TRY_VALUE(task.request, request_from(arguments, here));
  TRY_VALUE(const Project place, enter_project_for_agents());
  task.words.assign(arguments.positionals().begin(), arguments.positionals().end());
  // A command runs where it was typed.
  task.setup = setup_from(arguments, task.words.empty() ? place.folder : place.typed_in);
  task.setup.typed_in = place.typed_in;
  if (!task.words.empty() && (arguments.has("agent") || arguments.has("model")))
    return fail(ErrorKind::kUsage, "give --agent or a COMMAND after --, not both");
  Overrides overrides;
  TRY(set_limits(arguments, overrides));
  TRY(set_sandbox(arguments, overrides));
  TRY(set_agent(arguments, place.typed_in, overrides));
  TRY(set_model(arguments, overrides));
  TRY(set_task_options(arguments, overrides));
  Settings& settings = task.setup.loaded.settings;
  TRY_VALUE(task.setup.loaded, load_settings(place.folder, overrides));
  if (arguments.has("agent")) settings.task.agent.clear();  // --agent wins
  Policy& policy = task.setup.policy;
  policy = task_policy_from(settings);
  // Guardrails do not run: only DONE and the checks of this command count.
  policy.check_commands = task.request.checks;
  policy.checks = static_cast<int>(task.request.checks.size());
  policy.diagnostics.criteria = criteria_with(arguments, policy.diagnostics.criteria);
  task.restarts = policy.max_iterations;
  return task;
}

}  // namespace ralph::cli
