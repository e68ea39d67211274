#include "checks/trigger_parts.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "git/program_settings.h"
#include "json/edit.h"

namespace ralph {
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
