#include "git/config_file.h"

#include <cctype>
#include <cstdlib>

#include "base/text.h"
#include "git/dot_git.h"
#include "os/files.h"

namespace ralph {
namespace {

class ConfigReader {
 public:
  explicit ConfigReader(std::string_view text) : text_(text) {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
  }

  std::vector<ConfigEntry> read() {
    while (more()) {
      const char c = next();
      if (c == '[') {
        read_section();
      } else if (std::isalpha(static_cast<unsigned char>(c))) {
        --at_;
        read_entry();
      } else if (!std::isspace(static_cast<unsigned char>(c))) {
        skip_line();  // a comment
      }
    }
    return std::move(entries_);
  }

 private:
  bool more() const { return at_ < text_.size(); }
  char next() {
    if (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++at_;
    return text_[at_++];
  }
  void skip_line() {
    while (more() && next() != '\n') continue;
  }

  // [name], [name "subsection"], or in the old form [name.subsection].
  void read_section() {
    std::string name;
    subsection_.clear();
    has_subsection_ = false;
    while (more()) {
      const char c = next();
      if (c == ']' || c == '\n') break;
      if (c == '"') {
        has_subsection_ = true;
        read_subsection();
      } else if (!std::isspace(static_cast<unsigned char>(c))) {
        name += c;
      }
    }
    name = to_lower(name);
    const size_t dot = name.find('.');
    if (dot != std::string::npos) {
      subsection_ = name.substr(dot + 1);
      has_subsection_ = true;
    }
    section_ = name.substr(0, dot);
  }

  void read_subsection() {
    while (more()) {
      char c = next();
      if (c == '"' || c == '\n') return;
      if (c == '\\' && more()) c = next();
      subsection_ += c;
    }
  }

  void read_entry() {
    std::string name, value;
    while (more() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '-')) name += next();
    while (more() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    if (more() && text_[at_] == '=') {
      ++at_;
      value = read_value();
    } else {
      skip_line();
      value = "true";
    }
    entries_.push_back({section_, subsection_, to_lower(name), std::move(value), has_subsection_});
  }

  std::string read_value() {
    std::string value;
    size_t solid = 0;  // without trailing blanks
    for (bool quoted = false; more();) {
      const char c = next();
      if (c == '\n') break;
      if (!quoted && (c == '#' || c == ';')) {
        skip_line();
        break;
      }
      if (c == '"') {
        quoted = !quoted;
        solid = value.size();
        continue;
      }
      if (c == '\\' && more()) {
        const char escaped = next();
        if (escaped == '\n') continue;
        value += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped == 'b' ? '\b' : escaped;
        solid = value.size();
        continue;
      }
      const bool blank = c == ' ' || c == '\t';
      if (blank && !quoted && value.empty()) continue;
      value += c;
      if (!blank || quoted) solid = value.size();
    }
    value.resize(solid);
    return value;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string section_, subsection_;
  bool has_subsection_ = false;
  std::vector<ConfigEntry> entries_;
};

std::string included_path(const std::string& path, const std::string& from) {
  if (path.starts_with("~/")) {
    const char* home = std::getenv("HOME");
    return join_path(home ? home : "/", path.substr(2));
  }
  return absolute_path(path, parent_path(from));
}

void collect(const std::string& path, int depth, std::vector<ConfigEntry>& all) {
  if (!is_regular_file(path)) return;  // reading a pipe might never end
  const auto text = read_file(path);
  if (!text) return;
  for (ConfigEntry& entry : config_entries(*text)) {
    const bool includes = entry.name == "path" && (entry.section == "include" || entry.section == "includeif");
    if (includes && depth < kDeepestInclude) collect(included_path(entry.value, path), depth + 1, all);
    all.push_back(std::move(entry));
  }
}

}  // namespace

std::string ConfigEntry::key() const {
  return has_subsection ? fmt::format("{}.{}.{}", section, subsection, name) : fmt::format("{}.{}", section, name);
}

std::vector<ConfigEntry> config_entries(std::string_view text) {
  return ConfigReader(text).read();
}

RepositoryFolders repository_folders(const std::string& folder) {
  std::string at = folder;
  while (!path_exists(join_path(at, ".git"))) {
    if (!at.starts_with('/') || at == "/") return {};
    at = parent_path(at);
  }
  // .git is a folder; in a linked work tree it is a file that names a folder, which in turn names the repository's.
  std::string git = join_path(at, ".git");
  if (is_regular_file(git)) {
    const auto pointer = read_file(git);
    const auto named = pointer ? folder_in_git_file(*pointer) : std::nullopt;
    if (!named) return {};
    git = absolute_path(*named, at);
  }
  const std::string shared = join_path(git, "commondir");
  const auto common = is_regular_file(shared) ? read_file(shared) : Result<std::string>(std::string());
  return {common && !trim(*common).empty() ? absolute_path(trim(*common), git) : git, git};
}

std::vector<ConfigEntry> repository_config(const std::string& folder) {
  std::vector<ConfigEntry> all;
  const RepositoryFolders folders = repository_folders(folder);
  if (folders.common_dir.empty()) return all;
  collect(join_path(folders.common_dir, "config"), 0, all);
  collect(join_path(folders.git_dir, "config.worktree"), 0, all);
  return all;
}

}  // namespace ralph
