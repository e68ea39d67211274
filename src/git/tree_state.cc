#include "git/tree_state.h"

#include <algorithm>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "base/text.h"
#include "git/own_paths.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr off_t kMostHashed = 4 * 1024 * 1024;  // for a larger file, size and time show whether it was written

std::string content_of(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return "gone";
  if (S_ISDIR(info.st_mode)) return "folder";
  if (S_ISLNK(info.st_mode)) {
    std::string target(4096, '\0');
    const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
    target.resize(length > 0 ? static_cast<size_t>(length) : 0);
    return "link " + sha256_hex(target);
  }
  if (!S_ISREG(info.st_mode)) return "special";
  const auto text = info.st_size <= kMostHashed ? read_file(path) : Result<std::string>(tl::unexpected(Error{}));
  if (text) return fmt::format("{:o} {}", info.st_mode & 0111U, sha256_hex(*text));
  return fmt::format("{} {}.{}", info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

}  // namespace

Result<TreeState> tree_state(const Repository& repository, const std::string& top, const OwnIndex* index) {
  TreeState state;
  std::optional<OwnIndex::Look> found;
  if (index) {
    TRY_VALUE(found, index->look());
  }
  if (found) {
    state.head = found->head;
  } else {
    TRY_VALUE(state.head, repository.head());
  }
  TRY_VALUE(const auto changes, repository.changes());
  for (const Repository::Change& change : changes)
    state.uncommitted[change.path] = change.letters + content_of(join_path(top, change.path));
  if (!found) return state;
  for (const OwnIndex::Change& change : found->changes) {
    if (is_own_path(change.path) || state.uncommitted.contains(change.path)) continue;
    const std::string_view letters = change.untracked ? "??" : change.ident ? kIdentChange : kForgedChange;
    state.uncommitted[change.path] = std::string(letters) + content_of(join_path(top, change.path));
  }
  return state;
}

bool is_untracked(std::string_view state) {
  return state.starts_with("??");
}

bool is_hidden(std::string_view state) {
  return starts_with_any(state, {kHiddenChange, kForgedChange, kIdentChange});
}

std::string_view how_to_see(std::string_view state) {
  if (state.starts_with(kIdentChange)) return kHowToSeeIdent;
  return state.starts_with(kForgedChange) ? kHowToSeeForged : kHowToSeeHidden;
}

bool is_same_content(std::string_view state, std::string_view other) {
  return state.size() > 2 && other.size() > 2 && state.substr(2) == other.substr(2);
}

std::string named_paths(const std::vector<std::string>& paths) {
  constexpr size_t kNamed = 5;
  std::vector<std::string> names(paths.begin(),
                                 paths.begin() + static_cast<std::ptrdiff_t>(std::min(paths.size(), kNamed)));
  if (paths.size() > kNamed) names.push_back(fmt::format("{} more", paths.size() - kNamed));
  return join_for_people(names);
}

}  // namespace ralph
