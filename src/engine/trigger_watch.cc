#include "engine/trigger_watch.h"

#include "base/text.h"
#include "base/utf8.h"
#include "engine/scm_command.h"
#include "engine/trigger_places.h"
#include "engine/watch.h"
#include "git/dot_git.h"
#include "git/git_places.h"
#include "git/own_index.h"
#include "git/push_target.h"
#include "git/repository.h"
#include "git/repository_mark.h"
#include "git/tree_state.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr size_t kMostReported = 100;

// For the agent, which can't know that only the user may make such a change.
std::string message_about(const record::TriggersChanged& changed) {
  std::string put_back, failed, reported, headless;
  for (const record::ChangedFile& file : changed.files) {
    const std::string line =
        fmt::format("- {} was {} ({})\n", fit_to_width(file.path, 200), file.what, fit_to_width(file.note, 200));
    (file.what == kHeadless                 ? headless
     : file.action == WatchAction::kPutBack ? put_back
     : file.action == WatchAction::kFailed  ? failed
                                            : reported) += line;
  }
  std::string text;
  if (!put_back.empty())
    text +=
        "These files make other programs run code. They were put back as they were when the run began; only the user "
        "changes them. If the work needs such a change, say so in your answer:\n" +
        put_back;
  if (!failed.empty())
    text +=
        "These files make other programs run code. The work is not complete until they are again as they were when "
        "the run began:\n" +
        failed;
  if (!headless.empty())
    text += "HEAD leads to no commit any more. The work is not complete until it leads to one again:\n" + headless;
  if (!reported.empty())
    text += "These files make other programs run code, and their change was shown to the user:\n" + reported;
  if (changed.more > 0) text += fmt::format("- and {} more\n", changed.more);
  return std::string(trim(text));
}

// "core.hooksPath, filter.x.clean; git runs what it says"
std::string why_of(const Triggers::Change& change) {
  constexpr size_t kMostNamed = 8;
  std::vector<std::string> names = change.names;
  if (names.size() > kMostNamed) {
    const size_t more = names.size() - kMostNamed;
    names.resize(kMostNamed);
    names.push_back(fmt::format("{} more", more));
  }
  if (!change.others.empty()) names = {count_of(change.others.size(), "file") + " of its package"};
  return names.empty() ? change.place.why : fmt::format("{}; {}", join(names, ", "), change.place.why);
}

}  // namespace

Result<std::vector<std::string>> TriggerWatch::after_kill() {
  const std::string& manifest = run_.progress().watch.triggers;  // empty after an orderly end
  if (manifest.empty()) return std::vector<std::string>();
  TRY_VALUE(triggers_, Triggers::load(join_path(run_.store, "triggers"), manifest));
  if (const TakenIndex& index = triggers_->repository().index; !index.hash.empty())
    run_.index = std::make_shared<OwnIndex>(own_index(index));
  return look(StepKind::kAgent);
}

OwnIndex TriggerWatch::own_index(TakenIndex taken) {
  const auto places = find_git_places(run_.project, this_machine());
  const auto make_git = [&run = run_, top = places ? places->top : ""](const auto& environment) {
    return contained_git(run, GitPlace{run.project, top}, environment);
  };
  return OwnIndex(join_path(run_.store, "git"), make_git, std::move(taken));
}

// They predate the run, but the user may not know about them.
void TriggerWatch::report_hidden(const TakenIndex& taken) {
  if (taken.hidden.empty()) return;
  std::vector<std::string> paths;
  for (const auto& [path, stamp] : taken.hidden) paths.push_back(fit_to_width(path, 200));
  run_.listener.on_trouble(fmt::format("Not committed, and {}: {}", kHowToSeeForged, named_paths(paths)));
}

