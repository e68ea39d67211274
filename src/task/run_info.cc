#include "task/run_info.h"

#include <algorithm>
#include <sys/stat.h>

#include "journal/run_folder.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/process_tree.h"
#include "task/supervisor.h"
#include "task/yaml_lines.h"

namespace ralph {
namespace {

constexpr int kRunInfoVersion = 1;

std::string to_yaml(const RunInfo& info) {
  YamlLines lines;
  lines.number("version", kRunInfoVersion);
  lines.text("run_id", info.run_id);
  lines.text("parent_run_id", info.parent_run_id);
  lines.text("previous_run_id", info.previous_run_id);
  lines.text("ralph_run_id", info.ralph_run_id);
  lines.text("project_id", info.project_id);
  lines.text("task_id", info.task_id);
  lines.text("agent", info.agent);
  lines.number("pid", info.pid);
  lines.number("pgid", info.pgid);
  lines.number("process_start_time", static_cast<std::int64_t>(info.process_start_time));
  lines.time("start_time", info.start_time);
  lines.time("end_time", info.end_time);
  lines.number("exit_code", info.exit_code);
  lines.text("status", to_string(info.status));
  lines.text("cwd", info.cwd);
  lines.text("commandline", info.commandline);
  lines.text("error_summary", info.error_summary);
  lines.text("prompt_path", info.file("prompt.md"));
  lines.text("output_path", info.file("output.md"));
  lines.text("stdout_path", info.file("agent-stdout.txt"));
  lines.text("stderr_path", info.file("agent-stderr.txt"));
  return lines.str();
}

std::optional<WallTime> time_in(const json::value& value, std::string_view key) {
  const auto text = find_string(value, key);
  return text ? from_iso8601(*text) : std::nullopt;
}

WallTime last_write_in(const RunInfo& info) {
  WallTime last = info.start_time;
  for (const char* name : {"agent-stdout.txt", "agent-stderr.txt", "output.md"}) {
    struct stat found{};
    if (::lstat(info.file(name).c_str(), &found) == 0)
      last = std::max(
          last, WallTime(std::chrono::duration_cast<Milliseconds>(std::chrono::seconds(found.st_mtim.tv_sec) +
                                                                  std::chrono::nanoseconds(found.st_mtim.tv_nsec))));
  }
  return std::min(last, SystemClock().wall());
}

}  // namespace

std::string RunInfo::file(std::string_view name) const {
  return join_path(folder, name);
}

Status write_run_info(const RunInfo& info) {
  return replace_file(info.file(kRunInfoFile), to_yaml(info), 0600);
}

Result<RunInfo> read_run_info(const std::string& folder) {
  const std::string path = join_path(folder, kRunInfoFile);
  if (!is_real_file(path)) return fail(ErrorKind::kInput, "{} is missing or not a plain file", path);
  TRY_VALUE(const std::string text, read_file(path));
  TRY_VALUE(const json::object lines, parse_yaml_lines(text, path));
  const json::value value(lines);
  if (find_integer(value, "version").value_or(0) > kRunInfoVersion)
    return fail(ErrorKind::kInput, "{} was written by a newer version of ralph; use that one", path);
  RunInfo info;
  info.folder = folder;
  const auto text_of = [&](std::string_view key, std::string& to) {
    const json::value* found = find(value, key);
    if (found && found->is_string()) to = std::string(found->get_string());
    if (found && found->is_int64()) to = std::to_string(found->get_int64());
  };
  text_of("run_id", info.run_id), text_of("parent_run_id", info.parent_run_id);
  text_of("previous_run_id", info.previous_run_id), text_of("ralph_run_id", info.ralph_run_id);
  text_of("project_id", info.project_id), text_of("task_id", info.task_id), text_of("agent", info.agent);
  text_of("cwd", info.cwd), text_of("commandline", info.commandline), text_of("error_summary", info.error_summary);
  info.pid = static_cast<int>(find_integer(value, "pid").value_or(0));
  info.pgid = static_cast<int>(find_integer(value, "pgid").value_or(0));
  info.process_start_time = static_cast<std::uint64_t>(find_integer(value, "process_start_time").value_or(0));
  info.start_time = time_in(value, "start_time").value_or(WallTime{});
  info.end_time = time_in(value, "end_time");
  info.exit_code = static_cast<int>(find_integer(value, "exit_code").value_or(-1));
  const auto status = from_word<AttemptStatus>(find_string(value, "status").value_or(""));
  if (!status || info.run_id.empty()) return fail(ErrorKind::kInput, "{} has no status or no run_id", path);
  info.status = *status;
  return info;
}

std::vector<RunInfo> run_infos_of(const TaskPlace& place) {
  std::vector<RunInfo> infos;
  for (const std::string& name : names_in(place.runs())) {
    if (!is_run_id(name) || !is_real_folder(join_path(place.runs(), name))) continue;
    if (auto info = read_run_info(join_path(place.runs(), name))) infos.push_back(*std::move(info));
  }
  return infos;
}

bool is_alive(const RunInfo& info) {
  return info.pid > 0 && start_time_of(info.pid) == info.process_start_time;
}

Status correct_dead_attempt(RunInfo info, AttemptStatus status, const std::string& why, int exit_code) {
  if (info.status != AttemptStatus::kRunning) return {};
  info.status = status;
  info.exit_code = exit_code;
  info.error_summary = why;
  info.end_time = last_write_in(info);  // it was alive at least until then
  return write_run_info(info);
}

Status correct_dead_attempts(const TaskPlace& place, bool locked) {
  std::vector<RunInfo> infos = run_infos_of(place);
  std::erase_if(infos, [](const RunInfo& info) { return info.status != AttemptStatus::kRunning || is_alive(info); });
  if (infos.empty()) return {};
  std::vector<Lock> locks;
  if (!locked) {
    auto taken = lock_task(place);
    if (!taken) return {};
    locks = *std::move(taken);
  }
  for (const RunInfo& seen : infos) {
    const auto info = read_run_info(seen.folder);
    if (info && !is_alive(*info))
      TRY(correct_dead_attempt(*info, AttemptStatus::kFailed, "its supervisor was killed, and it died with it"));
  }
  return {};
}

}  // namespace ralph
