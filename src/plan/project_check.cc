#include "plan/project_check.h"

#include <sys/stat.h>

#include "base/text.h"
#include "base/time.h"
#include "base/utf8.h"
#include "journal/run_folder.h"
#include "os/files.h"
#include "plan/said_review.h"

namespace ralph {
namespace {

// Applies the known state of the iteration, from ralph's own copy or a marker.
void use(CheckRequest& request, const auto& known, std::optional<Mode> mode, std::optional<Before> before,
         std::string no_before) {
  request.skip_review = known.skip_review;
  request.review_cap = known.review_cap;
  if (before && mode) {
    request.before = std::move(before);
    request.rules = ReviewRules{*mode, known.story, known.skip_review, known.review_cap};
  } else {
    request.no_before = std::move(no_before);
  }
}

void use(CheckRequest& request, const SavedPlan& saved) {
  const auto before = read_tasks(saved.tasks, "ralph's own copy").tasks;
  use(request, saved, saved.mode, before ? std::optional(before_from(*before, saved.added)) : std::nullopt,
      "ralph's own copy of the plan can't be read: changes of review fields are not checked");
}

void use(CheckRequest& request, const Marker& marker) {
  use(request, marker, marker.iteration_mode, marker.snapshot,
      fmt::format("{} has no {}: changes of review fields are not checked", kMarkerFile,
                  marker.snapshot ? "iterationMode" : "preIterationSnapshot"));
}

// During an iteration the error must not advise the agent to create a new plan.
Result<std::string> read_tasks_of(const PlanFiles& files, bool iteration) {
  if (!iteration || file_exists(files.ralph_dir)) TRY(check_plan_folder(files));
  return require_plain_file(files.tasks(), iteration ? "put it back; git has it" : "'ralph plan init' makes one");
}

bool is_same_or_within(std::string folder, const std::string& project) {
  for (; !is_same_file(folder, project); folder = parent_path(folder)) {
    if (folder == "/" || folder.empty()) return false;
  }
  return true;
}

// ralph's own copy for the run that this process belongs to. Does not depend on files in the project.
std::optional<SavedPlan> own_copy(const Environment& environment, const std::string& run_id) {
  const std::string plan_dir = environment.get(kPlanDirVariable).value_or("");
  if (run_id.empty() || plan_dir.empty()) return std::nullopt;
  const auto path = authority_path(environment, plan_dir);
  if (!path) return std::nullopt;
  auto saved = load_plan(*path);
  const bool of_this_run = saved && *saved && (*saved)->run_id == run_id;
  return of_this_run ? *std::move(saved) : std::nullopt;
}

// Users hide local changes from git on purpose; an agent must not be told to commit them. ctime can't be forged.
bool was_written_before(const std::string& path, const std::string& run_id) {
  struct stat info{};
  if (run_id.empty() || ::lstat(path.c_str(), &info) != 0) return false;
  const std::string when = to_compact_utc(WallTime(std::chrono::seconds(info.st_ctim.tv_sec)));
  return when < run_id.substr(0, when.size());
}

}  // namespace

Result<CheckReport> check_project(const ProjectCheck& project, const Repository& repository) {
  const std::string shown = project.files.shown(project.files.tasks());
  const bool iteration = project.authority || project.marker;
  const auto text = read_tasks_of(project.files, iteration);
  if (!text && !iteration) return tl::unexpected(text.error());
  if (!text) return CheckReport{{{Check::kSchema, {}, text.error().message}}, {}, {}, {Check::kSchema}};
  CheckRequest request{*text, shown, project.skip_review, project.review_cap};
  if (project.authority) {
    use(request, *project.authority);
  } else if (project.marker) {
    use(request, *project.marker);
  }
  if (request.rules)
    request.rules->said = review_said(project.words, request.rules->story, "").step != StoryStep::kNone;
  TRY_VALUE(const bool has_git, repository.exists());
  if (has_git) {
    TRY_VALUE(std::vector<std::string> lines, repository.uncommitted());
    TRY_VALUE(const auto hidden, repository.hidden());
    const std::string top = hidden.empty() ? "" : repository.work_tree().value_or("");
    const std::string run = project.authority ? project.authority->run_id
                            : project.marker  ? project.marker->run_id
                                              : "";
    for (const Repository::Change& change : hidden) {
      if (was_written_before(join_path(top, change.path), run)) continue;
      lines.push_back(fmt::format("{} {} ({})", change.letters, fit_to_width(change.path, change.path.size() * 2 + 1),
                                  kHowToSeeHidden));
    }
    request.uncommitted = std::move(lines);
  } else if (const std::string git = join_path(project.files.project, ".git"); path_exists(git)) {
    return fail(ErrorKind::kInput, "{} exists, but git finds no repository in it; repair or remove it", git);
  }
  return check_plan(request);
}

Result<std::optional<ProjectCheck>> active_plan(const Environment& environment, const std::string& folder) {
  const std::string run_id = enclosing_run_id(environment);
  ProjectCheck check;
  check.authority = own_copy(environment, run_id);
  const bool in_room =
      check.authority && !check.authority->room.empty() && is_same_or_within(folder, check.authority->room);
  if (in_room || (check.authority && is_same_or_within(folder, check.authority->project))) {
    check.files = {check.authority->project, check.authority->ralph_dir};
    if (in_room) check.files = {check.authority->room, check.authority->room_plan};
    // After the iteration, the caller is an agent with another task, such as writing a commit message.
    const bool iterating = check.authority->open && !check.authority->judged;
    return iterating ? std::optional(check) : std::nullopt;
  }
  check.authority.reset();
  for (std::string at = folder;; at = parent_path(at)) {
    TRY_VALUE(const auto marker, live_marker(at, environment));
    if (marker) {
      check.files = {at, marker->ralph_dir.empty() ? join_path(at, "ralph") : marker->ralph_dir};
      check.marker = *marker;
      const bool binds = check.marker->run_id.empty() || check.marker->run_id == run_id;
      return binds ? std::optional(check) : std::nullopt;
    }
    if (at == "/" || at.empty()) return std::optional<ProjectCheck>();
  }
}

}  // namespace ralph
