// The commands that exist. Each is defined in the file named after it.
#pragma once

#include "cli/command.h"

namespace ralph::cli {

extern const Command kRun;             // run.cc
extern const Command kInit;            // init.cc
extern const Command kRunsList;        // runs.cc
extern const Command kRunsShow;        // runs.cc
extern const Command kSettingsShow;    // settings.cc
extern const Command kSettingsSchema;  // settings.cc
extern const Command kStream;          // stream.cc
extern const Command kDoctor;          // doctor.cc
extern const Command kDemo;            // demo.cc
extern const Command kDemoAgent;       // demo_agent.cc
extern const Command kCompletion;      // completion.cc

}  // namespace ralph::cli
