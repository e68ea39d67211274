// `--resume` of the commands that run agents, and what `ralph runs resume` does with it.
#pragma once

#include <optional>
#include <string>

#include "cli/command.h"
#include "engine/resume.h"
#include "settings/ralph_folder.h"
#include "settings/settings.h"

namespace ralph::cli {

inline constexpr Option kResumeOption = {.name = "resume",
                                         .letter = 0,
                                         .value = "RUN",
                                         .help = "Continue a run that ended incomplete (default: the newest).",
                                         .optional_value = true,
                                         .on_resume = true};
inline constexpr Option kVerboseOption = on_resume({"verbose", 'V', "", "Print details on standard error."});
inline constexpr Option kRecordsOption = on_resume({"json", 0, "", "Print one JSON record per step instead of text."});

// A run to be resumed.
struct Resumption {
  ResumePoint point;
  Arguments arguments;  // those of its first process, overridden by those typed since
};

// The run to resume: the one with this id, or else the newest that can be resumed. Fails if there is none, and lists
// those that can.
Result<ResumePoint> find_resume_point(const std::string& project, std::string_view id);

// The same for one run whose folder is known. `project` is the folder whose seals vouch for it.
Result<ResumePoint> own_resume_point(const std::string& project, const RunFolder& folder);

// Why a run can't be resumed here, whatever its journal says: this user did not start it here, or its repository is
// lost. Empty: it can. `keeper` is the folder whose seals vouch for it.
std::string why_not_here(const std::string& keeper, const std::string& id, const record::RunStarted& start,
                         const Progress& progress);

// The run named by --resume; nullopt if that was not given. Changes to the folder in which the run was started.
// `command` and `way` are the caller's. Fails if the run can't be resumed, and lists those that can.
Result<std::optional<Resumption>> resumption_from(const Command& command, WayIn way, const Arguments& typed,
                                                  const std::string& project);

// Prints how the settings differ from those of the run's last process. accept_project() decides whether they are used.
void show_changes(const Resumption& resumption, const LoadedSettings& loaded);

// The folder outside the project that keeps copies of the files that a run protects; empty if there is no place for it.
std::string watched_store(const std::string& project, const std::string& run_id);

// The file for a run's arguments if they contain secrets. Only its owner may read it.
std::string arguments_path(const std::string& run_folder);

}  // namespace ralph::cli
