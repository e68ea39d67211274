#include "git/clean_checkout.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_set>

#include "base/text.h"
#include "git/config_file.h"
#include "os/files.h"

namespace ralph {
namespace {

namespace fs = std::filesystem;

// Shows whether a file was written, even if its times were set: nobody can set the ctime.
std::string change_stamp(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return "gone";
  if (S_ISDIR(info.st_mode)) return "folder";
  return fmt::format("{:o} {} {} {}.{}", info.st_mode, info.st_ino, info.st_size, info.st_ctim.tv_sec,
                     info.st_ctim.tv_nsec);
}

// Calls `visit` with each path below `top`, parents first, except the repository at the top. Enters a folder if `visit`
// returns true. Links are not followed.
template <class Visit>
void walk(const std::string& top, const std::string& below, const Visit& visit) {
  std::error_code error;
  std::vector<std::pair<std::string, bool>> entries;  // second: whether it is a folder
  for (fs::directory_iterator at(below.empty() ? top : join_path(top, below), error), end; at != end;
       at.increment(error)) {
    std::string name = at->path().filename().string();
    if (below.empty() && name == ".git") continue;
    entries.emplace_back(below.empty() ? std::move(name) : below + "/" + name,
                         at->is_directory(error) && !at->is_symlink(error));
  }
  for (const auto& [path, is_folder] : entries) {
    if (visit(path) && is_folder) walk(top, path, visit);
  }
}

// For files in a folder that was just created: nobody needs them after a crash.
Status put_new(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  return file ? Status{} : fail(ErrorKind::kIo, "cannot write {}", path);
}

std::vector<std::string> fields_in(std::string_view output) {
  std::vector<std::string> fields = split(output, '\0');
  std::erase(fields, "");
  return fields;
}

// "filter=lfs" of a line of .gitattributes gives "lfs".
std::vector<std::string> filter_names(std::string_view attributes) {
  std::vector<std::string> names;
  for (const std::string& line : split(attributes, '\n')) {
    if (trim(line).starts_with('#')) continue;
    for (const std::string& word : split(replace_all(line, "\t", " "), ' ')) {
      if (word.starts_with("filter=")) names.emplace_back(trim(std::string_view(word).substr(7)));
    }
  }
  return names;
}

}  // namespace

CleanCheckout::CleanCheckout(std::string room, std::string work_tree, const MakeGit& make_git)
    : room_(std::move(room)),
      work_tree_(std::move(work_tree)),
      store_(join_path(room_, "store.git")),
      tree_(join_path(room_, "tree")) {
  GitPlace place{room_, tree_};
  git_ = make_git(place, {{"GIT_DIR", store_}});
  place.protocols = "file";
  // git allocates and frees its compressor's memory for each object. glibc would return it to the kernel each time,
  // which takes as long as the rest of the transfer.
  fetching_ = make_git(place, {{"GIT_DIR", store_}, {"MALLOC_TRIM_THRESHOLD_", "134217728"}});
}

Result<std::string> CleanCheckout::ask(const std::vector<std::string>& words) const {
  TRY_VALUE(GitEnd end, git_(words));
  if (end.code != 0)
    return fail(ErrorKind::kIo, "git {} failed in the clean checkout {}: {}", words.front(), tree_,
                first_line(end.errors));
  return std::move(end.output);
}

bool CleanCheckout::is_at(const std::string& commit) const {
  const auto head = read_file(join_path(store_, "HEAD"));
  return head && trim(*head) == commit && is_real_folder(join_path(tree_, ".git"));
}

Status CleanCheckout::make_store() {
  if (is_real_folder(join_path(store_, "objects"))) return {};
  TRY(make_directories(room_));
  TRY(make_directories(tree_));
  std::vector<std::string> init = {"init", "-q", "--template=", "--initial-branch=ralph-none"};
  for (const ConfigEntry& entry : repository_config(work_tree_)) {
    if (entry.key() == "extensions.objectformat") init.push_back("--object-format=" + entry.value);
  }
  TRY(ask(init));
  TRY_VALUE(const GitEnd unset, git_({"config", "--unset", "core.worktree"}));  // the tree's repository gets a copy
  return unset.code == 0 || unset.code == 5 ? Status{} : fail(ErrorKind::kIo, "git config failed in {}", store_);
}

Status CleanCheckout::fetch() {
  TRY_VALUE(const std::string program, git_program());
  // Searching for similar objects takes longer than writing each as it is.
  const std::string sender =
      quote_shell_words({{program, "-c", "pack.window=0", "-c", "pack.compression=1", "upload-pack"}});
  TRY_VALUE(const GitEnd end,
            fetching_({"fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", "--update-shallow",
                       "--prune", "--no-recurse-submodules", "--upload-pack=" + sender, "--", work_tree_,
                       "+HEAD:refs/ralph/head", "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"}));
  if (end.code == 0) return {};
  return fail(ErrorKind::kIo, "cannot bring {} into the clean checkout {}: {}", work_tree_, tree_,
              first_line(end.errors));
}

Status CleanCheckout::move_to(const std::string& commit, const std::string& branch,
                              const std::vector<std::string>& own) {
  kept_files_changed_ = false;
  if (!is_real_folder(tree_)) TRY(remove_tree(tree_));
  TRY(make_store());
  if (commit != commit_) TRY(fetch());
  ::unlink(join_path(store_, "index.lock").c_str());  // left by a killed run
  TRY(ask({"-c", "advice.detachedHead=false", "checkout", "-q", "--force", "--detach", commit}));
  commit_ = commit;
  TRY_VALUE(const std::string tracked, ask({"ls-files", "-z"}));
  TRY(clear(fields_in(tracked)));
  return make_repository(branch, own);
}

// Removes everything that is not in the commit.
Status CleanCheckout::clear(const std::vector<std::string>& tracked) {
  std::unordered_set<std::string> wanted(tracked.begin(), tracked.end());
  for (const std::string& path : tracked) {
    // If a folder is already in the set, so are its parents.
    for (size_t end = path.rfind('/'); end != std::string::npos && wanted.insert(path.substr(0, end)).second;)
      end = end == 0 ? std::string::npos : path.rfind('/', end - 1);
  }
  for (const auto& [path, stamp] : kept_)
    kept_files_changed_ = kept_files_changed_ || change_stamp(join_path(tree_, path)) != stamp;
  if (kept_files_changed_) kept_.clear();
  Status done;
  walk(tree_, "", [&](const std::string& path) {
    if (wanted.contains(path) || kept_.contains(path)) return true;
    if (done) done = remove_tree(join_path(tree_, path));
    return false;
  });
  return done;
}

Status CleanCheckout::make_repository(const std::string& branch, const std::vector<std::string>& own) {
  const std::string git = join_path(tree_, ".git");
  TRY(remove_tree(git));
  for (const char* folder : {"objects/info", "refs/heads", "info"}) TRY(make_directories(join_path(git, folder)));
  TRY(put_new(join_path(git, "objects/info/alternates"), objects() + "\n"));
  TRY_VALUE(std::string refs, ask({"for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags"}));
  TRY(put_new(join_path(git, "packed-refs"), refs));
  if (!branch.empty()) {
    TRY(make_directories(parent_path(join_path(git, "refs/heads/" + branch))));
    TRY(put_new(join_path(git, "refs/heads/" + branch), commit_ + "\n"));
  }
  TRY(put_new(join_path(git, "HEAD"), branch.empty() ? commit_ + "\n" : fmt::format("ref: refs/heads/{}\n", branch)));
  TRY(put_new(join_path(git, "info/exclude"), join(own, "\n") + "\n"));
  TRY_VALUE(const std::string index, read_file(join_path(store_, "index")));
  TRY(put_new(join_path(git, "index"), index));
  if (const auto shallow = read_file(join_path(store_, "shallow")); shallow)
    TRY(put_new(join_path(git, "shallow"), *shallow));
  TRY_VALUE(std::string config, read_file(join_path(store_, "config")));
  // The committer is the user, even if only the project's configuration names the user.
  std::string name, email;
  for (const ConfigEntry& entry : repository_config(work_tree_)) {
    if (entry.key() == "user.name") name = entry.value;
    if (entry.key() == "user.email") email = entry.value;
  }
  const auto quoted = [](std::string_view value) {
    return replace_all(replace_all(replace_all(value, "\\", "\\\\"), "\"", "\\\""), "\n", "\\n");
  };
  if (!name.empty() || !email.empty()) config += "[user]\n";
  if (!name.empty()) config += fmt::format("\tname = \"{}\"\n", quoted(name));
  if (!email.empty()) config += fmt::format("\temail = \"{}\"\n", quoted(email));
  return put_new(join_path(git, "config"), config);
}

size_t CleanCheckout::keep() {
  kept_.clear();
  const auto listed = git_({"ls-files", "-z"});
  if (!listed || listed->code != 0) return 0;
  const std::vector<std::string> tracked = fields_in(listed->output);
  const std::unordered_set<std::string> files(tracked.begin(), tracked.end());
  walk(tree_, "", [&](const std::string& path) {
    if (!files.contains(path)) kept_[path] = change_stamp(join_path(tree_, path));
    return true;
  });
  return kept_.size();
}

Result<std::vector<std::string>> CleanCheckout::changes() const {
  TRY_VALUE(std::vector<std::string> paths, changed_files());
  TRY_VALUE(const std::string others, ask({"ls-files", "-z", "--others", "--exclude-standard", "--full-name"}));
  for (std::string& path : fields_in(others)) {
    if (!kept_.contains(path) && !path.ends_with('/')) paths.push_back(std::move(path));
  }
  return paths;
}

Result<std::vector<std::string>> CleanCheckout::changed_files() const {
  TRY_VALUE(const std::string output, ask({"diff", "--name-only", "-z", "--no-renames", commit_, "--"}));
  return fields_in(output);
}

Result<std::vector<std::string>> CleanCheckout::changed_between(const std::string& one,
                                                                const std::string& other) const {
  TRY_VALUE(const std::string output, ask({"diff", "--name-only", "-z", "--no-renames", one, other}));
  return fields_in(output);
}

Result<std::optional<std::string>> CleanCheckout::content(const std::string& path) const {
  TRY_VALUE(GitEnd end, git_({"cat-file", "blob", fmt::format("{}:{}", commit_, path)}));
  if (end.code != 0) return std::optional<std::string>();
  return std::optional(std::move(end.output));
}

Status remove_tree(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (!error) return {};
  // A folder without write permission, perhaps created by an agent.
  fs::permissions(path, fs::perms::owner_all, fs::perm_options::add, error);
  for (fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, error), end; at != end;
       at.increment(error)) {
    if (at->is_directory(error) && !at->is_symlink(error))
      fs::permissions(at->path(), fs::perms::owner_all, fs::perm_options::add, error);
  }
  error.clear();
  fs::remove_all(path, error);
  if (error) return fail(ErrorKind::kIo, "cannot remove {}: {}", path, error.message());
  return {};
}

