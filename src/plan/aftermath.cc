#include "plan/aftermath.h"

#include <algorithm>
#include <cstdio>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "git/tree_state.h"
#include "json/value.h"
#include "os/files.h"
#include "plan/marker.h"
#include "plan/progress_log.h"

namespace ralph {
namespace {

bool says_the_same(std::string_view one, std::string_view other) {
  const auto a = parse_json(one, ""), b = parse_json(other, "");
  return a && b && *a == *b;
}

}  // namespace

Aftermath::Aftermath(const PlanFiles& files, Run& run, const Repository& repository, std::string iteration)
    : files_(files), run_(run), repository_(repository), iteration_(std::move(iteration)) {}

Enforcement Aftermath::enforce_plan(const StoryFile& before, PinnedFiles& pinned, const ReviewRules& rules,
                                    const SaidReview& said) {
  const std::string path = files_.tasks();
  if (const std::string_view instead = in_place_of_plan_folder(files_); !instead.empty()) {
    add_violation(fmt::format("{} was {} instead of a folder; it was restored, and its replacement is ignored.",
                              files_.shown(files_.ralph_dir), instead));
  }
  static_cast<void>(restore_plan_folder(files_));  // if this fails, write() fails too
  const auto found = read_plain_file(path);
  if (found) seen_[path] = *found;
  Enforcement enforced = enforce(before, found, rules, files_.shown(path));
  apply_said_review(enforced, before, rules, said);
  for (const PlanProblem& problem : enforced.violations) add_violation(problem.message);
  if (enforced.replaced) keep_beside(path);
  if (enforced.no_verdict) {
    note(fmt::format("the review of {} gave no verdict", rules.story));
    tell_agent(fmt::format("The last review of {} ended without a verdict in {}.", rules.story, files_.shown(path)));
  }
  if (enforced.heard) note(fmt::format("the review said its verdict on {}; ralph wrote it", rules.story));
  if (enforced.disagreed) {
    note(fmt::format("the review of {} said one thing and wrote another in {}; changes_requested counts", rules.story,
                     files_.shown(path)));
  }
  check_pinned(files_.prd(), pinned.prd);
  check_pinned(files_.prompt(), pinned.prompt);
  check_progress(pinned.progress);
  restored_ = !violations_.empty();
  return enforced;
}

// Limits number and length: an agent controls both, and all violations go into the next prompt.
void Aftermath::add_violation(std::string why) {
  constexpr size_t kMost = 100, kLongest = 500;
  if (violations_.size() == kMost) return;
  if (violations_.size() == kMost - 1) why = "There were more such changes; all of them were taken back.";
  if (why.size() > kLongest) why = fmt::format("{}…", prefix_of_characters(why, kLongest));
  violations_.push_back(std::move(why));
}

void Aftermath::check_pinned(const std::string& path, const std::optional<std::string>& wanted) {
  if (!wanted) return;
  seen_[path] = *wanted;
  if (read_plain_file(path) == wanted) return;
  keep_beside(path);
  add_violation(fmt::format("{} is pinned for the whole run and was put back. Write what you learn into {}.",
                            files_.shown(path), files_.shown(files_.progress())));
}

// progress.txt is the memory of the iterations: no entry may be lost, whatever an agent or a check does to the file.
void Aftermath::check_progress(std::optional<std::string>& log) {
  if (!log) return;
  const std::string path = files_.progress();
  const auto found = read_plain_file(path);
  log = with_log_kept(*log, found);
  if (found) seen_[path] = *found;
  if (found == log) return;
  add_violation(
      fmt::format("{} lost entries: it is append-only, and they were put back. Add entries at its end; only "
                  "what is above its first line \"---\" may be edited.",
                  files_.shown(path)));
}

// Reverted content is never lost: it may have been the user's edit.
void Aftermath::keep_beside(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return;
  const std::string aside = unused_path(fmt::format("{}.rejected-{}-{}", path, run_.id, run_.progress().iteration));
  if (::rename(path.c_str(), aside.c_str()) != 0) return;
  // The file may get committed, so mask any secret that an agent wrote there.
  if (const auto text = S_ISREG(info.st_mode) ? read_file(aside) : Result<std::string>(); text) {
    const std::string masked = run_.redactor.redact(*text);
    if (masked != *text) static_cast<void>(replace_file(aside, masked));
  }
  note(fmt::format("what was found is kept as {}", files_.shown(aside)));
}

void Aftermath::check_marker(const std::string& text) {
  if (text.empty()) return;
  const std::string path = join_path(run_.project, kMarkerFile);
  if (read_plain_file(path) == text) return;
  add_violation(fmt::format("{} was changed or removed; it is ralph's own, so that has no effect.", kMarkerFile));
  // A folder of that name would block the next marker.
  struct stat info{};
  if (::lstat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode)) keep_beside(path);
  static_cast<void>(write_file_atomically(path, text));
}

