#include "policy/paths.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/wildcard.h"
#include "os/files.h"
#include "policy/shell/lexer.h"

namespace ralph {
namespace {

bool has_wildcard(std::string_view text) {
  return text.find_first_of("*?[") != std::string_view::npos;
}

std::vector<std::string> components_of(std::string_view path) {
  std::vector<std::string> parts;
  for (std::string& part : split(path, '/')) {
    if (!part.empty()) parts.push_back(std::move(part));
  }
  return parts;
}

// Removes and returns the first component of a path; empty if none is left.
std::string_view take_component(std::string_view& path) {
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  const std::string_view part = path.substr(0, path.find('/'));
  path.remove_prefix(part.size());
  return part;
}

// Whether `path` equals `pattern` or is below it, both relative; with `or_above`, also a folder above it. Either may
// contain wildcards: `path` from the command's word, `pattern` from our tables.
bool covers(std::string_view path, std::string_view pattern, bool or_above) {
  for (;;) {
    const std::string_view wanted = take_component(pattern);
    if (wanted.empty()) return true;
    const std::string_view is = take_component(path);
    if (is.empty()) return or_above;
    if (!wildcard_matches(is, wanted) && !wildcard_matches(wanted, is)) return false;
  }
}

// The rest of the path below a home; nullopt if it is below none.
std::optional<std::string> below_home(std::string_view path, const PolicyPlace& place) {
  if (!place.home.empty() && place.home != "/" && is_within(path, place.home)) return path_below(path, place.home);
  if (is_within(path, "/root")) return path_below(path, "/root");
  for (const std::string_view homes : {"/home", "/Users"}) {
    if (!is_within(path, homes) || path.size() <= homes.size() + 1) continue;
    const size_t slash = path.find('/', homes.size() + 1);
    return slash == std::string_view::npos ? std::string() : std::string(path.substr(slash + 1));
  }
  return std::nullopt;
}

// Patterns, separated by blanks; those without a leading slash are below a home.
constexpr std::string_view kCredentials =
    ".ssh .aws .netrc _netrc .config/gh .config/hub .config/gcloud .config/doctl .azure .kube/config "
    ".docker/config.json .npmrc .pypirc .git-credentials .config/git/credentials .gnupg .password-store "
    ".cargo/credentials* .gem/credentials .vault-token .claude/.credentials.json .claude.json .codex/auth.json "
    ".gemini/oauth_creds.json .gemini/google_accounts.json .local/share/opencode/auth.json .local/share/keyrings "
    "Library/Keychains .mozilla .config/google-chrome .config/chromium .config/op .terraform.d/credentials.tfrc.json "
    ".pgpass .my.cnf .s3cfg .boto .config/rclone";
constexpr std::string_view kPrivateKeys[] = {"id_rsa", "id_ed25519", "id_ecdsa", "id_dsa"};
constexpr std::string_view kPublic =
    ".ssh/*.pub .ssh/known_hosts* .ssh/config .ssh/authorized_keys .aws/config .kube/config.lock .gnupg/pubring*";
constexpr std::string_view kSystemSecrets =
    "/etc/shadow /etc/gshadow /etc/sudoers /etc/ssh/ssh_host_*_key /proc/*/environ /proc/*/mem /run/secrets "
    "/etc/krb5.keytab";
constexpr std::string_view kStartUp =
    ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .kshrc "
    ".cshrc .tcshrc .config/fish .config/autostart .config/systemd .ssh/authorized_keys .ssh/rc .ssh/config "
    ".gitconfig .config/git/config Library/LaunchAgents .xprofile .xinitrc .pam_environment .inputrc";
bool any_covers(std::string_view path, std::span<const std::string_view> patterns, bool or_above) {
  return std::ranges::any_of(patterns, [&](std::string_view one) { return covers(path, one, or_above); });
}

// Whether any pattern in a list separated by blanks covers the path.
bool any_covers(std::string_view path, std::string_view patterns) {
  for (size_t end = 0; !patterns.empty(); patterns.remove_prefix(std::min(end + 1, patterns.size()))) {
    end = std::min(patterns.find(' '), patterns.size());
    if (covers(path, patterns.substr(0, end), false)) return true;
  }
  return false;
}

bool is_within_any(std::string_view path, std::initializer_list<std::string_view> folders) {
  return std::ranges::any_of(folders, [&](std::string_view folder) { return is_within(path, folder); });
}

// A project that contains the home does not count.
bool is_in_project(std::string_view path, const PolicyPlace& place) {
  return is_within(path, place.project) && !is_within(place.home, place.project);
}

// ?* [!q]* [a-z]*: patterns that match most names in any project.
bool matches_nearly_all(std::string_view pattern) {
  if (!contains(pattern, '*')) return false;
  constexpr std::string_view kNames[] = {"src", "lib", "docs", "tests", "include", "package.json", "build.gradle"};
  return std::ranges::all_of(kNames, [&](std::string_view name) { return wildcard_matches(pattern, name); });
}

bool is_env_file(std::string_view name) {
  const bool is_example =
      name.ends_with(".example") || name.ends_with(".sample") || name.ends_with(".template") || name.ends_with(".dist");
  return (name == ".env" || name.starts_with(".env.")) && !is_example;
}

// /dev/stderr, /dev/fd/3, /proc/self/fd/3: open files of the command's process. Following these links here would lead
// to open files of this process.
bool is_descriptor(std::string_view path) {
  if (path == "/dev/stdin" || path == "/dev/stdout" || path == "/dev/stderr" || is_within(path, "/dev/fd")) return true;
  if (!path.starts_with("/proc/")) return false;
  const auto parts = components_of(path);
  return parts.size() >= 3 && parts[2] == "fd";
}

}  // namespace

bool wildcard_matches(std::string_view pattern, std::string_view name) {
  if (pattern == name) return true;
  if (name.starts_with('.') && !pattern.starts_with('.')) return false;
  return matches_wildcard(pattern, name, true);
}

std::string with_home(const std::string& path, const std::string& home) {
  return path == "~" || path.starts_with("~/") ? home + path.substr(1) : path;
}

std::vector<std::string> paths_of(std::string_view word, const std::string& cwd, const PolicyPlace& place,
                                  LastPart last) {
  constexpr size_t kLongestPath = 4096;  // the kernel's limit: longer paths can't exist
  if (word.empty() || word[0] == kUnknownPart || (word.size() > kLongestPath && !has_wildcard(word))) return {};
  if (word[0] != '/' && contains(cwd, kUnknownPart) && !cwd.starts_with('/')) return {};
  std::string path = absolute_path(word, cwd);
  for (const auto& [name, real] : place.aliases) {
    if (is_within(path, name)) path = real + path.substr(name.size());
  }
  std::vector<std::string> paths = {path};
  if (place.real_path && path != "/" && !is_descriptor(path) && !contains(path, kUnknownPart)) {
    const bool whole = last == LastPart::kFollowed || word.ends_with('/');
    std::string real = whole ? place.real_path(path) : join_path(place.real_path(parent_path(path)), base_name(path));
    if (!real.empty() && real != path) paths.push_back(std::move(real));
  }
  return paths;
}

bool is_temporary(const std::string& path) {
  return is_within_any(path, {"/tmp", "/var/tmp", "/private/tmp", "/private/var/folders", "/var/folders", "/dev/shm"});
}

DeletionOf deletion_of(const std::string& path, const PolicyPlace& place) {
  const std::string git = join_path(place.project, ".git");
  if (is_within(place.project, path) || path == git) return DeletionOf::kProject;
  if (is_within(path, place.project)) {
    const std::string rest = path_below(path, place.project);
    const auto parts = components_of(rest);
    // * matches everything; .git/refs, .git/objects and the like count as .git.
    if (rest.find_first_not_of("*/.") == std::string::npos) return DeletionOf::kProject;  // also **/*
    if (parts.size() == 1 && matches_nearly_all(rest)) return DeletionOf::kProject;
    if (!parts.empty() && wildcard_matches(parts[0], ".git")) {
      const bool is_harmless =
          parts.size() > 1 && (parts.back().ends_with(".lock") || parts[1] == "hooks" || parts[1].ends_with("_MSG") ||
                               parts[1].ends_with("_HEAD") || parts[1].starts_with("rebase-"));
      if (!is_harmless) return DeletionOf::kProject;
    }
    if (place.project != "/" && place.project != place.home) return DeletionOf::kNothingSpecial;
  }
  if (!place.home.empty() && is_within(place.home, path)) return DeletionOf::kOutside;  // the home or above it
  if (is_temporary(path)) {
    // All of /tmp includes other users' files.
    const auto parts = components_of(path);
    const bool is_all = is_one_of(path, {"/tmp", "/var/tmp", "/dev/shm"}) || parts.back() == "*";
    return is_all && parts.size() <= 2 ? DeletionOf::kOutside : DeletionOf::kNothingSpecial;
  }
  if (path == "/dev/null" || path.starts_with("/dev/fd/")) return DeletionOf::kNothingSpecial;
  if (const auto rest = below_home(path, place)) {
    for (const std::string_view cache :
         {".cache", ".npm/_cacache", ".npm/_logs", ".npm/_npx", ".gradle/caches", ".ccache"}) {
      // ~/.cache as a whole belongs to many programs; the others are one program's cache, which it refills.
      if (is_within(*rest, cache) && (cache != ".cache" || rest->size() > cache.size() + 1))
        return DeletionOf::kNothingSpecial;
    }
  }
  return DeletionOf::kOutside;
}

bool is_credential(const std::string& path, const PolicyPlace& place) {
  if (any_covers(path, kSystemSecrets)) return true;
  if (is_in_project(path, place)) return false;
  const auto rest = below_home(path, place);
  if (rest && any_covers(*rest, kCredentials) && (has_wildcard(*rest) || !any_covers(*rest, kPublic))) return true;
  const std::string name = base_name(path);
  return is_one_of(name, kPrivateKeys) || (is_env_file(name) && !is_temporary(path));
}

bool is_secret(const std::string& path, const PolicyPlace& place) {
  if (is_credential(path, place)) return true;
  const std::string name = base_name(path);
  if (is_listed(kCredentials, name)) return true;
  for (const std::string_view one : {"*.pem", "*.key", "*.p12", "*.pfx", "credentials*", "secrets*"}) {
    if (wildcard_matches(one, name)) return true;
  }
  return is_one_of(name, kPrivateKeys) || is_env_file(name);
}

bool holds_credentials(const std::string& path, const PolicyPlace& place) {
  return is_within(place.home, path) || path == "/root" || path == "/etc";
}

bool is_disk(const std::string& path) {
  if (!path.starts_with("/dev/")) return false;
  const std::string_view name = std::string_view(path).substr(5);
  return has_wildcard(name) || starts_with_any(name, {"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "dm-",
                                                      "mapper/", "md", "loop", "mem", "kmem", "port", "sg", "nbd"});
}

bool is_start_up_file(const std::string& path, const PolicyPlace& place) {
  if (is_within_any(path, {"/etc", "/var/spool/cron", "/Library/LaunchDaemons", "/Library/LaunchAgents", "/lib/systemd",
                           "/usr/lib/systemd"}))
    return true;
  if (is_in_project(path, place)) {
    if (!path.starts_with(place.project + "/.git/")) return false;
    const auto parts = components_of(path_below(path, place.project));
    if (parts.size() < 2) return false;
    // What later git commands run: hooks, and the settings that name commands.
    return (parts.size() > 2 && parts[1] == "hooks" && !parts[2].ends_with(".sample")) ||
           (parts.size() == 2 && parts[1].starts_with("config")) ||
           (parts.size() == 3 && parts[1] == "info" && parts[2] == "attributes");
  }
  const auto rest = below_home(path, place);
  return rest && any_covers(*rest, kStartUp);
}

bool is_system_file(const std::string& path) {
  if (is_descriptor(path)) return false;
  return path == "/" || is_within_any(path, {"/usr", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/sys", "/proc",
                                             "/opt", "/System", "/Library"});
}

bool is_ralphs(const std::string& path, const PolicyPlace& place, bool or_above) {
  for (const std::string* folder : {&place.state_folder, &place.config_folder}) {
    if (!folder->empty() &&
        (is_within(path, *folder) || (or_above && is_within(*folder, path) && !is_within(place.home, path))))
      return true;
  }
  if (place.is_protected && place.is_protected(path, or_above)) return true;
  for (const std::string& file : place.guardrail_files) {
    if (path == file) return true;
    if (or_above && path != place.project && is_within(file, path) && !is_within(place.project, path)) return true;
  }
  const auto is_own = [&](const std::string& folder, auto&& table) {
    if (folder.empty() || !is_within(path, folder) || path == folder) return false;
    const std::string rest = path_below(path, folder);
    // "*" alone does not match names that begin with a dot.
    return any_covers(rest, table, or_above);
  };
  constexpr std::array<std::string_view, 2> kOwn = {".ralph", ".ralph-active"};
  const auto is_hosts = [&](const PolicyHost& host) {
    return is_own(place.project, host.files) || is_own(place.home, host.files);
  };
  return is_own(place.project, kOwn) || std::ranges::any_of(place.hosts, is_hosts);
}

}  // namespace ralph
