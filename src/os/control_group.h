// Control groups (cgroups), where this user may make one. Their names have the pid of the process that made them, so
// that those of a killed one are found.
#pragma once

#include <string>
#include <string_view>

namespace ralph {

// Writes to a file of a group; false if the kernel refuses.
bool write_control(const std::string& file, std::string_view value);

// The group of this process in the hierarchy of a controller, as /proc tells it ("/user.slice"); without a controller
// in the unified one. Empty: there is none.
std::string own_control_group(std::string_view controller);

// Makes the folder of a new group in `parent`, and removes what killed processes left there. Empty: not allowed.
std::string make_control_group(const std::string& parent);

// A group to end everything in it at once, below the one that this process is in: for processes that fork faster than
// they can be looked at. They are moved there when they are to be killed, because entering a group is slow: the kernel
// may have all processes of the machine wait for it.
class KillGroup {
 public:
  KillGroup();
  KillGroup(const KillGroup&) = delete;
  KillGroup& operator=(const KillGroup&) = delete;
  ~KillGroup();

  bool exists() const { return !folder_.empty(); }
  std::string entry() const { return folder_ + "/cgroup.procs"; }  // takes pids
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

// Kills every process of a unified group and of those below it, forks under way included. False: there is none.
bool kill_group(const std::string& folder);

}  // namespace ralph
