// The commands that exist. Each is defined in the file named after it.
#pragma once

#include "cli/command.h"

namespace ralph::cli {

extern const Command kRun;             // run.cc
extern const Command kInit;            // init.cc
extern const Command kRuns_list;       // runs.cc
extern const Command kRuns_show;       // runs.cc
extern const Command kSettings_show;   // settings.cc
extern const Command kSettings_schema; // settings.cc
extern const Command kDoctor;          // doctor.cc
extern const Command kDemo;            // demo.cc
extern const Command kDemoAgent;       // demo_agent.cc
extern const Command kCompletion;      // completion.cc

}  // namespace ralph::cli
