// A parsed git command, starting at its subcommand: `git -C x -c a=b push -f` is `push -f` in x.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/rules.h"

namespace ralph {

struct GitCall {
  std::string verb;
  std::vector<std::string> words;  // after the verb
  std::string cwd;                 // with -C applied

  bool flag(char letter) const;
  bool option(std::string_view name) const;
  std::vector<std::string> operands() const;
  // The files that `checkout`, `restore`, `mv` and `stash push --` write. A single word after `checkout` may be a
  // branch or a path; `certain` omits it unless it can't be a branch.
  std::vector<std::string> written(bool certain) const;
  // The paths that `clean -f` is limited to; none if it is a dry run.
  std::vector<std::string> cleaned() const;
};

GitCall git_call(const Subject& subject);

}  // namespace ralph