Status Aftermath::check_branch(const std::string& branch) {
  TRY_VALUE(const auto now, repository_.branch());
  if (branch.empty() || now == branch) return {};
  const std::string there = repository_.head().value_or("");
  std::string what = fmt::format("The branch was changed from {} to {}", branch, now.value_or("a detached HEAD"));
  std::string kept = now.value_or("");
  if (!now && !there.empty()) {
    kept = fmt::format("{}/{}-detached", run_.id, run_.progress().iteration);
    static_cast<void>(repository_.keep(kept, there));
    kept = "refs/ralph/" + kept;
  }
  seen_.clear();  // git writes the branch's files
  const auto moved = repository_.go_back_to(branch);
  if (!moved) {
    add_violation(fmt::format("{}. Go back to {} and do the work there: {}.", what, branch, moved.error().message));
  } else if (*moved) {
    add_violation(fmt::format("{}; {} is the current one again, with all commits. Stay on it.", what, branch));
  } else {
    add_violation(
        fmt::format("{}; {} is the current one again, without the commits that were made there. Bring over what is "
                    "good from {}.",
                    what, branch, kept));
  }
  return {};
}

Status Aftermath::check_history(const std::string& head, const std::string& branch) {
  TRY(check_branch(branch));
  if (head.empty()) return {};
  TRY_VALUE(const bool goes_on, repository_.is_ancestor(head));
  if (!goes_on) {
    const std::string name = fmt::format("{}/{}", run_.id, run_.progress().iteration);
    const bool kept = repository_.keep(name, head).has_value();
    add_violation(fmt::format("History was rewritten: commit {} is no longer part of it{}. Only add commits.",
                              head.substr(0, 9), kept ? fmt::format(" (it is kept as refs/ralph/{})", name) : ""));
  }
  return {};
}

bool Aftermath::check_unchanged(StoryFile& file, PinnedFiles& pinned, ReviewRules rules, std::string_view when) {
  const std::string path = files_.tasks();
  const std::string shown = files_.shown(path);
  const size_t violations_before = violations_.size();
  const bool folder = in_place_of_plan_folder(files_).empty();
  const auto found = folder ? read_plain_file(path) : std::nullopt;
  if (folder) {
    check_pinned(files_.prd(), pinned.prd);
    check_pinned(files_.prompt(), pinned.prompt);
    check_progress(pinned.progress);
  }
  const bool edited = found != file.text;
  if (edited && found && says_the_same(*found, file.text)) {
    seen_[path] = *found;  // only whitespace differs
  } else if (edited) {
    rules.frozen = true;
    const Enforcement enforced = enforce(file, found, rules, shown);
    if (enforced.violations.empty()) {
      seen_[path] = *found;
      to_commit(path);
      note(fmt::format("{} was edited {}; what was added counts", shown, when));
    } else {
      if (folder) keep_beside(path);
      add_violation(fmt::format("{} was changed {}; the changes that are not allowed were taken back: {}", shown, when,
                                enforced.violations.front().message));
    }
    file = enforced.file;
  }
  const bool restored = violations_.size() > violations_before;
  restored_ = restored_ || restored;
  return !edited && !restored;
}

