// Control groups (cgroups), if this user may create them. A group's name contains the pid of the process that created
// it, so the groups of killed processes can be found.
#pragma once

#include <string>
#include <string_view>

namespace ralph {

// Writes to a file of a group; false if the kernel refuses.
bool write_control(const std::string& file, std::string_view value);

// The group of this process in the hierarchy of a controller, as listed in /proc ("/user.slice"); without a controller,
// in the unified hierarchy. Empty: there is none.
std::string own_control_group(std::string_view controller);

// Creates the folder of a new group in `parent`, and removes groups that killed processes left there. Empty: not
// allowed.
std::string make_control_group(const std::string& parent);

// A group for killing everything in it at once, below the group of this process: for processes that fork faster than
// they can be listed. They are moved there only to be killed, because entering a group is slow: the kernel may make all
// processes of the machine wait for it.
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

// Kills every process in a unified group and its subgroups, including forks in progress. False: there is no such group.
bool kill_group(const std::string& folder);

}  // namespace ralph
