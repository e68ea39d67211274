// The files of an agent's program that is installed in the project as an npm package.
#pragma once

#include <string>
#include <vector>

namespace ralph {

// The folder of the package that contains a file: "…/node_modules/@scope/name". Empty if it is in no package.
std::string package_folder(const std::string& file);

// The folders of a package and its dependencies below `project`, without those nested in another one.
std::vector<std::string> package_parts(const std::string& package, const std::string& project);

}  // namespace ralph
