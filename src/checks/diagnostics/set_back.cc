#include "checks/diagnostics/set_back.h"

#include <algorithm>
#include <sys/stat.h>

#include "base/text.h"
#include "checks/file_facts.h"
#include "os/files.h"

namespace ralph::diagnostics {
namespace {

// Tools that reuse earlier results if a file's time says that it has not changed.
struct GoesByTime {
  std::string_view collector, sources;
};
constexpr GoesByTime kGoByTime[] = {
    {"cargo-check", ".rs"},   {"clippy", ".rs"}, {"cargo-test", ".rs"},
    {"rust-analyzer", ".rs"}, {"pytest", ".py"}, {"ctest", ".c .cc .cpp .cxx .h .hh .hpp .hxx"},
};

// The kernel's clock for file times lags a little.
constexpr long long kSlack = 1'000;

long long milliseconds_of(const timespec& time) {
  return time.tv_sec * 1000LL + time.tv_nsec / 1'000'000;
}

}  // namespace

bool relies_on_mtime_of(const PlannedCollector& planned, std::string_view path) {
  for (const GoesByTime& row : kGoByTime) {
    if (row.collector != planned.name) continue;
    const std::vector<std::string> endings = split(row.sources, ' ');
    return std::any_of(endings.begin(), endings.end(),
                       [&](const std::string& ending) { return path.ends_with(ending); });
  }
  return false;
}

std::vector<std::string> FileTimes::look(const ProjectView& project, std::span<const PlannedCollector> planned,
                                         long long now) {
  std::vector<std::string> found;
  for (const std::string& path : project.files()) {
    const bool timed = std::any_of(planned.begin(), planned.end(),
                                   [&](const PlannedCollector& one) { return relies_on_mtime_of(one, path); });
    const std::string full = join_path(project.root(), path);
    struct stat info{};
    if (!timed || ::stat(full.c_str(), &info) != 0) continue;
    const auto before = known.find(path);
    const auto flagged = set_back.find(path);
    const bool untouched = milliseconds_of(info.st_ctim) < looked - kSlack;
    if (before != known.end() && flagged == set_back.end() && untouched) continue;
    std::string hash = hash_of_file(full).value_or("");
    const bool older = milliseconds_of(info.st_mtim) < (flagged == set_back.end() ? looked : flagged->second);
    if (before != known.end() && before->second != hash && older) {
      set_back.emplace(path, now);
      found.push_back(path);
      continue;
    }
    if (flagged != set_back.end()) set_back.erase(flagged);
    known[path] = std::move(hash);
  }
  looked = now;
  return found;
}

}  // namespace ralph::diagnostics
