#include "git/git_places.h"

#include "base/text.h"
#include "git/dot_git.h"
#include "os/files.h"

namespace ralph {
namespace {

using EntryKind = MachineView::Kind;

std::string first_line_of(const MachineView& machine, const std::string& path) {
  const auto text = machine.text(path);
  return text ? std::string(trim(std::string_view(*text).substr(0, text->find('\n')))) : "";
}

// Files that tell the host's git what to run are never writable. Missing ones must not appear.
void guard(const std::string& folder, std::initializer_list<std::string_view> names, const MachineView& machine,
           std::vector<GitAccess>& all, std::vector<std::string>& forbidden) {
  for (const std::string_view name : names) {
    const std::string path = join_path(folder, name);
    const EntryKind kind = machine.kind(path);
    if (kind == EntryKind::kNothing) {
      forbidden.push_back(path);
    } else {
      all.push_back({path, false, "git would run what it says"});
    }
  }
}

// A mount point can't be renamed or removed. An agent may have placed a symbolic link on the way, so a path with one is
// never mounted writable.
void pin(const std::string& path, bool writable, std::string_view why, const MachineView& machine,
         std::vector<GitAccess>& all) {
  if (machine.kind(path) == EntryKind::kNothing) return;
  if (writable && machine.real(path) != path) return;
  all.push_back({path, writable, std::string(why)});
}

// Whether this looks like a folder of git objects. The file that names it may have been written inside, and whatever it
// names is shown to whoever wrote it.
bool is_object_folder(const std::string& path, const MachineView& machine) {
  return base_name(path) == "objects" && machine.kind(path) == EntryKind::kFolder &&
         (machine.kind(join_path(path, "pack")) == EntryKind::kFolder ||
          machine.kind(join_path(path, "info")) == EntryKind::kFolder);
}

// Commits write objects, but must not change the list of further object folders.
void guard_alternates(const std::string& objects, const MachineView& machine, std::vector<GitAccess>& all,
                      std::vector<std::string>& forbidden) {
  pin(objects, true, "written by a commit", machine, all);
  pin(join_path(objects, "info"), true, "can't be renamed", machine, all);
  for (const char* name : {"info/alternates", "info/http-alternates"}) {
    const std::string path = join_path(objects, name);
    if (machine.kind(path) == EntryKind::kNothing) {
      forbidden.push_back(path);
    } else {
      all.push_back({path, false, "names folders of other repositories"});
    }
  }
}

bool is_in(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder + "/");
}

}  // namespace

std::optional<GitPlaces> find_git_places(const std::string& project, const MachineView& machine) {
  GitPlaces git;
  for (std::string at = project;; at = parent_path(at)) {
    git.entry = join_path(at, ".git");
    git.top = at;
    const EntryKind kind = machine.kind(git.entry);
    if (kind == EntryKind::kFolder || kind == EntryKind::kFile || kind == EntryKind::kLink) break;
    if (at == "/" || at.empty()) return std::nullopt;
  }
  git.git_dir = machine.kind(git.entry) == EntryKind::kLink ? machine.real(git.entry) : git.entry;
  if (machine.kind(git.entry) == EntryKind::kFile) {
    const auto named = folder_in_git_file(machine.text(git.entry).value_or(""));
    if (!named) return std::nullopt;
    git.git_dir = machine.real(absolute_path(*named, git.top));
  }
  git.common_dir = git.git_dir;
  if (const std::string common = first_line_of(machine, join_path(git.git_dir, "commondir")); !common.empty())
    git.common_dir = machine.real(absolute_path(common, git.git_dir));
  git.branch = branch_in_head(machine.text(join_path(git.git_dir, "HEAD")).value_or(""));
  const std::string objects = join_path(git.common_dir, "objects");
  const std::string alternates = machine.text(join_path(objects, "info/alternates")).value_or("");
  for (const std::string& line : split(alternates, '\n')) {
    const std::string_view path = trim(line);
    if (path.empty() || path.starts_with('#')) continue;
    const std::string real = machine.real(absolute_path(path, objects));
    if (is_object_folder(real, machine)) git.alternates.push_back(real);
  }
  return git;
}

Status expect_own_repository(const GitPlaces& git, const std::string& project, const MachineView& machine) {
  const std::string real_entry = machine.real(git.entry);
  const bool inside = is_in(git.git_dir, project) || is_in(git.git_dir, git.top);
  if (inside && is_in(git.common_dir, git.top)) return {};
  if (!inside) {
    // Git's own back link: for a work tree, then for a submodule.
    const std::string back = first_line_of(machine, join_path(git.git_dir, "gitdir"));
    if (!back.empty() && machine.real(absolute_path(back, git.git_dir)) == real_entry) return {};
    for (const std::string& line : split(machine.text(join_path(git.git_dir, "config")).value_or(""), '\n')) {
      const size_t equals = line.find('=');
      if (equals == std::string::npos || trim(std::string_view(line).substr(0, equals)) != "worktree") continue;
      const std::string_view tree = trim(std::string_view(line).substr(equals + 1));
      if (machine.real(absolute_path(tree, git.git_dir)) == machine.real(git.top)) return {};
    }
  }
  return fail(ErrorKind::kInput,
              "{} names the repository {}, which does not name {} as its work tree; a program in a sandbox could have "
              "written that. If it is right: git config --file {} core.worktree {}",
              git.entry, inside ? git.common_dir : git.git_dir, git.top, join_path(git.git_dir, "config"), git.top);
}

std::vector<GitAccess> git_access(const GitPlaces& git, const MachineView& machine,
                                  std::vector<std::string>& forbidden) {
  std::vector<GitAccess> all;
  if (git.linked()) {
    // In the shared repository, only what a commit to this branch writes is writable.
    all.push_back({git.common_dir, false, "the repository of the work tree"});
    const std::string branch_folder = git.branch.empty() ? "refs/heads" : parent_path(git.branch);
    for (const std::string& part : {branch_folder, join_path("logs", branch_folder)})
      pin(join_path(git.common_dir, part), true, "written by a commit", machine, all);
    guard_alternates(join_path(git.common_dir, "objects"), machine, all, forbidden);
    all.push_back({git.git_dir, true, "the work tree's own part of the repository"});
    guard(git.git_dir, {"commondir", "gitdir", "config.worktree"}, machine, all, forbidden);
    pin(git.entry, false, "names the repository", machine, all);
  } else {
    all.push_back({git.git_dir, true, "the repository, which can't be renamed"});
    guard(git.git_dir, {"hooks", "config", "config.worktree", "commondir", "remotes", "branches"}, machine, all,
          forbidden);
    guard_alternates(join_path(git.git_dir, "objects"), machine, all, forbidden);
    pin(join_path(git.git_dir, "modules"), false, "repositories of submodules", machine, all);
    pin(join_path(git.git_dir, "worktrees"), false, "other work trees", machine, all);
    if (git.entry != git.git_dir) pin(git.entry, false, "names the repository", machine, all);
  }
  for (const std::string& objects : git.alternates)
    pin(objects, false, "objects that the repository shares", machine, all);
  return all;
}

}  // namespace ralph
