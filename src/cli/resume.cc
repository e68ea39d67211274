#include "cli/resume.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/accept.h"
#include "cli/live_run.h"
#include "cli/registry.h"
#include "cli/tell.h"
#include "git/repository.h"
#include "json/schema.h"
#include "os/files.h"
#include "plan/authority.h"
#include "settings/ralph_folder.h"

namespace ralph::cli {
namespace {

constexpr int kStartChecks = 200;  // 10 ms each: two seconds in all

std::string_view command_of(WayIn way) {
  switch (way) {
    case WayIn::kPlan:
      return "plan run";
    case WayIn::kOutside:
      return "loop run";
    default:
      return "run";
  }
}

// The newest runs of the project that can be resumed, one line each.
std::string resumable_runs(const std::string& project) {
  std::string lines;
  const auto folders = list_runs(project);
  for (const RunFolder& folder : folders ? *folders : std::vector<RunFolder>{}) {
    const auto point = own_resume_point(project, folder);
    if (!point) continue;
    lines += fmt::format("\n  ralph {} --resume={}", command_of(point->start.way), folder.id);
    if (std::count(lines.begin(), lines.end(), '\n') == 5) break;
  }
  return lines.empty() ? "; no run here can be resumed" : fmt::format("; these can be resumed:{}", lines);
}

Result<ResumePoint> find_point(WayIn way, const std::string& project, std::string_view id) {
  if (!id.empty()) return find_resume_point(project, id);
  TRY_VALUE(const std::vector<RunFolder> folders, list_runs(project));
  for (const RunFolder& folder : folders) {
    auto point = own_resume_point(project, folder);
    if (point && point->start.way == way) return point;
    // The newest run of this command can't be resumed; the user would not mean an older one.
    if (!point && way_of(folder) == way) {
      return fail(ErrorKind::kUsage, "{}{}", point.error().message, resumable_runs(project));
    }
  }
  return fail(ErrorKind::kUsage, "there is no run of 'ralph {}' to resume in {}{}", command_of(way), project,
              resumable_runs(project));
}

// The arguments of the run's first process. Secrets are masked in the journal, so such arguments are in a file.
Result<std::vector<std::string>> first_arguments(const ResumePoint& point, const std::string& project) {
  if (!point.start.masked) return point.arguments.front();
  const std::string path = arguments_path(point.folder.path);
  TRY_VALUE(const std::string text, read_file(path));
  TRY_VALUE(const json::value parsed, parse_json(text, path));
  std::vector<std::string> words, masked;
  TRY_VALUE(const LoadedSettings loaded, load_settings(project));
  const Redactor redactor(Environment::of_this_process().as_lines(), secret_candidates(loaded.settings));
  if (const json::array* list = parsed.if_array()) {
    for (const json::value& word : *list) words.push_back(word.is_string() ? std::string(word.get_string()) : "");
  }
  for (const std::string& word : words) masked.push_back(redactor.redact(word));
  // An agent can write to that file.
  if (masked != point.arguments.front())
    return fail(ErrorKind::kUsage, "{} does not have the arguments of run {}; start a new run", path, point.folder.id);
  return words;
}

using Leaves = std::map<std::string, std::string>;

void collect_leaves(const json::value& value, const std::string& pointer, Leaves& leaves) {
  const json::object* object = value.if_object();
  if (!object) {
    leaves[pointer] = value.is_double() ? fmt::format("{}", value.get_double()) : to_compact_json(value);
    return;
  }
  for (const auto& member : *object)
    collect_leaves(member.value(), fmt::format("{}/{}", pointer, std::string_view(member.key())), leaves);
}

// "maximumIterations: 4, was 2".
std::vector<std::string> leaves_that_differ(const Leaves& then, const Leaves& now, bool commands) {
  Leaves all = then;
  all.insert(now.begin(), now.end());
  std::vector<std::string> lines;
  constexpr size_t kWidth = 120;
  const auto text = [](const Leaves& leaves, const std::string& pointer) {
    const auto found = leaves.find(pointer);
    return found == leaves.end() ? std::string("not set") : found->second;
  };
  for (const auto& [pointer, value] : all) {
    const std::string is = text(now, pointer), was = text(then, pointer);
    if (names_commands(pointer) != commands || is == was) continue;
    const Excerpts shown = fit_difference(is, was, kWidth);
    lines.push_back(fmt::format("{}: {}, was {}", readable_path(pointer), shown.one, shown.other));
  }
  return lines;
}

// The run that worked on the plan last, if that is another one. Empty: it is this one, or it can't be known.
std::string later_run_of_plan(const std::string& project, const std::string& id, const record::RunStarted& start) {
  const auto arguments = parse_arguments(kPlanRun, start.arguments);
  if (!arguments) return "";
  const auto typed = arguments->value("ralph-dir");
  const std::string folder = typed ? absolute_path(*typed, start.folder) : join_path(project, "ralph");
  const auto path = authority_path(Environment::of_this_process(), real_path(folder));
  const auto saved = path ? load_plan(*path) : Result<std::optional<SavedPlan>>(std::nullopt);
  return saved && *saved && (*saved)->run_id != id ? (*saved)->run_id : "";
}

}  // namespace

// A run that came with a clone names a stranger's commands, so only runs that this user has started here are resumed.
// Their seals are in the state folder.
Result<ResumePoint> own_resume_point(const std::string& project, const RunFolder& folder) {
  // A run that is just starting, or whose guardian was killed while it was, has not written its first record yet.
  const auto starts = [&] { return way_of(folder) == WayIn::kUnknown && live_run(project) == folder.id; };
  for (int look = 0; look < kStartChecks && starts(); ++look) ::usleep(10'000);
  TRY_VALUE(ResumePoint point, read_resume_point(folder, seal_of(project, folder.id)));
  const std::string why = why_not_here(project, folder.id, point.start, point.progress);
  if (!why.empty()) return fail(ErrorKind::kUsage, "run {} can't be resumed: {}", folder.id, why);
  return point;
}

// A resumed run uses the repository as it finds it. Without this check, it could be completed without one, or with a
// different one. After a kill, the run itself compares HEAD with its start.
std::string why_not_here(const std::string& keeper, const std::string& id, const record::RunStarted& start,
                         const Progress& progress) {
  const std::string path = seal_path(keeper, id);
  if (path.empty())
    return "neither XDG_STATE_HOME nor HOME is set to an absolute path, so ralph can't know whether it was started "
           "here "
           "by this user; set one of them";
  if (!is_real_file(path))
    return fmt::format(
        "it was not started here by this user ({} is missing), and may have come with a clone; start a new run", path);
  if (start.way == WayIn::kPlan) {
    const std::string later = later_run_of_plan(keeper, id, start);
    if (!later.empty())
      return fmt::format("run {} has worked on the plan since; 'ralph plan run' continues the plan", later);
  }
  if (start.commit.empty()) return "";
  const Repository repository(plain_git(start.way == WayIn::kTask ? start.project : keeper));
  const auto is_gone = [&](const std::string& commit) { return !repository.has_commit(commit).value_or(true); };
  const std::string began = start.commit.substr(0, 12);
  if (is_gone(start.commit))
    return fmt::format(
        "it began at commit {}, which is not in the repository any more: that was deleted or replaced; restore it from "
        "a backup or from a clone, then resume the run",
        began);
  if (!progress.watch.triggers.empty() || !is_gone("HEAD")) return "";
  return fmt::format(
      "it began at commit {}, and HEAD leads to no commit now; check out a branch that has commits, or restore the "
      "repository from a backup or from a clone, then resume the run",
      began);
}

Result<ResumePoint> find_resume_point(const std::string& project, std::string_view id) {
  if (!id.empty()) {
    TRY_VALUE(const RunFolder folder, find_run(project, id));
    return own_resume_point(project, folder);
  }
  TRY_VALUE(const std::vector<RunFolder> folders, list_runs(project));
  std::optional<Error> newest;
  for (const RunFolder& folder : folders) {
    auto point = own_resume_point(project, folder);
    if (point) return point;
    if (!newest) newest = std::move(point).error();
  }
  if (!newest) return fail(ErrorKind::kUsage, "there are no runs in {} yet; 'ralph run' starts one", project);
  return fail(ErrorKind::kUsage, "{}{}", newest->message, resumable_runs(project));
}

std::string watched_store(const std::string& project, const std::string& run_id) {
  const std::string seal = seal_path(project, run_id);
  return seal.empty() ? "" : seal + ".watched";
}

std::string arguments_path(const std::string& run_folder) {
  return join_path(run_folder, "arguments.json");
}

Result<std::optional<Resumption>> resumption_from(const Command& command, WayIn way, const Arguments& typed,
                                                  const std::string& project) {
  if (!typed.has("resume")) return std::optional<Resumption>();
  for (const std::string& name : typed.given()) {
    const auto option = std::find_if(command.options.begin(), command.options.end(),
                                     [&](const Option& one) { return one.name == name; });
    if (option != command.options.end() && option->on_resume) continue;
    return fail(ErrorKind::kUsage, "--{} can't be given with --resume: the run goes on as it was started", name);
  }
  if (!typed.positionals().empty())
    return fail(ErrorKind::kUsage,
                "\"{}\" can't be given with --resume: the run goes on as it was started. Name the run after =, as in "
                "--resume=20261115-202233",
                typed.positionals()[0]);
  TRY_VALUE(ResumePoint point, find_point(way, project, *typed.value("resume")));
  if (point.start.way != way) {
    return fail(ErrorKind::kUsage, "run {} was started by 'ralph {}': ralph {} --resume={}", point.folder.id,
                command_of(point.start.way), command_of(point.start.way), point.folder.id);
  }
  TRY_VALUE(const std::vector<std::string> first, first_arguments(point, project));
  TRY_VALUE(Arguments arguments, parse_arguments(command, first));
  for (size_t i = 1; i < point.arguments.size(); ++i) {
    TRY_VALUE(const Arguments later, parse_arguments(command, point.arguments[i]));
    arguments.add(later);
  }
  arguments.add(typed);
  if (::chdir(point.start.folder.c_str()) != 0) {
    return fail(ErrorKind::kUsage, "run {} was started in {}: {}", point.folder.id, point.start.folder,
                errno_text(errno));
  }
  return std::optional(Resumption{std::move(point), std::move(arguments)});
}

void show_changes(const Resumption& resumption, const LoadedSettings& loaded) {
  const ResumePoint& point = resumption.point;
  record::RunResumed masked;
  masked.settings = loaded.effective;
  record::Body body = std::move(masked);
  redact(body, Redactor(Environment::of_this_process().as_lines(), secret_candidates(loaded.settings)));
  Leaves then, now;
  collect_leaves(point.settings, "", then);
  collect_leaves(std::get<record::RunResumed>(body).settings, "", now);
  for (const std::string& line : leaves_that_differ(then, now, false)) tell(fmt::format("Changed: {}\n", line));
  for (const std::string& line : leaves_that_differ(then, now, true))
    tell(fmt::format("Commands changed since the last run: {}\n", line));
}

}  // namespace ralph::cli
