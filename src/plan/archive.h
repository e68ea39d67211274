// Archives a finished or abandoned plan: ralph-archive/<date>-<branch or label>/ gets prd.md, tasks.json, progress.txt
// and a summary.md, ralph/ gets fresh templates, and only this is committed. prompt.md stays: it is the user's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "git/repository.h"
#include "plan/plan_files.h"

namespace ralph {

struct ArchiveRequest {
  PlanFiles files;
  std::string label;  // empty: the plan's branch
  WallTime now{};
  Git git;                // in the project
  std::string authority;  // ralph's own copy of the plan, removed with it; empty: none
};

struct PlanArchive {
  std::string folder;              // absolute
  std::vector<std::string> files;  // names of the archived files, summary.md last
  size_t done = 0, total = 0;      // stories
  std::string problem;             // with tasks.json; empty: none
  bool committed = false;
  std::string why_not_committed;
};

// Copies the files and verifies the copies before it resets and commits. If anything fails, the plan is in ralph/ or in
// the archive, and the error says where. Refuses an unedited template. tasks.json may be missing or broken.
Result<PlanArchive> archive_plan(const ArchiveRequest& request);

// The folder's name: anything but letters, digits, '.', '_' and '-' becomes '-'; no leading dots; never empty. Pure.
std::string archive_name(std::string_view date, std::string_view label);

}  // namespace ralph
