#include <algorithm>
#include <charconv>
#include <optional>
#include <unistd.h>

#include "base/text.h"
#include "os/ancestors.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr int kMostAncestors = 1000;  // pids may be reused meanwhile and form a cycle: this must end

struct Ancestor {
  std::string name;
  int parent = 0;
};

std::optional<Ancestor> look_at_process(int pid) {
  const auto stat = read_file(fmt::format("/proc/{}/stat", pid));
  if (!stat) return std::nullopt;
  const size_t from = stat->find('('), to = stat->rfind(')');
  if (from == std::string::npos || to == std::string::npos || to < from) return std::nullopt;
  const std::vector<std::string> fields = split(std::string_view(*stat).substr(std::min(to + 2, stat->size())), ' ');
  Ancestor found{stat->substr(from + 1, to - from - 1), 0};
  if (fields.size() > 1) std::from_chars(fields[1].data(), fields[1].data() + fields[1].size(), found.parent);
  return found;
}

bool has_variable(int pid, std::string_view variable) {
  const auto environment = read_file(fmt::format("/proc/{}/environ", pid));
  if (!environment) return false;
  const std::vector<std::string> lines = split(*environment, '\0');
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.starts_with(variable) && line.size() > variable.size() + 1 && line[variable.size()] == '=';
  });
}

}  // namespace

bool is_below(std::string_view program, std::string_view variable) {
  const auto self = look_at_process(::getpid());
  int pid = self ? self->parent : ::getppid();
  for (int left = kMostAncestors; pid > 0 && left > 0; --left) {
    const auto above = look_at_process(pid);
    if (!above) return false;
    if (above->name == program || (self && above->name == self->name) || has_variable(pid, variable)) return true;
    pid = above->parent;
  }
  return false;
}

}  // namespace ralph
