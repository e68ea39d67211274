// The part of `ralph doctor` that checks whether hooks are installed and complete, and whether the ralph they call
// works.
#include <algorithm>

#include "base/text.h"
#include "cli/doctor.h"
#include "hooks/files.h"
#include "hooks/install.h"
#include "policy/command_files.h"
#include "version.h"

namespace ralph::cli {
namespace {

// A file with ralph's hooks.
struct Installed {
  HookFile file;
  HookSurvey survey;
};

class HookDoctor {
 public:
  HookDoctor(HealthReport& findings, const Environment& environment, const std::string& project)
      : findings_(findings), environment_(environment), project_(project) {}

  void check() {
    for (const Host& host : kHosts) {
      installed_.clear();
      plugin_ = false;
      raised_caps_.clear();
      for (const bool user : {false, true}) survey(host, user);
      for (const Installed& one : installed_) check(one);
      check_twice(host);
      check_extras(host);
    }
    if (!any_) {
      findings_.note("hooks", "none are installed: loops inside an agent's own session do not work",
                     "ralph hooks install, or the plugin in share/claude-plugin");
    }
  }

 private:
  static std::string label(const Host& host) { return fmt::format("hooks {}", host.name); }

  static std::string command(std::string_view verb, const HookFile& file) {
    return fmt::format("ralph hooks {}{}{}", verb,
                       file.host == &kHosts[0] ? "" : fmt::format(" --host {}", file.host->name),
                       file.user ? " --user" : "");
  }

  // A file that does not exist or can't be read has no hooks: the host can't read it either.
  std::optional<HookSurvey> survey_of(const std::string& path, const std::string& shown, const Host& host) {
    if (!is_regular_file(path)) return std::nullopt;
    const auto text = read_file(path);
    const auto survey = text ? survey_hooks(*text, shown, host) : Result<HookSurvey>(tl::unexpected(text.error()));
    if (survey) return *survey;
    findings_.note(label(host), survey.error().message,
                   fmt::format("correct it; {} may ignore the whole file", host.title));
    return std::nullopt;
  }

  void survey(const Host& host, bool user) {
    const auto file = hook_file(host, user, environment_, project_);
    if (!file) return;
    // In the home folder, the project's file and the user's file are the same.
    if (user && !installed_.empty() && is_same_file(installed_[0].file.path, file->path)) return;
    const auto found = survey_of(file->path, file->shown, host);
    if (found) remember(host, *found, file->shown);
    if (!found || !found->has_hooks()) return;
    any_ = true;
    installed_.push_back({*file, *found});
  }

  void check(const Installed& one) {
    const std::string what = label(*one.file.host);
    const std::string fix = command("install", one.file);
    const size_t before = findings_.all().size();
    for (const std::string& program : one.survey.programs) check_program(one, program);
    if (!one.survey.missing.empty())
      findings_.problem(what, fmt::format("{}: nothing for {}", one.file.shown, join_for_people(one.survey.missing)),
                        fix);
    for (const std::string& fault : one.survey.faults)
      findings_.note(what, fmt::format("{}: {}", one.file.shown, fault), fix);
    for (const std::string& choice : one.survey.choices)
      findings_.note(what, fmt::format("{}: {}", one.file.shown, choice),
                     fmt::format("if that is not intended, change {} by hand; install does not", one.file.shown));
    if (findings_.all().size() == before) {
      findings_.ok(what, fmt::format("{}: {} call {}", one.file.shown, count_of(one.file.host->wires.size(), "event"),
                                     join_for_people(one.survey.programs)));
    }
    if (needs_trust(one.file))
      findings_.note(what, std::string(one.file.host->trust), std::string(one.file.host->trust_fix));
  }

  void check_program(const Installed& one, const std::string& program) {
    const std::string what = label(*one.file.host);
    const std::string fix = command("install", one.file);
    const auto found = resolve_program(program, environment_, project_);
    if (!found) {
      findings_.problem(what, fmt::format("{}: {}", one.file.shown, found.error().message),
                        program == "ralph" ? "put ralph on PATH, or: " + fix : fix);
      return;
    }
    const std::string ours = fmt::format("ralph {}", RALPH_VERSION);
    const std::string theirs = version_of(*found, environment_);
    if (theirs != ours)
      findings_.note(what,
                     fmt::format("{} calls {}, which is {}; this is {}", one.file.shown, *found,
                                 theirs.empty() ? "not a ralph that prints its version" : theirs, ours),
                     fix);
  }

