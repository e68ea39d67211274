#include "settings/owner.h"

#include <algorithm>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "json/value.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr const char* kUserFolder = ".config";

std::string quoted(const std::string& path) {
  return quote_shell_words(std::vector{path});
}

std::string belongs_to_another(const std::string& path, const std::string& project, uid_t user) {
  return fmt::format(
      "{} belongs to another user (uid {}), so it is not used; if you trust what is there: "
      "ralph trust --owner {}",
      path, user, quoted(project));
}

}  // namespace

std::string user_settings_file(const Environment& environment) {
  const std::string folder = user_folder(environment, "XDG_CONFIG_HOME", kUserFolder);
  return folder.empty() ? "" : join_path(folder, "ralph/settings.json");
}

Owners Owners::of_this_process(const Environment& environment) {
  Owners owners;
  owners.users_ = {::geteuid(), 0};
  const auto caller = parse_count(environment.get("SUDO_UID").value_or(""));
  if (::geteuid() == 0 && caller) owners.users_.push_back(static_cast<uid_t>(*caller));
  return owners;
}

bool Owners::include(uid_t user) const {
  return std::find(users_.begin(), users_.end(), user) != users_.end();
}

bool Owners::is_accepted(const std::string& project) const {
  return std::any_of(accepted_.begin(), accepted_.end(), [&](const std::string& folder) {
    return folder == project || project.starts_with(folder + "/") || is_same_file(folder, project);
  });
}

std::string Owners::fault(const std::string& project, std::string_view file) const {
  struct stat info{};
  std::string path = join_path(project, file);
  for (;; path = parent_path(path)) {
    // Both a link and its target may belong to somebody else.
    for (const auto look : {::lstat, ::stat}) {
      if (look(path.c_str(), &info) != 0 || include(info.st_uid)) continue;
      return is_accepted(project) ? "" : belongs_to_another(path, project, info.st_uid);
    }
    if (path == project || path.size() <= project.size()) return {};
  }
}

std::string Owners::fault_above(const std::string& project, std::string_view file) const {
  struct stat info{};
  const bool open = ::stat(project.c_str(), &info) == 0 && (info.st_mode & S_IWOTH) != 0 &&
                    (info.st_mode & S_ISVTX) == 0 && path_exists(join_path(project, file)) && !is_accepted(project);
  if (!open) return fault(project, file);
  return fmt::format(
      "everybody may write to {}, so {} is not used; close it (chmod o-w), or if you trust what is there: "
      "ralph trust --owner {}",
      project, join_path(project, file), quoted(project));
}

Owners owners_of(const Environment& environment) {
  Owners owners = Owners::of_this_process(environment);
  const std::string path = user_settings_file(environment);
  if (path.empty() || !is_regular_file(path) || !owners.fault(parent_path(path), base_name(path)).empty())
    return owners;
  const auto text = read_file(path);
  const auto values = text ? parse_json(*text, path) : Result<json::value>(json::value());
  const json::value* folders = values ? find(*values, "trustedFolders") : nullptr;
  if (!folders || !folders->is_array()) return owners;
  owners.accept(strings_of(folders));
  return owners;
}

Status expect_own(const Owners& owners, const std::string& project, std::string_view file) {
  const std::string fault = owners.fault(project, file);
  if (fault.empty()) return {};
  return fail(ErrorKind::kInput, "{}", fault);
}

}  // namespace ralph
