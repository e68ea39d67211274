#include "cli/dry_run.h"

#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "journal/redactor.h"
#include "os/environment.h"
#include "os/tty.h"

namespace ralph::cli {
namespace {

std::string describe_limit(double seconds) {
  return seconds > 0 ? human_duration(Milliseconds(static_cast<long long>(seconds * 1000))) : "none";
}

// In a sandbox, the agent runs as another user and does not refuse to start.
std::string refusal_of(const DryRun& run) {
  return run.protection.on ? "" : run.agents.front().foreseen_refusal();
}

std::string sandbox_line(const Protection& protection) {
  if (protection.on) return describe(protection);
  return fmt::format("none{}: the agent runs directly, with your rights",
                     protection.why_not.empty() ? "" : fmt::format(" ({})", protection.why_not));
}

std::string policy_lines(const DryRun& run) {
  const Settings& settings = run.loaded.settings;
  std::string out = fmt::format("Iterations   {}\n", run.iterations);
  if (run.limits.empty())
    out += fmt::format("Time limits  agent {}, silence {}, run {}\n", describe_limit(settings.agent.timeout_seconds),
                       describe_limit(settings.agent.idle_timeout_seconds),
                       describe_limit(settings.budget.max_minutes * 60));
  if (settings.budget.max_cost_usd > 0)
    out += fmt::format("Budget       {}\n", human_cost(settings.budget.max_cost_usd));
  if (settings.budget.max_tokens > 0) out += fmt::format("Budget       {:.0f} tokens\n", settings.budget.max_tokens);
  if (run.agents.size() > 1) out += fmt::format("Fallback     {}\n", join(settings.agent.fallback, ", "));
  if (!run.limits.empty()) return out + run.limits;
  out += fmt::format("Attempts     up to {} per iteration; first pause {}, doubled each time\n",
                     settings.agent.retry.attempts, describe_limit(settings.agent.retry.backoff_seconds));
  for (const std::string& command : run.more_checks) out += fmt::format("Check        {}\n", command);
  for (const GuardrailSettings& guardrail : settings.guardrails) {
    out += fmt::format("Guardrail    {} (on failure: {}, time limit {})\n", guardrail.command,
                       to_string(guardrail.fail_action), describe_limit(guardrail.timeout_seconds));
  }
  if (settings.guardrails.empty() && run.more_checks.empty())
    out += "Guardrails   none: only the agent's answer counts\n";
  if (settings.scm) out += fmt::format("SCM          {}: {}\n", settings.scm->command, join(settings.scm->tasks, ", "));
  return out;
}

}  // namespace

int print_dry_run(const DryRun& run, bool as_json) {
  const Settings& settings = run.loaded.settings;
  const Redactor redactor(Environment::of_this_process().as_lines(), secret_candidates(settings));
  TurnOptions options;
  options.events = settings.stream_agent_output;
  if (settings.budget.max_cost_usd > 0) options.max_cost_usd = settings.budget.max_cost_usd;
  const Agent& agent = run.agents.front();
  Launch launch = agent.launch(run.prompt, options, {});
  const bool by_argument = launch.input.empty();
  if (by_argument) launch.argv.back() = "<prompt>";

  if (as_json) {
    json::object object = run.facts;
    object["agent"] = agent.name();
    object["argv"] = json::array(launch.argv.begin(), launch.argv.end());
    object["promptVia"] = by_argument ? "argument" : "stdin";
    object["prompt"] = to_json_string(redactor.redact(run.prompt));
    object["settings"] = run.loaded.effective;
    object["sandbox"] =
        run.protection.on ? json::value(to_json_string(describe(run.protection))) : json::value(nullptr);
    if (!run.protection.why_not.empty()) object["whyNoSandbox"] = to_json_string(run.protection.why_not);
    if (const std::string why = refusal_of(run); !why.empty()) object["refusal"] = why;
    fmt::print("{}", redactor.redact(to_pretty_json(object)));
    return 0;
  }
  std::string out = "Dry run: nothing is started.\n\n" + run.opening;
  out += fmt::format("Agent        {} ({})\n", agent.name(), agent.program());
  out += fmt::format("Command      {}\n", redactor.redact(quote_shell_words(launch.argv)));
  if (const std::string why = refusal_of(run); !why.empty())
    out += fmt::format("Refusal      the agent would not start: {}\n", why);
  out += fmt::format("Folder       {}\n", run.project);
  out += fmt::format("Sandbox      {}\n", sandbox_line(run.protection));
  out += policy_lines(run);
  out += fmt::format("Prompt       from {}, {} {}:\n\n{}\n", run.prompt_source, human_bytes(run.prompt.size()),
                     by_argument ? "as an argument" : "on standard input", redactor.redact(run.prompt));
  out = redactor.redact(out);
  // A file gets the prompt unchanged; on a terminal, control characters are removed.
  fmt::print("{}", is_terminal(STDOUT_FILENO) ? printable_lines(out) : out);
  return 0;
}

}  // namespace ralph::cli
