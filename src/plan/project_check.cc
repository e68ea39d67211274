#include "plan/project_check.h"

#include <sys/stat.h>

#include "base/text.h"
#include "journal/run_folder.h"
#include "os/files.h"

namespace ralph {
namespace {

void use(const SavedPlan& saved, CheckRequest& request) {
  request.skip_review = saved.skip_review;
  request.review_cap = saved.review_cap;
  const auto before = read_tasks(saved.tasks, "ralph's own copy").tasks;
  if (!before || !saved.mode) {
    request.no_before = "ralph's own copy of the plan can't be read: changes of review fields are not checked";
    return;
  }
  request.before = before_from(*before);
  request.rules = ReviewRules{*saved.mode, saved.story, saved.skip_review, saved.review_cap};
}

void use(const Marker& marker, CheckRequest& request) {
  request.skip_review = marker.skip_review;
  request.review_cap = marker.review_cap;
  if (!marker.snapshot || !marker.iteration_mode) {
    request.no_before = fmt::format("{} has no {}: changes of review fields are not checked", kMarkerFile,
                                    marker.snapshot ? "iterationMode" : "preIterationSnapshot");
    return;
  }
  request.before = marker.snapshot;
  request.rules = ReviewRules{*marker.iteration_mode, marker.story, marker.skip_review, marker.review_cap};
}

// During an iteration the error does not advise the agent to make a new plan.
Result<std::string> read_tasks_of(const PlanFiles& files, bool iteration) {
  if (!iteration || file_exists(files.ralph_dir)) TRY(check_plan_folder(files));
  return require_plain_file(files.tasks(), iteration ? "put it back; git has it" : "'ralph plan init' makes one");
}

bool is_same_folder(const std::string& one, const std::string& other) {
  struct stat a{}, b{};
  return ::stat(one.c_str(), &a) == 0 && ::stat(other.c_str(), &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool is_within(std::string folder, const std::string& project) {
  for (; !is_same_folder(folder, project); folder = parent_path(folder)) {
    if (folder == "/" || folder.empty()) return false;
  }
  return true;
}

// ralph's own copy of the run that this process is in. Independent of files in the project.
std::optional<SavedPlan> own_copy(const Environment& environment, const std::string& run_id) {
  const std::string plan_dir = environment.get(kPlanDirVariable).value_or("");
  if (run_id.empty() || plan_dir.empty()) return std::nullopt;
  const auto path = authority_path(environment, plan_dir);
  if (!path) return std::nullopt;
  auto saved = load_plan(*path);
  const bool of_this_run = saved && *saved && (*saved)->run_id == run_id;
  return of_this_run ? *std::move(saved) : std::nullopt;
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
    use(*project.authority, request);
  } else if (project.marker) {
    use(*project.marker, request);
  }
  TRY_VALUE(const bool has_git, repository.exists());
  if (has_git) {
    TRY_VALUE(request.uncommitted, repository.uncommitted());
  } else if (const std::string git = join_path(project.files.project, ".git"); is_there(git)) {
    return fail(ErrorKind::kInput, "{} is there, but git finds no repository in it; repair it, or remove it", git);
  }
  return check_plan(request);
}

Result<std::optional<ProjectCheck>> plan_in_charge(const Environment& environment, const std::string& folder) {
  const std::string run_id = enclosing_run_id(environment);
  ProjectCheck check;
  check.authority = own_copy(environment, run_id);
  if (check.authority && is_within(folder, check.authority->project)) {
    check.files = {check.authority->project, check.authority->ralph_dir};
    // Afterwards the caller is an agent with another task, such as a commit message.
    const bool iterating = check.authority->open && !check.authority->judged;
    return iterating ? std::optional(check) : std::nullopt;
  }
  check.authority.reset();
  for (std::string at = folder;; at = parent_path(at)) {
    TRY_VALUE(const auto marker, live_marker(at));
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
