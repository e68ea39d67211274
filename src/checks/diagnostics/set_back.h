// Detects backdated files: those whose modification time was set back. cargo, make and Python reuse earlier results if
// a file's time says that it has not changed: an agent that backdates a file hides what it wrote.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checks/diagnostics/collect.h"

namespace ralph::diagnostics {

// Whether the collector relies on the modification time of this file.
bool relies_on_mtime_of(const PlannedCollector& planned, std::string_view path);

// The known state of the sources whose times some collector relies on. Call look() before the tools run and again
// afterwards: their results are at least that recent.
struct FileTimes {
  long long looked = 0;                       // time of the last look(), in milliseconds of the system clock
  std::map<std::string, std::string> known;   // by path: hashes
  std::map<std::string, long long> set_back;  // by path: when it was detected

  // Files whose content has changed since the last or an earlier look(), but whose mtime is older than that. Anyone can
  // set the mtime, but the kernel then updates ctime, which can't be set back; so only few files have to be read.
  std::vector<std::string> look(const ProjectView& project, std::span<const PlannedCollector> planned, long long now);

  bool operator==(const FileTimes&) const = default;
  template <class V>
  void fields(V&& v) {
    v("looked", looked), v("known", known), v("setBack", set_back);
  }
};

}  // namespace ralph::diagnostics
