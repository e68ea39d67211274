#include "cli/plan_folders.h"

namespace ralph::cli {

Result<PlanFiles> plan_folders(const Arguments& arguments) {
  for (const std::string_view option : {"project-dir", "ralph-dir"}) {
    if (arguments.value(option) == "") return fail(ErrorKind::kUsage, "--{} is empty; give a folder", option);
  }
  TRY_VALUE(const std::string here, current_directory());
  PlanFiles folders;
  // Symlinks are resolved here, once: ralph's own copy of a plan is found by its path, which must be unique.
  folders.project = real_path(absolute_path(arguments.value("project-dir").value_or("."), here));
  if (!is_directory(folders.project)) {
    return fail(ErrorKind::kInput, "{} is not a folder; --project-dir names the project", folders.project);
  }
  const auto named = arguments.value("ralph-dir");
  folders.ralph_dir = join_path(folders.project, "ralph");
  if (named) {
    const std::string path = absolute_path(*named, here);
    folders.ralph_dir = join_path(real_path(parent_path(path)), base_name(path));  // not a symlink itself
  }
  return folders;
}

}  // namespace ralph::cli
