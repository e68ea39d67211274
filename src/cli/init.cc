// ralph init: writes .ralph/settings.json, interactively or from flags.
#include <algorithm>
#include <cstdio>
#include <unistd.h>

#include "agents/registry.h"
#include "cli/accept.h"
#include "cli/agent_options.h"
#include "cli/init_choices.h"
#include "cli/init_dialogue.h"
#include "cli/masked_settings.h"
#include "cli/questions.h"
#include "cli/registry.h"
#include "json/schema.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/files.h"
#include "os/tty.h"
#include "settings/layers.h"
#include "settings/project_scan.h"
#include "settings/ralph_folder.h"

namespace ralph::cli {
namespace {

// The current folder: -C has already changed to it.
constexpr const char* kProject = ".";

// Shows the settings that would be replaced and asks. False: keep them.
Result<bool> ask_to_overwrite(Questions& questions) {
  const auto loaded = load_settings(kProject);
  if (loaded) {
    std::string shown = to_pretty_json(masked_settings(loaded->effective));
    shown.pop_back();
    questions.say(shown);
    questions.say(loaded->files.size() > 1
                      ? fmt::format("Loaded from {} (with local overlay from settings.local.json)", kSettingsFile)
                      : fmt::format("Loaded from {}", kSettingsFile));
  } else {
    questions.say(loaded.error().message);
    questions.say("The existing settings have this fault.");
  }
  return ask_yes_or_no(questions, "Overwrite? (y/N): ");
}

Status write_settings(const json::object& document) {
  TRY_VALUE(const auto problems, check_schema(parsed_settings_schema(), document));
  if (!problems.empty())
    return fail(ErrorKind::kInternal, "{}: {}", readable_path(problems[0].pointer), problems[0].message);
  TRY(prepare_ralph_folder(kProject));
  return write_file_atomically(std::string(kSettingsFile), to_pretty_json(document));
}

void note_missing_agent(const std::string& agent) {
  const auto found = resolve_program(agent, Environment::of_this_process(), kProject);
  if (!found) fmt::print(stderr, "Note: {} (ralph doctor says more)\n", found.error().message);
}

void note_missing_permissions(const InitChoices& choices) {
  const Adapter* const adapter = find_adapter(base_name(choices.agent));
  if (!adapter || !lacks_permissions(*adapter, choices.flags)) return;
  fmt::print(stderr,
             "Note: {} can't ask for permission when ralph runs it, and is refused every edit without one of these "
             "flags: {}\n",
             choices.agent, permission_choices(*adapter));
}

// The existing settings; empty if there are none.
Result<json::object> existing_settings() {
  TRY_VALUE(const auto layer, read_layer(kProject, kSettingsFile));
  if (!layer) return json::object();
  TRY_VALUE(json::value document, parse_json(layer->text, kSettingsFile));
  return std::move(document.as_object());
}

// Whether every command in `document` was chosen now, and none was kept from earlier settings.
bool are_all_chosen(const json::object& document, const json::object& chosen) {
  LoadedSettings written, typed;
  written.project = document;
  typed.project = chosen;
  return differences(shown_values(typed), shown_values(written), Concern::kCommands).empty();
}

bool is_accepted_already() {
  const auto here = current_directory();
  return here && project_is_accepted(Environment::of_this_process(), *here);
}

// Accepts what a person has chosen. They may never have seen what was there before.
Status accept_own_work(bool whole) {
  const Environment environment = Environment::of_this_process();
  if (is_below_agent(environment)) return {};
  TRY_VALUE(const std::string here, current_directory());
  const auto loaded = load_settings(here);
  if (!loaded || trust_file(environment, here).empty()) return {};
  print_notes(*loaded);
  if (!whole || path_exists(std::string(kLocalSettingsFile))) {
    fmt::print(stderr,
               "Note: this does not accept the existing settings that were kept; 'ralph trust' shows and accepts "
               "them\n");
    return {};
  }
  TrustRecord record = load_trust(environment, here);
  record.accept(shown_values(*loaded), "ralph init", to_iso8601(SystemClock().wall()));
  record.mode = loaded->settings.trust;
  return save_trust(environment, record);
}

// `chosen`: the settings without what is kept from the `existing` ones.
Status finish(const InitChoices& choices, const json::object& existing, const json::object& chosen, bool dry_run) {
  const json::object document = settings_document(choices, existing);
  if (dry_run) {
    fmt::print("{}", to_pretty_json(document));
    fmt::print(stderr, "Nothing was written; this would be {}.\n", kSettingsFile);
    return {};
  }
  const bool whole = are_all_chosen(document, chosen) || is_accepted_already();
  TRY(write_settings(document));
  fmt::print("Settings written to {}\n", kSettingsFile);
  TRY(accept_own_work(whole));
  note_missing_agent(choices.agent);
  note_missing_permissions(choices);
  return {};
}

Status init_from_flags(const Arguments& arguments) {
  if (path_exists(std::string(kSettingsFile)) && !arguments.has("force"))
    return fail(ErrorKind::kUsage, "{} exists already and was left as it is; --force changes it", kSettingsFile);
  // What can't be read can't be kept.
  TRY_VALUE(const json::object existing, existing_settings());
  TRY_VALUE(const InitChoices choices, choices_from_flags(arguments, suggest_guardrails(kProject), existing));
  const auto typed = choices_from_flags(arguments, suggest_guardrails(kProject), {});
  return finish(choices, existing, typed ? settings_document(*typed) : json::object(), arguments.has("dry-run"));
}

Status init_in_dialogue(const Arguments& arguments) {
  if (!is_terminal(STDIN_FILENO))
    return fail(ErrorKind::kUsage,
                "ralph init asks questions and needs a terminal; in a script answer them with flags: "
                "ralph init --agent claude --guardrail 'make test'");
  // It lives until the file is written, so Ctrl-C can't interrupt the write.
  TerminalQuestions questions;
  if (path_exists(std::string(kSettingsFile)) && !arguments.has("force")) {
    TRY_VALUE(const bool overwrite, ask_to_overwrite(questions));
    if (!overwrite) return {};
  }
  questions.say("");
  TRY_VALUE(const InitChoices choices, ask_for_choices(questions, suggest_guardrails(kProject)));
  questions.say("");
  // What can't be read was shown, and is to be replaced.
  return finish(choices, existing_settings().value_or(json::object()), settings_document(choices),
                arguments.has("dry-run"));
}

constexpr Option kOptions[] = {
    {"agent", 0, "COMMAND", "The agent's program, such as claude."},
    {.name = "flag", .value = "FLAG", .help = "A flag for the agent.", .repeatable = true},
    {"max-iterations", 'n', "N", "Stop after N iterations (default 10)."},
    {"maximum-iterations", 'm', "N", "Same as --max-iterations."},
    kModelOptionWithoutLetter,
    {"completion-response", 'c', "TEXT", "The response that means done (default DONE)."},
    {.name = "guardrail",
     .value = "COMMAND",
     .help = "A command that must succeed after each iteration.",
     .repeatable = true},
    {.name = "suggested", .value = "", .help = "Add every guardrail that fits this project."},
    {.name = "fail-action",
     .value = "ACTION",
     .help = "Where failures go in the next prompt (default APPEND); once for all guardrails, or once for each.",
     .repeatable = true,
     .choices = "APPEND|PREPEND|REPLACE"},
    {.name = "hint",
     .value = "TEXT",
     .help = "Advice for the agent on failure; once for all guardrails, or once for each.",
     .repeatable = true},
    {"scm", 0, "COMMAND", "Source control to use when guardrails pass, such as git."},
    {.name = "scm-task", .value = "TASK", .help = "A task for source control, such as commit.", .repeatable = true},
    {"force", 0, "", "Change existing settings: replace what is given, keep everything else."},
    {"dry-run", 0, "", "Print what would be written; write nothing."},
};

Result<int> run_init(const Arguments& arguments) {
  // All other options answer a question. If one is given, nothing is asked.
  const bool answered = std::any_of(std::begin(kOptions), std::end(kOptions), [&](const Option& option) {
    return option.name != "force" && option.name != "dry-run" && arguments.has(option.name);
  });
  TRY(answered ? init_from_flags(arguments) : init_in_dialogue(arguments));
  return 0;
}

}  // namespace

const Command kInit = {
    "init",
    "Write .ralph/settings.json, interactively or from flags.",
    "Asks for the agent, its limits, guardrails and source control, and writes .ralph/settings.json. Suggests\n"
    "guardrails that fit the project (its Makefile, package.json, Cargo.toml, ...). Ctrl-C writes nothing.\n"
    "With --agent and the other flags, nothing is asked, so scripts can use it. Existing settings that are not\n"
    "asked about (or not given) are kept.",
    "ralph init\n"
    "ralph init --agent claude --flag '--permission-mode acceptEdits' --guardrail 'make test'\n"
    "ralph init --agent codex --suggested --scm git --scm-task commit --dry-run",
    kOptions,
    {},
    run_init,
};

}  // namespace ralph::cli
