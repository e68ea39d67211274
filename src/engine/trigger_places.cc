#include "engine/trigger_places.h"

#include <algorithm>
#include <utility>

#include "agents/registry.h"
#include "base/text.h"
#include "checks/file_facts.h"
#include "checks/lstat_cache.h"
#include "engine/program_parts.h"
#include "git/git_places.h"
#include "git/obeyed_files.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr int kMostLinks = 40;  // as in the kernel

bool is_below(const std::string& path, const std::string& folder) {
  return path.starts_with(folder + "/");
}

class Places {
 public:
  Places(const std::string& project, const Environment& environment) : project_(project), environment_(environment) {}

  void add_git() {
    ObeyedFiles git = files_git_obeys(project_, environment_);
    all_.roots = std::move(git.roots);
    for (ObeyedFile& file : git.files) {
      const bool hooks = file.kind == ObeyedKind::kHooks;
      const std::string folder = file.path;
      add({std::move(file.path), kind_of(file.kind), file.put_back, std::move(file.why), std::move(file.details)});
      if (hooks) add_links_in(folder, file.put_back);
    }
  }

  void add_agents() {
    for (const Adapter* adapter : adapters()) {
      const std::string why = fmt::format("{} obeys it", adapter->name);
      for (const AgentFile& file : adapter->files) add_file(file, project_, why);
      for (const AgentFile& file : adapter->users_files) {
        const std::string named = folder_in(std::string(file.variable));
        const std::string home = folder_in("HOME");
        const std::string folder = file.folder.empty() ? home : join_path(home, file.folder);
        if (!named.empty() || !home.empty()) add_file(file, named.empty() ? folder : named, why);
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
  // The folder that a variable names; empty: none. Agents look for a relative one from the project.
  std::string folder_in(const std::string& variable) const {
    const std::string named = environment_.get(variable).value_or("");
    return named.empty() ? "" : absolute_path(named, project_);
  }

  static TriggerKind kind_of(ObeyedKind kind) {
    switch (kind) {
      case ObeyedKind::kFile:
        return TriggerKind::kFile;
      case ObeyedKind::kPlainFile:
        return TriggerKind::kPlainFile;
      case ObeyedKind::kHooks:
      case ObeyedKind::kFolder:
        return TriggerKind::kFolder;
      case ObeyedKind::kRepositories:
        return TriggerKind::kGitFolders;
      case ObeyedKind::kAttributes:
        return TriggerKind::kAttributes;
      case ObeyedKind::kConfig:
        return TriggerKind::kGitConfig;
      case ObeyedKind::kRepositoryConfig:
        return TriggerKind::kRepositoryConfig;
      case ObeyedKind::kRepository:
        return TriggerKind::kRepository;
    }
    return TriggerKind::kFile;
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
      if (!lstats_.is_link(next) || steps.links.size() >= kMostLinks) {
        steps.end = next;
        continue;
      }
      steps.links.push_back(next);
      const std::string target = content_of_file(next, *lstats_.at(next)).value_or("");
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

  // Hooks may be symlinks to scripts elsewhere.
  void add_links_in(const std::string& folder, bool put_back) {
    for (const std::string& name : names_in(folder)) {
      const std::string hook = join_path(folder, name);
      if (lstats_.is_link(hook)) add({hook, TriggerKind::kFile, put_back && is_inside_text(hook), "git runs it"});
    }
  }

  // A file behind a symlink may be outside.
  bool is_inside(const std::string& path) const { return is_really_below(path, all_.roots); }

  void add_file(const AgentFile& file, const std::string& folder, const std::string& why) {
    TriggerPlace place{join_path(folder, file.path), TriggerKind::kFile, file.put_back, why};
    const bool is_folder = place.path.ends_with('/');
    if (is_folder) place.path.pop_back();
    place.kind = is_folder ? TriggerKind::kFolder : file.keys.empty() ? TriggerKind::kFile : TriggerKind::kJson;
    if (!file.keys.empty()) place.keys = split(file.keys, ' ');
    const bool users = project_ == folder_in("HOME");  // then the settings are the user's own
    if (users || (path_exists(place.path) && !is_inside(place.path))) place.put_back = false;
    add(std::move(place));
  }

  const std::string project_;
  LstatCache lstats_;
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
