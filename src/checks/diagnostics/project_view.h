// A collector's view of a project: its files minus the excluded ones, its configuration, and where its tools are.
#pragma once

#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "os/environment.h"

namespace ralph::diagnostics {

// What is known from the start of a loop (outset.h), so that its agent can't hide files. Lists are sorted.
struct TrustedFiles {
  bool known = false;
  std::vector<std::string> generated{};  // only these are left out when marked as generated
  std::vector<std::string> judged{};     // these are not left out when ignored
  std::vector<std::string> edited{};     // by a session without a loop: a new mark does not leave these out
};

class ProjectView {
 public:
  // `exclude`: path patterns (checks/path_pattern.h). If the project is in a repository, asks git for the files when
  // they are first needed. Runs no program that the repository names.
  ProjectView(std::string root, const Environment& environment, std::vector<std::string> exclude,
              TrustedFiles trusted = {});

  const std::string& root() const { return root_; }  // absolute
  const Environment& environment() const { return environment_; }

  // Relative paths, sorted. Left out: files that git ignores, node_modules, .venv, vendor, third_party, and `exclude`.
  std::span<const std::string> files() const { return listed(); }
  std::vector<std::string> files_ending(std::span<const std::string_view> endings) const;
  bool has_ending(std::initializer_list<std::string_view> endings) const;

  // Whether the project has this file; the first of several names that exists; a file's text (at most 1 MB).
  bool has(std::string_view path) const;
  std::string first_of(std::initializer_list<std::string_view> paths) const;
  const std::string& text_of(const std::string& path) const;

  // Whether package.json lists it as a dependency of any kind.
  bool depends_on_package(std::string_view package) const;

  // The path of a tool: in the project's own node_modules/.bin, .venv/bin or venv/bin, otherwise on PATH. Empty if it
  // is not found.
  std::string tool(std::string_view name) const;

  // The project-relative path for one that a tool printed in `folder`; empty if it is outside.
  std::string relative(std::string_view path, std::string_view folder) const;

  // Whether findings in this file (relative) are left out: in addition to the above, files that contain "@generated" or
  // "Code generated … DO NOT EDIT" in their first lines.
  bool leaves_out(const std::string& path) const;
  bool is_marked_generated(const std::string& path) const;  // as above
  bool is_newly_marked(const std::string& path) const;      // one of TrustedFiles::edited, and not marked in HEAD
  bool is_ignored(const std::string& path) const;           // it exists, and git does not list it

 private:
  const std::vector<std::string>& listed() const;
  void list_by_git() const;
  void list_by_walk() const;
  bool is_excluded(std::string_view path) const;

  std::string root_, real_root_;
  Environment environment_;
  std::vector<std::string> exclude_;
  TrustedFiles trusted_;
  mutable std::vector<std::string> files_;
  mutable bool listed_ = false, in_repository_ = false;
  mutable std::map<std::string, std::string> texts_;
  mutable std::map<std::string, bool> left_out_;
};

// Whether the start of a file marks it as generated.
bool says_generated(std::string_view beginning);

}  // namespace ralph::diagnostics
