#include "git/remotes.h"

#include "git/config_file.h"

namespace ralph {

std::vector<std::string> remote_addresses(const std::string& project) {
  std::vector<std::string> addresses;
  for (const ConfigEntry& entry : repository_config(project)) {
    if (entry.section == "remote" && (entry.name == "url" || entry.name == "pushurl")) addresses.push_back(entry.value);
  }
  return addresses;
}

}  // namespace ralph
