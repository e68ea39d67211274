#include "session/loop_store.h"

#include <algorithm>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/text.h"
#include "journal/redactor.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/lock.h"
#include "os/run_command.h"
#include "session/loop_log.h"
#include "session/names.h"
#include "session/transcript.h"
#include "settings/ralph_folder.h"

namespace ralph {
namespace {

constexpr std::string_view kUnbound = "unbound";
constexpr Milliseconds kLockPatience{2000};
constexpr Milliseconds kGitPatience{4000};  // hosts give a hook ten seconds

std::string safe_name(const std::string& session) {
  if (session.empty()) return std::string(kUnbound);
  return file_name_of_session(session == kUnbound ? session + "." : session);  // with a dot it goes by its hash
}

LoopLog log_of(const std::string& state_path) {
  return LoopLog(state_path + "l");  // .jsonl
}

Result<Lock> lock_patiently(const std::string& path) {
  const SystemClock clock;
  const MonotonicTime until = clock.monotonic() + kLockPatience;
  for (;;) {
    auto lock = Lock::acquire(path);
    if (lock || lock.error().kind != ErrorKind::kBusy || clock.monotonic() >= until) return lock;
    ::usleep(2000);
  }
}

std::string note_path(const Environment& environment, const std::string& session) {
  const std::string folder = state_folder(environment);
  return folder.empty() || session.empty() ? "" : join_path(folder, "sessions/" + safe_name(session));
}

std::vector<std::string> json_files_in(const std::string& folder) {
  std::vector<std::string> names;
  DIR* open = ::opendir(folder.c_str());
  if (!open) return names;
  while (const dirent* entry = ::readdir(open)) {
    const std::string name = entry->d_name;
    if (name.ends_with(".json") && is_real_file(join_path(folder, name))) names.push_back(name);
  }
  ::closedir(open);
  std::sort(names.begin(), names.end());
  return names;
}

// A loop that goes on has its log beside it.
Result<LoopState> read_state(const std::string& path) {
  TRY_VALUE(const std::string text, read_file(path));
  TRY_VALUE(LoopState state, loop_state_from(text, path));
  log_of(path).apply_last(state);
  return state;
}

// Whose loop a file has, as a file name: SESSION.json, or TIME-SESSION.json in the history.
std::string_view owner_of(std::string_view file, bool ended) {
  file.remove_suffix(std::string_view(".json").size());
  return ended ? file.substr(std::min(file.find('-'), file.size() - 1) + 1) : file;
}

std::vector<LoopState> states_in(const std::string& folder, const std::string& session, bool ended,
                                 std::vector<std::string>* damaged) {
  std::vector<LoopState> states;
  for (const std::string& name : json_files_in(folder)) {
    const std::string path = join_path(folder, name);
    if (!session.empty() && owner_of(name, ended) != safe_name(session)) continue;
    auto state = read_state(path);
    if (!state) {
      if (damaged) damaged->push_back(state.error().message);
      continue;
    }
    if (state->active()) state->decisions = log_of(path).decisions();
    states.push_back(*std::move(state));
  }
  return states;
}

std::string now_text() {
  return to_iso8601(SystemClock().wall());
}

// Of no use after a power cut, which ends the session too; and a host waits for us.
Status write_to(const std::string& path, const LoopState& state) {
  return replace_file(path, to_compact_json(to_json(state)) + "\n", 0600);
}

}  // namespace

std::string LoopStore::folder() const {
  return join_path(project_, ".ralph/loop");
}

std::string LoopStore::path_of(const std::string& session, std::string_view ending) const {
  return join_path(folder(), safe_name(session) + std::string(ending));
}

Status LoopStore::prepare() const {
  TRY(prepare_ralph_folder(project_));
  for (const std::string& path : {folder(), join_path(folder(), "history")}) {
    if (is_there(path) && !is_real_folder(path))
      return fail(ErrorKind::kInput, "{} is not a folder of its own; remove it", path);
    TRY(make_directories(path));
  }
  return {};
}

Result<std::optional<LoopState>> LoopStore::load(const std::string& session) const {
  const std::string path = path_of(session);
  if (!is_real_folder(folder()) || !is_real_file(path)) return std::optional<LoopState>();
  TRY_VALUE(LoopState state, read_state(path));
  state.session = session;  // by its name, in case that an adoption was cut off
  return std::optional<LoopState>(std::move(state));
}

Result<LoopState> LoopStore::start(const LoopRequest& request, const std::string& session,
                                   const std::string& transcript) {
  if (project_.empty() || (project_ == "/" && !is_there("/.ralph") && !is_there("/.git")))
    return fail(ErrorKind::kUsage, "a loop keeps its state in the folder of a project, and / is none; start it in one");
  TRY(prepare());
  TRY_VALUE(const Lock lock, lock_patiently(path_of(session, ".lock")));
  TRY(free_place_of(session));
  LoopState state;
  state.request = request;
  state.session = session;
  state.started = state.updated = now_text();
  state.transcript = transcript;
  state.transcript_start = state.transcript_read = transcript_size(transcript);
  state.tree = tree_fingerprint(project_, environment_);
  ::unlink(path_of(session, ".tools").c_str());
  ::unlink(path_of(session, ".jsonl").c_str());
  TRY(write_to(path_of(session), state));
  leave_note(session);
  return state;
}

Status LoopStore::free_place_of(const std::string& session) const {
  TRY_VALUE(const auto there, load(session));
  if (!there) return {};
  if (!there->active()) return put_away(*there);
  return fail(ErrorKind::kBusy,
              "a loop is active {} (iteration {} of {}, since {}); cancel it first: ralph loop cancel{}",
              session.empty() ? "here that no session has adopted yet" : "in this session", there->iteration,
              there->request.max_iterations, there->started, session.empty() ? "" : " --session " + session);
}

// For sessions that move to other folders: without it the loop is found from its own.
void LoopStore::leave_note(const std::string& session) const {
  const std::string note = note_path(environment_, session);
  if (!note.empty() && make_directories(parent_path(note)))
    static_cast<void>(replace_file(note, project_ + "\n", 0600));
}

Status LoopStore::put_away(LoopState state) const {
  const std::string path = path_of(state.session);
  state.decisions = log_of(path).decisions();
  // From here on nobody is told the task any more: what looks like a secret is masked.
  state.request.task = Redactor(environment_.as_lines()).redact(state.request.task);
  const std::string when = replace_all(replace_all(state.updated, ":", ""), "-", "");
  TRY(write_to(join_path(folder(), fmt::format("history/{}-{}.json", when, safe_name(state.session))), state));
  // The log goes after what it belongs to: without it the loop would go on.
  for (const std::string_view ending : {".json", ".jsonl", ".tools"}) ::unlink(path_of(state.session, ending).c_str());
  if (const std::string note = note_path(environment_, state.session); !note.empty()) ::unlink(note.c_str());
  return {};
}

Result<std::optional<LoopState>> LoopStore::update(const std::string& session,
                                                   const std::function<void(LoopState&)>& change) {
  if (!is_real_folder(folder()) || !is_real_file(path_of(session))) return std::optional<LoopState>();
  TRY_VALUE(const Lock lock, lock_patiently(path_of(session, ".lock")));
  TRY_VALUE(auto state, load(session));
  if (!state || !state->active()) return std::optional<LoopState>();
  change(*state);
  state->updated = now_text();
  // Its end is a line like all others; if it is cut off after that, it has ended all the same.
  const std::vector<LoopDecision> decided = std::exchange(state->decisions, {});
  const LoopLog log = log_of(path_of(session));
  if (decided.empty()) TRY(log.append(*state, {}));
  for (const LoopDecision& one : decided) TRY(log.append(*state, one));
  if (!state->active()) TRY(put_away(*state));
  return state;
}

Result<std::optional<LoopState>> LoopStore::adopt(const std::string& session, const std::string& transcript) {
  const std::string unbound = path_of("");
  if (session.empty() || !is_real_folder(folder()) || !is_real_file(unbound)) return std::optional<LoopState>();
  TRY_VALUE(const Lock lock, lock_patiently(path_of("", ".lock")));
  TRY_VALUE(auto state, load(""));
  if (!state || !state->active()) return std::optional<LoopState>();
  TRY_VALUE(const Lock own, lock_patiently(path_of(session, ".lock")));
  const Status free = free_place_of(session);
  if (!free && free.error().kind == ErrorKind::kBusy) return std::optional<LoopState>();  // it has one of its own
  TRY(free);
  // Moved first, so that no other session can adopt it as well.
  if (::rename(unbound.c_str(), path_of(session).c_str()) != 0)
    return fail(ErrorKind::kIo, "cannot bind the loop {} to its session: {}", unbound, errno_text(errno));
  state->session = session;
  state->started = state->updated = now_text();
  state->transcript = transcript;
  state->transcript_start = state->transcript_read = transcript_size(transcript);
  state->tree = tree_fingerprint(project_, environment_);
  ::unlink(path_of(session, ".tools").c_str());
  ::unlink(path_of(session, ".jsonl").c_str());
  TRY(write_to(path_of(session), *state));
  leave_note(session);
  return state;
}

void LoopStore::count_tool_call(const std::string& session) const {
  if (session.empty() || !is_real_file(path_of(session))) return;
  const Result<Fd> file = open_for_append(path_of(session, ".tools"));
  if (file) static_cast<void>(write_all(file->get(), ".", "the count of tool calls"));
}

std::int64_t LoopStore::counted_tool_calls(const std::string& session) const {
  struct stat info{};
  const std::string path = path_of(session, ".tools");
  return ::lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) ? info.st_size : 0;
}

