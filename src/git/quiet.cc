#include "git/quiet.h"

#include <array>

#include "base/text.h"
#include "git/git.h"

namespace ralph {

std::vector<std::pair<std::string, std::string>> quiet_git(const Environment& environment) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kQuietSettings = {
      {{"core.hooksPath", "/dev/null"}, {"core.fsmonitor", "false"}}};
  auto count = parse_count(environment.get("GIT_CONFIG_COUNT").value_or("")).value_or(0);
  std::vector<std::pair<std::string, std::string>> variables;
  for (const auto& [name, value] : kQuietSettings) {
    variables.emplace_back(fmt::format("GIT_CONFIG_KEY_{}", count), name);
    variables.emplace_back(fmt::format("GIT_CONFIG_VALUE_{}", count), value);
    ++count;
  }
  variables.emplace_back("GIT_CONFIG_COUNT", std::to_string(count));
  variables.emplace_back("GIT_NO_REPLACE_OBJECTS", "1");
  variables.emplace_back("GIT_GRAFT_FILE", kNoGrafts);
  variables.emplace_back(kQuietGitVariable, "1");
  return variables;
}

}  // namespace ralph
