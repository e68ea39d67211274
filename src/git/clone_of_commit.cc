#include "git/clone_of_commit.h"

#include "base/text.h"
#include "git/git.h"

namespace ralph {
namespace {

// The last line that complains; git's hints stand around it.
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
  const std::vector<std::string> quiet = {"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false",
                                          "-c", "advice.detachedHead=false"};
  std::vector<std::string> clone = quiet, checkout = quiet;
  for (const char* word :
       {"-c", "protocol.file.allow=always", "clone", "-q", "--no-local", "--no-checkout", "--template=", "--"})
    clone.emplace_back(word);
  clone.insert(clone.end(), {work_tree, target});
  TRY(must(plain_git(work_tree), clone, "git clone"));
  checkout.insert(checkout.end(), {"checkout", "-q", "--detach", commit});
  return must(plain_git(target), checkout, "git checkout");
}

}  // namespace ralph
