#include "plan/archive.h"

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "os/files.h"
#include "plan/archive_summary.h"
#include "plan/authority.h"
#include "plan/scaffold.h"

namespace ralph {
namespace {

constexpr std::string_view kArchiveFolder = "ralph-archive";
constexpr std::string_view kSummaryFile = "summary.md";
constexpr size_t kLongestLabel = 100;

struct Kept {
  std::string_view name;
  std::string content;
};

// Reads the plan's existing files. Does not follow symlinks: an agent could have pointed one at a secret to get it
// committed.
Result<std::vector<Kept>> read_plan(const std::string& ralph_dir) {
  std::vector<Kept> plan;
  for (const std::string_view name : {kPrdFile, kTasksFile, kProgressFile}) {
    const std::string path = join_path(ralph_dir, name);
    if (!file_exists(path)) continue;
    TRY_VALUE(std::string content, require_plain_file(path, ""));
    plan.push_back({name, std::move(content)});
  }
  return plan;
}

std::string_view content_of(const std::vector<Kept>& plan, std::string_view name) {
  const auto found = std::find_if(plan.begin(), plan.end(), [&](const Kept& file) { return file.name == name; });
  return found == plan.end() ? std::string_view{} : std::string_view(found->content);
}

Status expect_something(const std::vector<Kept>& plan, const std::string& ralph_dir) {
  if (plan.empty()) return fail(ErrorKind::kInput, "there is no plan in {}; ralph plan init makes one", ralph_dir);
  if (is_untouched_prd(content_of(plan, kPrdFile)) && is_untouched_tasks(content_of(plan, kTasksFile)))
    return fail(ErrorKind::kInput, "there is nothing to archive: the plan in {} is still the template", ralph_dir);
  return {};
}

PlanFacts gather_facts(const ArchiveRequest& request, const std::vector<Kept>& plan) {
  const std::string tasks = request.files.tasks();
  PlanFacts facts;
  if (file_exists(tasks)) {
    facts = facts_from(content_of(plan, kTasksFile));
  } else {
    facts.problem = fmt::format("{} is missing", tasks);
  }
  facts.ended = to_iso8601(request.now).substr(0, 10);
  facts.started = started_in(content_of(plan, kProgressFile));
  if (facts.started.empty()) facts.started = Repository(request.git).first_day_of(tasks).value_or("");
  return facts;
}

std::string default_label(const ArchiveRequest& request, const PlanFacts& facts) {
  if (!request.label.empty()) return request.label;
  if (!facts.tasks.branch.empty()) return facts.tasks.branch;
  return Repository(request.git).branch().value_or(std::nullopt).value_or("");
}

// Creates a new folder, even if one with the same date and name exists.
Result<std::string> make_archive_folder(const std::string& project, const std::string& name) {
  const std::string archives = join_path(project, kArchiveFolder);
  TRY(expect_real_folder(archives));
  TRY(make_directories(archives));
  for (int number = 1;; ++number) {
    std::string folder = join_path(archives, number == 1 ? name : fmt::format("{}-{}", name, number));
    if (::mkdir(folder.c_str(), 0755) == 0) return folder;
    if (errno != EEXIST) return fail(ErrorKind::kIo, "cannot create the folder {}: {}", folder, errno_text(errno));
  }
}

// Verifies that every copy equals what was read, and that the originals have not changed.
Status expect_copied(const std::string& ralph_dir, const std::string& folder, const std::vector<Kept>& plan) {
  for (const Kept& file : plan) {
    const std::string original = join_path(ralph_dir, file.name);
    TRY_VALUE(const std::string copy, read_file(join_path(folder, file.name)));
    if (copy != file.content)
      return fail(ErrorKind::kIo, "the copy of {} is not what was written; check the disk", original);
    TRY_VALUE(const std::string now, read_file(original));
    if (now != file.content)
      return fail(ErrorKind::kBusy, "{} was changed while it was archived; try again when nobody edits it", original);
  }
  return {};
}

Status copy_to(const std::string& folder, const std::vector<Kept>& plan, const std::string& summary) {
  for (const Kept& file : plan) TRY(write_file_atomically(join_path(folder, file.name), file.content));
  return write_file_atomically(join_path(folder, kSummaryFile), summary);
}

void remove_copies(const std::string& folder, const std::vector<Kept>& plan) {
  for (const Kept& file : plan) ::unlink(join_path(folder, file.name).c_str());
  ::unlink(join_path(folder, kSummaryFile).c_str());
  ::rmdir(folder.c_str());
  ::rmdir(parent_path(folder).c_str());  // only if it is empty
}

// Forgets the plan, then writes fresh files for the three archived ones; prompt.md only if it is missing. Returns the
// written paths.
Result<std::vector<std::string>> reset(const ArchiveRequest& request, const PlanFacts& facts) {
  // Do this before writing the files: the next plan must not be compared with the copy of this one.
  if (!request.authority.empty()) TRY(forget_plan(request.authority));
  const std::vector<std::string> branches = Repository(request.git).branches().value_or(std::vector<std::string>());
  TRY_VALUE(PlanNames names, plan_names(request.files.project, "", request.now, branches));
  if (!trim(facts.tasks.project).empty()) names.project = facts.tasks.project;
  std::vector<std::string> written;
  for (const FreshFile& file : fresh_plan(names)) {
    const std::string path = join_path(request.files.ralph_dir, file.name);
    if (file.name == kPromptFile && file_exists(path)) continue;
    TRY(write_file_atomically(path, file.content));
    written.push_back(path);
  }
  return written;
}

// Returns why nothing was committed; empty if the commit succeeded. Skips paths that git ignores or that are outside
// the repository.
Result<std::string> commit(const ArchiveRequest& request, const std::vector<std::string>& paths,
                           const std::string& message) {
  const Repository repository(request.git);
  const auto exists = repository.exists();
  if (!exists) return exists.error().message;
  if (!*exists) return "this is not a git repository";
  std::vector<std::string> wanted;
  for (const std::string& path : paths) {
    TRY_VALUE(const bool accepted, repository.accepts(path));
    if (accepted) wanted.push_back(path);
  }
  if (wanted.empty()) return "git ignores these files";
  TRY_VALUE(const bool made, repository.commit(wanted, message));
  return made ? "" : "git sees no change";
}

}  // namespace

std::string archive_name(std::string_view date, std::string_view label) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  std::string name;
  for (label = trim(label); !label.empty() && name.size() < kLongestLabel;) {
    const std::string_view character = prefix_of_characters(label, 1);
    name += kPlain.find(character) == std::string_view::npos ? "-" : std::string(character);
    label.remove_prefix(character.size());
  }
  name.erase(0, std::min(name.find_first_not_of(".-"), name.size()));
  name.erase(name.find_last_not_of(".-") + 1);
  return fmt::format("{}-{}", date, name.empty() ? "plan" : name);
}

