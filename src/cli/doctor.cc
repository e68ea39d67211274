// ralph doctor: what is installed, what works, what to fix.
#include "cli/doctor.h"

#include <array>
#include <unistd.h>

#include "agents/agent.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/accept.h"
#include "cli/live_run.h"
#include "cli/output_options.h"
#include "cli/project.h"
#include "cli/prompt_run.h"
#include "cli/protection.h"
#include "cli/registry.h"
#include "engine/diagnose.h"
#include "engine/policy.h"
#include "engine/roster.h"
#include "git/git.h"
#include "git/repository.h"
#include "git/stale_lock.h"
#include "os/files.h"
#include "os/process_tree.h"
#include "os/run_command.h"
#include "settings/ralph_folder.h"
#include "settings/settings.h"
#include "ui/style.h"
#include "version.h"

namespace ralph::cli {
namespace {

std::string_view to_string(Health health) {
  return health == Health::kOk ? "ok" : health == Health::kNote ? "note" : "problem";
}

void check_system(HealthReport& findings) {
  switch (try_to_end_a_process()) {
    case EndingWorks::kByDescriptor:
      findings.ok("process containment", "process descriptors and a subreaper: nothing an agent starts is left behind");
      break;
    case EndingWorks::kByPid:
      findings.note("process containment",
                    "a subreaper, without process descriptors: an agent's processes are ended by pid and start time",
                    "Linux 5.3 or newer, or a seccomp profile that allows pidfd_open, closes the last gap");
      break;
    case EndingWorks::kNot:
      findings.problem("process containment", "a process that ralph starts can't be ended",
                       "allow kill, waitid and pidfd_open in the seccomp profile of this container, and mount /proc");
      break;
  }
  if (!file_exists("/proc/self/stat")) {
    findings.problem("/proc", "not mounted", "mount it: ralph finds an agent's processes there");
  }
  if (!is_executable_file("/bin/sh")) findings.problem("/bin/sh", "missing", "guardrails run in it");
}

void check_git(HealthReport& findings, const Environment& environment, const std::string& project) {
  const auto git = resolve_program("git", environment, project);
  if (!git) {
    findings.note("git", "not found", "install git if ralph should commit");
    return;
  }
  findings.ok("git", version_of(*git, environment));
  const auto exists = Repository(plain_git(project), project).exists();
  if (!exists) {
    findings.note("repository", exists.error().message);
  } else if (*exists) {
    findings.ok("repository", project);
  } else {
    findings.note("repository", "this folder is not a git repository", "git init, if ralph should commit");
  }
}

void check_agents(HealthReport& findings, const Environment& environment, const std::string& project) {
  bool any = false;
  for (const Adapter* adapter : adapters()) {
    const auto program = resolve_program(std::string(adapter->name), environment, project);
    if (!program) continue;
    any = true;
    const std::string version = version_of(*program, environment);
    findings.ok(fmt::format("agent {}", adapter->name),
                version.empty() ? *program : fmt::format("{} ({})", *program, version));
  }
  if (!any) {
    findings.note("agents", fmt::format("none of {} is on PATH", replace_all(kAgentChoices, "|", ", ")),
                  "install one, or set agent.command to any command that takes a prompt");
  }
}

void check_agent(HealthReport& findings, const Settings& settings, const Environment& environment,
                 const std::string& project) {
  const auto agents = make_agents(settings, environment, project);
  if (!agents) {
    // If the setting is missing, the message itself says what to do.
    findings.problem("agent", agents.error().message,
                     settings.agent.command.empty() ? "" : "install it, or correct the setting");
    return;
  }
  for (size_t i = 0; i < agents->size(); ++i) {
    const Agent& agent = (*agents)[i];
    findings.ok(i == 0 ? "agent" : "fallback", fmt::format("{} ({})", agent.name(), agent.program()));
  }
  Agent first = agents->front();
  if (const std::string why = first.foreseen_refusal(); !why.empty()) {
    findings.problem("agent", why);
  } else if (first.skip_permissions(); !first.foreseen_refusal().empty()) {
    findings.note("plan run", first.foreseen_refusal(),
                  "'ralph plan run' adds that flag if agent.flags set no permissions");
  }
  if (!lacks_permissions(first.adapter(), first.flags())) return;
  findings.note("permissions",
                fmt::format("{} can't ask for permission in a run, and agent.flags give it none: edits may be refused",
                            first.name()),
                permission_choices(first.adapter()));
}

// A run keeps its journal in .ralph, and creates that folder if it is missing.
void check_folder(HealthReport& findings, const std::string& project) {
  const std::string folder = join_path(project, ".ralph");
  if (path_exists(folder) && !is_real_folder(folder)) {
    findings.problem(".ralph", "it is a symbolic link or a file, and ralph writes only to a real folder", "remove it");
  } else if (::access((path_exists(folder) ? folder : project).c_str(), W_OK) != 0) {
    findings.problem(".ralph", fmt::format("{} is not writable", path_exists(folder) ? folder : project),
                     "ralph keeps its journal there: correct its owner or mode");
  } else if (const std::string runs = join_path(folder, "runs"); path_exists(runs) && !is_real_folder(runs)) {
    findings.problem(".ralph/runs", "it is a symbolic link or a file, and ralph keeps its runs in a real folder",
                     "remove it");
  } else if (const auto run = live_run(project)) {
    findings.problem("run", fmt::format("run {} is active here, and a second one can't start", *run),
                     "wait for it to end");
  }
}

// The nearest existing folder has to be writable for this user.
void check_state_folder(HealthReport& findings, const Environment& environment) {
  const std::string wanted = state_folder(environment);
  if (wanted.empty()) return;
  std::string there = wanted;
  while (there != "/" && !path_exists(there)) there = parent_path(there);
  if (is_directory(there) && ::access(there.c_str(), W_OK | X_OK) == 0) return;
  findings.problem(
      "state folder",
      fmt::format("cannot create {}: {} is {}", wanted, there, is_directory(there) ? "not writable" : "not a folder"),
      "correct it, or set XDG_STATE_HOME");
}

// The other reasons, apart from the agent and the repository, why `ralph run` would refuse to start.
void check_start(HealthReport& findings, const LoadedSettings& loaded, const Environment& environment,
                 const std::string& project) {
  if (const std::string why = foreseen_refusal(loaded, project); !why.empty())
    findings.problem("trust", why, "'ralph trust' shows what is new and accepts it");
  const Settings& settings = loaded.settings;
  if (const Status judged = check_criteria(policy_from(settings), project, environment, "diagnostics.criteria");
      !judged)
    findings.problem("diagnostics", judged.error().message);
  const auto agents = make_agents(settings, environment, project);
  if (!agents || settings.sandbox.mode == "off") return;
  if (const auto protection = choose_protection({settings, project, environment, *agents}, false); !protection)
    findings.problem("sandbox", protection.error().message);
}

void check_settings(HealthReport& findings, const Environment& environment, const std::string& project) {
  const auto loaded = load_settings(project);
  if (!loaded) {
    findings.problem("settings", loaded.error().message,
                     "correct the file; 'ralph settings schema' says what is allowed");
    return;
  }
  const Settings& settings = loaded->settings;
  if (loaded->files.empty()) {
    findings.note("settings", "there are none here, nor above in this repository", "ralph init");
  } else {
    findings.ok("settings", fmt::format("{} in {}", join_for_people(loaded->files), project));
  }
  check_agent(findings, settings, environment, project);
  if (settings.guardrails.empty()) {
    findings.note("guardrails", "none: a run would end on the agent's word alone", "ralph init suggests some");
  } else {
    findings.ok("guardrails", count_of(settings.guardrails.size(), "command"));
  }
  if (const auto usable = check_repository(settings, environment, project); !usable) {
    findings.problem("scm", usable.error().message);
  } else if (settings.scm && !settings.scm->tasks.empty()) {
    findings.ok("scm", fmt::format("{}: {}", settings.scm->command, join(settings.scm->tasks, ", ")));
  }
  check_folder(findings, project);
  check_state_folder(findings, environment);
  check_start(findings, *loaded, environment, project);
}

// Only reports leftovers: the next run cleans them up.
void check_leftovers(HealthReport& findings, const Environment&, const std::string& project) {
  const auto killed = killed_run(project);
  if (!killed) return;
  const std::string which = fmt::format("run {}, which was killed,", killed->folder.id);
  const auto processes = processes_with("RALPH_RUN_ID=" + killed->folder.id);
  std::vector<std::string> pids;
  for (const ProcessInfo& process : processes) pids.push_back(std::to_string(process.pid));
  if (!processes.empty())
    findings.note("leftovers",
                  fmt::format("{} left {}: pid {}", which, count_of(processes.size(), "process"), join(pids, ", ")),
                  "the next 'ralph run' ends what is left of it");
  const auto lock = find_stale_index_lock(plain_git(project), project, killed->began);
  if (lock && *lock)
    findings.note("leftovers", fmt::format("{} left git's lock {}", which, **lock), "the next 'ralph run' removes it");
}

int print_findings(const HealthReport& findings, const Environment& environment, bool as_json) {
  bool problem = false;
  json::array list;
  const Style style = style_of_output(environment);
  size_t width = 0;
  for (const HealthFinding& finding : findings.all()) width = std::max(width, display_width(finding.what));
  for (const HealthFinding& finding : findings.all()) {
    problem = problem || finding.health == Health::kProblem;
    if (as_json) {
      list.push_back(json::object{{"health", to_string(finding.health)},
                                  {"what", to_json_string(finding.what)},
                                  {"detail", to_json_string(finding.detail)},
                                  {"fix", to_json_string(finding.fix)}});
      continue;
    }
    const size_t begin = width + 4;
    const auto shown = [&](const std::string& text) {
      const std::string safe(trim(printable_lines(text)));
      return style.terminal && !contains(safe, '\n') ? wrap_words(safe, style.width, begin, begin) : safe;
    };
    const std::string mark = finding.health == Health::kOk     ? style.green(style.ok())
                             : finding.health == Health::kNote ? style.yellow(style.note())
                                                               : style.red(style.error());
    fmt::print("{} {}{}  {}\n", mark, finding.what, std::string(width - display_width(finding.what), ' '),
               shown(finding.detail));
    if (!finding.fix.empty()) fmt::print("  {}  {}\n", std::string(width, ' '), style.dim(shown(finding.fix)));
  }
  if (as_json) {
    fmt::print("{}", to_pretty_json(json::object{{"version", RALPH_VERSION}, {"ready", !problem}, {"findings", list}}));
  } else {
    fmt::print("\n{}\n", problem ? style.red("ralph run can't start here until the problems are fixed.")
                                 : style.green("ralph run is ready to start here."));
  }
  return problem ? 2 : 0;
}

Result<int> examine(const Arguments& arguments) {
  const Environment environment = Environment::of_this_process();
  TRY_VALUE(const Project place, enter_project());
  const std::string& project = place.folder;
  HealthReport findings;
  findings.ok("ralph", RALPH_VERSION);
  check_system(findings);
  for (const auto check : {check_git, check_agents, check_settings, check_hooks, check_leftovers})
    check(findings, environment, project);
  return print_findings(findings, environment, arguments.has("json"));
}

constexpr std::array kOptions = {Option{"json", 0, "", "Print the findings as JSON."}};

}  // namespace

std::string version_of(const std::string& program, const Environment& environment) {
  Launch launch;
  launch.argv = {program, "--version"};
  launch.environment = environment;
  launch.folder = "/";
  const auto result = run_command(launch, Milliseconds(5000));
  if (!result || result->exit_code != 0) return "";
  return fit_to_width(first_line(result->output), 60);
}

const Command kDoctor = {
    "doctor",
    "Check what is installed, what works, and what to fix.",
    "Checks the system, git, the agents on PATH, the settings and the hooks, and predicts whether `ralph run` would\n"
    "refuse to start. Changes nothing.\n"
    "Exit codes: 0 ralph run is ready to start here, 2 there is a problem to fix.",
    "ralph doctor\nralph doctor --json",
    kOptions,
    {},
    examine,
};

}  // namespace ralph::cli
