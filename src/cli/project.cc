#include "cli/project.h"

#include <cerrno>
#include <unistd.h>

#include "base/utf8.h"
#include "cli/tell.h"
#include "os/files.h"
#include "settings/layers.h"
#include "settings/owner.h"
#include "settings/ralph_folder.h"

namespace ralph::cli {

Result<Project> enter_project() {
  Project project;
  TRY_VALUE(project.typed_in, current_directory());
  project.folder = folder_with_settings(project.typed_in);
  const Owners owners = owners_of(Environment::of_this_process());
  const bool above = project.folder != project.typed_in;
  const std::string fault =
      above ? owners.fault_above(project.folder, kRalphFolder) : owners.fault(project.folder, kRalphFolder);
  if (!fault.empty() && path_exists(join_path(project.folder, kRalphFolder)))
    return fail(ErrorKind::kInput, "{}", fault);
  if (above && ::chdir(project.folder.c_str()) != 0)
    return fail(ErrorKind::kInput, "cannot enter {}, where the settings are: {}", project.folder, errno_text(errno));
  return project;
}

Result<Project> enter_project_for_agents() {
  TRY_VALUE(Project project, enter_project());
  if (project.folder != project.typed_in) note_other_folder(project.folder);
  return project;
}

void note_other_folder(const std::string& project) {
  tell(fmt::format("Note: there are no settings in this folder; ralph works in {}, with the settings there.\n",
                   fit_to_width(project, project.size() * 2 + 1)));
}

}  // namespace ralph::cli
