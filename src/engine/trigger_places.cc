#include "engine/trigger_places.h"

#include <algorithm>
#include <utility>

#include "agents/registry.h"
#include "base/text.h"
#include "checks/file_facts.h"
#include "checks/glance.h"
#include "engine/program_parts.h"
#include "git/config_file.h"
#include "git/program_settings.h"
#include "git/repository_mark.h"
#include "os/files.h"
#include "sandbox/git_places.h"

namespace ralph {
namespace {

constexpr std::string_view kGitRuns = "git runs what it says", kGitObeys = "git obeys it";
constexpr std::string_view kHides = "it hides files from git", kFilters = "it names filters, drivers or idents";
constexpr int kMostLinks = 40;       // as in the kernel
constexpr int kDeepestInclude = 10;  // as in git
constexpr std::string_view kHookNames =
    "applypatch-msg commit-msg fsmonitor-watchman p4-changelist p4-post-changelist p4-pre-submit p4-prepare-changelist "
    "post-applypatch post-checkout post-commit post-index-change post-merge post-receive post-rewrite post-update "
    "pre-applypatch pre-auto-gc pre-commit pre-merge-commit pre-push pre-rebase pre-receive prepare-commit-msg "
    "proc-receive push-to-checkout reference-transaction sendemail-validate update";

bool is_below(const std::string& path, const std::string& folder) {
  return path.starts_with(folder + "/");
}

class Places {
 public:
  Places(const std::string& project, const Environment& environment) : project_(project), environment_(environment) {
    all_.roots.push_back(project);
  }

  // The project's repository counts as part of the project, wherever it is.
  void add_git() {
    const auto git = find_git_places(project_, this_machine());
    top_ = git ? git->top : project_;
    if (git) {
      for (const std::string& root : {git->top, git->git_dir, git->common_dir}) {
        if (!is_one_of(root, all_.roots)) all_.roots.push_back(root);
      }
      const RepositoryMark mark = mark_repository({git->top, git->entry, git->git_dir, git->common_dir});
      add({git->entry,
           TriggerKind::kRepository,
           true,
           "it is the repository",
           {mark.git_dir, mark.common_dir, mark.folder, mark.commit}});
      if (!is_real_folder(git->entry)) add({git->entry, TriggerKind::kFile, true, "it names the repository"});
      for (const ConfigEntry& entry : repository_config(project_)) {
        if (entry.section == "remote" && entry.has_subsection) remotes_.push_back(entry.subsection);
      }
      add_repository(git->git_dir, true);
      if (git->linked()) add_repository(git->common_dir, true);
      for (const std::string& folder : {project_, git->top})
        add({join_path(folder, ".gitattributes"), TriggerKind::kAttributes, false, std::string(kFilters)});
    }
    if (top_ != project_ || !git) add_repository(join_path(project_, ".git"), false);  // an agent could create it
    for (const std::string& path : users_git_files()) add_config(path, false, false);
    if (const std::string folder = users_git_folder(); !folder.empty()) {
      add({join_path(folder, "ignore"), TriggerKind::kFile, false, std::string(kHides)});
      add({join_path(folder, "attributes"), TriggerKind::kAttributes, false, std::string(kFilters)});
    }
  }

  void add_agents() {
    for (const Adapter* adapter : adapters()) {
      const std::string why = fmt::format("{} obeys it", adapter->name);
      for (const AgentFile& file : adapter->files) add_file(file, project_, why);
      for (const AgentFile& file : adapter->users_files) {
        const std::string named(environment_.get(std::string(file.variable)).value_or(""));
        const std::string folder = file.folder.empty() ? home() : join_path(home(), file.folder);
        if (!named.empty() || !home().empty()) add_file(file, named.empty() ? folder : named, why);
      }
    }
  }

  void add_program(const std::string& word) {
    constexpr std::string_view kWhy = "it is an agent's program";
    const std::string path = absolute_path(word, project_);
    if (!is_regular_file(path)) return;
    // Outside the project it is only watched, because agents update themselves.
    if (!is_below(path, project_)) return add({path, TriggerKind::kFile, false, std::string(kWhy)});
    const Steps steps = follow(path);
    const std::string package = is_inside(steps.end) ? package_folder(steps.end) : "";
    if (!is_below(package, project_)) return add({path, TriggerKind::kFile, true, std::string(kWhy)});
    TriggerPlace program{path, TriggerKind::kProgram, true, std::string(kWhy), package_parts(package, project_)};
    for (const std::string& link : steps.links) {
      if (is_below(link, project_)) program.keys.push_back(link);
    }
    all_.places.push_back(std::move(program));
  }