std::vector<LoopState> LoopStore::active(const std::string& session, std::vector<std::string>* damaged) const {
  std::vector<LoopState> states = states_in(folder(), session, false, damaged);
  std::erase_if(states, [](const LoopState& state) { return !state.active(); });
  return states;
}

std::vector<LoopState> LoopStore::history(const std::string& session, std::vector<std::string>* damaged) const {
  std::vector<LoopState> states = states_in(join_path(folder(), "history"), session, true, damaged);
  std::reverse(states.begin(), states.end());
  return states;
}

std::optional<std::string> project_of_session(const Environment& environment, const std::string& session,
                                              const std::string& cwd) {
  if (session.empty()) return std::nullopt;
  const std::string name = safe_name(session) + ".json";
  const auto has_it = [&](const std::string& project) {
    const std::string folder = join_path(project, ".ralph/loop");
    return is_real_file(join_path(folder, name)) && is_real_folder(folder);
  };
  for (std::string at = cwd; at.starts_with('/'); at = parent_path(at)) {
    if (has_it(at)) return at;
    if (at == "/") break;
  }
  const std::string note = note_path(environment, session);
  if (note.empty() || !is_real_file(note)) return std::nullopt;
  const auto text = read_file(note);
  if (!text) return std::nullopt;
  const std::string project(trim(*text));
  if (!has_it(project)) return std::nullopt;
  return project;
}