  void check_twice(const Host& host) {
    if (installed_.size() < 2) return;
    if (host.runs_same_hook_once && installed_[0].survey.programs == installed_[1].survey.programs) return;
    findings_.problem(
        label(host),
        fmt::format("in {} and in {}: each hook runs twice", installed_[0].file.shown, installed_[1].file.shown),
        fmt::format("{}, or {}", command("uninstall", installed_[0].file), command("uninstall", installed_[1].file)));
  }

  // Accumulates over all files of a host whether the plugin is on and where the block cap is raised.
  void remember(const Host& host, const HookSurvey& survey, const std::string& shown) {
    plugin_ = plugin_ || survey.plugin.value_or(false);
    if (is_cap_raised(host, survey.block_cap.value_or(""))) raised_caps_.push_back(shown);
  }

  // The plugin, the slash commands and the block cap, for hosts that have them.
  void check_extras(const Host& host) {
    if (!host.local_file.empty()) {
      const std::string local = join_path(host.folder, host.local_file);
      if (const auto found = survey_of(join_path(project_, local), local, host)) remember(host, *found, local);
    }
    if (!host.disable_plugin.empty() && plugin_) check_plugin(host);
    if (installed_.empty() && !plugin_) return;
    if (host.has_commands && !plugin_) check_commands(host);
    if (!host.block_cap_variable.empty()) check_cap(host);
    if (host.has_goal)
      findings_.ok(
          "goal", fmt::format("{} has its own /goal, which judges by what is said: use it if that is enough, and ralph "
                              "run if tests should decide, or if limits and an exit code matter",
                              host.title));
  }

  void check_plugin(const Host& host) {
    any_ = true;
    if (resolve_program("ralph", environment_, project_)) {
      findings_.ok("plugin", fmt::format("switched on in {}", host.title));
    } else {
      findings_.problem("plugin", fmt::format("switched on in {}, but ralph is not on PATH", host.title),
                        "./dev install, or add its folder to PATH");
    }
    if (!installed_.empty())
      findings_.problem("plugin", "switched on, and the hooks are installed too: each hook runs twice",
                        fmt::format("{}, or {}", host.disable_plugin, command("uninstall", installed_[0].file)));
  }

  void check_cap(const Host& host) {
    if (is_cap_raised(host, environment_.get(std::string(host.block_cap_variable)).value_or("")))
      raised_caps_.emplace_back("the environment");
    if (raised_caps_.empty()) return;
    findings_.note("block cap",
                   fmt::format("{} is raised in {}: a loop that makes progress does not need that, and it "
                               "is the only limit on /goal",
                               host.block_cap_variable, join_for_people(raised_caps_)),
                   fmt::format("{} undoes what ralph 0.1 wrote; otherwise remove the variable there",
                               installed_.empty() ? "ralph hooks install" : command("install", installed_[0].file)));
  }

  void check_commands(const Host& host) {
    for (const bool user : {false, true}) {
      const auto file = hook_file(host, user, environment_, project_);
      if (!file) continue;
      const auto files = command_files("ralph");
      const auto there = std::count_if(files.begin(), files.end(), [&](const CommandFile& command) {
        return is_regular_file(join_path(join_path(file->folder, "commands"), command.name));
      });
      if (there == static_cast<long>(files.size())) {
        findings_.ok("commands", "/ralph-loop, /ulw-loop, /cancel-ralph, /ralph-status, /ralph-plan");
        return;
      }
    }
    findings_.note("commands",
                   fmt::format("{} has no /ralph-loop and the like: only `ralph loop start` starts a loop", host.title),
                   command("install", installed_[0].file) + " --commands");
  }

  HealthReport& findings_;
  const Environment& environment_;
  const std::string& project_;
  std::vector<Installed> installed_;  // of the current host
  bool any_ = false;
  bool plugin_ = false;
  std::vector<std::string> raised_caps_;  // where the current host's block cap is raised
};

}  // namespace

void check_hooks(HealthReport& findings, const Environment& environment, const std::string& project) {
  HookDoctor(findings, environment, project).check();
}

}  // namespace ralph::cli
