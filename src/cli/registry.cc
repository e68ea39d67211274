#include "cli/registry.h"

#include <array>

namespace ralph::cli {

std::span<const Command* const> all_commands() {
  static constexpr std::array kCommands = {
      &kRun,
      &kInit,
      &kPlanInit,
      &kPlanDraft,
      &kPlanRun,
      &kPlanStatus,
      &kPlanCheck,
      &kPlanArchive,
      &kRunsList,
      &kRunsShow,
      &kSettingsShow,
      &kSettingsSchema,
      &kLoopStart,
      &kLoopRun,
      &kLoopStatus,
      &kLoopCancel,
      &kHooksStop,
      &kHooksPreTool,
      &kHooksExplain,
      &kHooksInstall,
      &kHooksUninstall,
      &kHooksUserPrompt,
      &kHooksSessionStart,
      &kHooksPostTool,
      &kHooksContextMonitor,
      &kStream,
      &kDoctor,
      &kDemo,
      &kDemoAgent,
      &kCompletion,
  };
  return kCommands;
}

}  // namespace ralph::cli
