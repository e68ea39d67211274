#include "cli/registry.h"

#include <array>

namespace ralph::cli {

std::span<const Command* const> all_commands() {
  static constexpr std::array kCommands = {
      &kRun,    &kInit,   &kRunsList, &kRunsShow,  &kSettingsShow, &kSettingsSchema,
      &kStream, &kDoctor, &kDemo,     &kDemoAgent, &kCompletion,
  };
  return kCommands;
}

}  // namespace ralph::cli
