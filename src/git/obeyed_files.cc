#include "git/obeyed_files.h"

#include <algorithm>

#include "base/text.h"
#include "git/config_file.h"
#include "git/git_places.h"
#include "git/program_settings.h"
#include "git/repository_mark.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr std::string_view kRuns = "git runs what it says", kObeys = "git obeys it";
constexpr std::string_view kHides = "it hides files from git", kFilters = "it names filters, drivers or idents";
constexpr std::string_view kHookNames =
    "applypatch-msg commit-msg fsmonitor-watchman p4-changelist p4-post-changelist p4-pre-submit p4-prepare-changelist "
    "post-applypatch post-checkout post-commit post-index-change post-merge post-receive post-rewrite post-update "
    "pre-applypatch pre-auto-gc pre-commit pre-merge-commit pre-push pre-rebase pre-receive prepare-commit-msg "
    "proc-receive push-to-checkout reference-transaction sendemail-validate update";

bool is_under(const std::string& path, const std::string& folder) {
  return path.starts_with(folder + "/");
}

class Obeyed {
 public:
  Obeyed(const std::string& project, const Environment& environment) : project_(project), environment_(environment) {
    all_.roots.push_back(project);
  }

  ObeyedFiles take() {
    const auto git = find_git_places(project_, this_machine());
    top_ = git ? git->top : project_;
    if (git) add_found(*git);
    if (top_ != project_ || !git) add_repository(join_path(project_, ".git"), false);  // an agent could create it
    for (const std::string& path : users_files()) add_config(path, false, false);
    if (const std::string folder = users_folder(); !folder.empty()) {
      add(join_path(folder, "ignore"), ObeyedKind::kFile, false, kHides);
      add(join_path(folder, "attributes"), ObeyedKind::kAttributes, false, kFilters);
    }
    return std::move(all_);
  }

 private:
  void add(std::string path, ObeyedKind kind, bool put_back, std::string_view why,
           std::vector<std::string> details = {}) {
    all_.files.push_back({std::move(path), kind, put_back, std::string(why), std::move(details)});
  }

  // The project's repository counts as part of the project, wherever it is.
  void add_found(const GitPlaces& git) {
    for (const std::string& root : {git.top, git.git_dir, git.common_dir}) {
      if (!is_one_of(root, all_.roots)) all_.roots.push_back(root);
    }
    const RepositoryMark mark = mark_repository({git.top, git.entry, git.git_dir, git.common_dir});
    add(git.entry, ObeyedKind::kRepository, true, "it is the repository",
        {mark.git_dir, mark.common_dir, mark.folder, mark.commit});
    if (!is_real_folder(git.entry)) add(git.entry, ObeyedKind::kFile, true, "it names the repository");
    for (const ConfigEntry& entry : repository_config(project_)) {
      if (entry.section == "remote" && entry.has_subsection) remotes_.push_back(entry.subsection);
    }
    add_repository(git.git_dir, true);
    if (git.linked()) add_repository(git.common_dir, true);
    for (const std::string& folder : {project_, git.top})
      add(join_path(folder, ".gitattributes"), ObeyedKind::kAttributes, false, kFilters);
  }

  // `folder` is a git directory; `there`: it already exists, so its config is known to be the repository's.
  void add_repository(const std::string& folder, bool there) {
    for (const char* name : {"config", "config.worktree"}) add_config(join_path(folder, name), true, there);
    add(join_path(folder, "hooks"), ObeyedKind::kHooks, true, "git runs it");
    add(join_path(folder, "info/attributes"), ObeyedKind::kFile, true, kRuns);
    for (const char* name : {"info/exclude", "info/sparse-checkout"})
      add(join_path(folder, name), ObeyedKind::kFile, false, kHides);
    for (const char* name : {"HEAD", "index", "packed-refs", "shallow"})
      add(join_path(folder, name), ObeyedKind::kPlainFile, true, "git reads it");
    constexpr std::string_view kOthers = "git shows commits that are not there";
    add(join_path(folder, "info/grafts"), ObeyedKind::kFile, false, kOthers);
    add(join_path(folder, "refs/replace"), ObeyedKind::kFolder, false, kOthers);
    add(join_path(folder, "commondir"), ObeyedKind::kFile, true, "it names the repository");
    add(join_path(folder, "modules"), ObeyedKind::kRepositories, true, "git runs it in a submodule");
    add(join_path(folder, "worktrees"), ObeyedKind::kRepositories, true, "git runs it in a work tree");
  }

