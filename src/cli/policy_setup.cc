#include "cli/policy_setup.h"

#include <climits>
#include <cstdlib>
#include <unistd.h>

#include "os/files.h"
#include "session/loop_store.h"
#include "settings/ralph_folder.h"
#include "settings/settings.h"

namespace ralph::cli {
namespace {

// Follows symlinks as far as the path exists, also one to a file that is not there yet.
std::string real_path(const std::string& path) {
  std::string at = path, rest;
  for (int hops = 0; hops < 64; ++hops) {
    char buffer[PATH_MAX];
    if (::realpath(at.c_str(), buffer)) return rest.empty() ? buffer : join_path(buffer, rest);
    const ssize_t length = ::readlink(at.c_str(), buffer, sizeof buffer);
    if (length > 0) {
      at = absolute_path(std::string_view(buffer, static_cast<size_t>(length)), parent_path(at));
      continue;
    }
    if (at == "/" || at.empty()) break;
    rest = rest.empty() ? base_name(at) : join_path(base_name(at), rest);
    at = parent_path(at);
  }
  return path;
}

// Only what a line can name and the policy can use.
constexpr const char* kVariables[] = {"USER",           "LOGNAME",         "TMPDIR",
                                      "XDG_STATE_HOME", "XDG_CONFIG_HOME", "CLAUDE_PROJECT_DIR"};

}  // namespace

PolicySetup policy_setup(const Environment& environment, const std::string& cwd) {
  PolicySetup setup;
  setup.place.home = environment.get("HOME").value_or("");
  if (!setup.place.home.starts_with('/')) setup.place.home = "/root";
  setup.place.home = absolute_path(setup.place.home, "/");
  setup.place.project = project_for_loop(absolute_path(cwd, "/"));
  for (std::string* folder : {&setup.place.project, &setup.place.home}) {
    const std::string real = real_path(*folder);
    if (real != *folder) setup.place.aliases.emplace_back(*folder, real);
    *folder = real;
  }
  setup.place.real_path = real_path;
  if (const std::string state = state_folder(environment); !state.empty())
    setup.place.state_folder = real_path(absolute_path(state, "/"));
  setup.shell.home = setup.place.home;
  setup.shell.cwd = real_path(absolute_path(cwd, "/"));
  for (const char* name : kVariables) {
    if (const auto value = environment.get(name); value && !value->empty()) setup.shell.variables[name] = *value;
  }
  const auto loaded = load_settings(setup.place.project);
  if (!loaded) {
    setup.fault = loaded.error().message;
    return setup;
  }
  const CommandSettings& commands = loaded->settings.hooks.commands;
  setup.lists = {commands.allow, commands.deny, commands.categories};
  for (const GuardrailSettings& guardrail : loaded->settings.guardrails) {
    for (const std::string& script : scripts_of_guardrail(guardrail.command)) {
      const std::string path = absolute_path(script, setup.place.project);
      if (is_within(path, setup.place.project) && is_regular_file(path)) setup.place.guardrail_files.push_back(path);
    }
  }
  return setup;
}

}  // namespace ralph::cli