Status TriggerWatch::begin() {
  if (triggers_) return {};
  const std::string store = join_path(run_.store, "triggers");
  const TriggerPlaces places = trigger_places(run_.project, run_.environment, run_.policy.agent_programs);
  // Errors are ignored: if git is missing or refuses the repository, nothing is committed or pushed either.
  Triggers::Repository repository;
  if (find_git_places(run_.project, this_machine())) {
    OwnIndex index = own_index({});
    repository.index = index.take().value_or(TakenIndex());
    report_hidden(repository.index);
    if (!repository.index.hash.empty()) run_.index = std::make_shared<OwnIndex>(std::move(index));
    repository.push = push_target(contained_git(run_)).value_or(PushTarget());
  }
  TRY_VALUE(triggers_, Triggers::take(places.places, places.roots, store, std::move(repository)));
  return run_.note(record::TriggersWatched{static_cast<std::int64_t>(triggers_->size()), triggers_->manifest()});
}

Result<std::string> TriggerWatch::why_not_push(const std::vector<std::string>& words) {
  if (!triggers_ || triggers_->repository().push.empty()) return std::string();
  const Git git = contained_git(run_);
  TRY_VALUE(const PushTarget now, push_target(git));
  TRY_VALUE(const auto branch, Repository(git, run_.project).branch());
  return why_redirected(triggers_->repository().push, now, branch.value_or(""), words);
}

record::ChangedFile TriggerWatch::handle(const Triggers::Change& change) {
  const std::string& path = change.place.path;
  record::ChangedFile changed;
  const bool inside = path.starts_with(run_.project + "/");
  changed.path = inside ? path.substr(run_.project.size() + 1) : path;
  changed.what = change.what;
  changed.note = why_of(change);
  if (!change.place.put_back) return changed;
  const std::string name = free_name_for(run_, inside ? changed.path : path.substr(path.find_first_not_of('/')));
  const std::string kept = join_path(run_.folder, name);
  if (const Status back = triggers_->put_back(change, kept); !back) {
    changed.action = WatchAction::kFailed;
    changed.note = fmt::format("it could not be put back: {}", back.error().message);
    return changed;
  }
  changed.action = WatchAction::kPutBack;
  if (!path_exists(kept)) return changed;
  changed.kept = name;
  mask_kept_file(run_, changed);
  return changed;
}

Result<std::vector<std::string>> TriggerWatch::look(StepKind after) {
  std::vector<std::string> restored;
  if (!triggers_) return restored;
  record::TriggersChanged note;
  note.iteration = run_.progress().iteration;
  note.after = after;
  const auto report = [&](const Triggers::Change& change) {
    const std::string key = fmt::format("{} {} {}", change.place.path, change.what, change.sha256);
    if (!change.place.put_back && !reported_.insert(key).second) return;
    record::ChangedFile changed = handle(change);
    // A change that can't be restored is reported once per iteration.
    if (changed.action == WatchAction::kFailed && !reported_.insert(fmt::format("{} {}", note.iteration, key)).second)
      return;
    const bool git = changed.path.starts_with('/') || is_in_git_folder(changed.path);
    if (changed.action == WatchAction::kPutBack && !git) {
      restored.push_back(changed.path);
      for (const std::string& path : change.others) {
        if (path.starts_with(run_.project + "/")) restored.push_back(path.substr(run_.project.size() + 1));
      }
    }
    if (note.files.size() < kMostReported) {
      note.files.push_back(std::move(changed));
    } else {
      ++note.more;
    }
  };
  // Repeat while a file that git needs is missing: without it, the repository is lost.
  for (bool again = true; again;) {
    again = false;
    for (const Triggers::Change& change : triggers_->changes()) {
      report(change);
      again = again || (change.place.kind == TriggerKind::kPlainFile && !path_exists(change.place.path));
    }
  }
  for (const Triggers::Change& change : triggers_->headless_repositories()) report(change);
  if (note.files.empty()) return restored;
  note.feedback = message_about(note);
  TRY(run_.note(std::move(note)));
  return restored;
}

}  // namespace ralph
