// The table of commands, in the order in which help and completion show them. A new command is one file, which defines
// its entry (cli/command.h), and one row here.
#pragma once

#include "cli/command.h"

#define RALPH_COMMANDS(ROW)  \
  ROW(kRun)                  \
  ROW(kInit)                 \
  ROW(kPlanInit)             \
  ROW(kPlanDraft)            \
  ROW(kPlanRun)              \
  ROW(kPlanStatus)           \
  ROW(kPlanCheck)            \
  ROW(kPlanArchive)          \
  ROW(kTaskRun)              \
  ROW(kTaskStop)             \
  ROW(kTaskDone)             \
  ROW(kTaskList)             \
  ROW(kTaskStatus)           \
  ROW(kTaskOutput)           \
  ROW(kTaskGc)               \
  ROW(kJob)                  \
  ROW(kJobChild)             \
  ROW(kBusPost)              \
  ROW(kBusRead)              \
  ROW(kBusWatch)             \
  ROW(kRunsList)             \
  ROW(kRunsShow)             \
  ROW(kRunsResume)           \
  ROW(kRunsVerify)           \
  ROW(kRunsGc)               \
  ROW(kSettingsShow)         \
  ROW(kSettingsSchema)       \
  ROW(kCheck)                \
  ROW(kLspStart)             \
  ROW(kLspStatus)            \
  ROW(kLspStop)              \
  ROW(kLspAsk)               \
  ROW(kLspServe)             \
  ROW(kTrust)                \
  ROW(kLoopStart)            \
  ROW(kLoopRun)              \
  ROW(kLoopStatus)           \
  ROW(kLoopCancel)           \
  ROW(kHooksStop)            \
  ROW(kHooksStartLoop)       \
  ROW(kHooksStopLoop)        \
  ROW(kHooksCancelLoop)      \
  ROW(kHooksPostToolLsp)     \
  ROW(kHooksPostToolLinter)  \
  ROW(kHooksPostToolAstGrep) \
  ROW(kHooksPreTool)         \
  ROW(kHooksExplain)         \
  ROW(kHooksInstall)         \
  ROW(kHooksUninstall)       \
  ROW(kHooksUserPrompt)      \
  ROW(kHooksSessionStart)    \
  ROW(kHooksSessionEnd)      \
  ROW(kHooksPostTool)        \
  ROW(kHooksContextMonitor)  \
  ROW(kSandboxRun)           \
  ROW(kSandboxPlan)          \
  ROW(kSandboxCheck)         \
  ROW(kSandboxAttack)        \
  ROW(kSandboxProxy)         \
  ROW(kSandboxBridge)        \
  ROW(kSandboxEnter)         \
  ROW(kSandboxAnnex)         \
  ROW(kSandboxEnd)           \
  ROW(kStream)               \
  ROW(kDoctor)               \
  ROW(kDemo)                 \
  ROW(kDemoAgent)            \
  ROW(kCompletion)

namespace ralph::cli {

#define RALPH_DECLARE_COMMAND(constant) extern const Command constant;
RALPH_COMMANDS(RALPH_DECLARE_COMMAND)
#undef RALPH_DECLARE_COMMAND

}  // namespace ralph::cli
