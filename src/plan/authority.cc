#include "plan/authority.h"

#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/text.h"
#include "engine/progress.h"
#include "journal/reader.h"
#include "journal/writer.h"
#include "settings/ralph_folder.h"

namespace ralph {
namespace {

constexpr int kVersion = 2;

// Without the copy, the work of an interrupted run can't be judged, so the user must decide.
tl::unexpected<Error> broken(const std::string& what) {
  return fail(ErrorKind::kInput, "{}; remove it to start over with tasks.json as it is now", what);
}

}  // namespace

Result<std::string> authority_path(const Environment& environment, const std::string& ralph_dir) {
  const std::string state = state_folder(environment);
  if (state.empty())
    return fail(ErrorKind::kInput,
                "neither XDG_STATE_HOME nor HOME is set; a plan's state has to be kept somewhere "
                "outside the project: set one of them to an absolute path");
  return join_path(state, fmt::format("plans/{}.json", state_name(base_name(parent_path(ralph_dir)), ralph_dir)));
}

Status make_copy_folder(const std::string& path) {
  return prepare_state_folder(parent_path(path), "a plan keeps its state there");
}

Status save_plan(const std::string& path, const SavedPlan& plan) {
  TRY(make_copy_folder(path));
  return write_file_atomically(path, to_compact_json(json_from(plan, {{"v", kVersion}})) + "\n", 0600);
}

Result<std::optional<SavedPlan>> load_plan(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0 && (errno == ENOENT || errno == ENOTDIR)) return std::optional<SavedPlan>();
  const auto text = require_plain_file(path, "");
  if (!text) return broken(text.error().message);
  const auto parsed = parse_json(*text, path);
  if (!parsed) return broken(parsed.error().message);
  const json::value& value = *parsed;
  const auto version = find_integer(value, "v").value_or(0);
  if (version < 1 || version > kVersion)
    return broken(fmt::format("{} was written by another version of ralph (format {})", path, version));
  SavedPlan plan = from_json<SavedPlan>(value);
  const FieldReader read{value.get_object()};
  read("head", plan.head);
  read("bases", plan.bases);
  std::optional<record::PendingReview> pending;
  read("pending", pending);
  if (pending) plan.pending = pending_from(*pending);
  if (plan.open) {
    const auto tasks = tasks_from(plan.tasks, "tasks");
    if (!tasks) return broken(fmt::format("{} has no plan in it ({})", path, first_line(tasks.error().message)));
  }
  return std::optional<SavedPlan>(std::move(plan));
}

std::string recall_from_journal(SavedPlan& plan, const std::string& project) {
  if (plan.journal.empty()) return {};
  const std::string path = join_path(project, fmt::format(".ralph/runs/{}/{}", plan.run_id, kJournalFile));
  auto reader = JournalReader::open(path);
  if (!reader) return reader.error().message;
  const std::string seal = seal_of(project, plan.run_id);
  Progress progress, believed;  // the latter ignores records that anyone could have added
  bool found = false;
  for (;;) {
    const auto record = reader->next();
    if (!record) return record.error().message;
    if (!*record) break;
    progress = fold(std::move(progress), **record);
    if (reader->last_hash() != plan.journal && (!found || reader->last_hash() != seal)) continue;
    found = true;
    believed = progress;
  }
  if (!found || !reader->is_whole()) return fmt::format("{} is not the journal that this plan was saved with", path);
  plan.head = believed.plan.head;
  plan.reviewed = believed.plan.reviewed;
  if (believed.iteration_open && believed.turn_outcome == TurnOutcome::kOk) plan.words = believed.final_words;
  plan.bases = believed.plan.bases;
  if (believed.plan.pending) plan.pending = pending_from(*believed.plan.pending);
  return {};
}

Result<Lock> lock_plan(const std::string& path, const std::string& ralph_dir) {
  auto lock = Lock::acquire(path + ".lock");
  if (!lock && lock.error().kind == ErrorKind::kBusy) {
    return fail(ErrorKind::kBusy, "another plan run is working on {}: {}; wait for it to end", ralph_dir,
                lock.error().message);
  }
  return lock;
}

Result<PlanCustody> take_plan(const PlanFiles& files) {
  PlanCustody custody;
  const auto path = authority_path(Environment::of_this_process(), files.ralph_dir);
  if (!path || !is_directory(parent_path(*path))) return custody;  // there has never been a run
  custody.authority = *path;
  TRY_VALUE(custody.lock, lock_plan(*path, files.ralph_dir));
  return custody;
}

Status forget_plan(const std::string& path) {
  ::unlink((path + ".objections").c_str());
  if (::unlink(path.c_str()) == 0 || errno == ENOENT || errno == ENOTDIR) return {};
  return fail(ErrorKind::kIo, "cannot remove {}, ralph's own copy of the plan that was here: {}; remove it yourself",
              path, errno_text(errno));
}

}  // namespace ralph
