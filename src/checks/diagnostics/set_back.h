// Files whose time was set back. cargo, make and Python take what they made of a file before if its time says that it
// has not changed since: an agent that sets the time back hides what it wrote.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checks/diagnostics/collect.h"

namespace ralph::diagnostics {

// Whether the collector goes by the time of this file.
bool goes_by_time_of(const PlannedCollector& planned, std::string_view path);

// What is known of the sources whose times some collector goes by. Look at them before the tools run and when they have
// run: what they made is not older than that.
struct FileTimes {
  long long looked = 0;                       // when, in milliseconds of the system's clock
  std::map<std::string, std::string> known;   // by path, hashes
  std::map<std::string, long long> set_back;  // by path: when it was found

  // Those that have another content than at the last look, or at an earlier one, and a time of before it. Anybody can
  // set a file's time, but then the kernel sets another one, which nobody sets back; so only few are read.
  std::vector<std::string> look(const ProjectView& project, std::span<const PlannedCollector> planned, long long now);

  bool operator==(const FileTimes&) const = default;
  template <class V>
  void fields(V&& v) {
    v("looked", looked), v("known", known), v("setBack", set_back);
  }
};

}  // namespace ralph::diagnostics