  // Adds the symlinks on the way to it and their targets too, so that none of these can be replaced.
  void add(TriggerPlace place) {
    const Steps steps = follow(place.path);
    if (place.kind != TriggerKind::kRepository && is_reached_by_link(place.path, steps)) {
      for (const std::string& link : steps.links) {
        if (link != place.path && is_inside_text(link))
          all_.places.push_back({link, TriggerKind::kFile, place.put_back, place.why});
      }
      TriggerPlace end = place;
      end.path = steps.end;
      end.put_back = place.put_back && is_inside(steps.end);
      all_.places.push_back(std::move(end));
    }
    all_.places.push_back(std::move(place));
  }

  TriggerPlaces take() { return std::move(all_); }

 private:
  std::string home() const { return std::string(environment_.get("HOME").value_or("")); }

  static std::string text_of(const std::string& path) {
    return is_regular_file(path) ? read_file(path).value_or("") : "";
  }

  struct Steps {
    std::vector<std::string> links;  // in order
    std::string end;
  };

  // Resolves a path, which may not exist yet.
  Steps follow(const std::string& path) {
    Steps steps;
    std::vector<std::string> rest = split(path, '/');
    std::ranges::reverse(rest);
    while (!rest.empty()) {
      const std::string name = std::exchange(rest.back(), "");
      rest.pop_back();
      if (name.empty() || name == ".") continue;
      if (name == "..") {
        steps.end = steps.end.substr(0, steps.end.rfind('/'));
        continue;
      }
      const std::string next = steps.end + "/" + name;
      if (!glance_.is_link(next) || steps.links.size() >= kMostLinks) {
        steps.end = next;
        continue;
      }
      steps.links.push_back(next);
      const std::string target = content_of_file(next, *glance_.at(next)).value_or("");
      if (target.starts_with('/')) steps.end.clear();
      std::vector<std::string> names = split(target, '/');
      std::ranges::reverse(names);
      rest.insert(rest.end(), names.begin(), names.end());
    }
    return steps;
  }

  bool is_inside_text(const std::string& path) const {
    return std::ranges::any_of(all_.roots, [&](const std::string& root) { return is_below(path, root); });
  }

  // Ignores symlinks above the project, which are none of an agent's business.
  bool is_reached_by_link(const std::string& path, const Steps& steps) const {
    return std::ranges::any_of(steps.links,
                               [&](const std::string& link) { return link == path || is_inside_text(link); });
  }

  // `folder` is a git directory; `there`: it already exists, so its config is known to be the repository's.
  void add_repository(const std::string& folder, bool there) {
    for (const char* name : {"config", "config.worktree"}) add_config(join_path(folder, name), true, there);
    add_hooks_folder(join_path(folder, "hooks"), true);
    add({join_path(folder, "info/attributes"), TriggerKind::kFile, true, std::string(kGitRuns)});
    for (const char* name : {"info/exclude", "info/sparse-checkout"})
      add({join_path(folder, name), TriggerKind::kFile, false, std::string(kHides)});
    for (const char* name : {"HEAD", "index", "packed-refs", "shallow"})
      add({join_path(folder, name), TriggerKind::kPlainFile, true, "git reads it"});
    constexpr std::string_view kOthers = "git shows other commits than there are";
    add({join_path(folder, "info/grafts"), TriggerKind::kFile, false, std::string(kOthers)});
    add({join_path(folder, "refs/replace"), TriggerKind::kFolder, false, std::string(kOthers)});
    add({join_path(folder, "commondir"), TriggerKind::kFile, true, "it names the repository"});
    add({join_path(folder, "modules"), TriggerKind::kGitFolders, true, "git runs it in a submodule"});
    add({join_path(folder, "worktrees"), TriggerKind::kGitFolders, true, "git runs it in a work tree"});
  }

  // Adds a configuration file and what it refers to: included files, hook folders. `own`: it is the repository's.
  void add_config(const std::string& path, bool put_back, bool own, int depth = 0) {
    if (own) {
      add({path, TriggerKind::kRepositoryConfig, put_back, std::string(depth == 0 ? kGitObeys : kGitRuns), remotes_});
    } else {
      add({path, TriggerKind::kGitConfig, put_back, std::string(kGitRuns)});
    }
    const SettingsScope scope{.users = true};
    for (const GitSetting& setting : program_settings(text_of(path), scope).value_or(std::vector<GitSetting>{})) {
      if (setting.value.empty()) continue;
      const bool includes = setting.name.ends_with(".path") && setting.name.starts_with("include");
      const std::string named = expanded(setting.value, includes ? parent_path(path) : top_);
      if (includes && depth < kDeepestInclude) add_config(named, is_inside(named), own, depth + 1);
      if (setting.name == "core.hookspath") add_hooks(named);
      if (setting.name == "core.attributesfile") add({named, TriggerKind::kAttributes, false, std::string(kFilters)});
      if (setting.name == "core.excludesfile") add({named, TriggerKind::kFile, false, std::string(kHides)});
    }
  }

