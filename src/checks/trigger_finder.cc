#include "checks/trigger_finder.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr size_t kMostShown = 2000;  // files of a folder whose changes are only reported
constexpr int kDeepest = 8;
constexpr int kDeepestProgram = 32;

using FoundFiles = std::map<std::string, TriggerPlace>;

// Finds the existing files of watched places.
class Finder {
 public:
  explicit Finder(Glance& glance) : glance_(glance) {}

  FoundFiles files_of(const TriggerPlace& place) {
    found_.clear();
    if (place.kind == TriggerKind::kFolder) {
      add_below(place, place.path, 0);
    } else if (place.kind == TriggerKind::kGitFolders) {
      add_git_folders(place, place.path, 0);
    } else if (place.kind == TriggerKind::kProgram) {
      for (const std::string& path : place.keys) add_all(place, path, 0);
    } else if (place.kind != TriggerKind::kRepository && glance_.at(place.path)) {
      found_.emplace(place.path, place);
    }
    return std::move(found_);
  }

 private:
  void add(const TriggerPlace& place, const std::string& path, TriggerKind kind) {
    found_.emplace(path, file_of(place, path, kind));
  }

  // The target of a link has its own place if it is in the project.
  void add_below(const TriggerPlace& folder, const std::string& path, int depth) {
    if (glance_.is_link(path)) add(folder, path, TriggerKind::kFile);
    if (!glance_.is_folder(path)) return;
    for (const std::string& name : glance_.list(path)) {
      if (name == "." || name == ".." || name.ends_with(".sample")) continue;
      if (depth == 0 && is_one_of(name, folder.keys)) continue;
      if (!folder.put_back && found_.size() >= kMostShown) return;
      const std::string below = join_path(path, name);
      if (glance_.is_folder(below)) {
        if (depth < kDeepest) add_below(folder, below, depth + 1);
      } else {
        add(folder, below, TriggerKind::kFile);
      }
    }
  }

  // A folder with a HEAD belongs to a repository; other folders may contain such folders.
  void add_git_folders(const TriggerPlace& place, const std::string& path, int depth) {
    if (!glance_.is_folder(path)) return;
    if (glance_.at(join_path(path, "HEAD"))) {
      for (const char* name : {"config", "config.worktree"}) {
        const std::string config = join_path(path, name);
        if (glance_.at(config)) add(place, config, TriggerKind::kGitConfig);
      }
      const std::string attributes = join_path(path, "info/attributes");
      if (glance_.at(attributes)) add(place, attributes, TriggerKind::kFile);
      add_below(place, join_path(path, "hooks"), 0);
      add_git_folders(place, join_path(path, "modules"), depth);
      return;
    }
    for (const std::string& name : glance_.list(path)) {
      if (name != "." && name != ".." && depth < kDeepest) add_git_folders(place, join_path(path, name), depth + 1);
    }
  }

  void add_all(const TriggerPlace& program, const std::string& path, int depth) {
    if (!glance_.is_folder(path)) {
      if (glance_.at(path)) add(program, path, TriggerKind::kProgram);
      return;
    }
    for (const std::string& name : glance_.list(path)) {
      if (name != "." && name != ".." && depth < kDeepestProgram) add_all(program, join_path(path, name), depth + 1);
    }
  }

  Glance& glance_;
  FoundFiles found_;
};

}  // namespace

std::map<std::string, TriggerPlace> files_of(const TriggerPlace& place, Glance& glance) {
  return Finder(glance).files_of(place);
}

bool is_whole(TriggerKind kind) {
  return is_one_of(
      kind, std::array{TriggerKind::kFile, TriggerKind::kFolder, TriggerKind::kGitFolders, TriggerKind::kProgram});
}

TriggerPlace file_of(const TriggerPlace& place, std::string path, TriggerKind kind) {
  return {std::move(path), kind, place.put_back, place.why,
          is_one_of(kind, std::array{TriggerKind::kJson, TriggerKind::kRepositoryConfig}) ? place.keys
                                                                                          : std::vector<std::string>{}};
}

bool has_part(const TriggerPlace& program, const std::string& path) {
  return std::ranges::any_of(program.keys, [&](const std::string& part) { return is_within(path, part); });
}

}  // namespace ralph