Result<PlanArchive> archive_plan(const ArchiveRequest& request) {
  TRY(check_plan_folder(request.files));
  TRY_VALUE(const std::vector<Kept> plan, read_plan(request.files.ralph_dir));
  TRY(expect_something(plan, request.files.ralph_dir));
  if (::access(request.files.ralph_dir.c_str(), W_OK) != 0)
    return fail(ErrorKind::kIo, "cannot write to {}: {}", request.files.ralph_dir, errno_text(errno));
  const PlanFacts facts = gather_facts(request, plan);

  PlanArchive archive;
  archive.done = count_done_in_archive(facts.tasks);
  archive.total = facts.tasks.stories.size();
  archive.problem = facts.problem;
  TRY_VALUE(archive.folder,
            make_archive_folder(request.files.project, archive_name(facts.ended, default_label(request, facts))));
  Status copied = copy_to(archive.folder, plan, summary_of(facts));
  if (copied) copied = expect_copied(request.files.ralph_dir, archive.folder, plan);
  if (!copied) {
    remove_copies(archive.folder, plan);
    return tl::unexpected<Error>(copied.error());
  }

  const auto fresh = reset(request, facts);
  if (!fresh) {
    return fail(fresh.error().kind, "the plan is safe in {}, but {} was not reset and nothing was committed: {}",
                archive.folder, request.files.ralph_dir, fresh.error().message);
  }
  std::vector<std::string> paths = *fresh;
  for (const Kept& file : plan) archive.files.emplace_back(file.name);
  archive.files.emplace_back(kSummaryFile);
  for (const std::string& name : archive.files) paths.push_back(join_path(archive.folder, name));
  const auto not_committed = commit(request, paths, fmt::format("chore: archive {}", base_name(archive.folder)));
  if (!not_committed) {
    return fail(not_committed.error().kind, "the plan is safe in {} and {} was reset, but {}; commit both yourself",
                archive.folder, request.files.ralph_dir, not_committed.error().message);
  }
  archive.committed = not_committed->empty();
  archive.why_not_committed = *not_committed;
  return archive;
}

}  // namespace ralph
