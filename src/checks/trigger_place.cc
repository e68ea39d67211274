#include "checks/trigger_place.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "git/program_settings.h"
#include "json/edit.h"
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
  explicit Finder(LstatCache& lstats) : lstats_(lstats) {}

  FoundFiles files_of(const TriggerPlace& place) {
    found_.clear();
    if (place.kind == TriggerKind::kFolder) {
      add_below(place, place.path, 0);
    } else if (place.kind == TriggerKind::kGitFolders) {
      add_git_folders(place, place.path, 0);
    } else if (place.kind == TriggerKind::kProgram) {
      for (const std::string& path : place.keys) add_all(place, path, 0);
    } else if (place.kind != TriggerKind::kRepository && lstats_.at(place.path)) {
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
    if (lstats_.is_link(path)) add(folder, path, TriggerKind::kFile);
    if (!lstats_.is_folder(path)) return;
    for (const std::string& name : lstats_.list(path)) {
      if (name == "." || name == ".." || name.ends_with(".sample")) continue;
      if (depth == 0 && is_one_of(name, folder.keys)) continue;
      if (!folder.put_back && found_.size() >= kMostShown) return;
      const std::string below = join_path(path, name);
      if (lstats_.is_folder(below)) {
        if (depth < kDeepest) add_below(folder, below, depth + 1);
      } else {
        add(folder, below, TriggerKind::kFile);
      }
    }
  }

  // A folder with a HEAD belongs to a repository; other folders may contain such folders.
  void add_git_folders(const TriggerPlace& place, const std::string& path, int depth) {
    if (!lstats_.is_folder(path)) return;
    if (lstats_.at(join_path(path, "HEAD"))) {
      for (const char* name : {"config", "config.worktree"}) {
        const std::string config = join_path(path, name);
        if (lstats_.at(config)) add(place, config, TriggerKind::kGitConfig);
      }
      const std::string attributes = join_path(path, "info/attributes");
      if (lstats_.at(attributes)) add(place, attributes, TriggerKind::kFile);
      add_below(place, join_path(path, "hooks"), 0);
      add_git_folders(place, join_path(path, "modules"), depth);
      return;
    }
    for (const std::string& name : lstats_.list(path)) {
      if (name != "." && name != ".." && depth < kDeepest) add_git_folders(place, join_path(path, name), depth + 1);
    }
  }

  void add_all(const TriggerPlace& program, const std::string& path, int depth) {
    if (!lstats_.is_folder(path)) {
      if (lstats_.at(path)) add(program, path, TriggerKind::kProgram);
      return;
    }
    for (const std::string& name : lstats_.list(path)) {
      if (name != "." && name != ".." && depth < kDeepestProgram) add_all(program, join_path(path, name), depth + 1);
    }
  }

  LstatCache& lstats_;
  FoundFiles found_;
};

}  // namespace

std::map<std::string, TriggerPlace> files_of(const TriggerPlace& place, LstatCache& lstats) {
  return Finder(lstats).files_of(place);
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

namespace {

constexpr std::string_view kUnreadable = "unreadable ";

bool is_about_programs(std::string_view line) {
  const std::string_view text = trim(line);
  if (text.starts_with('#')) return false;
  return std::ranges::any_of(std::array{"filter=", "diff=", "merge=", "[attr]", " ident", "\tident"},
                             [&](const char* word) { return text.find(word) != std::string_view::npos; });
}

bool is_git_config(const TriggerPlace& place) {
  return place.kind == TriggerKind::kGitConfig || place.kind == TriggerKind::kRepositoryConfig;
}

SettingsScope scope_of(const TriggerPlace& place) {
  return place.kind == TriggerKind::kRepositoryConfig ? SettingsScope{true, place.keys} : SettingsScope{.users = true};
}

// The compared settings by name; a setting with two values gives two entries with the same name.
std::vector<std::pair<std::string, std::string>> named_parts(const TriggerPlace& place, const std::string& text) {
  std::vector<std::pair<std::string, std::string>> parts;
  if (is_git_config(place)) {
    for (const GitSetting& setting : program_settings(text, scope_of(place)).value_or(std::vector<GitSetting>{}))
      parts.emplace_back(setting.written, setting.bare ? "" : "=" + setting.value);
  } else if (place.kind == TriggerKind::kJson) {
    const auto document = parse_json(text, "");
    for (const std::string& key : place.keys) {
      const json::value* value = document && document->is_object() ? find(*document, key) : nullptr;
      if (value) parts.emplace_back(key, to_compact_json(*value));
    }
  }
  return parts;
}

}  // namespace

std::string compared_part(const TriggerPlace& place, const std::string& text) {
  std::string part;
  if (is_git_config(place)) {
    const auto settings = program_settings(text, scope_of(place));
    if (!settings) return std::string(kUnreadable) + text;
    for (const GitSetting& setting : *settings)
      part += fmt::format("{}{}{}\n", setting.name, setting.bare ? "" : " = ", setting.value);
    return part;
  }
  if (place.kind == TriggerKind::kAttributes) {
    for (const std::string& line : split(text, '\n')) {
      if (is_about_programs(line)) part += line + "\n";
    }
    return part;
  }
  if (place.kind == TriggerKind::kJson) {
    const auto document = parse_json(text, "");
    if (!document || !document->is_object()) return trim(text).empty() ? "" : std::string(kUnreadable) + text;
    for (const std::string& key : place.keys) {
      if (const json::value* value = find(*document, key)) part += fmt::format("{} {}\n", key, to_compact_json(*value));
    }
    return part;
  }
  return text;
}

std::string with_part_of(const TriggerPlace& place, const std::string& before, const std::string& now) {
  if (is_git_config(place)) return with_program_settings_of(before, now, scope_of(place));
  if (place.kind != TriggerKind::kJson) return before;
  const std::string old = trim(before).empty() ? "{}" : before;
  const auto was = JsonEdits::of(old, "");
  auto is = JsonEdits::of(now, "");
  const auto document = parse_json(now, "");
  if (!was || !is || !document->is_object()) return before;
  for (const std::string& key : place.keys) {
    const std::string pointer = "/" + key;
    if (const auto raw = was->raw(pointer)) {
      if (is->raw(pointer) != raw) is->set_raw(pointer, *raw);
    } else if (is->has(pointer)) {
      is->remove(pointer);
    }
  }
  return is->apply();
}

std::vector<std::string> changed_names(const TriggerPlace& place, const std::string& before, const std::string& now) {
  if (compared_part(place, now).starts_with(kUnreadable)) return {"it can't be read"};
  const auto was = named_parts(place, before), is = named_parts(place, now);
  std::vector<std::string> names;
  for (const auto* list : {&was, &is}) {
    const auto& others = list == &was ? is : was;
    for (const auto& part : *list) {
      if (std::ranges::find(others, part) == others.end() && !is_one_of(part.first, names)) names.push_back(part.first);
    }
  }
  return names;
}

}  // namespace ralph