  // Adds a hook folder that the user configured.
  void add_hooks(std::string folder) {
    // In husky's folder `_` are scripts that call the hooks in its parent folder.
    if (base_name(folder) == "_" && !has_more_than_hooks(parent_path(folder))) folder = parent_path(folder);
    if (!has_more_than_hooks(folder)) return add_hooks_folder(folder, is_inside(folder));
    for (const std::string& name : split(kHookNames, ' ')) {
      const std::string hook = join_path(folder, name);
      add({hook, TriggerKind::kFile, is_inside(hook), "git runs it"});
    }
  }

  void add_hooks_folder(const std::string& folder, bool put_back) {
    add({folder, TriggerKind::kFolder, put_back, "git runs it"});
    for (const std::string& name : names_in(folder)) {
      const std::string hook = join_path(folder, name);
      if (glance_.is_link(hook)) add({hook, TriggerKind::kFile, put_back && is_inside_text(hook), "git runs it"});
    }
  }

  // True for the project itself, a folder above it, its repository, and ralph's own folder.
  bool has_more_than_hooks(const std::string& folder) const {
    const std::string real = real_path(folder), own = join_path(project_, ".ralph");
    if (real == own || is_below(real, own)) return true;
    return std::ranges::any_of(all_.roots, [&](const std::string& root) {
      return real == "/" || real_path(root) == real || is_below(real_path(root), real);
    });
  }

  std::string expanded(const std::string& path, const std::string& base) const {
    return path.starts_with("~/") ? join_path(home(), path.substr(2)) : absolute_path(path, base);
  }

  // A file behind a symlink may be outside.
  bool is_inside(const std::string& path) const {
    const std::string real = real_path(path);
    for (const std::string& root : all_.roots) {
      if (is_below(path, root) && is_below(real, real_path(root))) return true;
    }
    return false;
  }

  // Read by git regardless of GIT_CONFIG_GLOBAL; empty if there is none.
  std::string users_git_folder() const {
    const std::string config(environment_.get("XDG_CONFIG_HOME").value_or(""));
    if (!config.empty()) return join_path(config, "git");
    return home().empty() ? "" : join_path(home(), ".config/git");
  }

  std::vector<std::string> users_git_files() const {
    std::vector<std::string> files;
    if (const auto named = environment_.get("GIT_CONFIG_GLOBAL")) {
      if (!named->empty()) files.emplace_back(*named);
      return files;
    }
    if (home().empty()) return files;
    files.push_back(join_path(users_git_folder(), "config"));
    files.push_back(join_path(home(), ".gitconfig"));
    return files;
  }

  void add_file(const AgentFile& file, const std::string& folder, const std::string& why) {
    TriggerPlace place{join_path(folder, file.path), TriggerKind::kFile, file.put_back, why};
    const bool is_folder = place.path.ends_with('/');
    if (is_folder) place.path.pop_back();
    place.kind = is_folder ? TriggerKind::kFolder : file.keys.empty() ? TriggerKind::kFile : TriggerKind::kJson;
    if (!file.keys.empty()) place.keys = split(file.keys, ' ');
    const bool users = project_ == home();  // then the settings are the user's own
    if (users || (path_exists(place.path) && !is_inside(place.path))) place.put_back = false;
    add(std::move(place));
  }

  const std::string project_;
  std::string top_;                   // of the work tree
  std::vector<std::string> remotes_;  // that the user has
  Glance glance_;
  const Environment& environment_;
  TriggerPlaces all_;
};

}  // namespace

TriggerPlaces trigger_places(const std::string& project, const Environment& environment,
                             const std::vector<std::string>& programs) {
  Places places(project, environment);
  places.add_git();
  places.add_agents();
  places.add({join_path(project, ".envrc"), TriggerKind::kFile, false, "direnv runs it"});
  for (const std::string& word : programs) places.add_program(word);
  return places.take();
}

std::vector<std::string> program_words(std::span<const Agent> agents) {
  std::vector<std::string> words;
  for (const Agent& agent : agents) {
    words.push_back(agent.program());
    words.insert(words.end(), agent.words().begin(), agent.words().end());
    const auto script =
        std::ranges::find_if(agent.flags(), [](const std::string& flag) { return !flag.starts_with('-'); });
    if (&agent.adapter() == &custom_adapter() && script != agent.flags().end()) words.push_back(*script);
  }
  return words;
}

bool is_project(const std::string& folder) {
  return is_real_folder(join_path(folder, ".ralph")) || find_git_places(folder, this_machine()).has_value();
}

}  // namespace ralph
