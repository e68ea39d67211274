// What ralph has to know of the git repository it works in, and the little that it does there itself.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "git/git.h"

namespace ralph {

class Repository {
 public:
  // `folder` is where git runs, for errors.
  explicit Repository(Git git, std::string folder = "this folder") : git_(std::move(git)), folder_(std::move(folder)) {}

  // Whether there is a repository. One that git refuses to look at, or whose work tree is elsewhere, is an error.
  Result<bool> exists() const;
  Result<std::string> work_tree() const;              // its uppermost folder, absolute
  Result<std::optional<std::string>> branch() const;  // nothing: HEAD is detached
  Result<bool> has_branch(const std::string& name) const;
  Result<std::string> head() const;  // empty before the first commit

  // "XY path" as in `git status --porcelain`, for people: on one line, whatever a file is called. Without ralph's own
  // files.
  Result<std::vector<std::string>> uncommitted() const;

  // Whether `old` is still part of the history of HEAD.
  Result<bool> is_ancestor(const std::string& old) const;

  // Makes a branch the current one again. True: it was moved on, without touching any file, so that what was committed
  // elsewhere is part of it; false: that is not, and the files are the branch's own again. An error: it can't be done.
  Result<bool> go_back_to(const std::string& branch) const;

  // Tests that are gone, moved, shorter or hidden compared with `old`, in words: "deleted: tests/a_test.py". What the
  // project has told git about differences, or which files to overlook, is not believed.
  Result<std::vector<std::string>> lost_tests(const std::string& old) const;

  // Commits these paths and nothing else, whatever is staged. False: they are as they were, or ignored.
  Result<bool> commit(const std::vector<std::string>& paths, const std::string& message) const;

  // Keeps a commit from being collected, under refs/ralph/<name>.
  Status keep(const std::string& name, const std::string& commit) const;

 private:
  Result<std::string> ask(const std::vector<std::string>& words) const;  // its output; an error if it fails
  Result<std::vector<std::string>> hidden_tests() const;

  Git git_;
  std::string folder_;
};

// Whether a path looks like a test, by its folders and its name.
bool is_test_path(std::string_view path);

}  // namespace ralph
