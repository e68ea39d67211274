#include "task/attempt_folder.h"

#include <cerrno>
#include <charconv>
#include <sys/stat.h>

#include "base/text.h"
#include "engine/situation.h"
#include "journal/run_folder.h"
#include "os/files.h"
#include "os/process_tree.h"

namespace ralph {
namespace {

// An id that sorts after `last`, even within the same second or after the clock was set back.
std::string later_id(WallTime now, const std::string& last) {
  if (std::string id = new_run_id(now); id > last) return id;
  const size_t dash = last.rfind('-');
  unsigned number = 0;
  std::from_chars(last.data() + dash + 1, last.data() + last.size(), number, 16);
  if (number < 0xffff) return fmt::format("{}-{:04x}", last.substr(0, dash), number + 1);
  const std::string& s = last;  // 20261115-202233: this second is full, take the next
  const auto second = from_iso8601(fmt::format("{}-{}-{}T{}:{}:{}.000Z", s.substr(0, 4), s.substr(4, 2), s.substr(6, 2),
                                               s.substr(9, 2), s.substr(11, 2), s.substr(13, 2)));
  return new_run_id(second.value_or(now) + std::chrono::seconds(1));
}

std::string last_id_in(const std::string& folder) {
  std::string last;
  for (const std::string& name : names_in(folder))
    if (is_run_id(name)) last = std::max(last, name);
  return last;
}

AttemptStatus status_of(const record::AgentEnded& ended) {
  if (ended.outcome == TurnOutcome::kInterrupted || ended.exit_code == kWaitExitCode) return AttemptStatus::kStopped;
  const bool ok = ended.outcome == TurnOutcome::kOk || ended.outcome == TurnOutcome::kEmpty;
  return ok && ended.exit_code == 0 ? AttemptStatus::kCompleted : AttemptStatus::kFailed;
}

}  // namespace

Result<RunInfo> create_attempt(const TaskPlace& place, RunInfo info, WallTime now) {
  for (int tries = 0; tries < 1000; ++tries) {
    info.run_id = later_id(now, last_id_in(place.runs()));
    info.folder = join_path(place.runs(), info.run_id);
    if (::mkdir(info.folder.c_str(), 0700) == 0) {
      info.project_id = place.project;
      info.task_id = place.task;
      info.start_time = now;
      info.end_time.reset();
      info.pid = info.pgid = 0;
      info.process_start_time = 0;
      info.exit_code = -1;
      info.status = AttemptStatus::kRunning;
      info.error_summary.clear();
      TRY(write_run_info(info));
      return info;
    }
    if (errno != EEXIST) return fail(ErrorKind::kIo, "cannot create {}: {}", info.folder, errno_text(errno));
  }
  return fail(ErrorKind::kIo, "cannot find a free name in {}", place.runs());
}

std::map<std::string, std::string> attempt_variables(const RunInfo& info) {
  return {{"RUN_FOLDER", info.folder},
          {"RALPH_ATTEMPT_ID", info.run_id},
          {"JRUN_ID", info.run_id},
          {"RALPH_PARENT_RUN_ID", info.parent_run_id},
          {"JRUN_PARENT_ID", info.parent_run_id}};
}

std::map<std::string, std::string> task_variables(const TaskPlace& place) {
  return {{"TASK_FOLDER", place.folder()},    {"MESSAGE_BUS", place.bus()},  {"RALPH_PROJECT_ID", place.project},
          {"JRUN_PROJECT_ID", place.project}, {"RALPH_TASK_ID", place.task}, {"JRUN_TASK_ID", place.task}};
}

Result<TurnFiles> AttemptFolder::begin(Launch& launch, const std::string& prompt, const std::string& agent) {
  if (!gives_prompt_) {
    if (!launch.argv.empty() && launch.argv.back() == prompt) launch.argv.pop_back();
    launch.input.clear();
  }
  RunInfo info = info_;
  info.agent = agent;
  info.cwd = launch.folder;
  std::vector<std::string> words = launch.argv;
  if (!prompt.empty() && words.size() > 1 && words.back().ends_with(prompt)) words.back() = "<prompt>";
  info.commandline = redactor_.redact(quote_shell_words(words));
  if (info.folder.empty() || info.end_time || info.pid != 0) {
    if (!info_.run_id.empty()) info.previous_run_id = info_.run_id;
    TRY(make_task_folder(place_));  // an agent may have removed it with `git clean -fdx`
    TRY_VALUE(info_, create_attempt(place_, std::move(info), clock_.wall()));
    if (on_begin_) on_begin_();
  } else {
    info_ = std::move(info);
    TRY(write_run_info(info_));
  }
  for (const auto& [name, value] : attempt_variables(info_)) launch.environment.set(name, value);
  TRY_VALUE(output_, RawFile::create(info_.file("output.md")));
  std::string prefix =
      info_.folder.size() > run_folder_.size() ? info_.folder.substr(run_folder_.size() + 1) + "/" : "";
  return TurnFiles{prefix + "prompt.md", prefix + "agent-stdout.txt", prefix + "agent-stderr.txt"};
}

// Creates the folder again if needed: the agent may have removed it, or even the whole task's, and may go on removing
// it meanwhile.
Status AttemptFolder::write_info() {
  Status written;
  for (int tries = 0; tries < 100; ++tries) {
    if (!path_exists(info_.folder)) {
      written = make_task_folder(place_);
      if (written && ::mkdir(info_.folder.c_str(), 0700) != 0 && errno != EEXIST)
        written = fail(ErrorKind::kIo, "cannot create {}: {}", info_.folder, errno_text(errno));
      if (!written) continue;
    }
    written = write_run_info(info_);
    if (written || path_exists(info_.folder)) break;
  }
  return written;
}

Status AttemptFolder::started(int pid) {
  info_.pid = info_.pgid = pid;  // it leads its own session and process group
  info_.process_start_time = start_time_of(pid);
  return write_info();
}

void AttemptFolder::on_event(const AgentEvent& event) {
  const auto* text = std::get_if<event::Text>(&event);
  if (!text || text->sub_agent || !output_) return;
  // Ignore errors: agent-stdout.txt has the same text, and a full disk is reported there.
  static_cast<void>(output_->append(text->text));
  if (!text->piece) static_cast<void>(output_->append("\n"));
}

Status AttemptFolder::ended(const record::AgentEnded& ended) {
  info_.end_time = clock_.wall();
  info_.exit_code = static_cast<int>(ended.exit_code);
  info_.status = status_of(ended);
  info_.error_summary = info_.status == AttemptStatus::kCompleted ? "" : ended.reason;
  last_end_ = clock_.monotonic();
  output_.reset();
  return write_info();
}

Status AttemptFolder::mark_stopped() {
  if (info_.run_id.empty()) return {};
  info_.status = AttemptStatus::kStopped;
  return write_info();
}

}  // namespace ralph
