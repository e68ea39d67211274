#include "cli/plan_folders.h"

#include "cli/project.h"
#include "settings/layers.h"
#include "settings/owner.h"

namespace ralph::cli {

Result<PlanFiles> plan_folders(const Arguments& arguments) {
  for (const std::string_view option : {"project-dir", "ralph-dir"}) {
    if (arguments.value(option) == "") return fail(ErrorKind::kUsage, "--{} is empty; give a folder", option);
  }
  TRY_VALUE(const std::string here, current_directory());
  PlanFiles folders;
  // Symlinks are resolved here, once: ralph finds its own copy of a plan by the plan's path, which must be unique.
  const auto given = arguments.value("project-dir");
  const bool has_plan = path_exists(join_path(here, "ralph/tasks.json"));
  folders.project = real_path(given ? absolute_path(*given, here) : has_plan ? here : folder_with_settings(here));
  if (!is_directory(folders.project)) {
    return fail(ErrorKind::kInput, "{} is not a folder; --project-dir names the project", folders.project);
  }
  const auto named = arguments.value("ralph-dir");
  folders.ralph_dir = join_path(folders.project, "ralph");
  if (named) {
    const std::string path = absolute_path(*named, here);
    folders.ralph_dir = join_path(real_path(parent_path(path)), base_name(path));  // not a symlink itself
  }
  // A plan names commands and instructs an agent, so its files must belong to a trusted user.
  const Owners owners = owners_of(Environment::of_this_process());
  for (const std::string_view file : {"tasks.json", "prompt.md", "prd.md"}) {
    const std::string path = join_path(folders.ralph_dir, file);
    if (!path_exists(path)) continue;
    const std::string below = path_below(path, folders.project);
    TRY(expect_own(owners, below.empty() ? folders.ralph_dir : folders.project,
                   below.empty() ? std::string(file) : below));
  }
  return folders;
}

Result<PlanFiles> plan_folders_to_change(const Arguments& arguments) {
  TRY_VALUE(PlanFiles folders, plan_folders(arguments));
  TRY_VALUE(const std::string here, current_directory());
  if (!arguments.value("project-dir") && folders.project != real_path(here)) note_other_folder(folders.project);
  return folders;
}

}  // namespace ralph::cli
