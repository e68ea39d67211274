#include "git/dot_git.h"

#include <algorithm>

#include "base/text.h"

namespace ralph {
namespace {

std::string_view after_word(std::string_view text, std::string_view word) {
  const std::string_view line = trim(text.substr(0, text.find('\n')));
  return line.starts_with(word) ? trim(line.substr(word.size())) : "";
}

bool ends_in(std::string_view path, std::string_view name) {
  return path.ends_with(name) && (path.size() == name.size() || path[path.size() - name.size() - 1] == '/');
}

}  // namespace

bool is_git_entry(std::string_view path) {
  return ends_in(path, ".git");
}

bool is_head(std::string_view path) {
  return ends_in(path, ".git/HEAD");
}

bool is_in_git_folder(std::string_view path) {
  return path.starts_with(".git/");
}

std::optional<std::string> folder_in_git_file(std::string_view text) {
  const std::string_view folder = after_word(text, "gitdir:");
  return folder.empty() ? std::nullopt : std::optional(std::string(folder));
}

std::string branch_in_head(std::string_view text) {
  const std::string_view name = after_word(text, "ref:");
  if (contains(trim(text), "\n")) return "";  // git does not accept it
  if (!name.starts_with("refs/heads/") || contains(name, "..")) return "";
  const auto parts = split(name, '/');
  const bool good = std::ranges::none_of(parts, [](const auto& part) { return part.empty() || part.starts_with('.'); });
  return good ? std::string(name) : "";
}

}  // namespace ralph
