#include "plan/clean_room.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/text.h"
#include "checks/guardrail.h"
#include "engine/scm_command.h"
#include "git/own_paths.h"
#include "journal/raw_file.h"
#include "json/value.h"
#include "os/files.h"
#include "plan/memory_files.h"
#include "settings/project_scan.h"
#include "settings/ralph_folder.h"

namespace ralph {
namespace {

std::string joined_below(const std::string& folder, const std::string& rest) {
  return rest.empty() ? folder : join_path(folder, rest);
}

// Outside the project, and outside ralph's own state, which agents must not touch.
std::string rooms_of(const PlanRun& plan) {
  const std::string cache = user_folder(Environment::of_this_process(), "XDG_CACHE_HOME", ".cache");
  const std::string name = state_name(base_name(plan.files.project), plan.files.ralph_dir);
  return cache.empty() ? "" : join_path(cache, "ralph/rooms/" + name);
}

std::string setup_line(const PlanRun& plan) {
  return fmt::format("\"plan\": {{\"cleanRoom\": {{\"setup\": {}}}}}",
                     json::serialize(json::value(to_json_string(suggest_setup(plan.files.project)))));
}

std::string reason_against(const PlanRun& plan) {
  if (plan.work_tree.empty()) return "there is no git repository";
  if (rooms_of(plan).empty()) return "neither HOME nor XDG_CACHE_HOME is set, so there is no place for a checkout";
  if (!is_within(plan.files.ralph_dir, plan.work_tree))
    return fmt::format("the plan's folder {} is not in the work tree", plan.files.ralph_dir);
  if (plan.files.ralph_dir == plan.work_tree) return "the plan's folder is the whole work tree";
  const auto obstacle = obstacle_to_clean_checkout(plain_git(plan.work_tree), plan.work_tree);
  return obstacle ? *obstacle : obstacle.error().message;
}

// Whether the file determines what a setup installs.
bool says_what_to_install(const std::string& path, const std::string& setup) {
  constexpr std::array<std::string_view, 22> kNames = {
      "package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lockb",
      "bun.lock",     "pyproject.toml",    "poetry.lock",         "uv.lock",   "Pipfile.lock",   "setup.py",
      "setup.cfg",    "Cargo.toml",        "Cargo.lock",          "go.mod",    "go.sum",         "Gemfile",
      "Gemfile.lock", "composer.json",     "composer.lock",       "pom.xml"};
  const std::string name = base_name(path);
  return is_one_of(name, kNames) || (name.starts_with("requirements") && name.ends_with(".txt")) ||
         setup.find(name) != std::string::npos;
}

}  // namespace

Result<std::string> clean_room_obstacle(const PlanRun& plan) {
  const CleanRoomSettings& room = plan.loaded.settings.plan.clean_room;
  if (plan.skip_review()) return std::string("there are no reviews");
  if (room.mode == "off") return std::string("plan.cleanRoom.mode is off");
  std::string reason = reason_against(plan);
  if (room.mode == "on" && !reason.empty()) {
    return fail(ErrorKind::kInput,
                "plan.cleanRoom.mode is on, but reviews can't work in a clean checkout: {}; set it to \"auto\" or "
                "\"off\" for reviews in the project",
                reason);
  }
  if (reason.empty() && room.mode != "on" && !room.setup) reason = "plan.cleanRoom.setup is not set";
  return reason;
}

std::string in_place_note(const PlanRun& plan) {
  if (plan.skip_review() || plan.loaded.settings.plan.clean_room.mode == "off" || plan.in_place.empty()) return {};
  if (plan.loaded.settings.plan.clean_room.setup)
    return fmt::format("Reviews work in the project, not in a clean checkout: {}.\n", plan.in_place);
  return fmt::format(
      "Reviews work in the project, not in a clean checkout: {}. To have them there, say how such a checkout is set up "
      "(\"\": nothing is needed), in .ralph/settings.json: {}\n",
      plan.in_place, setup_line(plan));
}

CleanRoom::CleanRoom(Run& run, const PlanRun& plan)
    : run_(run),
      plan_(plan),
      rooms_(rooms_of(plan)),
      checkout_(join_path(rooms_, run.id), plan.work_tree,
                [&run](GitPlace place, std::vector<std::pair<std::string, std::string>> environment) {
                  return contained_git(run, std::move(place), std::move(environment));
                }) {
  const std::string project = joined_below(checkout_.tree(), path_below(plan.files.project, plan.work_tree));
  plan_below_ = path_below(plan.files.ralph_dir, plan.work_tree);
  files_ = {project, joined_below(checkout_.tree(), plan_below_)};
  if (!plan_below_.empty()) plan_below_ += '/';
}

void CleanRoom::begin() {
  if (rooms_.empty()) return;
  for (const std::string& name : names_in(rooms_)) {
    if (name == "." || name == ".." || name == run_.id) continue;
    if (const Status gone = remove_tree(join_path(rooms_, name)); !gone) run_.listener.on_detail(gone.error().message);
  }
}

void CleanRoom::remove() {
  open_ = false;
  if (rooms_.empty() || !path_exists(join_path(rooms_, run_.id))) return;
  if (const Status gone = remove_tree(join_path(rooms_, run_.id)); !gone) run_.listener.on_detail(gone.error().message);
  std::error_code ignored;
  std::filesystem::remove(rooms_, ignored);  // if it is empty
}

Status CleanRoom::open(const std::string& commit, const std::string& branch, const StoryFile& tasks,
                       const PinnedFiles& pinned, bool keep) {
  commit_ = commit;
  branch_ = branch;
  if (keep && checkout_.is_at(commit)) {
    checkout_.continue_at(commit);
  } else {
    TRY(reset());
    TRY(fill(tasks, pinned));
  }
  open_ = true;
  return {};
}

void CleanRoom::open_for_checks(const std::string& commit, const std::string& branch) {
  commit_ = commit;
  branch_ = branch;
  open_ = true;
}

Status CleanRoom::reset() {
  TRY(checkout_.move_to(commit_, branch_, {std::string(kMarkerFile), ".ralph/"}));
  return needs_setup() ? set_up() : Status{};
}

bool CleanRoom::needs_setup() const {
  const auto& setup = plan_.loaded.settings.plan.clean_room.setup;
  if (!setup || trim(*setup).empty()) return false;
  if (set_up_at_.empty() || checkout_.kept_files_changed()) return true;
  if (set_up_at_ == commit_) return false;
  const auto changed = checkout_.changed_between(set_up_at_, commit_);
  return !changed ||
         std::ranges::any_of(*changed, [&](const std::string& path) { return says_what_to_install(path, *setup); });
}

Status CleanRoom::set_up() {
  const std::string command = *plan_.loaded.settings.plan.clean_room.setup;
  checkout_.forget();
  TRY(checkout_.move_to(commit_, branch_, {std::string(kMarkerFile), ".ralph/"}));
  const std::string name = fmt::format("setup_{}.log", ++setups_);
  TRY_VALUE(RawFile log, RawFile::create(join_path(run_.folder, name)));
  run_.listener.on_detail(fmt::format("Setting up the clean checkout for reviews: {}", command));
  StepRequest step;
  step.launch = change()(guardrail_launch(command, run_.environment, files_.project));
  step.moment = Moment::kDuringCheck;
  step.kind = StepKind::kNone;  // sandboxed like an agent, which can reach package registries
  step.on_output = [&](StreamName, std::string_view bytes) { return log.append(bytes); };
  TRY_VALUE(const StepEnd end, run_step(run_, step));
  if (end.cause != EndCause::kNone) return {};  // the caller asks whether the run continues
  if (!end.status.success()) {
    return fail(
        ErrorKind::kInput,
        "plan.cleanRoom.setup ({}) failed with exit code {} in the clean checkout for reviews; its output is in "
        "{}. Fix the command, or set plan.cleanRoom.mode to \"off\" for reviews in the project",
        command, end.status.code, join_path(run_.folder, name));
  }
  TRY_VALUE(const auto changed, checkout_.changed_files());
  if (!changed.empty()) {
    return fail(ErrorKind::kInput,
                "plan.cleanRoom.setup ({}) changes files of the commit ({}), so the review would not be of the commit; "
                "use a command that leaves them alone (npm ci instead of npm install)",
                command, join_for_people(changed));
  }
  checkout_.keep();
  set_up_at_ = commit_;
  return {};
}

// Writes the plan as ralph has it, which may differ from the committed one.
Status CleanRoom::fill(const StoryFile& tasks, const PinnedFiles& pinned) {
  TRY(restore_plan_folder(files_));
  TRY(write_file_atomically(files_.tasks(), tasks.text));
  if (pinned.prd) TRY(write_file_atomically(files_.prd(), *pinned.prd));
  if (pinned.prompt) TRY(write_file_atomically(files_.prompt(), *pinned.prompt));
  if (pinned.progress) TRY(write_file_atomically(files_.progress(), *pinned.progress));
  return {};
}

LaunchChange CleanRoom::change() const {
  return [project = files_.project, tree = checkout_.tree(), objects = checkout_.objects()](Launch launch) {
    launch.folder = project;
    launch.project = tree;
    launch.reads.push_back(objects);
    return launch;
  };
}

std::optional<std::string> CleanRoom::read(const std::string& path) const {
  const std::string file = join_path(checkout_.tree(), path);
  if (real_path(parent_path(file)) !=
      joined_below(real_path(checkout_.tree()), parent_path(path) == "." ? "" : parent_path(path)))
    return std::nullopt;  // a folder in the path is a link
  return read_plain_file(file);
}

Result<std::optional<std::string>> CleanRoom::committed(const std::string& path) const {
  return checkout_.content(path);
}

Result<CleanRoom::Left> CleanRoom::left() const {
  Left left;
  left.tasks = read(plan_below_ + std::string(kTasksFile));
  left.progress = read(plan_below_ + std::string(kProgressFile));
  TRY_VALUE(const std::vector<std::string> changes, checkout_.changes());
  for (const std::string& path : changes) {
    if (is_own_path(path) || path.starts_with(plan_below_)) continue;
    (is_memory_file(path) ? left.memory : left.dropped).push_back(path);
  }
  return left;
}

}  // namespace ralph
