#include "os/machine_view.h"

#include <filesystem>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include "os/files.h"
#include "os/real_paths.h"

namespace ralph {

MachineView this_machine() {
  namespace fs = std::filesystem;
  using Kind = MachineView::Kind;
  MachineView view;
  const auto paths = std::make_shared<RealPaths>();
  view.kind = [](const std::string& path) {
    struct stat info{};
    if (::lstat(path.c_str(), &info) != 0) return Kind::kNothing;
    if (S_ISDIR(info.st_mode)) return Kind::kFolder;
    if (S_ISREG(info.st_mode)) return Kind::kFile;
    return file_exists(path) && real_path(path) == path ? Kind::kOther : Kind::kLink;
  };
  view.link = [](const std::string& path) {
    char target[4096];
    const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
    return std::string(target, length > 0 ? static_cast<size_t>(length) : 0);
  };
  view.closed_below = [](const std::string& folder) {
    constexpr int kDeepest = 4;
    constexpr size_t kMost = 20'000;
    std::vector<std::string> closed;
    std::error_code error;
    size_t seen = 0;
    for (auto at = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, error);
         !error && at != fs::recursive_directory_iterator() && ++seen < kMost; at.increment(error)) {
      struct stat info{};
      if (::lstat(at->path().c_str(), &info) != 0 || S_ISLNK(info.st_mode)) continue;
      const bool open = (info.st_mode & S_IROTH) != 0 && (!S_ISDIR(info.st_mode) || (info.st_mode & S_IXOTH) != 0);
      if (!open) closed.push_back(at->path().string());
      if (!open || at.depth() >= kDeepest) at.disable_recursion_pending();
    }
    return closed;
  };
  view.real = [paths](const std::string& path) { return paths->of(path); };
  view.text = [](const std::string& path) -> std::optional<std::string> {
    auto text = is_real_file(path) ? read_file(path) : Result<std::string>(tl::unexpected<Error>(Error{}));
    return text ? std::optional(*std::move(text)) : std::nullopt;
  };
  return view;
}

}  // namespace ralph
