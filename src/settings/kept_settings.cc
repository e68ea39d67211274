#include "settings/kept_settings.h"

#include <sys/stat.h>

#include "os/files.h"
#include "settings/layers.h"

namespace ralph {

KeptSettings::KeptSettings(const std::string& project) : project_(project) {
  for (const std::string_view name : {kSettingsFile, kLocalSettingsFile}) {
    const std::string path = join_path(project, name);
    struct stat info{};
    if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    if (auto text = read_file(path)) files_.push_back({std::string(name), *std::move(text), info.st_mode & 0777U});
  }
}

Result<std::vector<std::string>> KeptSettings::put_back_missing() const {
  std::vector<std::string> restored;
  for (const File& file : files_) {
    const std::string path = join_path(project_, file.name);
    if (path_exists(path)) continue;
    TRY(replace_file(path, file.text, file.mode));
    restored.push_back(file.name);
  }
  return restored;
}

}  // namespace ralph
