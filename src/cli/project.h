// The project of a command: the folder whose .ralph holds the settings.
#pragma once

#include <string>

#include "base/result.h"

namespace ralph::cli {

struct Project {
  std::string folder;    // absolute; the current directory from here on
  std::string typed_in;  // where the command was typed: relative paths on the command line start there
};

// Finds the project and changes to its folder.
Result<Project> enter_project();

// The same for a command that starts agents. Prints a note if the project is not the folder in which it was typed.
Result<Project> enter_project_for_agents();

// Prints a note that a command works in another folder than the one in which it was typed.
void note_other_folder(const std::string& project);

}  // namespace ralph::cli
