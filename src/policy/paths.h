// What a path means to the command policy: inside the project or not, a credential, a device, a file of ralph's own.
// Pure: the project, the home and the working folder are values. Only `real_path`, if given, looks at the disk, so that
// a symlink is judged by where it leads as well.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ralph {

// What a command must not touch of a host that ralph's hooks serve.
struct PolicyHost {
  std::string_view program;
  std::span<const std::string_view> files;  // patterns, below the project or the home
  std::string_view variable{};              // steers its hooks; empty: none
};

struct PolicyPlace {
  std::string project, home;                   // absolute
  std::string state_folder;                    // $XDG_STATE_HOME/ralph; empty: none
  std::vector<std::string> guardrail_files{};  // absolute: scripts that the project's guardrails run
  // Other names of folders, by symlinks: {"/home/me/app", "/data/app"}. Paths below the first mean the second.
  std::vector<std::pair<std::string, std::string>> aliases{};
  // The path with every symlink followed, as far as it exists; nullptr: paths are taken as they are written.
  std::string (*real_path)(const std::string& path) = nullptr;
  std::vector<PolicyHost> hosts{};
};

// The paths that a word may mean, seen from `cwd`: absolute, without . and .., as written and with symlinks followed.
// None if too little of it is known (it begins with an unknown part). Wildcards and unknown parts below stay in it.
// Deleting a symlink deletes no more than the link: then the last part is not followed.
enum class LastPart { kFollowed, kItself };
std::vector<std::string> paths_of(std::string_view word, const std::string& cwd, const PolicyPlace& place,
                                  LastPart last = LastPart::kFollowed);

// A leading ~ as the home, for paths that no shell has seen.
std::string with_home(const std::string& path, const std::string& home);

// `path` is `folder` or lies in it.
bool is_within(std::string_view path, std::string_view folder);

enum class DeletionOf { kNothingSpecial, kProject, kOutside };
// Temporary files and caches are nothing special. A wildcard counts as all that it may match.
DeletionOf deletion_of(const std::string& path, const PolicyPlace& place);

bool is_temporary(const std::string& path);
bool is_credential(const std::string& path, const PolicyPlace& place);
// A credential, or a file of the project that is named like one: .env, *.pem.
bool is_secret(const std::string& path, const PolicyPlace& place);
// A folder that holds credentials among other things: the home, or one above it.
bool holds_credentials(const std::string& path, const PolicyPlace& place);
bool is_disk(const std::string& path);  // /dev/sda and its kin; not /dev/null, /dev/tty, ...
bool is_start_up_file(const std::string& path, const PolicyPlace& place);  // run by somebody else later
bool is_system_file(const std::string& path);                              // /usr, /boot, ...
// Something that ralph relies on: its state and settings, the hooks that call it, scripts of guardrails. With
// `or_above`, a folder that holds such a thing too.
bool is_ralphs(const std::string& path, const PolicyPlace& place, bool or_above);

// Whether shell wildcards in `pattern` could match `name`, of one path component. A leading dot must be written.
bool wildcard_matches(std::string_view pattern, std::string_view name);

}  // namespace ralph
