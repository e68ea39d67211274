#include "policy/shell/state.h"

#include "base/text.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr size_t kLongestValue = 64 * 1024;
constexpr size_t kMostValues = 64;
constexpr size_t kMostSources = 8;

void limit(ShellVariable& value) {
  size_t size = 0;
  for (const std::string& one : value.values) size += one.size();
  if (size > kLongestValue || value.values.size() > kMostValues) {
    value.values.assign(1, std::string(1, kUnknownPart));
    value.kind = ShellVariable::Kind::kText;
  }
  if (value.sources.size() > kMostSources) value.sources.resize(kMostSources);
}

}  // namespace

ShellState::ShellState(const ShellSetting& setting) : home(setting.home), cwd(setting.cwd) {
  for (const auto& [name, value] : setting.variables) variables_[name] = ShellVariable::of(value);
  variables_["HOME"] = ShellVariable::of(home);
}

const ShellVariable* ShellState::find(std::string_view name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : &found->second;
}

void ShellState::set(const std::string& name, ShellVariable value) {
  limit(value);
  auto& slot = variables_[name];
  changes_.emplace_back(name, slot.values.empty() ? std::nullopt : std::optional(std::move(slot)));
  slot = std::move(value);
  if (slot.values.empty()) slot.values.emplace_back();
  if (name == "HOME") home = slot.values.front();
}

void ShellState::set_maybe(const std::string& name, ShellVariable value) {
  const ShellVariable* old = find(name);
  const bool is_mergeable = old && old->kind != ShellVariable::Kind::kArray &&
                            value.kind != ShellVariable::Kind::kArray && old->values.size() + value.values.size() <= 8;
  if (is_mergeable) {
    for (const std::string& one : old->values) {
      if (!is_one_of(one, value.values)) value.values.push_back(one);
    }
    value.sources.insert(value.sources.end(), old->sources.begin(), old->sources.end());
    if (value.values.size() > 1) value.kind = ShellVariable::Kind::kEach;
  }
  set(name, std::move(value));
}

void ShellState::unset(const std::string& name) {
  const auto found = variables_.find(name);
  if (found == variables_.end()) return;
  changes_.emplace_back(name, std::move(found->second));
  variables_.erase(found);
}

void ShellState::undo_to(Mark mark) {
  while (changes_.size() > mark.changes) {
    auto& [name, value] = changes_.back();
    if (value) {
      variables_[name] = *std::move(value);
    } else {
      variables_.erase(name);
    }
    if (name == "HOME") home = find("HOME") ? find("HOME")->values.front() : std::string();
    changes_.pop_back();
  }
  cwd = std::move(mark.cwd);
  positional = std::move(mark.positional);
}

std::string ShellState::separators() const {
  const ShellVariable* ifs = find("IFS");
  return ifs && !contains(ifs->values.front(), kUnknownPart) ? ifs->values.front() : " \t\n";
}

void ShellState::change_folder(const std::string& to) {
  if (contains(to, kUnknownPart) && !to.starts_with('/')) {
    cwd = std::string(1, kUnknownPart);
  } else if (to.starts_with('/') || !contains(cwd.str(), kUnknownPart)) {
    cwd = absolute_path(to, cwd.str());
  }
}

}  // namespace ralph
