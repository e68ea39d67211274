#include "git/push_target.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "base/sha256.h"
#include "base/text.h"

namespace ralph {
namespace {

constexpr std::string_view kTo = "to ";

// "remote.a.b.url" is section "remote", subject "a.b" and key "url".
struct SettingName {
  explicit SettingName(std::string_view name) {
    const size_t first = name.find('.'), last = name.rfind('.');
    section = name.substr(0, first);
    if (last > first) subject = name.substr(first + 1, last - first - 1);
    key = last == std::string_view::npos ? "" : name.substr(last + 1);
  }
  std::string_view section, subject, key;
};

bool decides_push(std::string_view name) {
  constexpr std::array<std::string_view, 5> kSections = {"credential", "http", "push", "remote", "url"};
  constexpr std::array<std::string_view, 5> kNames = {"core.gitproxy", "core.sshcommand", "lfs.pushurl", "lfs.url",
                                                      "ssh.variant"};
  // What a fetch does, and what it records.
  constexpr std::array<std::string_view, 5> kOfFetches = {"fetch", "partialclonefilter", "promisor", "prune", "tagopt"};
  const SettingName parts(name);
  if (parts.section == "remote" && is_one_of(parts.key, kOfFetches)) return false;
  return is_one_of(parts.section, kSections) || is_one_of(name, kNames) ||
         (parts.section == "branch" && parts.key == "merge");
}

// The remote that `git push` uses, as in git's remote_for_branch() and pushremote_for_branch().
class Remotes {
 public:
  void add(std::string_view name, const std::string& value) {
    const SettingName parts(name);
    if (name == "remote.pushdefault") push_default_ = value;
    if (parts.section == "remote" && !parts.subject.empty()) names_.emplace(parts.subject);
    if (parts.section != "branch") return;
    if (parts.key == "remote") remotes_[std::string(parts.subject)] = value;
    if (parts.key == "pushremote") push_remotes_[std::string(parts.subject)] = value;
  }

  void note_all(PushTarget& target) const {
    target[std::string(kTo)] = of("");
    for (const auto* known : {&remotes_, &push_remotes_}) {
      for (const auto& [branch, remote] : *known) target[std::string(kTo) + branch] = of(branch);
    }
  }

 private:
  std::string of(const std::string& branch) const {
    if (const auto own = push_remotes_.find(branch); own != push_remotes_.end()) return own->second;
    if (!push_default_.empty()) return push_default_;
    if (const auto own = remotes_.find(branch); own != remotes_.end()) return own->second;
    return names_.size() == 1 ? *names_.begin() : "origin";
  }

  std::string push_default_;
  std::set<std::string> names_;
  std::map<std::string, std::string> remotes_, push_remotes_;
};

std::string remote_of(const PushTarget& target, const std::string& branch) {
  const auto own = target.find(std::string(kTo) + branch);
  const auto other = target.find(std::string(kTo));
  return own != target.end() ? own->second : other != target.end() ? other->second : "";
}

// The repository named in the command itself.
std::optional<std::string> named_in(const std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 4> kWithValue = {"-o", "--push-option", "--receive-pack", "--exec"};
  constexpr std::string_view kRepo = "--repo";
  std::optional<std::string> repo;
  for (size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with('-')) return words[i];
    if (words[i].starts_with("--repo=")) repo = words[i].substr(kRepo.size() + 1);
    if (words[i] == kRepo && i + 1 < words.size()) repo = words[i + 1];
    if (words[i] == kRepo || is_one_of(words[i], kWithValue)) ++i;
  }
  return repo;
}

bool has_remote(const PushTarget& target, const std::string& name) {
  return std::ranges::any_of(target, [&](const auto& fact) {
    const SettingName parts(fact.first);
    return parts.section == "remote" && parts.subject == name;
  });
}

}  // namespace

Result<PushTarget> push_target(const Git& git) {
  PushTarget target;
  TRY_VALUE(const GitEnd listed, git({"config", "--list", "-z", "--includes"}));
  if (listed.code != 0 || listed.cut)
    return fail(ErrorKind::kIo, "git can't list its settings: {}", first_line(listed.errors));
  Remotes remotes;
  std::map<std::string, std::string> values;  // all values of a name, in order
  for (const std::string& entry : split(listed.output, '\0')) {
    const size_t end = std::min(entry.find('\n'), entry.size());
    const std::string name = entry.substr(0, end), value = entry.substr(std::min(end + 1, entry.size()));
    if (name.empty()) continue;
    remotes.add(name, value);
    if (decides_push(name)) values[name] += fmt::format("{}:{}\n", value.size(), value);
  }
  for (const auto& [name, all] : values) target[name] = sha256_hex(all);
  remotes.note_all(target);
  return target;
}

std::string why_redirected(const PushTarget& then, const PushTarget& now, const std::string& branch,
                           const std::vector<std::string>& words) {
  if (then.empty()) return {};
  const auto named = named_in(words);
  const std::string was = named.value_or(remote_of(then, branch)), is = named.value_or(remote_of(now, branch));
  if (was != is)
    return fmt::format("it would go to the remote {}, and when the run began it would have gone to {}", is, was);
  if (has_remote(now, is) && !has_remote(then, is))
    return fmt::format("it would go to the remote {}, which was not there when the run began", is);
  std::set<std::string> names;
  for (const auto* facts : {&then, &now}) {
    for (const auto& [name, hash] : *facts) {
      const SettingName parts(name);
      if (name.starts_with(kTo)) continue;
      if (parts.section == "remote" && !parts.subject.empty() && parts.subject != is) continue;
      // An upstream that did not exist then may have been set by a push.
      if (parts.section == "branch" && (parts.subject != branch || !then.contains(name))) continue;
      const auto before = then.find(name), after = now.find(name);
      if (before == then.end() || after == now.end() || before->second != after->second) names.insert(name);
    }
  }
  if (names.empty()) return {};
  return fmt::format("{} changed since the run began, and it might go elsewhere",
                     join_for_people(std::vector<std::string>(names.begin(), names.end())));
}

}  // namespace ralph
