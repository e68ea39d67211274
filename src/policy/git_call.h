// git's words from its subcommand on: `git -C x -c a=b push -f` is push -f, in x.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/rules.h"

namespace ralph {

struct GitCall {
  std::string verb;
  std::vector<std::string> words;  // after the verb
  std::string cwd;                 // -C considered

  bool flag(char letter) const;
  bool option(std::string_view name) const;
  std::vector<std::string> operands() const;
  // The files that `checkout`, `restore` and `mv` write. Whether a lone word after `checkout` is a branch or a path
  // nobody can say from here; `certain` leaves it out unless it can be no branch.
  std::vector<std::string> written(bool certain) const;
  // The paths that `clean -f` is limited to; none if it only shows what it would do.
  std::vector<std::string> cleaned() const;
};

GitCall git_call(const Subject& subject);

}  // namespace ralph
