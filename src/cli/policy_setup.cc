#include "cli/policy_setup.h"

#include <memory>

#include "git/remotes.h"
#include "hooks/host.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/real_paths.h"
#include "settings/brief.h"
#include "settings/owner.h"
#include "settings/ralph_folder.h"

namespace ralph::cli {
namespace {

// Variables that matter to the policy.
constexpr const char* kVariables[] = {"USER",           "LOGNAME",         "TMPDIR",
                                      "XDG_STATE_HOME", "XDG_CONFIG_HOME", "CLAUDE_PROJECT_DIR"};

// Hosts give a hook ten seconds, and a denial that comes too late has no effect.
constexpr Milliseconds kDeadline{2000};

}  // namespace

PolicySetup policy_setup(const Environment& environment, const std::string& cwd, const std::string& project) {
  PolicySetup setup;
  const auto paths = std::make_shared<RealPaths>();
  setup.place.home = environment.get("HOME").value_or("");
  if (!setup.place.home.starts_with('/')) setup.place.home = "/root";
  setup.place.home = absolute_path(setup.place.home, "/");
  setup.place.project = absolute_path(project, "/");
  for (std::string* folder : {&setup.place.project, &setup.place.home}) {
    const std::string real = paths->of(*folder);
    if (real != *folder) setup.place.aliases.emplace_back(*folder, real);
    *folder = real;
  }
  setup.place.real_path = [paths](const std::string& path) { return paths->of(path); };
  setup.place.remotes = [project = setup.place.project] { return remote_addresses(project); };
  setup.place.hosts = policy_hosts();
  if (const std::string state = state_folder(environment); !state.empty())
    setup.place.state_folder = paths->of(absolute_path(state, "/"));
  setup.shell.home = setup.place.home;
  setup.shell.project = setup.place.project;
  setup.shell.effort = std::make_shared<Effort>(
      [until = SystemClock().monotonic() + kDeadline] { return SystemClock().monotonic() >= until; });
  setup.shell.cwd = paths->of(absolute_path(cwd, "/"));
  for (const char* name : kVariables) {
    if (const auto value = environment.get(name); value && !value->empty()) setup.shell.variables[name] = *value;
  }
  if (const std::string own = user_settings_file(environment); !own.empty())
    setup.place.config_folder = paths->of(absolute_path(parent_path(own), "/"));
  auto loaded = load_settings_briefly(setup.place.project, environment);
  if (!loaded) {
    setup.faults.push_back(loaded.error().message + " (the built-in list is used)");
    // If an agent breaks the project's file, what the user's own settings deny still applies.
    loaded = load_own_settings_briefly(environment);
    if (!loaded) return setup;
  }
  setup.notes = loaded->notes;
  const CommandSettings& commands = loaded->settings.hooks.commands;
  setup.lists = {commands.allow, commands.deny, commands.categories};
  if (loaded->settings.protect.on_change != OnChange::kReport) setup.protected_paths = loaded->settings.protect.paths;
  for (const GuardrailSettings& guardrail : loaded->settings.guardrails) {
    for (const std::string& script : scripts_of_guardrail(guardrail.command)) {
      const std::string path = absolute_path(script, setup.place.project);
      if (is_within(path, setup.place.project) && is_regular_file(path)) setup.place.guardrail_files.push_back(path);
    }
  }
  return setup;
}

}  // namespace ralph::cli
