// A place where something makes other programs run code; see checks/triggers.h.
#pragma once

#include <string>
#include <vector>

namespace ralph {

enum class TriggerKind {
  kFile,        // all of it
  kFolder,      // all files below, new ones too; samples of hooks do nothing
  kGitConfig,   // the settings that name programs
  kGitFolders,  // of submodules and work trees, below this one: configuration, hooks, attributes
  kAttributes,  // lines about filters, drivers, idents and how to compare
  kJson,        // the members `keys`
  kProgram,     // all files of `keys`, which are one program: put back all together, or none of them
  kRepository,  // that it is there, and no other one: `keys` has git_dir, common_dir, folder and commit of its mark
  kPlainFile,   // that it is a file, whatever is in it: who reads a pipe may wait for ever
  kRepositoryConfig,  // as kGitConfig, and what the repository is, hides and pushes to: `keys` has the user's remotes
};

struct TriggerPlace {
  std::string path;  // absolute
  TriggerKind kind = TriggerKind::kFile;
  bool put_back = true;             // false: a change is only shown
  std::string why{};                // for people: "git runs it"
  std::vector<std::string> keys{};  // see TriggerKind; what a kFolder has besides, which is no trigger
};

}  // namespace ralph
