#include "plan/scaffold.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

#include "base/template.h"
#include "base/text.h"
#include "base/utf8.h"
#include "embedded_plan.h"
#include "json/value.h"
#include "json/writer.h"
#include "plan/marker.h"

namespace ralph {
namespace {

// Files that a run leaves in the project: its marker, and rejected files of agents. Keep the list minimal: nobody
// notices if an ignored file is not committed.
std::vector<std::string> ignored_names() {
  std::vector<std::string> names = {std::string(kMarkerFile)};
  for (const std::string_view name : kRejectable) names.push_back(fmt::format("{}{}*", name, kRejected));
  return names;
}

constexpr std::string_view kBranchPrefix = "ralph/";

// Printable text on one line, for a heading or a value: folders may have any name.
std::string printable(std::string_view text) {
  std::string result = to_valid_utf8(text);
  std::replace_if(
      result.begin(), result.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return result;
}

// Turns any text into a part of a branch name: "Mein Shöp (2)" gives "mein-sh-p-2".
std::string branch_part_from(std::string_view text) {
  std::string part;
  for (const char c : to_lower(text)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (plain)
      part += c;
    else if (!part.empty() && part.back() != '-')
      part += '-';
  }
  part.resize(std::min<size_t>(part.size(), 60));
  while (part.ends_with('-')) part.pop_back();
  return part.empty() ? "plan" : part;
}

// git can't have both a branch ralph and a branch ralph/x.
bool has_branch_above(const std::string& branch, const std::vector<std::string>& branches) {
  return std::ranges::any_of(branches, [&](const std::string& other) { return branch.starts_with(other + "/"); });
}
bool is_free(const std::string& branch, bool may_exist, const std::vector<std::string>& branches) {
  return std::ranges::none_of(branches, [&](const std::string& other) {
    return (other == branch && !may_exist) || other.starts_with(branch + "/");
  });
}

// Writes files and folders, and rolls back unless all of it succeeded.
class Writing {
 public:
  Writing() = default;
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;
  ~Writing() {
    if (good_) return;
    // Ignore rollback failures: the user needs the original error.
    for (auto file = files_.rbegin(); file != files_.rend(); ++file) {
      if (file->second) {
        static_cast<void>(write_file_atomically(file->first, *file->second));
      } else {
        ::unlink(file->first.c_str());
      }
    }
    for (const std::string& folder : folders_) ::rmdir(folder.c_str());
  }

  Status make_folder(const std::string& path) {
    for (std::string folder = path; !path_exists(folder); folder = parent_path(folder)) folders_.push_back(folder);
    return make_directories(path);
  }

  Status write(const std::string& path, std::string_view content) {
    std::optional<std::string> old;
    if (path_exists(path)) {
      TRY_VALUE(old, read_file(path));
    }
    TRY(write_file_atomically(path, content));
    files_.emplace_back(path, std::move(old));
    return {};
  }

  void done() { good_ = true; }

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> files_;  // with their previous contents
  std::vector<std::string> folders_;                                       // newly created, innermost first
  bool good_ = false;
};

// The existing files, which are left unchanged.
Result<std::vector<std::string>> files_to_keep(const std::string& ralph_dir, const std::array<FreshFile, 4>& files,
                                               bool force) {
  std::vector<std::string> there;
  for (const FreshFile& file : files) {
    const std::string path = join_path(ralph_dir, file.name);
    if (!path_exists(path)) continue;
    there.emplace_back(file.name);
    if (!is_real_file(path))
      return fail(ErrorKind::kInput, "{} is not a regular file; move it away so that ralph can make one", path);
  }
  if (force) return std::vector<std::string>();
  if (there.size() < files.size()) return there;
  return fail(
      ErrorKind::kInput,
      "{} has {} already, and nothing was changed; --force replaces all four files, and ralph plan archive puts "
      "a plan away",
      ralph_dir, join_for_people(there));
}

// The lines with content: comments and blank lines are guidance for the author.
std::vector<std::string> lines_without_comments(std::string_view text) {
  std::string kept;
  for (;;) {
    const size_t open = text.find("<!--");
    kept += text.substr(0, open);
    if (open == std::string_view::npos) break;
    const size_t close = text.find("-->", open + 4);
    if (close == std::string_view::npos) break;
    text.remove_prefix(close + 3);
  }
  std::vector<std::string> lines;
  for (const std::string& line : split(kept, '\n')) {
    if (!trim(line).empty()) lines.emplace_back(trim(line));
  }
  return lines;
}

bool is_ignored_by(std::string_view line, std::string_view pattern) {
  line = trim(line);
  for (const std::string_view prefix : {"**/", "/"}) {
    if (line.starts_with(prefix)) line.remove_prefix(prefix.size());
  }
  return line == pattern;
}

// The new text of .gitignore; nullopt if it stays unchanged.
Result<std::optional<std::string>> new_gitignore(const std::string& path, MadePlan& made) {
  std::string old;
  if (path_exists(path)) {
    if (!is_real_file(path)) {  // git does not follow a link here either
      made.gitignore_note = fmt::format("{} is not a regular file and was left as it is; make git ignore {}", path,
                                        join_for_people(ignored_names()));
      return std::nullopt;
    }
    TRY_VALUE(old, read_file(path));
  }
  auto [text, added] = with_plan_ignored(old);
  made.ignored = std::move(added);
  return made.ignored.empty() ? std::nullopt : std::optional(std::move(text));
}

}  // namespace

std::array<FreshFile, 4> fresh_plan(const PlanNames& names) {
  using Values = std::array<std::pair<std::string_view, std::string>, 3>;
  const std::string date = to_iso8601(names.now).substr(0, 19) + "Z";
  const Values plain = {
      {{"PROJECT_NAME", printable(names.project)}, {"BRANCH_NAME", printable(names.branch)}, {"DATE", date}}};
  Values quoted = plain;
  for (auto& [name, value] : quoted) value = json_escaped(value);
  return {{{kPrdFile, render_template(embedded::prd_md, plain)},
           {kTasksFile, render_template(embedded::tasks_json, quoted)},
           {kProgressFile, render_template(embedded::progress_txt, plain)},
           {kPromptFile, std::string(embedded::prompt_md)}}};  // each iteration fills it in
}

std::string fault_of_branch_name(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.size() > 200) return "is longer than 200 bytes";
  if (name.starts_with('-')) return "begins with a dash";
  if (name.starts_with('/') || name.ends_with('/') || name.find("//") != std::string_view::npos)
    return "has an empty part beside a slash";
  if (name.ends_with('.')) return "ends with a dot";
  if (name.find("..") != std::string_view::npos) return "has two dots in a row";
  if (name.find("@{") != std::string_view::npos) return "has \"@{\" in it";
  if (find_invalid_utf8(name) != std::string_view::npos) return "is not valid UTF-8";
  for (const char c : name) {
    if (c == ' ') return "contains a space";
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return "has a control character in it";
    if (std::string_view("~^:?*[\\").find(c) != std::string_view::npos) return fmt::format("has \"{}\" in it", c);
  }
  for (const std::string& part : split(name, '/')) {
    if (part.starts_with('.')) return "has a part that begins with a dot";
    if (part.ends_with(".lock")) return "has a part that ends with .lock";
  }
  return "";
}

Result<PlanNames> plan_names(const std::string& project, std::string_view name, WallTime now,
                             const std::vector<std::string>& branches) {
  PlanNames names;
  names.project = name.empty() ? base_name(project) : std::string(name);
  if (names.project.empty()) names.project = "project";
  names.now = now;
  if (const std::string fault = name.empty() ? "" : fault_of_branch_name(name); !fault.empty()) {
    return fail(ErrorKind::kUsage,
                "--name \"{}\" {}; it becomes the git branch {}<name>, so use letters, digits, dots and dashes",
                fit_to_width(name, 80), fault, kBranchPrefix);
  }
  const std::string wanted = name.empty() ? branch_part_from(names.project) : std::string(name);
  std::string branch = fmt::format("{}{}", kBranchPrefix, wanted);
  if (has_branch_above(branch, branches)) branch = replace_all(branch, "/", "-");
  // A given name may be that of an existing branch to continue on.
  const bool may_exist = !name.empty();
  names.branch = branch;
  for (int number = 2; !is_free(names.branch, may_exist, branches); ++number)
    names.branch = fmt::format("{}-{}", branch, number);
  return names;
}

std::pair<std::string, std::vector<std::string>> with_plan_ignored(std::string_view gitignore) {
  const std::vector<std::string> lines = split(gitignore, '\n');
  std::vector<std::string> added;
  for (const std::string& pattern : ignored_names()) {
    if (std::none_of(lines.begin(), lines.end(), [&](const auto& line) { return is_ignored_by(line, pattern); }))
      added.push_back(pattern);
  }
  const std::string_view line_end = gitignore.find("\r\n") != std::string_view::npos ? "\r\n" : "\n";
  const bool ends_its_last_line = gitignore.empty() || gitignore.ends_with('\n');
  std::string text(gitignore);
  for (const std::string& line : added) {
    text += ends_its_last_line ? fmt::format("{}{}", line, line_end) : fmt::format("{}{}", line_end, line);
  }
  return {std::move(text), std::move(added)};
}

Status expect_real_folder(const std::string& folder) {
  struct stat info{};
  if (::lstat(folder.c_str(), &info) != 0) {
    if (errno == ENOENT) return {};
    return fail(ErrorKind::kIo, "cannot use the folder {}: {}", folder, errno_text(errno));
  }
  if (S_ISLNK(info.st_mode)) {
    return fail(ErrorKind::kInput,
                "{} is a symbolic link; ralph writes only to a real folder, so replace the link by one", folder);
  }
  if (!S_ISDIR(info.st_mode))
    return fail(ErrorKind::kInput, "{} is not a folder; move it away so that ralph can make one", folder);
  return {};
}

Result<MadePlan> make_plan_files(const std::string& project, const std::string& ralph_dir, const PlanNames& names,
                                 bool force) {
  const std::array<FreshFile, 4> files = fresh_plan(names);
  TRY(expect_real_folder(ralph_dir));
  MadePlan made;
  TRY_VALUE(made.kept, files_to_keep(ralph_dir, files, force));
  const std::string gitignore = join_path(project, ".gitignore");
  TRY_VALUE(const auto ignore_text, new_gitignore(gitignore, made));

  Writing writing;
  TRY(writing.make_folder(ralph_dir));
  for (const FreshFile& file : files) {
    if (std::find(made.kept.begin(), made.kept.end(), file.name) == made.kept.end())
      TRY(writing.write(join_path(ralph_dir, file.name), file.content));
  }
  if (ignore_text) TRY(writing.write(gitignore, *ignore_text));
  writing.done();
  return made;
}

bool is_untouched_prd(std::string_view text) {
  const std::vector<std::string> scaffold = lines_without_comments(embedded::prd_md);
  const std::vector<std::string> lines = lines_without_comments(text);
  // A title alone is not an edit, and neither is a deleted section.
  return std::all_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.starts_with("# ") || std::find(scaffold.begin(), scaffold.end(), line) != scaffold.end();
  });
}

bool is_untouched_tasks(std::string_view text) {
  if (trim(text).empty()) return true;
  auto found = parse_json(text, kTasksFile);
  auto fresh = parse_json(embedded::tasks_json, kTasksFile);
  if (!found || !fresh || !found->is_object()) return false;
  for (const char* name : {"project", "branchName"}) {
    found->get_object().erase(name);
    fresh->get_object().erase(name);
  }
  return *found == *fresh;
}

}  // namespace ralph
