// What an agent's program in a project consists of, if it was installed there as a package of npm.
#pragma once

#include <string>
#include <vector>

namespace ralph {

// The folder of the package that a file is in: "…/node_modules/@scope/name". Empty: it is in none.
std::string package_folder(const std::string& file);

// The folders of a package and of those that it depends on, all below `project`; without those in another of them.
std::vector<std::string> package_parts(const std::string& package, const std::string& project);

}  // namespace ralph
