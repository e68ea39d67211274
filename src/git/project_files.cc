#include "git/project_files.h"

#include <algorithm>

#include "base/text.h"
#include "git/git.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr Milliseconds kPatienceWithLists{30'000};

std::optional<std::string> answer_to(const std::string& folder, const Environment& environment,
                                     const std::vector<std::string>& words) {
  Environment plain = environment;
  for (const char* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"}) plain.unset(name);
  auto answer = plain_git(GitPlace{folder}, std::move(plain), kPatienceWithLists)(words);
  if (!answer || answer->code != 0 || answer->cut) return std::nullopt;
  return std::move(answer->output);
}

std::optional<std::vector<std::string>> ask(const std::string& folder, const Environment& environment,
                                            const std::vector<std::string>& words) {
  const auto answer = answer_to(folder, environment, words);
  if (!answer) return std::nullopt;
  std::vector<std::string> names = split(*answer, '\0');
  std::erase(names, "");
  return names;
}

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

std::optional<std::vector<std::string>> files_known_to_git(const std::string& folder, const Environment& environment) {
  auto names = ask(folder, environment, {"ls-files", "-z", "--cached", "--others", "--exclude-standard"});
  if (!names) return std::nullopt;
  return sorted(std::move(*names));
}

std::optional<std::vector<std::string>> files_tracked_by_git(const std::string& folder,
                                                             const Environment& environment) {
  auto names = ask(folder, environment, {"ls-files", "-z", "--cached"});
  if (!names) return std::nullopt;
  return sorted(std::move(*names));
}

std::vector<std::string> tracked_files_named_as_ignored(const std::string& folder, const Environment& environment) {
  std::vector<std::string> all;
  for (const char* by :
       {"--exclude-standard", "--exclude-per-directory=.ignore", "--exclude-per-directory=.eslintignore"}) {
    const auto names = ask(folder, environment, {"ls-files", "-z", "--cached", "--ignored", by});
    if (names) all.insert(all.end(), names->begin(), names->end());
  }
  return sorted(std::move(all));
}

std::optional<std::vector<std::string>> files_changed_since_head(const std::string& folder,
                                                                 const Environment& environment) {
  auto changed = ask(folder, environment,
                     {"diff", "--no-ext-diff", "--no-textconv", "--name-only", "-z", "--relative", "HEAD", "--"});
  if (!changed) changed = ask(folder, environment, {"ls-files", "-z", "--cached"});
  const auto fresh = ask(folder, environment, {"ls-files", "-z", "--others", "--exclude-standard"});
  if (!changed || !fresh) return std::nullopt;
  changed->insert(changed->end(), fresh->begin(), fresh->end());
  std::erase_if(*changed, [&](const std::string& name) { return !path_exists(join_path(folder, name)); });
  return sorted(std::move(*changed));
}

std::string committed_text(const std::string& folder, const std::string& path, const Environment& environment) {
  return answer_to(folder, environment, {"cat-file", "blob", "HEAD:./" + path}).value_or("");
}

}  // namespace ralph
