// ralph demo: a complete loop in a scratch repository, with the built-in agent. No account, no network.
#include <array>
#include <cstdlib>
#include <unistd.h>

#include "agents/agent.h"
#include "base/text.h"
#include "cli/prompt_run.h"
#include "cli/registry.h"
#include "embedded_demo.h"
#include "git/new_repository.h"
#include "os/files.h"
#include "settings/ralph_folder.h"
#include "ui/style.h"

namespace ralph::cli {
namespace {

constexpr std::string_view kPrompt =
    "sum.sh has to print the sum of all its arguments, but its test fails. Fix it.\n"
    "When you are sure that it works, answer with <response>DONE</response>.\n";

constexpr std::array kOptions = {
    Option{"json", 0, "", "Print one JSON record per step instead of text."},
};

// Inside a git hook, git's variables point to the user's repository, which the demo must not touch.
void forget_outer_repository() {
  for (const char* name : kRepositoryVariables) ::unsetenv(name);
}

Result<std::string> make_scratch_folder(const Environment& environment) {
  std::string folder = join_path(environment.get("TMPDIR").value_or("/tmp"), "ralph-demo-XXXXXX");
  if (!::mkdtemp(folder.data()))
    return fail(ErrorKind::kIo, "cannot create the scratch folder {}: {}", folder, errno_text(errno));
  return folder;
}

std::string settings_text(bool with_git) {
  json::object settings;
  settings["maximumIterations"] = 5;
  settings["agent"] = json::object{{"command", kDemoAgentCommand}};
  settings["guardrails"] = json::array{json::object{{"command", "sh test.sh"}, {"failAction", "APPEND"}}};
  if (with_git) settings["scm"] = json::object{{"command", "git"}, {"tasks", json::array{"commit"}}};
  return to_pretty_json(settings);
}

// A small project with a failing test, in its own repository if git is installed.
Status make_project(const std::string& folder, bool with_git) {
  TRY(write_file_atomically(join_path(folder, "sum.sh"), embedded::sum_sh, 0755));
  TRY(write_file_atomically(join_path(folder, "test.sh"), embedded::test_sh, 0755));
  TRY(write_file_atomically(join_path(folder, "PROMPT.md"), kPrompt));
  TRY(prepare_ralph_folder(folder));
  TRY(write_file_atomically(join_path(folder, ".ralph/settings.json"), settings_text(with_git)));
  if (!with_git) return {};
  return make_repository(folder, "ralph demo", "demo@localhost", "A sum that does not add up");
}

void show_beginning(const Style& style, const std::string& folder) {
  fmt::print("{}\n", style.bold("A project with a failing test, an agent that says it is done too early, and ralph."));
  fmt::print("{}\n\n",
             style.dim(fmt::format("The project is {}; the agent is built in: no account, no network.", folder)));
  std::fflush(stdout);
}

void show_next_steps(const Style& style, const std::string& folder, bool with_git) {
  fmt::print("\n{}\n", style.bold("What to type next"));
  const std::array<std::pair<std::string, std::string_view>, 4> kSteps = {{
      {fmt::format("ralph -C {} runs show", folder), "what happened, step by step, and why"},
      {with_git ? fmt::format("git -C {} log -p", folder) : fmt::format("cat {}/sum.sh", folder), "what the agent did"},
      {"ralph init", "in your own project: an agent, guardrails"},
      {"ralph run -f PROMPT.md", "with a prompt such as the demo's PROMPT.md"},
  }};
  size_t width = 0;
  for (const auto& [command, what] : kSteps) width = std::max(width, command.size());
  for (const auto& [command, what] : kSteps) {
    fmt::print("  {}{}  {}\n", style.cyan(command), std::string(width - command.size(), ' '), style.dim(what));
  }
}

Result<int> demo(const Arguments& arguments) {
  forget_outer_repository();
  const Environment environment = Environment::of_this_process();
  const bool with_git = resolve_program("git", environment, "/").has_value();
  TRY_VALUE(const std::string folder, make_scratch_folder(environment));
  TRY(make_project(folder, with_git));
  if (::chdir(folder.c_str()) != 0) return fail(ErrorKind::kIo, "cannot enter {}: {}", folder, errno_text(errno));

  PromptRun run;
  run.setup.project = folder;
  run.setup.json = arguments.has("json");
  run.prompt = PromptSource::file(join_path(folder, "PROMPT.md"));
  TRY_VALUE(run.setup.loaded, load_settings(folder));
  TRY(preflight(run));
  const Style style = style_for(STDOUT_FILENO, environment);
  if (!run.setup.json) show_beginning(style, folder);
  TRY_VALUE(const int code, execute(run));
  if (!run.setup.json && code == 0) show_next_steps(style, folder, with_git);
  return code;
}

}  // namespace

const Command kDemo = {
    "demo",
    "See a complete loop with a built-in agent: no account, no network.",
    "Creates a scratch repository with a failing test and runs a real loop in it: agent, guardrail, feedback, fix,\n"
    "commit, completion. It takes a few seconds and leaves the folder for you to inspect.",
    "ralph demo",
    kOptions,
    {},
    demo,
};

}  // namespace ralph::cli
