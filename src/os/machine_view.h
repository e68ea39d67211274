// The files of a machine as a value, so that what is computed from them is a function of them. Tests describe a
// fictional machine.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ralph {

struct MachineView {
  enum class Kind { kNothing, kFile, kFolder, kLink, kOther };
  std::function<Kind(const std::string& path)> kind;                        // does not follow a link
  std::function<std::string(const std::string& path)> link;                 // the target of a link
  std::function<std::string(const std::string& path)> real;                 // with all links resolved
  std::function<std::optional<std::string>(const std::string& path)> text;  // of a small file
  // Files and folders below `folder` that only their owner and group can read. The search is limited in depth and
  // number.
  std::function<std::vector<std::string>(const std::string& folder)> closed_below = [](const std::string&) {
    return std::vector<std::string>();
  };
};
MachineView this_machine();

}  // namespace ralph
