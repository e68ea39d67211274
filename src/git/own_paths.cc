#include "git/own_paths.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"

namespace ralph {
namespace {

// Reverted content that ralph keeps: of its marker, a plan's files, or whatever replaced the plan's folder.
bool is_kept_aside(std::string_view name) {
  if (name == "ralph.rejected-file" || name.starts_with("ralph.rejected-file-")) return true;
  return std::ranges::any_of(kRejectable, [&](std::string_view of) {
    return name.starts_with(of) && name.substr(of.size()).starts_with(kRejected);
  });
}

}  // namespace

bool is_own_path(std::string_view path) {
  std::vector<std::string> parts = split(path, '/');
  if (parts.back() == kMarkerFile) return true;
  if (std::find(parts.begin(), parts.end() - 1, ".ralph") != parts.end() - 1) return true;
  if (parts.back().empty() && parts.size() > 1) parts.pop_back();  // git writes "folder/" for everything in it
  return is_kept_aside(parts.back());
}

}  // namespace ralph
