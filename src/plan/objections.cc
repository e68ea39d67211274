#include "plan/objections.h"

#include <unistd.h>

#include "base/text.h"
#include "os/files.h"

namespace ralph {

Objections::Objections(const Environment& environment, const ProjectCheck& plan, const std::string& session)
    : whose_(plan.authority ? fmt::format("{} {}", plan.authority->run_id, plan.authority->iteration)
                            : fmt::format("session {}", session)) {
  if (const auto path = authority_path(environment, plan.files.ralph_dir)) file_ = *path + ".objections";
}

int Objections::count() const {
  if (file_.empty()) return 0;
  const std::vector<std::string> lines = split(read_plain_file(file_).value_or(""), '\n');
  return lines.size() > 1 && lines[0] == whose_ ? static_cast<int>(parse_count(lines[1]).value_or(0)) : 0;
}

void Objections::add() const {
  if (file_.empty() || !make_directories(parent_path(file_))) return;
  static_cast<void>(replace_file(file_, fmt::format("{}\n{}\n", whose_, count() + 1), 0600));
}

void Objections::forget() const {
  if (!file_.empty()) ::unlink(file_.c_str());
}

}  // namespace ralph
