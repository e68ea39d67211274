#include "git/clone_of_commit.h"

#include "base/text.h"
#include "git/git.h"

namespace ralph {
namespace {

// The last line that is an error; git's hints surround it.
std::string complaint_of(const GitEnd& end) {
  std::string found(first_line(end.errors));
  for (const std::string& line : split(end.errors, '\n')) {
    if (line.starts_with("fatal: ") || line.starts_with("error: ")) found = line;
  }
  return found;
}

Status must(const Git& git, const std::vector<std::string>& words, std::string_view what) {
  TRY_VALUE(const GitEnd end, git(words));
  if (end.code == 0) return {};
  return fail(ErrorKind::kIo, "{} failed: {}", what, complaint_of(end));
}

}  // namespace

Status clone_commit(const std::string& work_tree, const std::string& commit, const std::string& target) {
  GitPlace from{work_tree};
  from.protocols = "file";
  TRY(must(plain_git(from, Environment::of_this_process()),
           {"clone", "-q", "--no-local", "--no-checkout", "--template=", "--", work_tree, target}, "git clone"));
  return must(plain_git(target), {"-c", "advice.detachedHead=false", "checkout", "-q", "--detach", commit},
              "git checkout");
}

}  // namespace ralph
