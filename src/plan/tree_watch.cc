#include "plan/tree_watch.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "checks/file_facts.h"
#include "os/files.h"
#include "plan/memory_files.h"

namespace ralph {
namespace {

bool contains(const std::vector<std::string>& paths, const std::string& path) {
  return std::find(paths.begin(), paths.end(), path) != paths.end();
}

std::string folder_below(const std::string& top, const std::string& folder) {
  return folder.starts_with(top + "/") ? folder.substr(top.size() + 1) + "/" : folder + "/";
}

}  // namespace

TreeWatch::TreeWatch(const Run& run, const Repository& repository, const PlanFiles& files, const std::string& top)
    : run_(run), repository_(repository), top_(top), plan_folder_(folder_below(top, files.ralph_dir)) {}

bool TreeWatch::is_plan_file(const std::string& path) const {
  return path.starts_with(plan_folder_);
}

bool TreeWatch::was_made(const std::string& path) const {
  return contains(run_.progress().plan.made, path) || contains(made_, path);
}

std::vector<std::string> TreeWatch::made() const {
  std::vector<std::string> all = run_.progress().plan.made;
  for (const std::string& path : made_) {
    if (!contains(all, path)) all.push_back(path);
  }
  return all;
}

void TreeWatch::before_checks() {
  moved_.clear();
  auto now = look();
  if (now) {
    before_ = *std::move(now);
    move_away_made();
  } else {
    moved_.push_back(fmt::format("unknown files ({})", now.error().message));
  }
}

// Checks judge the commit: files that earlier checks left must neither help nor hinder the next ones.
void TreeWatch::move_away_made() {
  for (const std::string& path : made()) {
    const auto there = before_.uncommitted.find(path);
    if (there == before_.uncommitted.end() || !is_untracked(there->second)) continue;
    const std::string to = join_path(run_.folder, fmt::format("made/{}/{}", run_.progress().iteration, path));
    if (move_away(join_path(top_, path), to)) before_.uncommitted.erase(there);
  }
}

// A new untracked file is a check's own output. Any other difference means that something else was checked.
void TreeWatch::after_checks() {
  const auto looked = look();
  if (!looked) moved_.push_back(fmt::format("unknown files ({})", looked.error().message));
  if (!moved_.empty()) return;
  const TreeState& now = *looked;
  if (now.head != before_.head) moved_.emplace_back("HEAD");
  std::set<std::string> paths;
  for (const auto& [path, state] : before_.uncommitted) paths.insert(path);
  for (const auto& [path, state] : now.uncommitted) paths.insert(path);
  for (const std::string& path : paths) {
    if (is_plan_file(path)) continue;  // ralph restores them itself
    const auto was = std::as_const(before_).uncommitted.find(path);
    const auto is = now.uncommitted.find(path);
    const bool there = is != now.uncommitted.end();
    if (was == before_.uncommitted.end() && is_untracked(is->second)) {
      if (!was_made(path)) made_.push_back(path);
    } else if (!there || was == before_.uncommitted.end() || !is_same_content(was->second, is->second)) {
      if (!was_made(path)) moved_.push_back(path);
    }
  }
}

Result<std::string> TreeWatch::objections(const std::string& from, bool elsewhere) const {
  std::string text;
  if (!moved_.empty()) {
    text = fmt::format(
        "The files are no longer those that were checked: {} changed while the checks ran. Find out what changes them, "
        "and submit the story again.",
        named_paths(moved_));
  }
  if (from.empty()) return text;
  const auto since = repository_.changed_since(from);
  std::vector<std::string> changed = since.value_or(std::vector<std::string>{});
  if (!since) changed.push_back(fmt::format("unknown, because {}", since.error().message));
  std::erase_if(changed, [&](const std::string& path) { return is_plan_file(path) || is_memory_file(path); });
  if (changed.empty()) return text;
  if (!text.empty()) text += "\n\n";
  if (elsewhere) {
    return text + fmt::format(
                      "The project moved on while the review worked: {}. Nobody has reviewed that; submit the story "
                      "again.",
                      named_paths(changed));
  }
  text += fmt::format(
      "The review changed code, which a review must not do: {}. Look at these changes, keep or undo them, and submit "
      "the "
      "story again.",
      named_paths(changed));
  return text;
}

Result<std::vector<std::string>> TreeWatch::uncommitted(bool all) const {
  TRY_VALUE(const TreeState now, look());
  const auto& before = run_.progress().plan.uncommitted;
  std::vector<std::string> paths;
  for (const auto& [path, state] : now.uncommitted) {
    const auto was = before.find(path);
    const bool plan = is_plan_file(path);
    // The plan's own files change with every iteration. If they were uncommitted before the run, they may stay so.
    const bool users = was != before.end() && (plan || is_same_content(was->second, state));
    if (users || (plan && !all) || was_made(path)) continue;
    paths.push_back(is_hidden(state) ? fmt::format("{} ({})", path, how_to_see(state)) : path);
  }
  return paths;
}

}  // namespace ralph
