// Classifies paths for the command policy: inside the project or not, a credential, a device, ralph's own file. These
// are pure functions of the project, the home and the working folder. Only `real_path`, if given, accesses the disk, so
// that a symlink is also judged by its target.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ralph {

// The parts of a host with ralph's hooks that a command must not touch.
struct PolicyHost {
  std::string_view program;
  std::span<const std::string_view> files;  // patterns, below the project or the home
  std::string_view variable{};              // an environment variable that controls its hooks; empty: none
};

struct PolicyPlace {
  std::string project{}, home{};               // absolute
  std::string state_folder{};                  // $XDG_STATE_HOME/ralph; empty: none
  std::string config_folder{};                 // $XDG_CONFIG_HOME/ralph; empty: none
  std::vector<std::string> guardrail_files{};  // absolute: scripts that the project's guardrails run
  // Whether an absolute path is a file that the project protects, or with `or_above` a folder with such files; nullptr:
  // nothing is protected.
  std::function<bool(const std::string& path, bool or_above)> is_protected{};
  // Folders reachable through symlinks: {"/home/me/app", "/data/app"}. A path below the first means one below the
  // second.
  std::vector<std::pair<std::string, std::string>> aliases{};
  // Resolves every symlink as far as the path exists; nullptr: paths are used as written.
  std::function<std::string(const std::string& path)> real_path{};
  std::vector<PolicyHost> hosts{};
  // The addresses of the project's git remotes, read on demand; nullptr: none are known.
  std::function<std::vector<std::string>()> remotes{};
};

// The paths that a word may mean, relative to `cwd`: absolute, without . and .., as written and with symlinks followed.
// Empty if the word begins with an unknown part. Wildcards and later unknown parts are kept. kItself does not follow
// the last part: deleting a symlink deletes only the link.
enum class LastPart { kFollowed, kItself };
std::vector<std::string> paths_of(std::string_view word, const std::string& cwd, const PolicyPlace& place,
                                  LastPart last = LastPart::kFollowed);

// Expands a leading ~, for paths that did not pass through a shell.
std::string with_home(const std::string& path, const std::string& home);

enum class DeletionOf { kNothingSpecial, kProject, kOutside };
// Temporary files and caches are harmless. A wildcard counts as everything that it may match.
DeletionOf deletion_of(const std::string& path, const PolicyPlace& place);

bool is_temporary(const std::string& path);
bool is_credential(const std::string& path, const PolicyPlace& place);
// A credential, or a file in the project with such a name: .env, *.pem.
bool is_secret(const std::string& path, const PolicyPlace& place);
// A folder that contains credentials among other things: the home, or one above it.
bool holds_credentials(const std::string& path, const PolicyPlace& place);
bool is_disk(const std::string& path);  // /dev/sda and similar; not /dev/null, /dev/tty, ...
bool is_start_up_file(const std::string& path, const PolicyPlace& place);  // run later by another program
bool is_system_file(const std::string& path);                              // /usr, /boot, ...
// A file that ralph relies on: its state and settings, the hooks that call it, scripts of guardrails. With `or_above`,
// also a folder that contains one.
bool is_ralphs(const std::string& path, const PolicyPlace& place, bool or_above);

// Whether shell wildcards in `pattern` could match `name`, a single path component. A leading dot must match literally.
bool wildcard_matches(std::string_view pattern, std::string_view name);

}  // namespace ralph
