// The part of ralph doctor that looks after hooks: are they there, complete, and do they call a ralph that works?
#include <algorithm>

#include "base/text.h"
#include "cli/doctor.h"
#include "hooks/files.h"
#include "hooks/install.h"
#include "policy/command_files.h"
#include "version.h"

namespace ralph::cli {
namespace {

// One file with hooks of ralph.
struct Installed {
  HookFile file;
  HookSurvey survey;
};

class HookDoctor {
 public:
  HookDoctor(std::vector<Finding>& findings, const Environment& environment, const std::string& project)
      : findings_(findings), environment_(environment), project_(project) {}

  void check() {
    for (const Host host : kHosts) {
      installed_.clear();
      for (const bool user : {false, true}) look_into(host, user);
      for (const Installed& one : installed_) check(one);
      check_twice(host);
      if (host == Host::kClaude) check_claude();
    }
    if (!any_) {
      note("hooks", "none: there are no loops inside an agent's own session",
           "ralph hooks install, or the plugin in share/claude-plugin");
    }
  }

 private:
  void note(std::string what, std::string detail, std::string fix) {
    findings_.push_back({Health::kNote, std::move(what), std::move(detail), std::move(fix)});
  }
  void problem(std::string what, std::string detail, std::string fix) {
    findings_.push_back({Health::kProblem, std::move(what), std::move(detail), std::move(fix)});
  }

  static std::string label(Host host) { return fmt::format("hooks {}", name_of(host)); }

  static std::string command(std::string_view verb, const HookFile& file) {
    return fmt::format("ralph hooks {}{}{}", verb,
                       file.host == Host::kClaude ? "" : fmt::format(" --host {}", name_of(file.host)),
                       file.user ? " --user" : "");
  }

  // A file that is not there or can't be read has no hooks; the host itself could not read it either.
  std::optional<HookSurvey> survey_of(const std::string& path, const std::string& shown, Host host) {
    if (!is_regular_file(path)) return std::nullopt;
    const auto text = read_file(path);
    const auto survey = text ? survey_hooks(*text, shown, host) : Result<HookSurvey>(tl::unexpected(text.error()));
    if (survey) return *survey;
    note(label(host), survey.error().message,
         fmt::format("{} may ignore all of a file that it can't read", title_of(host)));
    return std::nullopt;
  }

  void look_into(Host host, bool user) {
    const auto file = hook_file(host, user, environment_, project_);
    if (!file) return;
    // In the home folder both are one.
    if (user && !installed_.empty() && is_same_file(installed_[0].file.path, file->path)) return;
    const auto survey = survey_of(file->path, file->shown, host);
    if (host == Host::kClaude && survey) remember(*survey);
    if (!survey || !survey->has_hooks()) return;
    any_ = true;
    installed_.push_back({*file, *survey});
  }

  void check(const Installed& one) {
    const std::string what = label(one.file.host);
    const std::string fix = command("install", one.file);
    const size_t findings = findings_.size();
    for (const std::string& program : one.survey.programs) check_program(one, program);
    if (!one.survey.missing.empty())
      problem(what, fmt::format("{}: nothing for {}", one.file.shown, join_for_people(one.survey.missing)), fix);
    for (const std::string& fault : one.survey.faults) note(what, fmt::format("{}: {}", one.file.shown, fault), fix);
    for (const std::string& choice : one.survey.choices)
      note(what, fmt::format("{}: {}", one.file.shown, choice),
           fmt::format("if that is not meant, change it in {} by hand; install leaves it", one.file.shown));
    if (findings_.size() == findings) {
      findings_.push_back(
          {Health::kOk, what,
           fmt::format("{}: {} call {}", one.file.shown, count_of(wires_of(one.file.host).size(), "event"),
                       join_for_people(one.survey.programs))});
    }
    if (one.file.host == Host::kCodex)
      note(what, "Codex skips hooks that you have not trusted; whether you have can't be seen from here",
           "/hooks in codex shows it");
    if (one.file.host == Host::kGemini && !one.file.user)
      note(what, "Gemini CLI runs a project's hooks only in a folder that it trusts", "start gemini here and trust it");
  }

