#include "session/loop_store.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/text.h"
#include "engine/watch.h"
#include "git/fingerprint.h"
#include "os/files.h"
#include "os/lock.h"
#include "os/poll.h"
#include "session/loop_state.h"
#include "session/loop_v1.h"
#include "session/session_note.h"
#include "session/tally.h"
#include "session/transcript.h"
#include "settings/owner.h"
#include "settings/ralph_folder.h"
#include "settings/settings.h"
#include "version.h"

namespace ralph {

// A session's run starts no process and has no observer.
struct SessionRun::Parts {
  explicit Parts(const Environment& environment) : redactor(environment.as_lines()) {}
  SystemClock clock;
  NoProcesses processes;
  NullListener listener;
  Redactor redactor;
};

namespace {

constexpr Milliseconds kPatience{2000};  // with another hook of the same session
constexpr const char* kHostGone = "its process is gone";
constexpr std::string_view kClear = "clear";  // the host's word for the end of a session by /clear
constexpr Milliseconds kJustNow{10'000};      // from the end of a cleared session to the start of the next
constexpr std::string_view kToolsFile = "tools";
constexpr std::string_view kPromptsFile = "prompts";

Result<Lock> lock_patiently(const std::string& path) {
  const SystemClock clock;
  const MonotonicTime until = clock.monotonic() + kPatience;
  for (;;) {
    auto lock = Lock::acquire(path);
    if (lock || lock.error().kind != ErrorKind::kBusy || clock.monotonic() >= until) return lock;
    sleep_for(Milliseconds(2));
  }
}

}  // namespace

std::int64_t SessionRun::counted_tool_calls() const {
  return tally_in(join_path(run.folder, kToolsFile));
}

std::int64_t SessionRun::counted_prompts() const {
  return tally_in(join_path(run.folder, kPromptsFile));
}

std::string LoopStore::note_of(const std::string& session) const {
  return note_path(environment_, project_, session);
}

std::optional<RunFolder> LoopStore::find(const std::string& session) const {
  const auto note = read_note(note_of(session));
  return note && note->project == project_ ? folder_of_run(project_, note->run) : std::nullopt;
}

Result<std::optional<LoopState>> LoopStore::load(const std::string& session) const {
  const auto folder = find(session);
  if (!folder) return std::optional<LoopState>();
  TRY_VALUE(auto state, read_loop(*folder, true));
  if (state) state->host.session = session;  // from its note, in case an adoption was interrupted
  return state;
}

Result<SessionRun> LoopStore::open_run(const RunFolder& folder, LoopRequest request) const {
  auto parts = std::make_shared<SessionRun::Parts>(environment_);
  TRY_VALUE(Run run, Run::open_session(folder, policy_of(request),
                                       {parts->processes, parts->clock, parts->redactor, parts->listener, project_, {}},
                                       kPatience));
  return SessionRun{std::move(request), std::move(parts), std::move(run)};
}

Result<std::optional<SessionRun>> LoopStore::open(const std::string& session) const {
  const auto folder = find(session);
  if (!folder) return std::optional<SessionRun>();
  auto request = read_request(join_path(folder->path, kRequestFile));
  if (!request && request.error().kind == ErrorKind::kNotFound) return std::optional<SessionRun>();
  if (!request) return tl::unexpected(request.error());
  TRY_VALUE(SessionRun loop, open_run(*folder, *std::move(request)));
  if (loop.run.progress().status != StopStatus::kNone) return std::optional<SessionRun>();
  return std::optional<SessionRun>(std::move(loop));
}

Result<LoopState> LoopStore::begin(const LoopRequest& request, record::SessionBound bound) {
  TRY(prepare_ralph_folder(project_));
  TRY_VALUE(const RunFolder folder, create_run_folder(project_, new_run_id(SystemClock().wall())));
  auto begun = begin_in(folder, request, std::move(bound));
  if (!begun) {  // without a note of it, no command could end the loop
    std::error_code ignored;
    std::filesystem::remove_all(folder.path, ignored);
  }
  return begun;
}

Result<LoopState> LoopStore::begin_in(const RunFolder& folder, const LoopRequest& request, record::SessionBound bound) {
  json::object unmasked = json_from(request);
  TRY(replace_file(join_path(folder.path, kRequestFile), to_compact_json(unmasked) + "\n", 0600));
  TRY_VALUE(SessionRun loop, open_run(folder, request));
  record::RunStarted started;
  started.run_id = folder.id;
  started.way = WayIn::kSession;
  started.ralph_version = RALPH_VERSION;
  started.project = project_;
  started.agent = "a host's session";
  started.prompt_source = "the session";
  started.prompt = request.task;
  started.max_iterations = request.max_iterations;
  started.settings = std::move(unmasked);
  TRY(loop.run.note(std::move(started)));
  const std::string session = bound.session;
  TRY(loop.run.note(std::move(bound)));
  // Unreadable settings are treated as missing; every other command reports them.
  if (const auto settings = load_settings(project_, {}, Distrusted::kLeftOut, environment_); settings) {
    loop.run.policy.protect = settings->settings.protect;
    TRY(Watch(loop.run).begin_session());
    if (request.has_criteria()) TRY(note_outset(outset_of(folder.id), project_, environment_, request.criteria()));
  }
  TRY(write_note(note_of(session), {project_, folder.id}));
  return loop.state();
}

Result<LoopState> LoopStore::start(const LoopRequest& request, const std::string& session,
                                   const std::string& transcript, const std::string& prompt_id) {
  if (project_.empty() || (project_ == "/" && !path_exists("/.ralph") && !path_exists("/.git")))
    return fail(ErrorKind::kUsage, "a loop keeps its state in a project's folder, which / is not; start it in one");
  const std::string note = note_of(session);
  if (note.empty())
    return fail(ErrorKind::kInput,
                "neither XDG_STATE_HOME nor HOME is set; session loops are recorded outside the project: set one "
                "of them to an absolute path");
  TRY(make_directories(parent_path(note)));
  TRY_VALUE(const Lock lock, lock_patiently(note + ".lock"));
  TRY(make_room_for(session));
  ::unlink(cancellation_path(note).c_str());  // of an earlier loop
  return begin(request, {session, transcript, transcript_size(transcript), tree_fingerprint(project_, environment_), 0,
                         0, 0, prompt_id});
}

// Finishes an interrupted close().
Status LoopStore::make_room_for(const std::string& session) {
  const auto folder = find(session);
  if (!folder) return {};
  TRY_VALUE(const auto there, read_loop(*folder, true));
  if (!there) return {};
  if (there->active()) {
    return fail(
        ErrorKind::kBusy, "a loop is active {} (iteration {} of {}, since {}); cancel it first: ralph loop cancel{}",
        session.empty() ? "here that no session has adopted yet" : "in this session", there->iteration,
        there->request.max_iterations, to_iso8601(there->host.since), session.empty() ? "" : " --session " + session);
  }
  ::unlink(join_path(folder->path, kRequestFile).c_str());
  return {};
}

Status LoopStore::close(SessionRun& loop, StopStatus status, const std::string& reason) const {
  record::RunEnded ended;
  ended.status = status;
  ended.reason = reason;
  ended.exit_code = exit_code_of(status);
  ended.iterations = loop.run.progress().iteration;
  ended.duration_ms = loop.run.progress().run_time.count();
  const std::string note = note_of(loop.run.progress().host.session);
  HeldChecks(note).end();
  ::unlink((note + ".snapshots").c_str());
  ::unlink(outset_of(loop.run.id).c_str());
  TRY(loop.run.note(std::move(ended)));
  ::unlink(join_path(loop.run.folder, kRequestFile).c_str());
  // If the loop's adoption was interrupted, the unbound note may belong to another loop.
  if (const auto named = read_note(note); named && named->run == loop.run.id) ::unlink(note.c_str());
  return {};
}

Result<std::optional<LoopState>> LoopStore::cancel(const std::string& session) const {
  TRY_VALUE(auto loop, open(session));
  if (!loop) return std::optional<LoopState>();
  TRY(close(*loop, StopStatus::kCancelled, "cancelled by the user"));
  ::unlink(note_of(session).c_str());
  if (!session.empty()) TRY(replace_file(cancellation_path(note_of(session)), "", 0600));
  return std::optional(loop->state());
}

Status LoopStore::note_host(const std::string& session) const {
  return session.empty() ? Status() : ralph::note_host(note_of(session));
}

Status LoopStore::note_session_end(const std::string& session, const std::string& reason) const {
  TRY_VALUE(auto loop, open(session));
  if (!loop || loop->run.progress().host.ended == reason) return {};
  if (reason == kClear) {
    TRY(loop->run.note(record::SessionEnded{session, reason}));
    TRY(close(*loop, StopStatus::kCancelled, "its session was cleared (/clear)"));
    ::unlink(note_of(session).c_str());
    return {};
  }
  if (!reason.empty()) HeldChecks(note_of(session)).end();
  return loop->run.note(record::SessionEnded{session, reason});
}

std::optional<LoopState> LoopStore::just_cleared() const {
  const std::string recent = to_iso8601(SystemClock().wall() - kJustNow);
  for (LoopState& state : history()) {
    if (state.host.ended == kClear && state.status == LoopStatus::kCancelled && state.updated >= recent)
      return std::move(state);
  }
  return std::nullopt;
}

Result<std::optional<LoopState>> LoopStore::adopt(const std::string& session, const std::string& transcript) {
  const std::string unbound = note_of("");
  const auto folder = find("");
  if (session.empty() || !folder) return std::optional<LoopState>();
  TRY_VALUE(const Lock lock, lock_patiently(unbound + ".lock"));
  TRY_VALUE(const Lock own, lock_patiently(note_of(session) + ".lock"));
  const Status free = make_room_for(session);
  if (!free && free.error().kind == ErrorKind::kBusy) return std::optional<LoopState>();  // it has its own loop
  TRY(free);
  ::unlink(cancellation_path(note_of(session)).c_str());
  TRY_VALUE(auto loop, open(""));
  if (!loop) return std::optional<LoopState>();
  // Rename first, so that no other session can adopt it too.
  if (::rename(unbound.c_str(), note_of(session).c_str()) != 0)
    return fail(ErrorKind::kIo, "cannot bind the loop {} to its session: {}", loop->run.id, errno_text(errno));
  for (const std::string_view file : {kToolsFile, kPromptsFile}) ::unlink(join_path(folder->path, file).c_str());
  TRY(loop->run.note(record::SessionBound{session, transcript, transcript_size(transcript),
                                          tree_fingerprint(project_, environment_), 0, 0, 0, ""}));
  return std::optional(loop->state());
}

// An active loop of version 0.1 continues as a run.
bool LoopStore::upgrade(const std::string& session) {
  const std::string name = file_name_of_session(session);
  const std::string path = loop_file_v1(project_, name);
  const auto old = path.empty() ? std::nullopt : read_loop_v1(path);
  if (!old || !old->active()) return false;
  struct stat calls{};
  const bool counted = ::lstat(join_path(parent_path(path), name + ".tools").c_str(), &calls) == 0;
  const Progress::Host& host = old->host;
  const std::int64_t made = std::max<std::int64_t>(host.transcript_calls, counted ? calls.st_size : 0);
  const bool goes_on = begin(old->request, {session, host.transcript, host.transcript_start, host.tree,
                                            host.transcript_read, made, static_cast<int>(old->iteration), ""})
                           .has_value();
  if (goes_on) forget_loop_v1(project_, name);
  return goes_on;
}

void LoopStore::add_to_count(const std::string& session, std::string_view file, std::string_view id) const {
  const auto folder = session.empty() ? std::nullopt : find(session);
  if (folder) add_to_tally(join_path(folder->path, file), id);
}

std::int64_t LoopStore::count_in(const std::string& session, std::string_view file) const {
  const auto folder = find(session);
  return folder ? tally_in(join_path(folder->path, file)) : 0;
}

void LoopStore::count_tool_call(const std::string& session, std::string_view id) const {
  add_to_count(session, kToolsFile, id);
}

std::int64_t LoopStore::counted_tool_calls(const std::string& session) const {
  return count_in(session, kToolsFile);
}

void LoopStore::count_prompt(const std::string& session, std::string_view id) const {
  add_to_count(session, kPromptsFile, id);
}

std::int64_t LoopStore::counted_prompts(const std::string& session) const {
  return count_in(session, kPromptsFile);
}

std::vector<LoopState> LoopStore::all(const std::string& session, std::vector<std::string>* damaged) const {
  std::vector<LoopState> states;
  const auto folders = list_runs(project_);
  for (const RunFolder& folder : folders ? *folders : std::vector<RunFolder>()) {
    auto state = read_loop(folder, false);
    const auto wanted = session.empty() ? std::nullopt : find(session);
    const bool is_loop = is_real_file(join_path(folder.path, kRequestFile));
    if (!state && is_loop && damaged && (session.empty() || (wanted && wanted->id == folder.id)))
      damaged->push_back(state.error().message);
    if (!state || !*state || (!session.empty() && (*state)->host.session != session)) continue;
    if ((*state)->status == LoopStatus::kActive) {
      const auto note = read_note(note_of((*state)->host.session));
      if (note && note->host_is_gone()) (*state)->status = LoopStatus::kSessionEnded, (*state)->host.ended = kHostGone;
      const auto held = checks_of((*state)->host.session).pending();
      (*state)->checking = held && held->is_running();
    }
    states.push_back(**std::move(state));
  }
  return states;
}

std::vector<LoopState> LoopStore::active(const std::string& session, std::vector<std::string>* damaged) const {
  std::vector<LoopState> states = all(session, damaged);
  // A run without a note was interrupted at its start, or belongs to another machine.
  std::erase_if(states, [&](const LoopState& state) {
    const auto folder = find(state.host.session);
    return !state.active() || !folder || folder->id != state.run;
  });
  std::reverse(states.begin(), states.end());
  return states;
}

std::vector<LoopState> LoopStore::history(const std::string& session, std::vector<std::string>* damaged) const {
  std::vector<LoopState> states = all(session, damaged);
  std::erase_if(states, [](const LoopState& state) { return state.active(); });
  std::vector<LoopState> old = loop_history_v1(project_);
  for (auto state = old.rbegin(); state != old.rend(); ++state) {
    if (session.empty() || state->host.session == session) states.push_back(*state);
  }
  return states;
}

std::optional<std::string> project_of_session(const Environment& environment, const std::string& session) {
  if (session.empty()) return std::nullopt;
  const auto note = read_note(note_path(environment, "", session));
  if (!note) return std::nullopt;
  if (folder_of_run(note->project, note->run)) return note->project;
  if (!note->run.empty() || !LoopStore(note->project, environment).upgrade(session)) return std::nullopt;
  return note->project;
}

bool take_cancellation(const Environment& environment, const std::string& session) {
  const std::string note = note_path(environment, "", session);
  return !session.empty() && !note.empty() && ::unlink(cancellation_path(note).c_str()) == 0;
}

namespace {

// Only the variables that identify the user.
Environment environment_for_owners() {
  Environment few;
  for (const char* name : {"HOME", "XDG_CONFIG_HOME", "SUDO_UID"}) {
    if (const char* value = std::getenv(name)) few.set(name, value);
  }
  return few;
}

}  // namespace

std::string project_for_loop(const std::string& cwd, std::string* passed_over) {
  std::optional<Owners> owners;  // read on demand
  for (std::string at = cwd; at.starts_with('/'); at = parent_path(at)) {
    for (const std::string_view name : {".ralph", ".git"}) {
      if (!path_exists(join_path(at, name))) continue;
      if (!owners) owners = owners_of(environment_for_owners());
      const std::string fault = at == cwd ? owners->fault(at, name) : owners->fault_above(at, name);
      if (fault.empty()) return at;
      if (passed_over && passed_over->empty()) *passed_over = fault;
    }
    if (at == "/") break;
  }
  return cwd;
}

}  // namespace ralph
