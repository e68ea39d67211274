#include "plan/carry_back.h"

#include "base/text.h"
#include "git/tree_state.h"
#include "os/files.h"
#include "plan/merge_tasks.h"
#include "plan/progress_log.h"

namespace ralph {
namespace {

// Whether every existing path component is a real folder and the file, if it exists, a regular file; no links.
bool is_path_without_links(const std::string& top, const std::string& path) {
  for (size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1)) {
    const std::string folder = join_path(top, path.substr(0, end));
    if (path_exists(folder) && !is_real_folder(folder)) return false;
  }
  return !path_exists(join_path(top, path)) || is_real_file(join_path(top, path));
}

// True if the project now has the file as the review left it.
Result<bool> carry_memory(const CleanRoom& room, const std::string& top, const std::string& path) {
  const auto text = room.read(path);
  if (!text || !is_path_without_links(top, path)) return false;
  const std::string target = join_path(top, path);
  const auto now = read_plain_file(target);
  if (now == text) return true;
  TRY_VALUE(const auto before, room.committed(path));
  if (now != before) return false;  // the user changed it
  TRY(make_directories(parent_path(target)));
  TRY(write_file_atomically(target, *text));
  return true;
}

}  // namespace

Result<std::vector<std::string>> carry_back(const CleanRoom& room, PlanRun& plan, const ReviewRules& rules,
                                            Aftermath& aftermath) {
  TRY_VALUE(CleanRoom::Left left, room.left());
  const auto log_before = plan.pinned.progress;
  TRY(restore_plan_folder(plan.files));
  std::vector<std::string> carried = {plan.files.tasks(), plan.files.progress()};
  const auto tasks = read_plain_file(plan.files.tasks());
  if (left.tasks && tasks != left.tasks) {
    const std::string before = plan.tasks.text;
    if (tasks != before)
      aftermath.check_unchanged(plan.tasks, plan.pinned, rules, "while a review worked in its clean checkout");
    // Merge the user's allowed edits, which must not be judged as the review's.
    TRY(write_file_atomically(plan.files.tasks(), with_users_edits(before, plan.tasks.text, *left.tasks)));
  }
  const auto log = read_plain_file(plan.files.progress());
  if (left.progress && left.progress != log_before && log != left.progress) {
    const bool same = !log || log == log_before;
    TRY(write_file_atomically(plan.files.progress(),
                              same ? *left.progress : with_log_added(*log, log_before.value_or(""), *left.progress)));
  }
  for (const std::string& path : left.memory) {
    TRY_VALUE(const bool done, carry_memory(room, plan.work_tree, path));
    if (done) {
      carried.push_back(join_path(plan.work_tree, path));
    } else {
      left.dropped.push_back(path);
    }
  }
  if (!left.dropped.empty()) {
    aftermath.note(fmt::format("the review of {} changed {} in its clean checkout; that is dropped", rules.story,
                               named_paths(left.dropped)));
  }
  return carried;
}

}  // namespace ralph
