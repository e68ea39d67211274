// All commands; all_commands() in dispatch.cc lists them. Each is defined in the file named next to it.
#pragma once

#include "cli/command.h"

namespace ralph::cli {

extern const Command kRun;                   // run.cc
extern const Command kInit;                  // init.cc
extern const Command kCheck;                 // check.cc
extern const Command kLspStart;              // lsp.cc
extern const Command kLspStatus;             // lsp.cc
extern const Command kLspStop;               // lsp.cc
extern const Command kLspAsk;                // lsp_ask.cc
extern const Command kLspServe;              // lsp_ask.cc
extern const Command kPlanRun;               // plan_run.cc
extern const Command kPlanCheck;             // plan_check.cc
extern const Command kPlanStatus;            // plan_status.cc
extern const Command kHooksUserPrompt;       // hooks_user_prompt.cc
extern const Command kLoopStart;             // loop_start.cc
extern const Command kLoopRun;               // loop_run.cc
extern const Command kLoopStatus;            // loop_status.cc
extern const Command kLoopCancel;            // loop_status.cc
extern const Command kHooksSessionStart;     // hooks_session_start.cc
extern const Command kHooksSessionEnd;       // hooks_session_end.cc
extern const Command kHooksPostTool;         // hooks_post_tool.cc
extern const Command kHooksContextMonitor;   // hooks_post_tool.cc
extern const Command kHooksPreTool;          // hooks_pre_tool.cc
extern const Command kHooksExplain;          // hooks_explain.cc
extern const Command kHooksStop;             // hooks_stop.cc
extern const Command kHooksStopLoop;         // hooks_stop.cc
extern const Command kHooksStartLoop;        // hooks_start_loop.cc
extern const Command kHooksCancelLoop;       // loop_status.cc
extern const Command kHooksPostToolLsp;      // hooks_edit.cc
extern const Command kHooksPostToolAstGrep;  // hooks_edit.cc
extern const Command kHooksPostToolLinter;   // hooks_edit.cc
extern const Command kHooksInstall;          // hooks_install.cc
extern const Command kHooksUninstall;        // hooks_install.cc
extern const Command kPlanDraft;             // plan_draft.cc
extern const Command kPlanInit;              // plan_init.cc
extern const Command kPlanArchive;           // plan_archive.cc
extern const Command kTaskRun;               // task_run.cc
extern const Command kTaskStop;              // task_stop.cc
extern const Command kTaskDone;              // task_stop.cc
extern const Command kTaskList;              // task_list.cc
extern const Command kTaskStatus;            // task_list.cc
extern const Command kTaskOutput;            // task_output.cc
extern const Command kTaskGc;                // task_gc.cc
extern const Command kJob;                   // job.cc
extern const Command kJobChild;              // job.cc
extern const Command kBusPost;               // bus.cc
extern const Command kBusRead;               // bus.cc
extern const Command kBusWatch;              // bus.cc
extern const Command kRunsList;              // runs.cc
extern const Command kRunsShow;              // runs.cc
extern const Command kRunsResume;            // runs_resume.cc
extern const Command kRunsVerify;            // runs_verify.cc
extern const Command kRunsGc;                // runs_gc.cc
extern const Command kSettingsShow;          // settings.cc
extern const Command kSettingsSchema;        // settings.cc
extern const Command kTrust;                 // trust.cc
extern const Command kStream;                // stream.cc
extern const Command kDoctor;                // doctor.cc
extern const Command kDemo;                  // demo.cc
extern const Command kDemoAgent;             // demo_agent.cc
extern const Command kSandboxRun;            // sandbox_run.cc
extern const Command kSandboxPlan;           // sandbox_run.cc
extern const Command kSandboxCheck;          // sandbox_check.cc
extern const Command kSandboxAttack;         // sandbox_check.cc
extern const Command kSandboxProxy;          // sandbox_proxy.cc
extern const Command kSandboxBridge;         // sandbox_proxy.cc
extern const Command kSandboxEnter;          // sandbox_enter.cc
extern const Command kSandboxAnnex;          // sandbox_annex.cc
extern const Command kSandboxEnd;            // sandbox_annex.cc
extern const Command kCompletion;            // completion.cc

}  // namespace ralph::cli
