#include "sandbox/settle.h"

#include <cerrno>
#include <cstdio>

#include "os/files.h"

namespace ralph {

Result<std::vector<std::string>> take_away_forbidden(const SandboxPlan& plan, std::string_view time) {
  std::vector<std::string> lines;
  for (const std::string& path : plan.forbidden) {
    if (!is_there(path)) continue;
    const std::string folder = join_path(plan.folder, ".ralph/taken");
    TRY(make_directories(folder));
    std::string to = join_path(folder, fmt::format("{}-{}", time, base_name(path)));
    for (int n = 2; is_there(to); ++n) to = join_path(folder, fmt::format("{}-{}-{}", time, base_name(path), n));
    // Its folder is a mount inside, so that nothing there could replace it by a symlink.
    if (std::rename(path.c_str(), to.c_str()) != 0) {
      return fail(
          ErrorKind::kIo,
          "{} appeared inside the sandbox and can't be taken away: {}; remove it before you run git or an agent "
          "here",
          path, errno_text(errno));
    }
    lines.push_back(fmt::format("{} appeared inside the sandbox, where it must not; it is now {}", path, to));
  }
  return lines;
}

}  // namespace ralph