  // Adds a configuration file and what it refers to: included files, hook folders. `own`: it is the repository's.
  void add_config(const std::string& path, bool put_back, bool own, int depth = 0) {
    if (own) {
      add(path, ObeyedKind::kRepositoryConfig, put_back, depth == 0 ? kObeys : kRuns, remotes_);
    } else {
      add(path, ObeyedKind::kConfig, put_back, kRuns);
    }
    const std::string text = is_regular_file(path) ? read_file(path).value_or("") : "";
    const SettingsScope scope{.users = true};
    for (const GitSetting& setting : program_settings(text, scope).value_or(std::vector<GitSetting>{})) {
      if (setting.value.empty()) continue;
      const bool includes = setting.name.ends_with(".path") && setting.name.starts_with("include");
      const std::string named = expanded(setting.value, includes ? parent_path(path) : top_);
      if (includes && depth < kDeepestInclude) add_config(named, is_inside(named), own, depth + 1);
      if (setting.name == "core.hookspath") add_hooks(named);
      if (setting.name == "core.attributesfile") add(named, ObeyedKind::kAttributes, false, kFilters);
      if (setting.name == "core.excludesfile") add(named, ObeyedKind::kFile, false, kHides);
    }
  }

  // Adds a hook folder that the user configured.
  void add_hooks(std::string folder) {
    // In husky's folder `_` are scripts that call the hooks in its parent folder.
    if (base_name(folder) == "_" && !has_more_than_hooks(parent_path(folder))) folder = parent_path(folder);
    if (!has_more_than_hooks(folder)) return add(folder, ObeyedKind::kHooks, is_inside(folder), "git runs it");
    for (const std::string& name : split(kHookNames, ' ')) {
      const std::string hook = join_path(folder, name);
      add(hook, ObeyedKind::kFile, is_inside(hook), "git runs it");
    }
  }

  // True for the project itself, a folder above it, its repository, and ralph's own folder.
  bool has_more_than_hooks(const std::string& folder) const {
    const std::string real = real_path(folder), own = join_path(project_, ".ralph");
    if (real == own || is_under(real, own)) return true;
    return std::ranges::any_of(all_.roots, [&](const std::string& root) {
      return real == "/" || real_path(root) == real || is_under(real_path(root), real);
    });
  }

  std::string expanded(const std::string& path, const std::string& base) const {
    return path.starts_with("~/") ? join_path(home(), path.substr(2)) : absolute_path(path, base);
  }

  bool is_inside(const std::string& path) const { return is_really_below(path, all_.roots); }
  // What a variable names; empty: nothing. git looks for a relative path from the project.
  std::string path_in(const std::string& variable) const {
    const std::string named = environment_.get(variable).value_or("");
    return named.empty() ? "" : absolute_path(named, project_);
  }
  std::string home() const { return path_in("HOME"); }

  // Read by git regardless of GIT_CONFIG_GLOBAL; empty if there is none.
  std::string users_folder() const {
    const std::string config = path_in("XDG_CONFIG_HOME");
    if (!config.empty()) return join_path(config, "git");
    return home().empty() ? "" : join_path(home(), ".config/git");
  }

  std::vector<std::string> users_files() const {
    std::vector<std::string> files;
    if (environment_.get("GIT_CONFIG_GLOBAL")) {
      if (std::string named = path_in("GIT_CONFIG_GLOBAL"); !named.empty()) files.push_back(std::move(named));
      return files;
    }
    if (home().empty()) return files;
    files.push_back(join_path(users_folder(), "config"));
    files.push_back(join_path(home(), ".gitconfig"));
    return files;
  }

  const std::string project_;
  std::string top_;                   // of the work tree
  std::vector<std::string> remotes_;  // that the user has
  const Environment& environment_;
  ObeyedFiles all_;
};

}  // namespace

ObeyedFiles files_git_obeys(const std::string& project, const Environment& environment) {
  return Obeyed(project, environment).take();
}

bool is_really_below(const std::string& path, const std::vector<std::string>& folders) {
  const std::string real = real_path(path);
  return std::ranges::any_of(
      folders, [&](const std::string& folder) { return is_under(path, folder) && is_under(real, real_path(folder)); });
}

}  // namespace ralph