void Aftermath::commit_leftovers(const std::string& tasks, const PinnedFiles& pinned) {
  for (const auto& [path, text] : {std::pair<std::string, std::optional<std::string>>{files_.tasks(), tasks},
                                   {files_.prd(), pinned.prd},
                                   {files_.prompt(), pinned.prompt}}) {
    if (text && read_plain_file(path) == text) to_commit(path);
  }
}

Status Aftermath::put(const std::string& path, const std::string& text) {
  const auto there = read_plain_file(path);
  if (there == text) return {};
  struct stat info{};
  const bool strange = ::lstat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode);
  const auto seen = seen_.find(path);
  const bool news = there && seen != seen_.end() && *there != seen->second;  // changed since the last read
  if (strange || news) keep_beside(path);
  TRY(write_file_atomically(path, text));
  seen_[path] = text;
  to_commit(path);
  return {};
}

void Aftermath::to_commit(const std::string& path) {
  if (std::find(written_.begin(), written_.end(), path) == written_.end()) written_.push_back(path);
}

Status Aftermath::write(const StoryFile& file, const PinnedFiles& pinned) {
  TRY(restore_plan_folder(files_));
  TRY(put(files_.tasks(), file.text));
  if (pinned.prd) TRY(put(files_.prd(), *pinned.prd));
  if (pinned.prompt) TRY(put(files_.prompt(), *pinned.prompt));
  if (pinned.progress) TRY(put(files_.progress(), *pinned.progress));
  return {};
}

void Aftermath::carried_back(const std::string& story, const std::vector<std::string>& paths) {
  carried_ = story;
  for (const std::string& path : paths) to_commit(path);
}

Status Aftermath::commit(const Verdict& verdict) {
  if (written_.empty()) return {};
  std::string what;
  if (!carried_.empty()) {
    const bool approved = verdict.outcome == StoryStep::kApproved || verdict.outcome == StoryStep::kAutoApproved;
    const auto done = repository_.commit(
        written_, fmt::format("review: [{}] - {}{}", carried_,
                              approved                                  ? "approved"
                              : verdict.outcome == StoryStep::kNone     ? "no verdict"
                              : verdict.outcome == StoryStep::kSentBack ? "sent back"
                                                                        : "changes requested",
                              restored_ ? fmt::format("; what {} may not change is taken back", iteration_) : ""));
    if (!done) note(fmt::format("what the review wrote could not be committed: {}", done.error().message));
    return {};
  }
  if (verdict.changed) what = fmt::format("{} {}", verdict.story, replace_all(to_string(verdict.outcome), "_", " "));
  if (restored_) {
    what += fmt::format(
        "{}take back what {}", what.empty() ? "" : "; ",
        iteration_.empty() ? "was changed while the checks ran" : fmt::format("{} may not change", iteration_));
  }
  if (what.empty()) what = "the plan as ralph keeps it";
  const auto done = repository_.commit(written_, fmt::format("ralph: {}", what));
  if (!done) note(fmt::format("ralph's own changes of the plan could not be committed: {}", done.error().message));
  return {};
}

void Aftermath::tell_uncommitted(const std::vector<std::string>& paths) {
  if (paths.empty()) return;
  note(fmt::format("uncommitted: {}", named_paths(paths)));
  tell_agent(
      fmt::format("The last iteration left uncommitted changes ({}). Look at them, and commit them if they are good.",
                  named_paths(paths)));
}

std::string Aftermath::feedback() const {
  std::string text;
  if (!violations_.empty()) {
    text = "In the last iteration ralph took back what was not allowed:\n";
    for (const std::string& violation : violations_) text += fmt::format("- {}\n", violation);
  }
  for (const std::string& line : for_agent_) text += (text.empty() ? "" : "\n") + line + "\n";
  return std::string(trim(text));
}

}  // namespace ralph