std::string project_for_loop(const std::string& cwd) {
  for (std::string at = cwd; at.starts_with('/'); at = parent_path(at)) {
    if (is_there(join_path(at, ".ralph")) || is_there(join_path(at, ".git"))) return at;
    if (at == "/") break;
  }
  return cwd;
}

std::string tree_fingerprint(const std::string& folder, const Environment& environment) {
  std::string top = folder;  // git names files from here
  while (!is_there(join_path(top, ".git"))) {
    if (!top.starts_with('/') || top == "/") return {};
    top = parent_path(top);
  }
  Launch launch;
  // What git would run for its own comfort is a setting of the repository, which is not ours.
  launch.argv = {"git", "-c", "core.fsmonitor=false", "status", "--porcelain=v2", "--branch", "-z", "-uall"};
  launch.environment = environment;
  launch.environment.set("GIT_OPTIONAL_LOCKS", "0");
  launch.folder = folder;
  const auto status = run_command(launch, kGitPatience);
  if (!status || status->exit_code != 0) return {};
  std::string text = status->output;
  // A file that was changed before may be changed further: size and time tell.
  for (const std::string& change : split(status->output, '\0')) {
    // "1" or "2", then seven or eight fields and the path; "?" and the path.
    size_t at = change.find(' ');
    for (int fields = change.starts_with('1') ? 7 : change.starts_with('2') ? 8 : 0; fields > 0; --fields)
      at = change.find(' ', std::min(at, change.size() - 1) + 1);
    struct stat info{};
    if (at >= change.size() || ::lstat(join_path(top, change.substr(at + 1)).c_str(), &info) != 0) continue;
    text += fmt::format("{} {}.{}\n", info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
  }
  return fmt::format("{:016x}", stable_hash(text));
}

}  // namespace ralph
