#include "sandbox/git_places.h"

#include "base/text.h"
#include "os/files.h"

namespace ralph {
namespace {

using Kind = MachineView::Kind;

std::string first_line_of(const MachineView& machine, const std::string& path) {
  const auto text = machine.text(path);
  return text ? std::string(trim(std::string_view(*text).substr(0, text->find('\n')))) : "";
}

// What the host's git would run: never writable. What is missing must not appear.
void guard(const std::string& folder, std::initializer_list<std::string_view> names, const MachineView& machine,
           std::vector<Mount>& mounts, std::vector<std::string>& forbidden) {
  for (const std::string_view name : names) {
    const std::string path = join_path(folder, name);
    const Kind kind = machine.kind(path);
    if (kind == Kind::kNothing) {
      forbidden.push_back(path);
    } else {
      mounts.push_back({MountKind::kReadOnly, path, path, "git would run what it says"});
    }
  }
}

// A mount of its own can't be renamed or removed.
void pin(MountKind kind, const std::string& path, std::string_view why, const MachineView& machine,
         std::vector<Mount>& mounts) {
  if (machine.kind(path) != Kind::kNothing) mounts.push_back({kind, path, path, std::string(why)});
}

}  // namespace

std::optional<GitPlaces> find_git_places(const std::string& project, const MachineView& machine) {
  GitPlaces git;
  for (std::string at = project;; at = parent_path(at)) {
    git.entry = join_path(at, ".git");
    git.top = at;
    const Kind kind = machine.kind(git.entry);
    if (kind == Kind::kFolder || kind == Kind::kFile) break;
    if (at == "/" || at.empty()) return std::nullopt;
  }
  git.git_dir = git.entry;
  if (machine.kind(git.entry) == Kind::kFile) {
    const std::string line = first_line_of(machine, git.entry);
    constexpr std::string_view kWord = "gitdir:";
    if (!line.starts_with(kWord)) return std::nullopt;
    git.git_dir = machine.real(absolute_path(trim(std::string_view(line).substr(kWord.size())), git.top));
  }
  git.common_dir = git.git_dir;
  if (const std::string common = first_line_of(machine, join_path(git.git_dir, "commondir")); !common.empty())
    git.common_dir = machine.real(absolute_path(common, git.git_dir));
  const std::string head = first_line_of(machine, join_path(git.git_dir, "HEAD"));
  constexpr std::string_view kRef = "ref: ";
  if (head.starts_with(kRef)) git.branch = trim(std::string_view(head).substr(kRef.size()));
  const std::string objects = join_path(git.common_dir, "objects");
  const std::string alternates = machine.text(join_path(objects, "info/alternates")).value_or("");
  for (const std::string& line : split(alternates, '\n')) {
    const std::string_view path = trim(line);
    if (!path.empty() && !path.starts_with('#')) git.alternates.push_back(machine.real(absolute_path(path, objects)));
  }
  return git;
}

std::vector<Mount> git_mounts(const GitPlaces& git, const MachineView& machine, std::vector<std::string>& forbidden) {
  std::vector<Mount> mounts;
  if (git.linked()) {
    // Of the shared repository only what a commit to this branch writes.
    mounts.push_back({MountKind::kReadOnly, git.common_dir, git.common_dir, "the repository of the work tree"});
    const std::string branch_folder = git.branch.empty() ? "refs/heads" : parent_path(git.branch);
    for (const std::string& part : {std::string("objects"), branch_folder, join_path("logs", branch_folder)}) {
      pin(MountKind::kWritable, join_path(git.common_dir, part), "written by a commit", machine, mounts);
    }
    mounts.push_back({MountKind::kWritable, git.git_dir, git.git_dir, "the work tree's own part of the repository"});
    guard(git.git_dir, {"commondir", "gitdir", "config.worktree"}, machine, mounts, forbidden);
    pin(MountKind::kReadOnly, git.entry, "names the repository", machine, mounts);
  } else {
    mounts.push_back({MountKind::kWritable, git.git_dir, git.git_dir, "the repository, which can't be renamed"});
    guard(git.git_dir, {"hooks", "config", "config.worktree", "commondir"}, machine, mounts, forbidden);
    pin(MountKind::kReadOnly, join_path(git.git_dir, "modules"), "repositories of submodules", machine, mounts);
    pin(MountKind::kReadOnly, join_path(git.git_dir, "worktrees"), "other work trees", machine, mounts);
    if (git.entry != git.git_dir) pin(MountKind::kReadOnly, git.entry, "names the repository", machine, mounts);
  }
  for (const std::string& objects : git.alternates)
    pin(MountKind::kReadOnly, objects, "objects that the repository shares", machine, mounts);
  return mounts;
}

}  // namespace ralph