Result<std::string> obstacle_to_clean_checkout(const Git& git, const std::string& work_tree) {
  std::unordered_set<std::string> own_filters = {"lfs"};
  for (const ConfigEntry& entry : repository_config(work_tree)) {
    if (entry.key() == "extensions.partialclone" || (entry.section == "remote" && entry.name == "promisor"))
      return std::string("the repository is a partial clone");
    if (entry.section == "filter") own_filters.insert(entry.subsection);
  }
  TRY_VALUE(const GitEnd files, git({"-C", work_tree, "ls-files", "-s", "-z"}));
  if (files.code != 0) return fail(ErrorKind::kIo, "git ls-files failed: {}", first_line(files.errors));
  for (const std::string& file : fields_in(files.output)) {
    const size_t tab = file.find('\t');
    const std::string path = tab == std::string::npos ? "" : file.substr(tab + 1);
    if (file.starts_with("160000 ")) return fmt::format("{} is a submodule", path);
    if (base_name(path) != ".gitattributes" || !is_real_file(join_path(work_tree, path))) continue;
    const auto text = read_file(join_path(work_tree, path));
    for (const std::string& name : text ? filter_names(*text) : std::vector<std::string>()) {
      if (!own_filters.contains(name)) continue;
      return name == "lfs" ? fmt::format("{} keeps files in git-lfs", path)
                           : fmt::format("{} uses the filter {} of this repository's own configuration", path, name);
    }
  }
  return std::string();
}

}  // namespace ralph
