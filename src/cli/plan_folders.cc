#include "cli/plan_folders.h"

#include "os/files.h"

namespace ralph::cli {

Result<PlanFiles> plan_folders(const Arguments& arguments) {
  for (const std::string_view option : {"project-dir", "ralph-dir"}) {
    if (arguments.value(option) == "") return fail(ErrorKind::kUsage, "--{} is empty; give a folder", option);
  }
  TRY_VALUE(const std::string here, current_directory());
  PlanFiles folders;
  folders.project = absolute_path(arguments.value("project-dir").value_or("."), here);
  if (!is_directory(folders.project)) {
    return fail(ErrorKind::kInput, "{} is not a folder; --project-dir names the project", folders.project);
  }
  const auto named = arguments.value("ralph-dir");
  folders.ralph_dir = named ? absolute_path(*named, here) : join_path(folders.project, "ralph");
  return folders;
}

}  // namespace ralph::cli
