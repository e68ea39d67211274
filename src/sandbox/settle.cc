#include "sandbox/settle.h"

#include <cerrno>
#include <cstdio>

#include "os/files.h"

namespace ralph {

std::string first_replaced_parent(const std::string& project, const std::string& path) {
  const size_t from = path.starts_with(project + "/") ? project.size() + 1 : 1;
  for (size_t slash = path.find('/', from); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    std::string folder = path.substr(0, slash);
    if (path_exists(folder) && !is_real_folder(folder)) return folder;
  }
  return {};
}

Result<std::string> take_away(const std::string& project, const std::string& path, std::string_view time) {
  const std::string folder = join_path(project, ".ralph/taken");
  TRY(make_directories(folder));
  if (!is_real_folder(folder) || !is_real_folder(parent_path(folder)))
    return fail(ErrorKind::kInput, "{} is a symbolic link that was created inside the sandbox; remove it", folder);
  std::string to = join_path(folder, fmt::format("{}-{}", time, base_name(path)));
  for (int n = 2; path_exists(to); ++n) to = join_path(folder, fmt::format("{}-{}-{}", time, base_name(path), n));
  if (std::rename(path.c_str(), to.c_str()) == 0) return to;
  return fail(ErrorKind::kIo,
              "{} was created inside the sandbox, is forbidden there, and can't be moved: {}; remove it before you "
              "run git or an agent here",
              path, errno_text(errno));
}

Result<std::vector<std::string>> take_away_forbidden(const SandboxPlan& plan, std::string_view time) {
  std::vector<std::string> lines;
  for (const std::string& path : plan.forbidden) {
    if (const std::string wrong = first_replaced_parent(plan.folder, path); !wrong.empty()) {
      TRY_VALUE(const std::string to, take_away(plan.folder, wrong, time));
      lines.push_back(fmt::format("{} was replaced inside the sandbox; what took its place is now {}", wrong, to));
    }
    if (!path_exists(path)) continue;
    TRY_VALUE(const std::string to, take_away(plan.folder, path, time));
    lines.push_back(fmt::format("{} appeared inside the sandbox, which is not allowed; it is now {}", path, to));
  }
  return lines;
}

}  // namespace ralph
