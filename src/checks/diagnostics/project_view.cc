#include "checks/diagnostics/project_view.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "checks/path_pattern.h"
#include "git/project_files.h"
#include "json/value.h"
#include "os/files.h"

namespace ralph::diagnostics {
namespace {

constexpr size_t kMostText = 1 << 20, kBeginning = 2048, kMostFiles = 500'000;
constexpr std::string_view kForeignFolders[] = {"node_modules", ".venv", "vendor", "third_party", ".git", ".ralph"};

bool is_in_foreign_folder(std::string_view path) {
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    if (end < path.size() && is_one_of<std::string_view>(path.substr(begin, end - begin), kForeignFolders)) return true;
    begin = end + 1;
  }
  return false;
}

std::string beginning_of(const std::string& path, size_t most) {
  const auto size = std::filesystem::path(path);
  std::error_code error;
  const auto bytes = std::filesystem::file_size(size, error);
  if (error) return {};
  return read_before_end(path, bytes, most).value_or("");
}

}  // namespace

bool says_generated(std::string_view beginning) {
  int line = 0;
  while (!beginning.empty() && line++ < 20) {
    const size_t end = std::min(beginning.find('\n'), beginning.size());
    const std::string_view text = beginning.substr(0, end);
    if (contains(text, "@generated")) return true;
    const size_t generated = text.find("Code generated ");
    if (generated != std::string_view::npos && text.find("DO NOT EDIT", generated) != std::string_view::npos)
      return true;
    beginning.remove_prefix(std::min(end + 1, beginning.size()));
  }
  return false;
}

ProjectView::ProjectView(std::string root, const Environment& environment, std::vector<std::string> exclude,
                         TrustedFiles trusted)
    : root_(std::move(root)),
      real_root_(real_path(root_)),
      environment_(environment),
      exclude_(std::move(exclude)),
      trusted_(std::move(trusted)) {}

const std::vector<std::string>& ProjectView::listed() const {
  if (listed_) return files_;
  listed_ = true;
  list_by_git();
  if (!in_repository_) list_by_walk();
  return files_;
}

void ProjectView::list_by_git() const {
  auto names = files_known_to_git(root_, environment_);
  if (!names) return;
  in_repository_ = true;
  for (std::string& name : *names) {
    if (!is_in_foreign_folder(name) && !is_excluded(name)) files_.push_back(std::move(name));
  }
}

void ProjectView::list_by_walk() const {
  namespace fs = std::filesystem;
  std::error_code error;
  auto at = fs::recursive_directory_iterator(root_, fs::directory_options::skip_permission_denied, error);
  while (!error && at != fs::recursive_directory_iterator() && files_.size() < kMostFiles) {
    const std::string name = at->path().filename().string();
    std::error_code ignored;
    const bool link = at->is_symlink(ignored);
    if (!link && at->is_directory(ignored)) {
      if (is_one_of<std::string_view>(name, kForeignFolders)) at.disable_recursion_pending();
    } else if (at->is_regular_file(ignored)) {
      std::string path = at->path().string().substr(root_ == "/" ? 1 : root_.size() + 1);
      if (!is_excluded(path)) files_.push_back(std::move(path));
    }
    at.increment(error);
  }
  std::sort(files_.begin(), files_.end());
}

bool ProjectView::is_excluded(std::string_view path) const {
  return std::any_of(exclude_.begin(), exclude_.end(),
                     [&](const std::string& pattern) { return matches_path(pattern, path); });
}

std::vector<std::string> ProjectView::files_ending(std::span<const std::string_view> endings) const {
  std::vector<std::string> found;
  for (const std::string& file : listed()) {
    if (std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return file.ends_with(ending); }))
      found.push_back(file);
  }
  return found;
}

bool ProjectView::has_ending(std::initializer_list<std::string_view> endings) const {
  return std::any_of(listed().begin(), listed().end(), [&](const std::string& file) {
    return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return file.ends_with(ending); });
  });
}

bool ProjectView::has(std::string_view path) const {
  return is_regular_file(join_path(root_, path));
}

std::string ProjectView::first_of(std::initializer_list<std::string_view> paths) const {
  for (const std::string_view path : paths) {
    if (has(path)) return std::string(path);
  }
  return {};
}

const std::string& ProjectView::text_of(const std::string& path) const {
  const auto [at, fresh] = texts_.try_emplace(path);
  if (fresh && has(path)) at->second = beginning_of(join_path(root_, path), kMostText);
  return at->second;
}

bool ProjectView::depends_on_package(std::string_view package) const {
  const auto manifest = parse_json(text_of("package.json"), "package.json");
  if (!manifest) return false;
  for (const std::string_view group : {"dependencies", "devDependencies", "peerDependencies", "optionalDependencies"}) {
    const json::value* found = find(*manifest, group);
    if (found && find(*found, package)) return true;
  }
  return false;
}

std::string ProjectView::tool(std::string_view name) const {
  for (const std::string_view folder : {"node_modules/.bin", ".venv/bin", "venv/bin"}) {
    std::string own = join_path(join_path(root_, folder), name);
    if (is_executable_file(own)) return own;
  }
  return resolve_program(std::string(name), environment_, root_).value_or("");
}

std::string ProjectView::relative(std::string_view path, std::string_view folder) const {
  if (path.empty()) return {};
  const std::string absolute = absolute_path(path, folder);
  for (const std::string& root : {root_, real_root_}) {
    if (std::string below = path_below(absolute, root); !below.empty()) return below;
  }
  return path_below(real_path(absolute), real_root_);
}

bool ProjectView::leaves_out(const std::string& path) const {
  const auto [at, fresh] = left_out_.try_emplace(path, false);
  if (!fresh) return at->second;
  const auto has = [&](const std::vector<std::string>& sorted) {
    return std::binary_search(sorted.begin(), sorted.end(), path);
  };
  return at->second =
             is_in_foreign_folder(path) || is_excluded(path) || (is_ignored(path) && !has(trusted_.judged)) ||
             ((!trusted_.known || has(trusted_.generated)) && !is_newly_marked(path) && is_marked_generated(path));
}

bool ProjectView::is_newly_marked(const std::string& path) const {
  return std::binary_search(trusted_.edited.begin(), trusted_.edited.end(), path) && is_marked_generated(path) &&
         !says_generated(committed_text(root_, path, environment_).substr(0, kBeginning));
}

bool ProjectView::is_marked_generated(const std::string& path) const {
  return says_generated(beginning_of(join_path(root_, path), kBeginning));
}

// A name that is not a file does not count as ignored; otherwise a tool that names files differently would always be
// clean.
bool ProjectView::is_ignored(const std::string& path) const {
  const std::vector<std::string>& all = listed();
  return in_repository_ && !std::binary_search(all.begin(), all.end(), path) && path_exists(join_path(root_, path));
}

}  // namespace ralph::diagnostics