  void check_program(const Installed& one, const std::string& program) {
    const std::string what = label(one.file.host);
    const std::string fix = command("install", one.file);
    const auto found = resolve_program(program, environment_, project_);
    if (!found) {
      problem(what, fmt::format("{}: {}", one.file.shown, found.error().message),
              program == "ralph" ? "put ralph on PATH, or: " + fix : fix);
      return;
    }
    const std::string ours = fmt::format("ralph {}", RALPH_VERSION);
    const std::string theirs = version_of(*found, environment_);
    if (theirs != ours)
      note(what,
           fmt::format("{} calls {}, which is {}; this is {}", one.file.shown, *found,
                       theirs.empty() ? "no ralph that says its version" : theirs, ours),
           fix);
  }

  void check_twice(Host host) {
    if (installed_.size() < 2) return;
    if (runs_same_hook_once(host) && installed_[0].survey.programs == installed_[1].survey.programs) return;
    problem(
        label(host),
        fmt::format("in {} and in {}: each hook runs twice", installed_[0].file.shown, installed_[1].file.shown),
        fmt::format("{}, or {}", command("uninstall", installed_[0].file), command("uninstall", installed_[1].file)));
  }

  // What the files of Claude Code say together.
  void remember(const HookSurvey& survey) {
    plugin_ = plugin_ || survey.plugin.value_or(false);
    cap_is_enough_ = cap_is_enough_ || is_cap_enough(survey.block_cap.value_or(""));
  }

  void check_claude() {
    const std::string local = join_path(folder_of(Host::kClaude), "settings.local.json");
    if (const auto survey = survey_of(join_path(project_, local), local, Host::kClaude)) remember(*survey);
    if (plugin_) {
      any_ = true;
      if (resolve_program("ralph", environment_, project_)) {
        findings_.push_back({Health::kOk, "plugin", "switched on in Claude Code"});
      } else {
        problem("plugin", "switched on in Claude Code, but ralph is not on PATH",
                "./dev install, or add its folder to PATH");
      }
      if (!installed_.empty())
        problem("plugin", "switched on, and the hooks are installed too: each hook runs twice",
                fmt::format("claude plugin disable ralph, or {}", command("uninstall", installed_[0].file)));
    }
    if (installed_.empty() && !plugin_) return;
    if (!plugin_) check_commands();
    const std::string in_environment = environment_.get(std::string(kBlockCapVariable)).value_or("");
    if (!cap_is_enough_ && !is_cap_enough(in_environment))
      note("block cap", "Claude Code ends a session after a few refused stops in a row, even if a loop goes on",
           installed_.empty()
               ? fmt::format(R"("env": {{"{}": "{}"}} in ~/.claude/settings.json)", kBlockCapVariable, kBlockCap)
               : command("install", installed_[0].file));
  }

  void check_commands() {
    for (const bool user : {false, true}) {
      const auto file = hook_file(Host::kClaude, user, environment_, project_);
      if (!file) continue;
      const auto files = command_files("ralph");
      const auto there = std::count_if(files.begin(), files.end(), [&](const CommandFile& command) {
        return is_regular_file(join_path(join_path(file->folder, "commands"), command.name));
      });
      if (there == static_cast<long>(files.size())) {
        findings_.push_back(
            {Health::kOk, "commands", "/ralph-loop, /ulw-loop, /cancel-ralph, /ralph-status, /ralph-plan"});
        return;
      }
    }
    note("commands", "no /ralph-loop and its kin in Claude Code: only `ralph loop start` begins a loop",
         command("install", installed_[0].file) + " --commands");
  }

  std::vector<Finding>& findings_;
  const Environment& environment_;
  const std::string& project_;
  std::vector<Installed> installed_;  // of the host that is looked at
  bool any_ = false;
  bool plugin_ = false, cap_is_enough_ = false;
};

}  // namespace

void check_hooks(std::vector<Finding>& findings, const Environment& environment, const std::string& project) {
  HookDoctor(findings, environment, project).check();
}

}  // namespace ralph::cli
